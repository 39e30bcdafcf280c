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


@oracle("quantize_per_token")
def quantize_per_token(x: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, *bounds: Any) -> np.ndarray:
    rows, numbers = x.reshape(-1, x.shape[-1]), (scales.ravel(), zero_points.ravel())
    each = [quantize_per_tensor(row, s, z, *bounds) for row, s, z in zip(rows, *numbers, strict=True)]
    return np.array(each).reshape(x.shape)


@oracle("dequantize_per_token")
def dequantize_per_token(x: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, *_: Any) -> np.ndarray:
    shape = (*x.shape[:-1], 1)
    # here the difference is of whole numbers from the start
    whole = x.astype(np.int64) - zero_points.reshape(shape)
    return whole.astype(np.float32) * scales.reshape(shape).astype(np.float32)


@oracle("choose_qparams_per_token_asymmetric")
def choose_qparams_per_token_asymmetric(x: np.ndarray, dtype: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """As torch has it, in float32."""
    scales, zero_points = np.empty((*x.shape[:-1], 1)), np.empty((*x.shape[:-1], 1), np.int64)
    for row in np.ndindex(x.shape[:-1]):
        low, high = np.float32(min(0, x[row].min())), np.float32(max(0, x[row].max()))
        scale = max((high - low) / np.float32(255), np.finfo(np.float32).eps)
        lowest, highest = low / scale, high / scale
        by_low = (np.float32(-128) + lowest) + (np.float32(127) + highest) > 0
        place = np.float32(-128) - lowest if by_low else np.float32(127) - highest
        scales[row], zero_points[row] = scale, int(np.rint(np.clip(place, -128, 127)))
    return scales, zero_points


@oracle("choose_qparams")
def choose_qparams(
    x: np.ndarray, qmin: int, qmax: int, eps: float = float(np.finfo(np.float32).eps), dtype: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """In float32 to the end; torch takes the last difference of integers, which is the same up to 24 bits of range."""
    low, high = np.float32(min(0, x.min())), np.float32(max(0, x.max()))
    scale = max((high - low) / np.float32(qmax - qmin), np.float32(eps))
    place = np.float32(qmin) - np.rint(low / scale)
    return np.array([scale], np.float64), np.array([min(max(int(place), qmin), qmax)], np.int64)
