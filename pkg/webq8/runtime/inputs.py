"""Converts what users pass (arrays of any dtype, numbers, lists, JavaScript's arrays) to an input's shape and dtype.

Nothing is lost or guessed: values convert exactly, or an InputError names the first that does not; a shape fits, or the
error says how to make it fit. Only floats of Python and JavaScript, which have no dtype of their own, are rounded.
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from webq8.dtypes import FORMAT, ITEMSIZE, as_buffer, has_buffer, numel
from webq8.errors import InputError, shown

__all__ = ["Given", "convert", "fit", "give"]

_FLOATS = ("float16", "float32", "float64")
_DEEPEST = 32  # lists within lists
_EXACT = 2**53  # integers up to this one are float64 as well

Shape = tuple[int, ...]
_UNTYPED = ("number", "list", "tuple", "range", "Array")  # kinds without a dtype of their own
_NUMBER, _LIST, _BYTES = (int, float), (list, tuple, range), (bytes, bytearray)


class Given(NamedTuple):
    """Values that a user passed, as flat little-endian bytes.

    `shape` is None for what has none of its own (a typed array, an `array.array`), `dtype` for plain bytes.
    """

    data: memoryview
    shape: Shape | None
    dtype: str | None
    kind: str = "array"

    @property
    def elements(self) -> int:
        return len(self.data) // ITEMSIZE[self.dtype or "uint8"]

    def __str__(self) -> str:
        if self.dtype is None:
            return f"{self.elements} bytes"
        if self.shape is None:
            return f"{self.kind} of {self.elements}"
        if self.kind in _UNTYPED:
            return f"{self.kind} of shape {list(self.shape)}" if self.shape else "number"
        return f"{self.dtype} {list(self.shape)}"


def fit(x: Any, shape: Shape, dtype: str, name: str) -> memoryview:
    """The flat little-endian bytes of `x` as an input of this shape and dtype; no copy where `x` has both already."""
    given = give(x, dtype, name)
    if given.shape == shape and given.dtype == dtype:
        return given.data
    if given.dtype is None:
        if len(given.data) != numel(shape) * ITEMSIZE[dtype]:
            need = numel(shape) * ITEMSIZE[dtype]
            raise InputError(f"{name}: expected {dtype} {list(shape)}, which is {need} bytes, got {given}")
        return given.data
    if not _fits(given, shape):
        raise InputError(f"{name}: expected {dtype} {list(shape)}, got {given}{_shape_hint(x, given, shape)}")
    return convert(given, dtype, name)


def _fits(given: Given, shape: Shape) -> bool:
    """Whether values fit a shape; those without a shape need as many elements, and a number fits any one element."""
    if given.shape is None or given.shape == ():
        return given.elements == numel(shape)
    return given.shape == shape or (given.kind == "ImageData" and (1, *given.shape) == shape)


def give(x: Any, dtype: str | None, name: str) -> Given:
    """The values of `x`; numbers and lists, which have no dtype of their own, are taken as `dtype`."""
    if not has_buffer(x):
        return _without_buffer(x, dtype, name)
    data, shape, own = as_buffer(x, name)
    if isinstance(x, _BYTES):
        return Given(data, None, None)
    return Given(data, None, own, f"array({x.typecode!r})") if isinstance(x, array) else Given(data, shape, own)


def _without_buffer(x: Any, dtype: str | None, name: str) -> Given:
    if isinstance(x, _NUMBER):
        return Given(memoryview(_packed([x], _told(dtype, name), name, ())), (), dtype, "number")
    if isinstance(x, _LIST):
        shape, parts = _rows(x, _told(dtype, name), name, ())
        return Given(memoryview(b"".join(parts)), shape, dtype, type(x).__name__)
    if hasattr(x, "js_id"):
        return _from_js(x, dtype, name)
    return Given(*as_buffer(_by_protocol(x, name), name))


def _told(dtype: str | None, name: str) -> str:
    if dtype is None:
        raise InputError(f"{name}: numbers and lists have no dtype; say which, as by webq8.tensor(x, dtype='float32')")
    return dtype


def _from_js(x: Any, dtype: str | None, name: str) -> Given:
    from webq8.backends.browser import page

    kind, value = page.to_python(x, name)
    if isinstance(value, list):
        return give(value, dtype, name)._replace(kind=kind)
    if not isinstance(value, memoryview):
        raise InputError(
            f"{name}: a JavaScript {kind} is neither a number nor an array; pass a typed array, an ArrayBuffer, an "
            "ImageData or nested arrays of numbers"
        )
    data, shape, own = as_buffer(value, name)
    if kind in ("ArrayBuffer", "SharedArrayBuffer", "DataView"):
        return Given(data, None, None)
    return Given(data, shape if kind == "ImageData" else None, own, kind)


def _by_protocol(x: Any, name: str) -> Any:
    """The array that an object without a buffer gives numpy (a torch tensor, a pandas frame); InputError for others."""
    kind = type(x)
    if any(base.__module__.startswith("PIL.") for base in kind.__mro__):
        raise InputError(
            f"{name}: an image of PIL has no numbers of the model's kind yet; convert and scale it as the model was "
            "trained, as by np.asarray(image.convert('RGB'), 'float32').transpose(2, 0, 1)[None] / 255"
        )
    if hasattr(x, "__await__"):
        raise InputError(f"{name}: a {kind.__name__} has no value yet; await it first")
    if not hasattr(x, "__array__"):
        raise InputError(
            f"{name}: a {kind.__name__} is neither a number nor an array; pass a numpy array, nested lists of numbers, "
            "or anything with a buffer"
        )
    try:
        return x.__array__()
    except Exception as e:  # whatever a library says of its own
        raise InputError(f"{name}: this {kind.__name__} gives no numpy array: {e}") from None


def _rows(x: Sequence[Any], dtype: str, name: str, at: Shape) -> tuple[Shape, list[bytes | memoryview]]:
    """The shape and the bytes of a list, which stands at the index `at` of an outer one."""
    if len(at) > _DEEPEST:
        raise InputError(f"{name}: lists within lists, more than {_DEEPEST} deep")
    if not all(isinstance(v, _NUMBER) for v in x):
        x = [v.item() if type(v).__module__ == "numpy" and v.shape == () else v for v in x]
    if all(isinstance(v, _NUMBER) for v in x):
        return (len(x),), [_packed(x, dtype, name, (len(x),), at)]
    shapes, parts = list[Shape](), list[bytes | memoryview]()
    for i, v in enumerate(x):
        if isinstance(v, _LIST):
            shape, row = _rows(v, dtype, name, (*at, i))
        else:
            where = f"{name}, at {[*at, i]}"
            given = give(v, dtype, where)
            if given.dtype is None:
                raise InputError(f"{where}: bytes among numbers; pass arrays or lists")
            row = [convert(given, dtype, where)]
            shape = (given.elements,) if given.shape is None else given.shape
        if shapes and shape != shapes[0]:
            first = [*at, 0]
            raise InputError(
                f"{name}: rows of a list differ: at {first} is {list(shapes[0])}, at {[*at, i]} is {list(shape)}"
            )
        shapes.append(shape)
        parts += row
    return (len(x), *shapes[0]), parts


def convert(given: Given, dtype: str, name: str) -> memoryview:
    """The values as another dtype. Raises InputError for the first that does not convert exactly."""
    own = given.dtype or dtype
    if own == dtype:
        return given.data
    quickly = _by_numpy(given.data, own, dtype)
    if quickly is not None:
        return quickly
    values = _unpacked(given.data, own)
    shape = (len(values),) if given.shape is None else given.shape
    return memoryview(_packed(values, dtype, name, shape, own=own))


def _by_numpy(data: memoryview, own: str, dtype: str) -> memoryview | None:
    """The values converted by numpy; None where it is not installed, or some value does not convert exactly."""
    try:
        import numpy as np
    except ImportError:
        return None
    values = np.frombuffer(data, own)
    if own in ("int64", "uint64") and values.size and not -_EXACT <= values.min() <= values.max() <= _EXACT:
        return None
    with np.errstate(all="ignore"):  # what overflows is not equal below
        result = values.astype(dtype)
        before, after = values.astype(np.float64), result.astype(np.float64)
        same = (before == after) | (np.isnan(before) & np.isnan(after))
    return as_buffer(result, dtype)[0] if same.all() else None


def _unpacked(data: bytes | memoryview, dtype: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{len(data) // ITEMSIZE[dtype]}{FORMAT[dtype]}", data)


def _packed(
    values: Sequence[Any], dtype: str, name: str, shape: Shape, at: Shape = (), own: str | None = None
) -> bytes:
    """Numbers as bytes of a dtype. Floats without a dtype of their `own` are rounded to a float dtype.

    Raises InputError for the first that the dtype does not hold; `shape` and `at` say where it stands.
    """
    packed, bad = _try_to_pack(values, dtype, rounds=own is None)
    if bad is None:
        return packed
    index = [*at, *_index(bad, shape)]
    where = f" at {index}" if index else ""
    given = f" ({own})" if own else ""
    hint = f"; round with x.astype({dtype!r}) where that is meant" if own and dtype in _FLOATS else ""
    raise InputError(f"{name}: {shown(values[bad])}{given}{where} is not exactly {_described(dtype)}{hint}")


def _try_to_pack(values: Sequence[Any], dtype: str, rounds: bool) -> tuple[bytes, int | None]:
    """The bytes, and the position of the first value that the dtype does not hold."""
    floats = dtype in _FLOATS
    try:
        packed = struct.pack(f"<{len(values)}{FORMAT[dtype]}", *(values if floats else map(int, values)))
    except (struct.error, OverflowError, ValueError):  # out of range, infinite, not a number
        if len(values) == 1:
            return b"", 0
        alone = (_try_to_pack([v], dtype, rounds)[1] for v in values)
        return b"", next(i for i, bad in enumerate(alone) if bad is not None)
    back = _unpacked(packed, dtype)
    if back == tuple(values):
        return packed, None
    rounds = rounds and floats
    differ = (i for i, (b, v) in enumerate(zip(back, values, strict=True)) if b != v and v == v)
    return packed, next((i for i in differ if not (rounds and isinstance(values[i], float))), None)


def _index(position: int, shape: Shape) -> list[int]:
    index: list[int] = []
    for size in reversed(shape):
        position, i = divmod(position, size)
        index.insert(0, i)
    return index


def _described(dtype: str) -> str:
    if dtype in _FLOATS:
        return dtype
    if dtype == "bool":
        return "bool (0 or 1)"
    bits = 8 * ITEMSIZE[dtype]
    low, high = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return f"{dtype} (whole numbers, {low}…{high})"


def _shape_hint(x: Any, given: Given, shape: Shape) -> str:
    """A hint how to bring values into a shape, if one can be told."""
    own = given.shape
    if given.kind == "ImageData":
        return (
            ", an ImageData's red, green, blue and alpha; convert and scale it as the model was trained, as by "
            f"np.array(x.data.to_py(), 'float32').reshape{own}[..., :3].transpose(2, 0, 1)[None] / 255"
        )
    if own is None or own == ():
        return f"; it takes {numel(shape)}"
    if numel(own) != numel(shape):
        one_by_one = len(own) == len(shape) and own[1:] == shape[1:] and own[0] > shape[0]
        return f"; the model was exported for {shape[0]} at a time: call it for each part" if one_by_one else ""
    if order := _order(own, shape):
        moved = f"np.transpose(x, {order})"
        same = tuple(own[i] for i in order) == shape
        return f"; its axes are in another order: pass {moved if same else f'{moved}.reshape{shape}'}"
    if hasattr(x, "reshape"):
        return f"; pass x.reshape{shape}"
    if given.kind == "array":
        return f"; pass memoryview(x).cast('B').cast({FORMAT[str(given.dtype)]!r}, {shape})"
    extra = len(shape) - len(own)
    return f"; pass {'[' * extra}x{']' * extra}" if shape == (1,) * extra + own else f"; nest it as {list(shape)}"


def _order(own: Shape, shape: Shape) -> Shape | None:
    """The axes of `own` in the order of `shape`, where only that (and axes of size 1) is different."""
    if len(own) != len(shape):  # axes of size 1 go last, where they do not matter
        ones = [i for i, n in enumerate(own) if n == 1]
        own_axes = [i for i, n in enumerate(own) if n != 1]
        wanted: Iterable[int] = (n for n in shape if n != 1)
    else:
        ones, own_axes, wanted = [], list(range(len(own))), shape
    order = []
    for size in wanted:
        i = next((i for i in own_axes if own[i] == size), None)
        if i is None:
            return None
        own_axes.remove(i)
        order.append(i)
    return None if own_axes or order == sorted(order) else (*order, *ones)
