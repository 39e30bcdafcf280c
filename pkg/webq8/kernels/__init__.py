"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels.registry import Call, KERNELS, Operand
from webq8.kernels import create, indexing, linear, move
from webq8.kernels import (
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

    "KERNELS",
    "Call",
    "Operand",
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
__all__ = ["Call", "KERNELS", "Operand", "create", "indexing", "linear", "move"]
