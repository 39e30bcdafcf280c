"""float32 convolutions by scattering and by shifting whole maps, with sums in float64."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args


def _convolution(a: Args) -> Array:
    g = a.geometry
    n, groups, ic, oc = a.S[0], g["groups"], g["x_channels"], g["y_channels"]
    h, w, oh, ow = g["x_height"], g["x_width"], g["y_height"], g["y_width"]
    kh, kw, sh, sw = g["kernel_height"], g["kernel_width"], g["stride_height"], g["stride_width"]
    ph, pw, dh, dw = g["pad_height"], g["pad_width"], g["dilation_height"], g["dilation_width"]
    x = a.x.astype(np.float64).reshape(n, groups, ic, h, w)
    if a.transposed:
        weight = a.weight.astype(np.float64).reshape(groups, ic, oc, kh, kw)
        full = np.zeros((n, groups, oc, oh + ph + dh * kh + sh * h, ow + pw + dw * kw + sw * w))
        for i in range(kh):
            for j in range(kw):
                part = np.einsum("ngchw,gco->ngohw", x, weight[..., i, j])
                full[..., i * dh : i * dh + sh * h : sh, j * dw : j * dw + sw * w : sw] += part
        y = full[..., ph : ph + oh, pw : pw + ow]
    else:
        weight = a.weight.astype(np.float64).reshape(groups, oc, ic, kh, kw)
        padded = np.pad(x, ((0, 0), (0, 0), (0, 0), (ph, ph), (pw, pw)))
        y = np.zeros((n, groups, oc, oh, ow))
        for i in range(kh):
            for j in range(kw):
                part = padded[..., i * dh :, j * dw :][..., : sh * oh : sh, : sw * ow : sw]
                y += np.einsum("ngchw,goc->ngohw", part, weight[..., i, j])
    if a.bias is not None:
        y = y + a.bias.reshape(groups, oc, 1, 1)
    return y.reshape(a.O).astype(np.float32)


@reference("aten.convolution.default", "aten::convolution.out")
def _plain(a: Args) -> Array:
    return _convolution(a)


@reference("et_vk.conv_with_clamp.default", "et_vk::conv_with_clamp.out")
def _clamped(a: Args) -> Array:
    return np.minimum(np.maximum(_convolution(a), np.float32(a.output_min)), np.float32(a.output_max))
