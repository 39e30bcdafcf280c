"""Reads and writes elements at indices."""

from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.indexing import Gather, Index, IndexPut, Scatter, SliceScatter
from webq8.ir.types import Ref

__all__: list[str] = []


def _nearest(index: Array, size: int, from_end: bool = False) -> Array:
    """Clamps indices to the range of an axis, as numpy's own integer type for indices."""
    from_start = np.where(index < 0, index + size, index) if from_end else index
    return np.clip(from_start, 0, max(size - 1, 0)).astype(np.intp)


def _key(arrays: Arrays, x: Array, indices: tuple[Ref, ...], axes: tuple[int, ...], from_end: bool) -> tuple[Any, ...]:
    """What numpy takes between brackets: its rules for several indices, and for masks, are torch's."""
    key: list[Any] = [slice(None)] * (axes[-1] + 1)
    for ref, at in zip(indices, axes, strict=True):
        index = arrays[ref]
        mask = index.dtype in (np.bool_, np.uint8)
        key[at] = index.astype(bool) if mask else _nearest(index, x.shape[at], from_end)
    return tuple(key)


@reference(Index)
def index(op: Index, arrays: Arrays) -> Array:
    x, shape = arrays[op.x], arrays.out.shape
    return np.ascontiguousarray(x[_key(arrays, x, op.indices, op.axes, op.from_end)]).reshape(shape)


def _along(op: Gather | Scatter, arrays: Arrays) -> tuple[Array, Array]:
    """x and the index, with at least one axis each."""
    x = np.atleast_1d(arrays[op.x])
    return x, _nearest(np.atleast_1d(arrays[op.index]), x.shape[op.axis])


@reference(Gather)
def gather(op: Gather, arrays: Arrays) -> Array:
    x, index = _along(op, arrays)
    cut = tuple(slice(None) if n == op.axis else slice(size) for n, size in enumerate(index.shape))
    y: Array = np.take_along_axis(x[cut], index, op.axis)
    return y.reshape(arrays.out.shape)


def _write(y: Array, places: tuple[Any, ...], values: Array, accumulate: bool) -> None:
    if accumulate:
        np.add.at(y, places, values)
    else:
        y[places] = values


@reference(IndexPut)
def index_put(op: IndexPut, arrays: Arrays) -> Array:
    y = arrays[op.x].copy()
    _write(y, _key(arrays, y, op.indices, op.axes, True), arrays[op.values], op.accumulate)
    return y


@reference(Scatter)
def scatter(op: Scatter, arrays: Arrays) -> Array:
    x, index = _along(op, arrays)
    y, source = x.copy(), arrays[op.source]
    places = [*map(np.asarray, np.indices(index.shape))]
    places[op.axis] = index
    values = source[tuple(slice(size) for size in index.shape)] if source.shape else source
    _write(y, tuple(places), np.broadcast_to(values, index.shape), op.accumulate)
    return y.reshape(arrays.out.shape)


@reference(SliceScatter)
def slice_scatter(op: SliceScatter, arrays: Arrays) -> Array:
    y, source = arrays[op.x].copy(), arrays[op.source]
    end = op.start + source.shape[op.axis] * op.step
    y[(slice(None),) * op.axis + (slice(op.start, end, op.step),)] = source
    return y
