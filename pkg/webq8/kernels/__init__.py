"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels import linear, norm, pool, reduce, resize, sample, sort
from webq8.kernels.registry import KERNELS, Call, Operand

__all__ = ["KERNELS", "Call", "Operand", "linear", "norm", "pool", "reduce", "resize", "sample", "sort"]
