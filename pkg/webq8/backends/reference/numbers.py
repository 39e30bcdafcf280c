"""Quantizing to integers and dequantizing them, step by step in float32."""

from typing import Any

import numpy as np
import numpy.typing as npt

from webq8.ir.types import PerTensor

__all__ = ["Array", "dequantized", "inverse", "to_integers"]


Array = npt.NDArray[Any]


def to_integers(scaled: Array, zero_point: Array | int, low: int = -128, high: int = 127, dtype: str = "int8") -> Array:
    """Rounds half to even, adds the zero point, clamps in float; NaN gives the zero point."""
    q = np.clip(np.rint(scaled) + np.float32(zero_point), np.float32(low), np.float32(high))
    # bounds that float32 rounds up saturate
    whole = np.where(np.isnan(scaled), zero_point, np.clip(q.astype(np.float64), low, high))
    return whole.astype(np.int64).astype(dtype)


def inverse(scale: float) -> np.float32:
    """The reciprocal, taken in double."""
    return np.float32(1.0 / np.float64(scale))


def dequantized(x: Array, quantization: PerTensor) -> Array:
    """The float32 numbers that integers stand for."""
    result: Array = (x.astype(np.float32) - np.float32(quantization.zero_point)) * np.float32(quantization.scale)
    return result
