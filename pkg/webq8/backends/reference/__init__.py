"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference import elementwise, linear, quantize
from webq8.backends.reference.core import fold_constants, run_graph

__all__ = ["elementwise", "fold_constants", "linear", "quantize", "run_graph"]
