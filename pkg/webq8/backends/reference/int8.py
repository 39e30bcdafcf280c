"""The int8 ops."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.backends.reference.quant import dequantized, inverse, to_integers
from webq8.handlers.registry import Args

__all__ = ["requantize"]


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
    return to_integers(v * inverse(a.y_scale), a.y_zero_point, *a.clamp)


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


@reference("et_vk.q8ta_conv2d.default", "et_vk.q8ta_conv2d_pw.default")
def _conv2d(a: Args) -> Array:
    groups, ic, oc = a.groups, a.IC // a.groups, a.OC // a.groups
    (kh, kw), weight = a.kernel, a.weight[:, : a.R]
    return _correlate(a, weight.reshape(groups, oc, kh, kw, ic))


@reference("et_vk.q8ta_conv2d_dw.default")
def _conv2d_depthwise(a: Args) -> Array:
    return _correlate(a, a.weight.transpose(2, 0, 1)[:, None, :, :, None])


def _correlate(a: Args, weight: Array) -> Array:
    """weight [groups, OC/groups, Kh, Kw, IC/groups]; pads with the zero point, which is 0 once it is taken off."""
    (sh, sw), (ph, pw), (dh, dw) = a.stride, a.padding, a.dilation
    groups, oc, kh, kw, ic = weight.shape
    x = np.pad(a.x.astype(np.float64) - a.x_zero_point, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    x = x.reshape(a.N, groups, ic, *x.shape[2:])
    acc = np.zeros((a.N, groups, oc, a.OH, a.OW))
    for i in range(kh):
        for j in range(kw):
            top, left = i * dh, j * dw
            part = x[..., top : top + (a.OH - 1) * sh + 1 : sh, left : left + (a.OW - 1) * sw + 1 : sw]
            acc += np.einsum("ngchw,goc->ngohw", part, weight[:, :, i, j].astype(np.float64))
    return requantize(acc.reshape(a.N, a.OC, a.OH, a.OW).astype(np.int64), a.weight_scales, a.bias, a, 1)


@reference("et_vk.q8ta_relu.default")
def _relu(a: Args) -> Array:
    v = np.maximum(dequantized(a.x, a.x_scale, a.x_zero_point), np.float32(0))
    return to_integers(v * inverse(a.y_scale), a.y_zero_point, *a.clamp)


@reference("et_vk.q8ta_add.default")
def _add(a: Args) -> Array:
    v = dequantized(a.a, a.a_scale, a.a_zero_point) + np.float32(a.alpha) * dequantized(a.b, a.b_scale, a.b_zero_point)
    return to_integers(v * inverse(a.y_scale), a.y_zero_point, *a.clamp)


@reference("et_vk.q8ta_pixel_shuffle.default")
def _pixel_shuffle(a: Args) -> Array:
    r = a.upscale_factor
    x = a.x.reshape(a.N, a.OC, r, r, a.H, a.W).transpose(0, 1, 4, 2, 5, 3).reshape(a.N, a.OC, a.OH, a.OW)
    return to_integers(dequantized(x, a.x_scale, a.x_zero_point) * inverse(1.0 / a.inv_y_scale), a.y_zero_point)


@reference("et_vk.linear_q8ta_q8csw.default")
def _linear_float_out(a: Args) -> Array:
    weight = a.weight[:, : a.K]
    if a.x.dtype == np.int8:
        acc = (a.x.astype(np.float64) - a.x_zero_point) @ weight.astype(np.float64).T
        v = acc.astype(np.float32) * np.float32(a.x_scale)
    else:
        v = _float_product(a.x, weight)
    v = v * a.weight_scales[: a.N]
    result: Array = v if a.bias is None else v + a.bias[: a.N]
    return result


@reference("et_vk.linear_qcs4w.default")
def _linear_int4(a: Args) -> Array:
    weight = np.stack([a.weight >> 4, a.weight & 15], -1).reshape(a.N, a.K).astype(np.int8) - 8
    result: Array = _float_product(a.x, weight) * a.weight_scales[: a.N]
    return result


@reference("aten._weight_int8pack_mm.default", "aten::_weight_int8pack_mm.out")
def _linear_int8(a: Args) -> Array:
    result: Array = _float_product(a.x, a.weight[:, : a.K]) * a.weight_scales[: a.N]
    return result


def _float_product(x: Array, weight: Array) -> Array:
    result: Array = (x.astype(np.float64) @ weight.astype(np.float64).T).astype(np.float32)
    return result


@reference("webq8.table.default")
def _table(a: Args) -> Array:
    result: Array = np.array(a.table, np.int8)[a.x.astype(np.int32) + 128]
    return result


@reference("webq8.max_pool2d_int8.default")
def _max_pool2d(a: Args) -> Array:
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = a.kernel, a.stride or a.kernel, a.padding, a.dilation
    room = ((0, 0), (0, 0), (ph, ph + kh * dh + sh), (pw, pw + kw * dw + sw))  # ceil_mode may reach further
    x = np.pad(a.x, room, constant_values=-128)
    windows = [
        x[:, :, i * dh : i * dh + (a.OH - 1) * sh + 1 : sh, j * dw : j * dw + (a.OW - 1) * sw + 1 : sw]
        for i in range(kh)
        for j in range(kw)
    ]
    result: Array = np.max(windows, 0)
    return result


@reference("webq8.cat_channels_int8.default")
def _cat_channels(a: Args) -> Array:
    result: Array = np.concatenate(a.tensors, 1)
    return result
