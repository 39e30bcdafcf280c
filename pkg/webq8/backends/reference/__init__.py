"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference import linear
from webq8.backends.reference.core import fold_constants, initial_states, run_graph

__all__ = ["fold_constants", "initial_states", "linear", "run_graph"]
