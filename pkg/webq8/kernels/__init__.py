"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels import (
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
from webq8.kernels.registry import KERNELS, Call, Operand

__all__ = [
    "KERNELS",
    "Call",
    "Operand",
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
