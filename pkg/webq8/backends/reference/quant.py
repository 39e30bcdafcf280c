"""Quantizing to integers, and dequantizing them."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__ = ["dequantized", "inverse", "to_integers"]


def to_integers(scaled: Array, zero_point: Array | int, low: int = -128, high: int = 127, dtype: str = "int8") -> Array:
    """Rounds half to even, adds the zero point, clamps in float; NaN gives the zero point."""
    q = np.clip(np.rint(scaled) + np.float32(zero_point), np.float32(low), np.float32(high))
    # bounds that float32 rounds up saturate
    whole = np.clip(np.where(np.isnan(scaled), zero_point, q.astype(np.float64)), low, high)
    return whole.astype(np.int64).astype(dtype)


def inverse(scale: float) -> np.float32:
    return np.float32(1.0 / np.float64(scale))


def dequantized(x: Array, scale: float, zero_point: int) -> Array:
    result: Array = (x.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)
    return result


@reference("quantized_decomposed.quantize_per_tensor.default", "quantized_decomposed::quantize_per_tensor.out")
def _quantize(a: Args) -> Array:
    return to_integers(a.x * inverse(a.scale), a.zero_point, a.low, a.high, a.out.tensor.dtype)


@reference("quantized_decomposed.dequantize_per_tensor.default", "quantized_decomposed::dequantize_per_tensor.out")
def _dequantize(a: Args) -> Array:
    return dequantized(a.x, a.scale, a.zero_point)


@reference(
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed::quantize_per_tensor.Tensor_out",
    "quantized_decomposed::quantize_per_tensor.tensor_out",
)
def _quantize_by_tensors(a: Args) -> Array:
    return to_integers(a.x * inverse(a.scale.item()), a.zero_point.item(), a.low, a.high, a.out.tensor.dtype)


@reference(
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed::dequantize_per_tensor.Tensor_out",
    "quantized_decomposed::dequantize_per_tensor.tensor_out",
)
def _dequantize_by_tensors(a: Args) -> Array:
    return dequantized(a.x, a.scale.item(), a.zero_point.item())


def _along(a: Args, numbers: Array) -> Array:
    """Numbers of each channel, to be broadcast over x."""
    shape = [1] * a.x.ndim
    shape[a.axis] = -1
    return numbers.reshape(shape)


@reference("quantized_decomposed.quantize_per_channel.default", "quantized_decomposed::quantize_per_channel.out")
def _quantize_per_channel(a: Args) -> Array:
    zero_points = _along(a, a.zero_points)
    return to_integers(a.x * _along(a, np.float32(1) / a.scales), zero_points, a.low, a.high, a.out.tensor.dtype)


@reference("quantized_decomposed.dequantize_per_channel.default", "quantized_decomposed::dequantize_per_channel.out")
def _dequantize_per_channel(a: Args) -> Array:
    zero_points = 0 if a.zero_points is None else _along(a, a.zero_points.astype(np.int64))
    result: Array = (a.x.astype(np.int64) - zero_points).astype(np.float32) * _along(a, a.scales)
    return result


@reference("quantized_decomposed.choose_qparams.tensor", "quantized_decomposed::choose_qparams.Tensor_out")
def _choose_qparams(a: Args) -> tuple[Array, ...]:
    low, high = np.minimum(a.x.min(), np.float32(0)), np.maximum(a.x.max(), np.float32(0))
    scale = np.maximum((high - low) / np.float32(a.qmax - a.qmin), np.float32(a.eps))
    first = a.qmin - np.rint(low / scale)
    zero_point = int(np.clip(first, a.qmin, a.qmax)) if np.isfinite(first) else a.qmin
    return tuple(np.array([v], out.tensor.dtype) for v, out in zip((scale, zero_point), a.out, strict=True))
