"""ExecuTorch's operators, one module a family: the only place with their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.schema import OVERLOADS
from webq8.formats.pte.operators import create, indexing, linear, move
from webq8.formats.pte.operators import (
    average,
    conv,
    conv_float,
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

    "OVERLOADS",
    "average",
    "conv",
    "conv_float",
    "elementwise",
    "linear",
    "matmul",
    "norm",
    "pool",
    "quantize",
    "reduce",
    "resize",
    "sample",
    "sort",
]
__all__ = ["OVERLOADS", "create", "indexing", "linear", "move"]
