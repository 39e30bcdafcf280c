"""Pooling, tap by tap over padded maps where the kernels go window by window."""

import numpy as np

from webq8.backends.reference.average import mean_of_terms, stepped, terms
from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, MaxPool2dIndices
from webq8.ir.ops.window import Window

__all__: list[str] = []


def _taps(window: Window, x: Array, out: tuple[int, ...], fill: float) -> list[Array]:
    """For each tap of the window, the elements that it reads for all outputs at once; `fill` outside of the map."""
    (kh, kw), (sh, sw), (dh, dw) = window.kernel, window.stride, window.dilation
    (h, w), (oh, ow), (ph, pw) = x.shape[-2:], out[-2:], window.padding[:2]
    height, width = dh * (kh - 1) + sh * (oh - 1) + 1, dw * (kw - 1) + sw * (ow - 1) + 1
    padded = np.full((*x.shape[:-2], max(height, h + ph), max(width, w + pw)), fill, x.dtype)
    padded[..., ph : ph + h, pw : pw + w] = x
    return [
        padded[..., i * dh : i * dh + sh * (oh - 1) + 1 : sh, j * dw : j * dw + sw * (ow - 1) + 1 : sw]
        for i in range(kh)
        for j in range(kw)
    ]


def _first(window: Window, axis: int, out: int) -> Array:
    """The first index of each window within the map, which torch gives for windows that hold nothing above −inf."""
    start, dilation = np.arange(out) * window.stride[axis] - window.padding[axis], window.dilation[axis]
    return np.asarray(start + dilation * np.maximum(0, -(start // dilation)))


def _max_pool(op: MaxPool2d | MaxPool2dIndices, arrays: Arrays) -> tuple[Array, Array]:
    x, out, window = arrays[op.x], arrays.out.shape, op.window
    h, w = x.shape[-2:]
    places = np.broadcast_to(np.arange(h * w).reshape(h, w), x.shape)
    index = np.broadcast_to(_first(window, 0, out[-2])[:, None] * w + _first(window, 1, out[-1]), out)
    value = np.full(out, -np.inf, np.float32)
    for v, place in zip(_taps(window, x, out, -np.inf), _taps(window, places, out, 0), strict=True):
        take = (v > value) | np.isnan(v)
        value, index = np.where(take, v, value), np.where(take, place, index)
    return value, index


@reference(MaxPool2d)
def max_pool2d(op: MaxPool2d, arrays: Arrays) -> Array:
    x = arrays[op.x]
    if x.dtype == np.int8:
        return np.asarray(np.max(_taps(op.window, x, arrays.out.shape, -128), axis=0))
    return _max_pool(op, arrays)[0]


@reference(MaxPool2dIndices)
def max_pool2d_indices(op: MaxPool2dIndices, arrays: Arrays) -> Array:
    return _max_pool(op, arrays)[1].astype(op.dtype)


@reference(AvgPool2d)
def avg_pool2d(op: AvgPool2d, arrays: Arrays) -> Array:
    x, out = arrays[op.x], arrays.out.shape
    count = _counts(op, (x.shape[-2], x.shape[-1]), out)
    count = np.where(count == 0, 1, count)
    if op.steps:
        total, y = np.sum(_taps(op.window, x.astype(np.int64), out, 0), axis=0), np.zeros(out, np.int8)
        for terms_of_window, steps in op.steps:
            y = np.where(count == terms_of_window, stepped(total, steps, op.bounds), y)
        return y
    if x.dtype == np.int8:
        return mean_of_terms(op, arrays, np.sum(_taps(op.window, terms(op, arrays), out, 0), axis=0), count)
    total = np.sum(_taps(op.window, x.astype(np.float64), out, 0), axis=0)
    return np.asarray(total / count).astype(np.float32)


def _counts(op: AvgPool2d, size: tuple[int, int], out: tuple[int, ...]) -> Array:
    """The number that each window's sum is divided by."""
    window = op.window
    if op.count_include_pad:
        # padding counts, what lies beyond it (by ceil_mode) does not
        (kh, kw), (sh, sw), (top, left, bottom, right) = window.kernel, window.stride, window.padding
        rows = [min(i * sh + kh, size[0] + top + bottom) - i * sh for i in range(out[-2])]
        columns = [min(i * sw + kw, size[1] + left + right) - i * sw for i in range(out[-1])]
        count = np.outer(rows, columns)
    else:
        count = np.sum(_taps(window, np.ones(size), out, 0), axis=0)
    return np.asarray(count if op.divisor is None else np.full_like(count, op.divisor))


@reference(AdaptiveAvgPool2d)
def adaptive_avg_pool2d(op: AdaptiveAvgPool2d, arrays: Arrays) -> Array:
    x, y = arrays[op.x], np.empty(arrays.out.shape, arrays.out.dtype)
    on_int8 = x.dtype == np.int8
    source = terms(op, arrays) if on_int8 else x.astype(np.float64)
    (h, w), (oh, ow) = x.shape[-2:], op.size
    for i in range(oh):
        for j in range(ow):
            part = source[..., i * h // oh : -(-(i + 1) * h // oh), j * w // ow : -(-(j + 1) * w // ow)]
            if on_int8:
                y[..., i, j] = mean_of_terms(op, arrays, part.sum((-2, -1)), part.shape[-1] * part.shape[-2])
            else:
                y[..., i, j] = part.mean(axis=(-2, -1))
    return y
