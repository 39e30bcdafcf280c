"""Where the package's data folders lie."""

from functools import cache
from pathlib import Path

__all__ = ["resource_dir"]


@cache
def resource_dir(name: str) -> Path:
    """`wgsl` or `web`: inside the package once installed from a wheel, atop the repository in an editable install."""
    package = Path(__file__).resolve().parent
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name
