"""Ops whose indices say where elements are read, or written."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__: list[str] = []


def _names(name: str, overload: str = "default", out: str = "out") -> tuple[str, str]:
    return f"aten.{name}.{overload}", f"aten::{name}.{out}"


def _nearest(index: Array, size: int, negative: bool = False) -> Array:
    """What is out of range becomes the nearest in range; of the size that numpy's indices have where it runs."""
    from_start = np.where(index < 0, index + size, index) if negative else index
    return np.clip(from_start, 0, max(size - 1, 0)).astype(np.intp)


def _key(x: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    """What numpy takes between brackets: its rules for several indices, and for masks, are torch's."""
    key: list[Any] = []
    dim = 0
    for index in indices:
        if index is None:
            key.append(slice(None))
        elif index.dtype in (np.bool_, np.uint8):
            key.append(index.astype(bool))
        else:
            key.append(_nearest(index, x.shape[dim], negative=True))
        dim += key[-1].ndim if index is not None and key[-1].dtype == bool else 1
    return tuple(key)


@reference(*_names("index", "Tensor", "Tensor_out"))
def _index(a: Args) -> Array:
    return np.ascontiguousarray(a.x[_key(a.x, a.indices)]).reshape(a.O)


@reference(*_names("index_select"))
def _index_select(a: Args) -> Array:
    if not a.S:
        return np.asarray(a.x)
    return np.take(a.x, _nearest(a.index.reshape(-1), a.S[a.dim]), axis=a.dim)


@reference(*_names("embedding"))
def _embedding(a: Args) -> Array:
    rows: Array = a.weight[_nearest(a.indices, a.N)]
    return rows


def _at_least_1d(a: Args) -> tuple[Array, Array]:
    x = np.atleast_1d(a.x)
    return x, _nearest(np.atleast_1d(a.index), x.shape[a.dim])


@reference(*_names("gather"))
def _gather(a: Args) -> Array:
    x, index = _at_least_1d(a)
    cut = tuple(slice(None) if n == a.dim % x.ndim else slice(size) for n, size in enumerate(index.shape))
    y: Array = np.take_along_axis(x[cut], index, a.dim)
    return y.reshape(a.O)


@reference(*_names("index_put"))
def _index_put(a: Args) -> Array:
    y: Array = a.x.copy()
    if a.accumulate:
        np.add.at(y, _key(y, a.indices), a.values)
    else:
        y[_key(y, a.indices)] = a.values
    return y


def _scatter(a: Args, values: Any, write: Callable[[Array, tuple[Array, ...], Any], None]) -> Array:
    x, index = _at_least_1d(a)
    y, places = x.copy(), [*map(np.asarray, np.indices(index.shape))]
    places[a.dim] = index
    write(y, tuple(places), np.broadcast_to(values, index.shape))
    return y.reshape(a.S)


def _replace(y: Array, places: tuple[Array, ...], values: Any) -> None:
    y[places] = values


def _source(a: Args) -> Array:
    return np.asarray(np.atleast_1d(a.src)[tuple(slice(size) for size in a.I)])


@reference(*_names("scatter", "value", "value_out"))
def _scatter_value(a: Args) -> Array:
    return _scatter(a, np.array(a.value).astype(a.x.dtype), _replace)


@reference(*_names("scatter", "src", "src_out"))
def _scatter_src(a: Args) -> Array:
    return _scatter(a, _source(a), _replace)


@reference(*_names("scatter_add"))
def _scatter_add(a: Args) -> Array:
    return _scatter(a, _source(a), np.add.at)


def _with_part(a: Args, part: Any) -> Array:
    """x with what `part` takes along `dim` replaced."""
    y: Array = a.x.copy()
    y[(slice(None),) * (a.dim % a.x.ndim) + (part,)] = a.src
    return y


@reference(*_names("slice_scatter"))
def _slice_scatter(a: Args) -> Array:
    return _with_part(a, slice(a.start, a.end, a.step))


@reference(*_names("select_scatter"))
def _select_scatter(a: Args) -> Array:
    return _with_part(a, a.index)
