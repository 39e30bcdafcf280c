"""Reads and writes elements at indices, one by one."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from oracle.core import exactly, oracle
from oracle.shape import slice_

Place = tuple[int, ...]


def _reads(x: np.ndarray, indices: Sequence[np.ndarray | None]) -> tuple[list[int], Iterator[tuple[Place, Place]]]:
    """The shape of x[indices], and for each of its places the place in x that it stands for."""
    per_dim: list[np.ndarray | None] = []
    for index in indices:
        if index is not None and index.dtype == bool:
            per_dim.extend(np.nonzero(index))
        else:
            per_dim.append(index)
    per_dim += [None] * (x.ndim - len(per_dim))
    given = [d for d, index in enumerate(per_dim) if index is not None]
    together = np.broadcast_arrays(*(per_dim[d] for d in given))
    common = together[0].shape
    free = [d for d in range(x.ndim) if d not in given]
    # the common dimensions stand where the indices are, or in front of all where these are apart
    side_by_side = given == list(range(given[0], given[-1] + 1))
    lead = [d for d in free if d < given[0]] if side_by_side else []
    trail = [d for d in free if d not in lead]
    shape = [*(x.shape[d] for d in lead), *common, *(x.shape[d] for d in trail)]

    def pairs() -> Iterator[tuple[Place, Place]]:
        for at in np.ndindex(*shape):
            middle = at[len(lead) : len(lead) + len(common)]
            source = dict(zip(lead, at[: len(lead)], strict=True))
            source |= dict(zip(trail, at[len(lead) + len(common) :], strict=True))
            source |= {d: int(index[middle]) % x.shape[d] for d, index in zip(given, together, strict=True)}
            yield at, tuple(source[d] for d in range(x.ndim))

    return shape, pairs()


@oracle("index")
def index(x: np.ndarray, indices: Sequence[np.ndarray | None]) -> np.ndarray:
    shape, pairs = _reads(x, indices)
    y = np.empty(shape, x.dtype)
    for at, source in pairs:
        y[at] = x[source]
    return y


@oracle("index_select")
def index_select(x: np.ndarray, dim: int, places: np.ndarray) -> np.ndarray:
    if not x.ndim:
        return x.copy()
    chosen, at = np.atleast_1d(places).tolist(), dim % x.ndim
    y = np.empty((*x.shape[:at], len(chosen), *x.shape[at + 1 :]), x.dtype)
    for i, place in enumerate(chosen):
        y[(slice(None),) * at + (i,)] = x[(slice(None),) * at + (place,)]
    return y


@oracle("gather")
def gather(x: np.ndarray, dim: int, places: np.ndarray, sparse_grad: Any = None) -> np.ndarray:
    y = np.empty(places.shape, x.dtype)
    for at in np.ndindex(places.shape):
        y[at] = x[_moved(at, dim, places[at], x)]
    return y


def _moved(at: Place, dim: int, place: Any, x: np.ndarray) -> Place:
    """A place with another coordinate along `dim`."""
    if not x.ndim:
        return ()
    moved = list(at)
    moved[dim] = int(place)
    return tuple(moved)


@oracle("embedding")
def embedding(weight: np.ndarray, indices: np.ndarray, *rest: Any) -> np.ndarray:
    y = np.empty((*indices.shape, weight.shape[1]), weight.dtype)
    for at in np.ndindex(indices.shape):
        y[at] = weight[int(indices[at])]
    return y


def _plus(a: Any, b: Any) -> Any:
    if a.dtype.kind == "b":
        return a or b
    return a + b if a.dtype.kind == "f" else exactly(int.__add__, a.dtype, a, b)


def _second(a: Any, b: Any) -> Any:
    return b


@oracle("index_put")
def index_put(
    x: np.ndarray, indices: Sequence[np.ndarray | None], values: np.ndarray, accumulate: bool = False
) -> np.ndarray:
    shape, pairs = _reads(x, indices)
    y, given = x.copy(), np.broadcast_to(values, shape)
    written = _plus if accumulate else _second
    for at, target in pairs:
        y[target] = written(y[target], given[at])
    return y


def _scattered(x: np.ndarray, dim: int, places: np.ndarray, src: np.ndarray, write: Callable[[Any, Any], Any]) -> Any:
    y = x.copy()
    for at in np.ndindex(places.shape):
        target = _moved(at, dim, places[at], x)
        y[target] = write(y[target], src[at])
    return y


@oracle("scatter")
def scatter(x: np.ndarray, dim: int, places: np.ndarray, src: np.ndarray) -> np.ndarray:
    return _scattered(x, dim, places, src, _second)


@oracle("scatter_add")
def scatter_add(x: np.ndarray, dim: int, places: np.ndarray, src: np.ndarray) -> np.ndarray:
    return _scattered(x, dim, places, src, _plus)


@oracle("slice_scatter")
def slice_scatter(
    x: np.ndarray, src: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> np.ndarray:
    numbers = np.arange(x.size).reshape(x.shape)
    y = x.copy().ravel()
    y[slice_(numbers, dim, start, end, step).ravel()] = src.ravel()
    return y.reshape(x.shape)


@oracle("select_scatter")
def select_scatter(x: np.ndarray, src: np.ndarray, dim: int, place: int) -> np.ndarray:
    first = place % x.shape[dim]
    return slice_scatter(x, np.expand_dims(src, dim), dim, first, first + 1)
