"""ExecuTorch's operators, one module a family: the only place with their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.operators import (
    average,
    conv,
    conv_float,
    create,
    elementwise,
    indexing,
    linear,
    matmul,
    move,
    norm,
    pool,
    quantize,
    reduce,
    resize,
    sample,
    sort,
)
from webq8.formats.pte.schema import OVERLOADS

__all__ = [
    "OVERLOADS",
    "average",
    "conv",
    "conv_float",
    "create",
    "elementwise",
    "indexing",
    "linear",
    "matmul",
    "move",
    "norm",
    "pool",
    "quantize",
    "reduce",
    "resize",
    "sample",
    "sort",
]
