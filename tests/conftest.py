"""Lets tests import their tables by name: they lie beside the folders of tests, not in a package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
