"""Results as arrays: numpy's, or `Array` where numpy is not installed."""

from collections.abc import Iterator
from typing import Any

from webq8.dtypes import cast, numel

__all__ = ["Array", "to_array"]

_SHOWN = 1000  # elements; longer arrays show `_EDGE` elements at each end of an axis
_EDGE = 3


class Array:
    """An array without numpy: a memoryview with shape and dtype that shows its values.

    It has the attributes and methods of its memoryview (`tolist()`, `format`, `nbytes`, …), is a buffer itself, and can
    be indexed by rows as well: `y[0]` of a matrix is its first row.
    """

    __slots__ = ("_data", "_view", "dtype", "shape")

    def __init__(self, data: memoryview, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype, self._data = shape, dtype, data
        self._view = cast(data, dtype, shape) if numel(shape) else _empty(shape, dtype)

    def __buffer__(self, flags: int) -> "memoryview[Any]":
        return self._view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # `copy` asks for such names before there is a view
            raise AttributeError(name)
        return getattr(self._view, name)

    def tolist(self) -> Any:
        return self._view.tolist() if self._data else _nothing(self.shape)

    def __len__(self) -> int:
        return len(self._view)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, int) or len(self.shape) < 2:
            return self._view[key]
        rows = len(self)
        if not -rows <= key < rows:
            raise IndexError(f"row {key} of {rows}")
        size = len(self._data) // rows
        at = key % rows * size
        return Array(self._data[at : at + size], self.shape[1:], self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._view[key] = value

    def __eq__(self, other: object) -> bool:
        return bool(self._view == other)

    __hash__ = None  # type: ignore[assignment]  # its values can change

    def __repr__(self) -> str:
        flat = cast(self._data, self.dtype)
        return f"<webq8 array {self.dtype} {list(self.shape)}: {_shown(flat, self.shape, len(flat) > _SHOWN)}>"


def _shown(flat: Any, shape: tuple[int, ...], shortened: bool) -> str:
    if not shape:
        return f"{flat[0]:.6g}" if isinstance(flat[0], float) else str(flat[0])
    count, step = shape[0], numel(shape[1:])
    cut = shortened and count > 2 * _EDGE
    rows = [*range(_EDGE), *range(count - _EDGE, count)] if cut else range(count)
    parts = [_shown(flat[i * step : (i + 1) * step], shape[1:], shortened) for i in rows]
    return f"[{', '.join([*parts[:_EDGE], '…', *parts[_EDGE:]] if cut else parts)}]"


def _nothing(shape: tuple[int, ...]) -> list[Any]:
    """Nested lists of a shape that has no elements."""
    return [_nothing(shape[1:]) for _ in range(shape[0])]


def _empty(shape: tuple[int, ...], dtype: str) -> "memoryview[Any]":
    """A memoryview of a shape without elements, by ctypes, since none can be cast to such a shape."""
    import ctypes

    kind: Any = {"float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool}.get(dtype)
    kind = kind or getattr(ctypes, f"c_{dtype}")
    for size in reversed(shape):
        kind = kind * size
    return memoryview(kind())


def to_array(data: bytearray | memoryview, shape: tuple[int, ...], dtype: str) -> Any:
    """A numpy array over `data`; an Array where numpy is not installed."""
    try:
        import numpy as np
    except ImportError:
        return Array(memoryview(data).cast("B"), shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape)
