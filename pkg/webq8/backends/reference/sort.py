"""The largest or smallest elements in order."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.sort import TopK

__all__: list[str] = []


@reference(TopK)
def top_k(op: TopK, arrays: Arrays) -> tuple[Array, ...]:
    x = np.atleast_1d(arrays[op.x])
    if op.largest:
        # numpy sorts stably upwards, NaN last: downwards is the reverse of the reversed row
        order = np.flip(np.argsort(np.flip(x, op.axis), op.axis, kind="stable"), op.axis)
        at = x.shape[op.axis] - 1 - order
    else:
        at = np.argsort(x, op.axis, kind="stable")
    at = np.take(at, range(op.k), op.axis)
    shape = arrays.outs[0].shape
    return np.take_along_axis(x, at, op.axis).reshape(shape), at.astype(op.dtype).reshape(shape)
