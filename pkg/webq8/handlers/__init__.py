"""One module a family of ops; importing them fills the registry."""

from webq8.handlers import (
    average,
    conv,
    conv_float,
    elementwise,
    indexing,
    int8,
    linear,
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
from webq8.handlers.registry import REGISTRY

__all__ = [
    "REGISTRY",
    "average",
    "conv",
    "conv_float",
    "elementwise",
    "indexing",
    "int8",
    "linear",
    "matmul",
    "norm",
    "pool",
    "quant",
    "reduce",
    "sample",
    "shape",
    "sort",
    "upsample",
]
