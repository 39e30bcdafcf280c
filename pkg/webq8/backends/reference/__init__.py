"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference import conv, linear, matmul
from webq8.backends.reference.core import fold_constants, run_graph

__all__ = ["conv", "fold_constants", "linear", "matmul", "run_graph"]
