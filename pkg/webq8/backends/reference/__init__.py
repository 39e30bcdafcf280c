"""Every op in numpy, step by step in float32: the tests' oracle, and `device="cpu"`."""

from webq8.backends.reference import (
    average,
    conv_float,
    elementwise,
    indexing,
    int8,
    matmul,
    norm,
    pool,
    quant,
    reduce,
    sample,
    shape,
    sort,
    upsample,
)
from webq8.backends.reference.core import fold_constants, run_graph

__all__ = [
    "average",
    "conv_float",
    "elementwise",
    "fold_constants",
    "indexing",
    "int8",
    "matmul",
    "norm",
    "pool",
    "quant",
    "reduce",
    "run_graph",
    "sample",
    "shape",
    "sort",
    "upsample",
]
