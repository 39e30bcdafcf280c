"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference import create, indexing, linear, move
from webq8.backends.reference.core import fold_constants, run_graph

__all__ = ["create", "fold_constants", "indexing", "linear", "move", "run_graph"]
