"""Means of int8 tensors: exact sums, then one product in float32, as the kernels have it."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays
from webq8.backends.reference.numbers import to_integers
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d
from webq8.ir.ops.reduce import Mean, Steps, mean_unit

__all__ = ["mean_of_terms", "stepped", "terms"]


def terms(op: Mean | AvgPool2d | AdaptiveAvgPool2d, arrays: Arrays) -> Array:
    """The integers that are summed for x: its own without zero point, or those of the table."""
    x = arrays[op.x].astype(np.int64)
    if op.table is None:
        return np.asarray(x - arrays.quantization(op.x).zero_point)
    return np.asarray(np.array(op.table.entries)[x + 128])


def mean_of_terms(op: Mean | AvgPool2d | AdaptiveAvgPool2d, arrays: Arrays, total: Array, count: Array | int) -> Array:
    """The mean of terms, quantized to int8."""
    unit, y = mean_unit(arrays.type(op.x), op.table), arrays.out_quantization
    factor = (unit / (np.asarray(count, np.float64) * y.scale)).astype(np.float32)
    return to_integers(total.astype(np.float32) * factor, y.zero_point, *op.bounds)


def stepped(total: Array, steps: Steps, bounds: tuple[int, int] = (-128, 127)) -> Array:
    """What steps make of sums."""
    reached = np.searchsorted(np.array(steps), total, side="right") - 128
    return np.asarray(np.clip(reached, *bounds)).astype(np.int8)
