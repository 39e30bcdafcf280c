"""Tensors of given numbers, and conversions of dtype."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.create import Cast, Fill, Sequence

__all__: list[str] = []


@reference(Fill)
def fill(op: Fill, arrays: Arrays) -> Array:
    return np.full(op.shape, np.array(op.value).astype(op.dtype))


@reference(Sequence)
def sequence(op: Sequence, arrays: Arrays) -> Array:
    steps = np.arange(op.count, dtype=np.int64)  # intp is int32 in a page
    return (op.start + steps * op.step).astype(op.dtype)


@reference(Cast)
def cast(op: Cast, arrays: Arrays) -> Array:
    x, target = arrays[op.x], np.dtype(op.dtype)
    if x.dtype == np.float32 and target.kind in "iu":
        x = x.astype(np.int64)  # one path for all integers, so that what does not fit wraps around
    return np.ascontiguousarray(np.broadcast_to(x.astype(target), op.shape)).reshape(op.shape)
