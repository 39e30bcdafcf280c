"""Data types by name: sizes, buffer formats, and the bytes of anything that has the buffer protocol."""

import math
from array import array
from collections.abc import Sequence
from itertools import product
from typing import Any

from webq8.errors import InputError

__all__ = ["FORMAT", "ITEMSIZE", "as_buffer", "cast", "cdiv", "has_buffer", "numel", "round_up", "row_major"]

# name -> code of memoryview and array.array
FORMAT = {
    "float32": "f",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "bool": "?",
    "float16": "e",
    "float64": "d",
}
ITEMSIZE = {
    "float32": 4,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
    "float16": 2,
    "float64": 8,
}
_DTYPES = {code: name for name, code in FORMAT.items()}
_SIZED = {"l": "int", "L": "uint", "n": "int", "N": "uint"}  # C integers whose size differs between platforms
_WORDS = {2: "H", 4: "I", 8: "Q"}  # item size -> code of array.array, which can swap bytes
_BY_SIZE = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}


def numel(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    return cdiv(a, b) * b


def cast(data: memoryview, dtype: str, shape: tuple[int, ...] | None = None) -> "memoryview[Any]":
    """Views bytes as elements of a dtype, flat or in a shape (which may not be empty)."""
    flat: memoryview[Any] = data.cast(FORMAT[dtype])  # type: ignore[call-overload]  # knows only literal formats
    return flat if shape is None else data.cast(FORMAT[dtype], shape)  # type: ignore[call-overload]


def has_buffer(x: Any) -> bool:
    try:
        memoryview(x)
    except TypeError:
        return False
    except (ValueError, BufferError):
        pass  # it has a buffer, which cannot be read
    return True


def row_major(data: memoryview, shape: tuple[int, ...], order: Sequence[int], dtype: str) -> memoryview:
    """Copies elements to row-major order; `order` names the dimensions as they lie in `data`, the outermost first."""
    varying = [d for d in order if shape[d] != 1]
    if varying == sorted(varying) or not numel(shape):
        return data

    def strides(dims: list[int]) -> dict[int, int]:
        return {d: numel(tuple(shape[inner] for inner in dims[n + 1 :])) for n, d in enumerate(dims)}

    x_strides, y_strides = strides(varying), strides(sorted(varying))
    longest = max(varying, key=shape.__getitem__)  # copied by slices, since these are fast
    others = [d for d in varying if d != longest]
    # as integers of that size, since not every Python casts to float16
    x, y = (cast(m, _BY_SIZE[ITEMSIZE[dtype]]) for m in (data, memoryview(bytearray(data))))

    def run(at: tuple[int, ...], of: dict[int, int]) -> slice:
        start = sum(n * of[d] for n, d in zip(at, others, strict=True))
        return slice(start, start + shape[longest] * of[longest], of[longest])

    for at in product(*(range(shape[d]) for d in others)):
        y[run(at, y_strides)] = x[run(at, x_strides)]
    return y.cast("B").toreadonly()


def as_buffer(x: Any, name: str) -> tuple[memoryview, tuple[int, ...], str]:
    """The flat little-endian bytes, the shape and the dtype of a numpy array or of any other object with a buffer.

    Raises InputError, naming the argument, where it has none or its element type is not one of FORMAT.
    """
    try:
        view = memoryview(x)
    except TypeError:
        raise InputError(
            f"{name}: a {type(x).__name__} is not an array; pass a numpy array or another object with a buffer"
        ) from None
    except (ValueError, BufferError) as e:
        raise InputError(f"{name}: its elements cannot be read: {e}") from None
    if hasattr(x, "mask"):  # a buffer does not tell which elements are masked
        raise InputError(f"{name}: a masked array has elements without a value; fill them in with x.filled(value)")
    shape, code = view.shape or (), view.format
    dtype = _DTYPES.get(code) or _dtype(code, view.itemsize)
    if dtype is None:
        raise InputError(f"{name}: elements of type {code!r} are not supported; use one of {', '.join(FORMAT)}")
    if not view.nbytes:
        return memoryview(b""), shape, dtype
    if code[0] in ">!" and view.itemsize > 1:
        swapped = array(_WORDS[view.itemsize], view.tobytes())
        swapped.byteswap()
        return memoryview(swapped).cast("B"), shape, dtype
    return (view if view.c_contiguous else memoryview(view.tobytes())).cast("B"), shape, dtype


def _dtype(code: str, itemsize: int) -> str | None:
    """The dtype of a buffer format that states its byte order, or is a C integer; None for other formats."""
    plain = code.lstrip("@=<>!")
    return f"{_SIZED[plain]}{8 * itemsize}" if plain in _SIZED else _DTYPES.get(plain)
