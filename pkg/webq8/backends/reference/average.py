"""Means of int8 tensors: exact sums, then one product in float32, as the kernels have it."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.backends.reference.pool import counts, taps
from webq8.backends.reference.quant import to_integers
from webq8.handlers.registry import Args

__all__: list[str] = []


def _scaled(total: Array, count: Array | int, a: Args) -> Array:
    factor = (a.x_scale / (np.asarray(count, np.float64) * a.y_scale)).astype(np.float32)
    return to_integers(total.astype(np.float32) * factor, a.y_zero_point, *a.clamp)


def _centred(a: Args) -> Array:
    x = a.x.astype(np.int64)
    return np.asarray((x if a.table is None else np.array(a.table)[x + 128]) - a.x_zero_point)


@reference("webq8.mean_int8.default")
def _mean(a: Args) -> Array:
    total = np.sum(_centred(a), axis=a.axes, keepdims=a.keepdim)
    return _scaled(total, max(1, int(np.prod([a.S[d] for d in a.axes]))), a).reshape(a.O)


@reference("webq8.avg_pool2d_int8.default")
def _avg_pool2d(a: Args) -> Array:
    count = counts(a)
    return _scaled(np.sum(taps(a, _centred(a), 0, (1, 1)), axis=0), np.where(count == 0, 1, count), a)


@reference("webq8.adaptive_avg_pool2d_int8.default")
def _adaptive_avg_pool2d(a: Args) -> Array:
    y, x = np.empty((a.N, a.C, a.OH, a.OW), np.int8), _centred(a)
    for i in range(a.OH):
        for j in range(a.OW):
            rows = slice(i * a.H // a.OH, -(-(i + 1) * a.H // a.OH))
            columns = slice(j * a.W // a.OW, -(-(j + 1) * a.W // a.OW))
            window = x[..., rows, columns]
            y[..., i, j] = _scaled(window.sum((-2, -1)), window.shape[-1] * window.shape[-2], a)
    return y
