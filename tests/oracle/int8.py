"""The int8 ops of ExecuTorch, and those that passes make of others."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.core import dequantized, oracle, pair, quantized, reciprocal
from oracle.windows import correlate, spread, starts


def _requantized(
    sums: np.ndarray,
    x_scale: float,
    weight_scales: np.ndarray,
    bias: np.ndarray | None,
    activation: str,
    y_scale: float,
    y_zero_point: int,
) -> np.ndarray:
    """Whole sums [N, OC, …] in float32, one step after the other: scales, bias, activation, rounding. Integers for
    a bias are added first, and there is one factor a channel, as XNNPACK has it."""
    assert (sums == np.rint(sums)).all()
    channels = sums.shape[1]
    if bias is not None and bias.dtype == np.int32:
        assert activation == "none"
        factors = np.float32(x_scale) * weight_scales[:channels] / np.float32(y_scale)
        whole = np.moveaxis(sums, 1, -1) + bias[:channels]
        return np.moveaxis(quantized(whole.astype(np.float32) * factors, y_zero_point), -1, 1)
    v = np.moveaxis(sums.astype(np.float32), 1, -1) * np.float32(x_scale)
    v = v * weight_scales[:channels]
    if bias is not None:
        v = v + bias[:channels]
    if activation == "relu":
        v = np.where(v < 0, np.float32(0), v)
    return np.moveaxis(quantized(v * reciprocal(y_scale), y_zero_point), -1, 1)


@oracle("q8ta_linear", "q8ta_linear_gemv")
def linear(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    weight: np.ndarray,
    weight_sums: Any,
    weight_scales: np.ndarray,
    y_scale: float,
    y_zero_point: int,
    bias: np.ndarray | None = None,
    activation: str = "none",
) -> np.ndarray:
    k = x.shape[-1]
    # by the sums of weights: Σ (x − z) · w = Σ x · w − z · Σ w
    w = weight[:, :k].astype(np.float64)
    sums = x.reshape(math.prod(x.shape[:-1]), k).astype(np.float64) @ w.T - x_zero_point * w.sum(1)
    y = _requantized(sums, x_scale, weight_scales, bias, activation, y_scale, y_zero_point)
    return y.reshape(*x.shape[:-1], len(weight))


@oracle("q8ta_conv2d", "q8ta_conv2d_pw")
def conv2d(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    weight: np.ndarray,
    weight_sums: Any,
    weight_scales: np.ndarray,
    y_scale: float,
    y_zero_point: int,
    bias: np.ndarray | None,
    kernel: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    activation: str = "none",
) -> np.ndarray:
    kernels = _rows_of_taps(weight, kernel, x.shape[1] // groups)
    padded = [(p, p) for p in pair(padding)]
    sums = correlate(x.astype(np.int64) - x_zero_point, kernels, pair(stride), padded, pair(dilation), groups)
    return _requantized(sums, x_scale, weight_scales, bias, activation, y_scale, y_zero_point)


def _rows_of_taps(weight: np.ndarray, kernel: Sequence[int], inputs: int) -> np.ndarray:
    """[OC, (kh · Kw + kw) · IC + ic, and what pads it] to [OC, IC, Kh, Kw]."""
    height, width = pair(kernel)
    kernels = np.empty((len(weight), inputs, height, width), weight.dtype)
    for i in range(height):
        for j in range(width):
            first = (i * width + j) * inputs
            kernels[:, :, i, j] = weight[:, first : first + inputs]
    return kernels


@oracle("q8ta_conv2d_dw")
def conv2d_depthwise(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    weight: np.ndarray,
    weight_sums: Any,
    weight_scales: np.ndarray,
    y_scale: float,
    y_zero_point: int,
    bias: np.ndarray | None,
    kernel: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    activation: str = "none",
) -> np.ndarray:
    kernels = np.moveaxis(weight, 2, 0)[:, None]
    padded = [(p, p) for p in pair(padding)]
    sums = correlate(x.astype(np.int64) - x_zero_point, kernels, pair(stride), padded, pair(dilation), x.shape[1])
    return _requantized(sums, x_scale, weight_scales, bias, activation, y_scale, y_zero_point)


@oracle("q8ta_conv2d_transposed")
def conv2d_transposed(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    weight: np.ndarray,
    weight_sums: Any,
    weight_scales: np.ndarray,
    y_scale: float,
    y_zero_point: int,
    bias: np.ndarray | None,
    kernel: Sequence[int],
    stride: Sequence[int] = (1, 1),
    padding: Sequence[int] = (0, 0),
    output_padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
    groups: int = 1,
    activation: str = "none",
) -> np.ndarray:
    kernels = _rows_of_taps(
        weight, kernel, x.shape[1] // groups
    )  # [OC, IC / groups, …]; `spread` has [IC, OC / groups]
    outputs, inputs = len(kernels) // groups, kernels.shape[1]
    kernels = kernels.reshape(groups, outputs, inputs, *kernels.shape[2:]).swapaxes(1, 2)
    kernels = kernels.reshape(groups * inputs, outputs, *kernels.shape[3:])
    geometry = (pair(stride), pair(padding), pair(dilation), pair(output_padding), groups)
    sums = spread(x.astype(np.int64) - x_zero_point, kernels, *geometry)
    return _requantized(sums, x_scale, weight_scales, bias, activation, y_scale, y_zero_point)


@oracle("q8ta_relu")
def relu(x: np.ndarray, x_scale: float, x_zero_point: int, y_scale: float, y_zero_point: int) -> np.ndarray:
    v = dequantized(x, x_scale, x_zero_point)
    return quantized(np.where(v < 0, np.float32(0), v) * reciprocal(y_scale), y_zero_point)


@oracle("q8ta_add")
def add(
    a: np.ndarray,
    b: np.ndarray,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    alpha: float = 1.0,
) -> np.ndarray:
    second = np.float32(alpha) * dequantized(b, b_scale, b_zero_point)
    return quantized((dequantized(a, a_scale, a_zero_point) + second) * reciprocal(y_scale), y_zero_point)


@oracle("q8ta_pixel_shuffle")
def pixel_shuffle(
    x: np.ndarray, x_scale: float, x_zero_point: int, inv_y_scale: float, y_zero_point: int, upscale_factor: int
) -> np.ndarray:
    r, (n, c, h, w) = upscale_factor, x.shape
    y = np.empty((n, c // r**2, h * r, w * r), np.int8)
    q = quantized(dequantized(x, x_scale, x_zero_point) * np.float32(inv_y_scale), y_zero_point)
    for i in range(r):
        for j in range(r):
            y[:, :, i::r, j::r] = q[:, i * r + j :: r * r]
    return y


@oracle("linear_q8ta_q8csw")
def linear_to_float(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    weight: np.ndarray,
    weight_sums: Any,
    weight_scales: np.ndarray,
    bias: np.ndarray | None = None,
) -> np.ndarray:
    weight = weight[:, : x.shape[-1]]
    if x.dtype == np.float32:
        y = _product(x, weight, weight_scales).astype(np.float32)
    else:  # whole sums, then float32 in the order of the int8 ops
        sums = np.tensordot(x.astype(np.float64) - x_zero_point, weight.astype(np.float64), (-1, 1))
        y = sums.astype(np.float32) * np.float32(x_scale) * weight_scales[: len(weight)]
    return np.asarray(y if bias is None else y + bias[: len(weight)])


@oracle("linear_qcs4w")
def linear_of_nibbles(x: np.ndarray, weight: np.ndarray, weight_scales: np.ndarray) -> np.ndarray:
    values = np.empty((len(weight), 2 * weight.shape[1]), np.int64)
    values[:, 0::2] = weight // 16
    values[:, 1::2] = weight % 16
    return _product(x, values - 8, weight_scales).astype(np.float32)


@oracle("_weight_int8pack_mm")
def linear_of_bytes(x: np.ndarray, weight: np.ndarray, weight_scales: np.ndarray) -> np.ndarray:
    return _product(x, weight, weight_scales).astype(np.float32)


def _product(x: np.ndarray, weight: np.ndarray, weight_scales: np.ndarray) -> np.ndarray:
    scaled = weight.astype(np.float64) * weight_scales[: len(weight), None].astype(np.float64)
    return np.tensordot(x.astype(np.float64), scaled, (-1, 1))


@oracle("table")
def table(x: np.ndarray, entries: Sequence[int]) -> np.ndarray:
    return np.asarray([entries[int(v) + 128] for v in x.flat], np.int8).reshape(x.shape)


@oracle("max_pool2d_int8")
def max_pool2d(
    x: np.ndarray,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> np.ndarray:
    (kh, kw), (ph, pw), (dh, dw) = pair(kernel), pair(padding), pair(dilation)
    sh, sw = pair(stride or kernel)
    rows = starts(x.shape[2], kh, sh, ph, dh, ceil_mode)
    columns = starts(x.shape[3], kw, sw, pw, dw, ceil_mode)
    y = np.empty((*x.shape[:2], len(rows), len(columns)), np.int8)
    for i, top in enumerate(rows):
        for j, left in enumerate(columns):
            of_rows = [r for r in range(top, top + kh * dh, dh) if 0 <= r < x.shape[2]]
            of_columns = [c for c in range(left, left + kw * dw, dw) if 0 <= c < x.shape[3]]
            taps = x[:, :, of_rows][:, :, :, of_columns]
            y[:, :, i, j] = taps.max((2, 3), initial=-128)
    return y


@oracle("cat_channels_int8")
def cat_channels(tensors: Sequence[np.ndarray]) -> np.ndarray:
    n, _, h, w = tensors[0].shape
    maps = [t[:, c] for t in tensors for c in range(t.shape[1])]
    return np.stack(maps, 1) if maps else np.empty((n, 0, h, w), np.int8)
