"""Products of float32 matrices, with sums in float64."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args


def _product(x: Array, y: Array) -> Array:
    return x.astype(np.float64) @ y.astype(np.float64)


@reference("aten.linear.default", "aten::linear.out")
def _linear(a: Args) -> Array:
    y = _product(a.x, a.weight.T)
    return np.asarray(y if a.bias is None else y + a.bias).astype(np.float32)


@reference("aten.mm.default", "aten::mm.out", "aten.bmm.default", "aten::bmm.out")
def _mm(a: Args) -> Array:
    return _product(a.x, a.y).astype(np.float32)


@reference("aten.addmm.default", "aten::addmm.out")
def _addmm(a: Args) -> Array:
    y = a.alpha * _product(a.x, a.y)
    return np.asarray(y if a.beta == 0 else y + a.beta * a.addend.astype(np.float64), np.float32)
