"""Every op in numpy, step by step in float32: `device="cpu"`. Importing it imports the functions of all ops."""

from webq8.backends.reference import (
    boxes,
    conv,
    create,
    elementwise,
    indexing,
    linear,
    matmul,
    move,
    norm,
    pool,
    quantize,
    recurrent,
    reduce,
    resize,
    sample,
    sort,
)
from webq8.backends.reference.core import fold_constants, initial_states, run_graph

__all__ = [
    "boxes",
    "conv",
    "create",
    "elementwise",
    "fold_constants",
    "indexing",
    "initial_states",
    "linear",
    "matmul",
    "move",
    "norm",
    "pool",
    "quantize",
    "recurrent",
    "reduce",
    "resize",
    "run_graph",
    "sample",
    "sort",
]
