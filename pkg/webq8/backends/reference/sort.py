"""The largest or smallest elements in order."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__: list[str] = []


def _ordered(a: Args, descending: bool, kept: int | None = None) -> tuple[Array, ...]:
    x = np.atleast_1d(a.x)
    # numpy sorts stably upwards, NaN last: downwards is the reverse of the reversed row
    order = np.flip(np.argsort(np.flip(x, a.dim), a.dim, kind="stable"), a.dim) if descending else None
    at = np.argsort(x, a.dim, kind="stable") if order is None else x.shape[a.dim] - 1 - order
    at = np.take(at, range(x.shape[a.dim] if kept is None else kept), a.dim)
    return np.take_along_axis(x, at, a.dim).reshape(a.O), at.astype(a.out[1].tensor.dtype).reshape(a.O)


reference("aten.topk.default", "aten::topk.values")(lambda a: _ordered(a, a.largest, a.k))
reference("aten.sort.default", "aten::sort.values", "aten.sort.stable", "aten::sort.values_stable")(
    lambda a: _ordered(a, a.descending)
)
