"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference import linear, norm, pool, reduce, resize, sample, sort
from webq8.backends.reference.core import fold_constants, run_graph

__all__ = ["fold_constants", "linear", "norm", "pool", "reduce", "resize", "run_graph", "sample", "sort"]
