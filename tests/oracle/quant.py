"""Quantizing, dequantizing, and choosing scales."""

from typing import Any

import numpy as np

from oracle.core import dequantized, dtype_of, oracle, quantized, reciprocal


def _bounds(qmin: int | None, qmax: int | None, dtype: np.dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min) if qmin is None else qmin, int(info.max) if qmax is None else qmax


@oracle("quantize_per_tensor", "quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor(
    x: np.ndarray, scale: Any, zero_point: Any, qmin: int | None = None, qmax: int | None = None, dtype: Any = None
) -> np.ndarray:
    scale, zero_point = np.asarray(scale).item(), np.asarray(zero_point).item()
    to = dtype_of(dtype, "int8")
    return quantized(np.asarray(x * reciprocal(scale)), zero_point, *_bounds(qmin, qmax, to), to)


@oracle("dequantize_per_tensor", "quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_per_tensor(
    x: np.ndarray,
    scale: Any,
    zero_point: Any,
    qmin: int | None = None,
    qmax: int | None = None,
    dtype: Any = None,
    out_dtype: Any = None,
) -> np.ndarray:
    return dequantized(x, np.asarray(scale).item(), np.asarray(zero_point).item())


@oracle("quantize_per_channel")
def quantize_per_channel(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    axis: int,
    qmin: int | None = None,
    qmax: int | None = None,
    dtype: Any = None,
) -> np.ndarray:
    to = dtype_of(dtype, "int8")
    y = np.empty(x.shape, to)
    for c in range(x.shape[axis]):
        at = (slice(None),) * (axis % x.ndim) + (c,)
        # here the quotient is of float32 from the start
        v = np.asarray(x[at] * (np.float32(1) / np.float32(scales[c])))
        y[at] = quantized(v, int(zero_points[c]), *_bounds(qmin, qmax, to), to)
    return y


@oracle("dequantize_per_channel")
def dequantize_per_channel(
    x: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray | None,
    axis: int,
    qmin: int | None = None,
    qmax: int | None = None,
    dtype: Any = None,
    out_dtype: Any = None,
) -> np.ndarray:
    y = np.empty(x.shape, np.float32)
    for c in range(x.shape[axis]):
        at = (slice(None),) * (axis % x.ndim) + (c,)
        # here the difference is one of whole numbers
        whole = x[at].astype(np.int64) - (0 if zero_points is None else int(zero_points[c]))
        y[at] = whole.astype(np.float32) * np.float32(scales[c])
    return y


@oracle("choose_qparams")
def choose_qparams(
    x: np.ndarray, qmin: int, qmax: int, eps: float = float(np.finfo(np.float32).eps), dtype: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """In float32 to the end; torch takes the last difference of integers, which is the same up to 24 bits of range."""
    low, high = np.float32(min(0, x.min())), np.float32(max(0, x.max()))
    scale = max((high - low) / np.float32(qmax - qmin), np.float32(eps))
    place = np.float32(qmin) - np.rint(low / scale)
    return np.array([scale], np.float64), np.array([min(max(int(place), qmin), qmax)], np.int64)
