"""Convolutions by scattering and by shifting whole maps, with sums in float64, which holds those of int8 exactly."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.linear import centered, channel_scales, requantize
from webq8.ir.ops.conv import Conv2d, Convolution


@reference(Conv2d)
def conv2d(op: Conv2d, arrays: Arrays) -> Array:
    of_x, weight = arrays.quantization(op.x), centered(arrays, op.weight)
    grouped = weight.reshape(op.groups, weight.shape[0] // op.groups, *weight.shape[1:])
    x = arrays[op.x].astype(np.float64) - of_x.zero_point  # so that padding is zero
    acc = _sums(op, x, np.moveaxis(grouped, -1, 2), arrays.out.shape).astype(np.int64)
    scales, bias = channel_scales(arrays.type(op.weight)), None if op.bias is None else arrays[op.bias]
    return requantize(acc, of_x, scales, bias, op, arrays.out_quantization, 1)


@reference(Convolution)
def convolution(op: Convolution, arrays: Arrays) -> Array:
    x, weight, shape = arrays[op.x], arrays[op.weight], arrays.out.shape
    flat = (1,) * (4 - x.ndim)  # rows of maps in one dimension
    grouped = weight.reshape(op.groups, weight.shape[0] // op.groups, weight.shape[1], *flat, *weight.shape[2:])
    if op.transposed:
        grouped = grouped.swapaxes(1, 2)
    y = _sums(op, x.reshape(*x.shape[:2], *flat, *x.shape[2:]), grouped, (*shape[:2], *flat, *shape[2:]))
    if op.bias is not None:
        y = y + arrays[op.bias].reshape(-1, 1, 1)
    return np.minimum(np.maximum(y.reshape(shape).astype(np.float32), np.float32(op.low)), np.float32(op.high))


def _sums(op: Conv2d | Convolution, x: Array, weight: Array, shape: tuple[int, ...]) -> Array:
    """Sums of products of x [N, IC, H, W] and weight [groups, OC/groups, IC/groups, Kh, Kw], for results of a shape."""
    (n, channels, h, w), (oh, ow), groups = x.shape, shape[2:], op.groups
    (sh, sw), (top, left, bottom, right), (dh, dw) = op.stride, op.padding, op.dilation
    x = x.astype(np.float64).reshape(n, groups, channels // groups, h, w)
    weight, (kh, kw) = weight.astype(np.float64), weight.shape[3:]
    if op.transposed:
        # the whole plane that taps reach, cut to the output afterwards
        full = np.zeros((n, groups, weight.shape[1], oh + top + dh * kh + sh * h, ow + left + dw * kw + sw * w))
        for i in range(kh):
            for j in range(kw):
                part = np.einsum("ngchw,goc->ngohw", x, weight[..., i, j])
                full[..., i * dh : i * dh + sh * h : sh, j * dw : j * dw + sw * w : sw] += part
        return full[..., top : top + oh, left : left + ow].reshape(shape)
    padded = np.pad(x, ((0, 0), (0, 0), (0, 0), (top, bottom), (left, right)))
    y = np.zeros((n, groups, weight.shape[1], oh, ow))
    for i in range(kh):
        for j in range(kw):
            part = padded[..., i * dh :, j * dw :][..., : sh * oh : sh, : sw * ow : sw]
            y += np.einsum("ngchw,goc->ngohw", part, weight[..., i, j])
    return y.reshape(shape)
