"""Pooling, tap by tap over padded maps where the kernels go window by window."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__ = ["counts", "taps"]


def taps(a: Args, x: Array, fill: float, dilation: tuple[int, int]) -> list[Array]:
    """What each tap of the window reads, for all outputs at once; `fill` outside of the map."""
    (kh, kw), (ph, pw), (dh, dw) = a.kernel, a.padding, dilation
    sh, sw = a.stride or a.kernel
    height, width = dh * (kh - 1) + sh * (a.OH - 1) + 1, dw * (kw - 1) + sw * (a.OW - 1) + 1
    padded = np.full((*x.shape[:-2], max(height, a.H + ph), max(width, a.W + pw)), fill, x.dtype)
    padded[..., ph : ph + a.H, pw : pw + a.W] = x
    return [
        padded[..., i * dh : i * dh + sh * (a.OH - 1) + 1 : sh, j * dw : j * dw + sw * (a.OW - 1) + 1 : sw]
        for i in range(kh)
        for j in range(kw)
    ]


def _first(a: Args, i: int) -> Array:
    """Where each window first meets the map: what torch gives for windows that hold nothing above −inf."""
    start = np.arange((a.OH, a.OW)[i]) * (a.stride or a.kernel)[i] - a.padding[i]
    return np.asarray(start + a.dilation[i] * np.maximum(0, -(start // a.dilation[i])))


def _max_pool(a: Args) -> tuple[Array, Array]:
    places = np.broadcast_to(np.arange(a.H * a.W).reshape(a.H, a.W), a.x.shape)
    index = np.broadcast_to(_first(a, 0)[:, None] * a.W + _first(a, 1), (*a.B, a.OH, a.OW))
    value = np.full(index.shape, -np.inf, np.float32)
    for x, place in zip(taps(a, a.x, -np.inf, a.dilation), taps(a, places, 0, a.dilation), strict=True):
        take = (x > value) | np.isnan(x)
        value, index = np.where(take, x, value), np.where(take, place, index)
    return value, index


@reference("aten.max_pool2d.default")
def _max_pool2d(a: Args) -> Array:
    return _max_pool(a)[0]


@reference("aten.max_pool2d_with_indices.default", "aten::max_pool2d_with_indices.out")
def _max_pool2d_with_indices(a: Args) -> tuple[Array, ...]:
    value, index = _max_pool(a)
    return value, index.astype(a.out[1].tensor.dtype)


@reference("aten.avg_pool2d.default", "aten::avg_pool2d.out")
def _avg_pool2d(a: Args) -> Array:
    total, count = np.sum(taps(a, a.x.astype(np.float64), 0, (1, 1)), axis=0), counts(a)
    return np.asarray(total / np.where(count == 0, 1, count)).astype(np.float32)


def counts(a: Args) -> Array:
    """The number that each window's sum is divided by."""
    counted = np.ones((a.H, a.W))
    if a.count_include_pad:
        # padding counts, what lies beyond it (by ceil_mode) does not
        (kh, kw), (ph, pw) = a.kernel, a.padding
        sh, sw = a.stride or a.kernel
        rows = [min(i * sh + kh, a.H + 2 * ph) - i * sh for i in range(a.OH)]
        columns = [min(i * sw + kw, a.W + 2 * pw) - i * sw for i in range(a.OW)]
        count = np.outer(rows, columns)
    else:
        count = np.sum(taps(a, counted, 0, (1, 1)), axis=0)
    if a.divisor_override != -(2**31):
        count = np.full_like(count, a.divisor_override)
    return np.asarray(count)


@reference(
    "aten._adaptive_avg_pool2d.default",
    "aten.adaptive_avg_pool2d.default",
    "aten::_adaptive_avg_pool2d.out",
    "aten::adaptive_avg_pool2d.out",
)
def _adaptive_avg_pool2d(a: Args) -> Array:
    y = np.empty((*a.B, a.OH, a.OW), np.float32)
    for i in range(a.OH):
        for j in range(a.OW):
            rows = slice(i * a.H // a.OH, -(-(i + 1) * a.H // a.OH))
            columns = slice(j * a.W // a.OW, -(-(j + 1) * a.W // a.OW))
            y[..., i, j] = a.x[..., rows, columns].astype(np.float64).mean(axis=(-2, -1))
    return y
