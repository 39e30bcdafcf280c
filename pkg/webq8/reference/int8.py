"""The int8 ops, and quantizing to and from them."""

import numpy as np

from webq8.handlers.registry import Args
from webq8.reference.core import Array, reference

__all__ = ["requantize", "to_int8"]


def to_int8(scaled: Array, zero_point: int, low: int = -128, high: int = 127) -> Array:
    """Rounds half to even, adds the zero point, clamps in float; NaN gives the zero point."""
    q = np.clip(np.rint(scaled) + np.float32(zero_point), np.float32(low), np.float32(high))
    return np.where(np.isnan(scaled), zero_point, q).astype(np.int8)


def _inverse(scale: float) -> np.float32:
    return np.float32(1.0 / np.float64(scale))


def requantize(acc: Array, w_scales: Array, bias: Array | None, a: Args, axis: int) -> Array:
    """Accumulators to int8; `axis` is the output channels'."""
    shape = [1] * acc.ndim
    shape[axis] = -1
    channels = acc.shape[axis]
    v = acc.astype(np.float32) * np.float32(a.x_scale)
    v = v * w_scales[:channels].reshape(shape)
    if bias is not None:
        v = v + bias[:channels].reshape(shape)
    if a.activation == "relu":
        v = np.maximum(v, np.float32(0))
    return to_int8(v * _inverse(a.y_scale), a.y_zero_point)


@reference("quantized_decomposed.quantize_per_tensor.default")
def _quantize(a: Args) -> Array:
    return to_int8(a.x * _inverse(a.scale), a.zero_point, a.qmin, a.qmax)


@reference("quantized_decomposed.dequantize_per_tensor.default")
def _dequantize(a: Args) -> Array:
    result: Array = (a.x.astype(np.int32) - a.zero_point).astype(np.float32) * np.float32(a.scale)
    return result


@reference("et_vk.q8ta_linear.default", "et_vk.q8ta_linear_gemv.default")
def _linear(a: Args) -> Array:
    # float64 holds these sums exactly, and its matrix product is far faster than numpy's integer one
    acc = (a.x.astype(np.float64) - a.x_zero_point) @ a.weight[:, : a.K].astype(np.float64).T
    return requantize(acc.astype(np.int64), a.weight_scales, a.bias, a, -1)


@reference("et_vk.q8ta_conv2d_transposed.default")
def _conv2d_transposed(a: Args) -> Array:
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = a.kernel, a.stride, a.padding, a.dilation
    groups, ic, oc = a.groups, a.IC // a.groups, a.OC // a.groups
    x = (a.x.astype(np.float64) - a.x_zero_point).reshape(a.N, groups, ic, a.H, a.W)
    weight = a.weight[:, : kh * kw * ic].astype(np.float64).reshape(groups, oc, kh, kw, ic)
    # the whole plane that taps reach, cut to the output afterwards
    full = np.zeros((a.N, groups, oc, a.OH + ph + dh * kh + sh * a.H, a.OW + pw + dw * kw + sw * a.W))
    for i in range(kh):
        for j in range(kw):
            part = np.einsum("ngchw,goc->ngohw", x, weight[:, :, i, j])
            full[..., i * dh : i * dh + sh * a.H : sh, j * dw : j * dw + sw * a.W : sw] += part
    acc = full[..., ph : ph + a.OH, pw : pw + a.OW].reshape(a.N, a.OC, a.OH, a.OW)
    return requantize(acc.astype(np.int64), a.weight_scales, a.bias, a, 1)
