"""Every op in numpy, step by step in float32: the tests' oracle, and `device="cpu"`."""

from webq8.reference import int8
from webq8.reference.core import run_graph

__all__ = ["int8", "run_graph"]
