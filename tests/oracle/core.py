"""How the oracle's functions are found by name, and the arithmetic that all of them share."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ORACLE: dict[str, Callable[..., Any]] = {}

# torch numbers its scalar types so
_NUMBERED = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 6: "float32", 11: "bool"}


def oracle(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that takes the arguments of these ops as their schemas order them."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            assert name not in ORACLE, name
            ORACLE[name] = function
        return function

    return register


def dtype_of(dtype: int | str | None, default: Any) -> np.dtype:
    """The dtype that an argument names: by torch's number, by its name, or by default where it is null."""
    return np.dtype(default if dtype is None else dtype if isinstance(dtype, str) else _NUMBERED[dtype])


def wide(*arrays: Any) -> list[np.ndarray]:
    """The arrays in float64, in which sums and functions are computed before they are rounded once."""
    return [np.asarray(a, np.float64) for a in arrays]


def single(values: Any) -> np.ndarray:
    return np.asarray(values, np.float64).astype(np.float32)


def exactly(function: Callable[..., int], dtype: Any, *arrays: Any) -> np.ndarray:
    """A function of whole numbers without bounds, broadcast; its results lose the bits that the dtype has not."""
    size = 8 * np.dtype(dtype).itemsize
    half = 2 ** (size - 1) if np.dtype(dtype).kind == "i" else 0

    def element(*values: Any) -> int:
        return (function(*map(int, values)) + half) % 2**size - half

    result = np.frompyfunc(element, len(arrays), 1)(*(np.asarray(a, object) for a in arrays))
    return np.asarray(result, object).astype(dtype)


def is_whole(*arrays: Any) -> bool:
    return all(np.asarray(a).dtype.kind in "iu" for a in arrays)


def quantized(v: np.ndarray, zero_point: Any, low: int = -128, high: int = 127, dtype: Any = "int8") -> np.ndarray:
    """clamp(round_half_even(v) + zero_point, low, high), in float32 up to the clamp; NaN gives the zero point."""
    assert v.dtype == np.float32
    whole, fraction = np.floor(v), v - np.floor(v)
    up = (fraction > 0.5) | ((fraction == 0.5) & (np.mod(whole, 2) == 1))
    moved = (whole + up.astype(np.float32)) + np.asarray(zero_point).astype(np.float32)
    clamped = np.minimum(np.maximum(moved.astype(np.float64), low), high)
    return np.asarray(np.where(np.isnan(v), zero_point, np.where(np.isnan(clamped), 0, clamped))).astype(dtype)


def reciprocal(scale: Any) -> np.float32:
    """1 / scale, divided in double and then rounded."""
    return np.float32(1.0 / float(scale))


def dequantized(x: np.ndarray, scale: Any, zero_point: int) -> np.ndarray:
    """(float32(x) − zero_point) · scale; both are rounded before the difference is taken, as in torch."""
    return np.asarray((x.astype(np.float32) - np.float32(zero_point)) * np.float32(scale))


def pair(value: int | Sequence[int]) -> tuple[int, int]:
    """Height and width, of which an exporter may write one for both."""
    both = (value,) if isinstance(value, int) else tuple(value)
    return (both[0], both[0]) if len(both) == 1 else (both[0], both[1])


def axes_of(x: np.ndarray, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """The dimensions that an op reduces: all of them, where it names none."""
    dims = () if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if not x.ndim or not dims:
        return tuple(range(x.ndim))
    return tuple(sorted(d + x.ndim if d < 0 else d for d in dims))
