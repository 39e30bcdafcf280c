"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it registers all of them."""

from webq8.backends.reference.core import fold_constants, initial_states, run_graph
from webq8.backends.reference import create, indexing, linear, move
from webq8.backends.reference import (
    conv,
    elementwise,
    linear,
    matmul,
    norm,
    pool,
    quantize,
    reduce,
    resize,
    sample,
    sort,
)

    "conv",
    "elementwise",
    "fold_constants",
    "initial_states",
    "linear",
    "matmul",
    "norm",
    "pool",
    "quantize",
    "reduce",
    "resize",
    "run_graph",
    "sample",
    "sort",
]
__all__ = ["create", "fold_constants", "indexing", "linear", "move", "run_graph"]
