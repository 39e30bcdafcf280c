"""Data types by name: sizes, buffer formats, and tensors out of anything that has the buffer protocol."""

import math
from typing import Any

from webq8.errors import InputError

__all__ = ["FORMAT", "ITEMSIZE", "as_buffer", "cast", "cdiv", "numel", "round_up", "to_array"]

# name -> code of memoryview and array.array
FORMAT = {
    "float32": "f",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "bool": "?",
    "float16": "e",
    "float64": "d",
}
ITEMSIZE = {
    "float32": 4,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "bool": 1,
    "float16": 2,
    "float64": 8,
}
_INTS = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}  # C's "l" differs in size between platforms


def numel(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    return cdiv(a, b) * b


def cast(data: memoryview, dtype: str, shape: tuple[int, ...] | None = None) -> "memoryview[Any]":
    """Bytes as elements of a dtype, flat or in a shape (which may not be empty)."""
    flat: memoryview[Any] = data.cast(FORMAT[dtype])  # type: ignore[call-overload]  # knows only literal formats
    return flat if shape is None else data.cast(FORMAT[dtype], shape)  # type: ignore[call-overload]


def _empty(shape: tuple[int, ...], dtype: str) -> "memoryview[Any]":
    """A memoryview cannot be cast to a shape without elements, but one of a ctypes array has it."""
    import ctypes

    kind: Any = {"float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool}.get(dtype)
    kind = kind or getattr(ctypes, f"c_{dtype}")
    for size in reversed(shape):
        kind = kind * size
    return memoryview(kind())


def as_buffer(x: Any, name: str) -> tuple[memoryview, tuple[int, ...], str]:
    """Flat little-endian bytes, shape and dtype name of a numpy array or any other object with a buffer.

    Raises InputError, naming the argument, where it has none or its element type is not one of FORMAT.
    """
    try:
        view = memoryview(x)
    except TypeError:
        raise InputError(
            f"{name}: a {type(x).__name__} is not an array; pass a numpy array or another object with a buffer"
        ) from None
    code = view.format.lstrip("@=<") or "B"
    dtype = next((d for d, c in FORMAT.items() if c == code), None)
    if code == "l":
        dtype = _INTS[view.itemsize]
    if dtype is None:
        raise InputError(f"{name}: elements of type {view.format!r} are not supported; use one of {', '.join(FORMAT)}")
    shape = tuple(view.shape or ())
    if not numel(shape):
        return memoryview(b""), shape, dtype
    return (view if view.c_contiguous else memoryview(view.tobytes())).cast("B"), shape, dtype


def to_array(data: bytearray | memoryview, shape: tuple[int, ...], dtype: str) -> Any:
    """A numpy array over `data`; without numpy, a memoryview of that format and shape."""
    try:
        import numpy as np
    except ImportError:
        return cast(memoryview(data).cast("B"), dtype, shape) if numel(shape) else _empty(shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape)
