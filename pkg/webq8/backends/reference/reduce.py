"""Reductions, running sums and softmax. Sums are taken in float64, so that what differs is the kernels' rounding."""

from collections.abc import Callable

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args


def _axes(a: Args) -> tuple[int, ...] | None:
    return tuple(a.dim) if a.dim and a.S else None  # a scalar's dimensions 0 and −1 do not exist in numpy


@reference("aten.mean.dim", "aten::mean.out")
def _mean(a: Args) -> Array:
    total = np.sum(a.x, axis=_axes(a), dtype=np.float64, keepdims=a.keepdim)
    count = a.x.size if not a.dim else int(np.prod([a.S[d] for d in a.dim if a.S]))
    return np.asarray(total / np.float64(count)).astype(np.float32)


@reference("aten.sum.dim_IntList", "aten::sum.IntList_out")
def _sum(a: Args) -> Array:
    return np.asarray(np.sum(a.x, axis=_axes(a), dtype=np.float64, keepdims=a.keepdim)).astype(np.float32)


@reference("aten.var.correction", "aten::var.correction_out", "aten.var.dim", "aten::var.out")
def _var(a: Args) -> Array:
    x = np.asarray(a.x, np.float64)
    count = x.size if not a.dim else int(np.prod([a.S[d] for d in a.dim if a.S]))
    correction = a.correction if "correction" in vars(a) else int(a.unbiased)
    mean = np.asarray(np.sum(x, axis=_axes(a), keepdims=True) / np.float64(count))
    squares = np.sum((x - mean) ** 2, axis=_axes(a), keepdims=a.keepdim)
    return np.asarray(np.asarray(squares) / np.float64(max(count - correction, 0))).astype(np.float32)


@reference("aten.prod.dim_int", "aten::prod.int_out")
def _prod(a: Args) -> Array:
    axis = a.dim if a.S else None
    return np.asarray(np.prod(a.x, axis=axis, dtype=np.float64, keepdims=a.keepdim)).astype(np.float32)


@reference("aten.prod.default", "aten::prod.out")
def _prod_of_all(a: Args) -> Array:
    return np.asarray(np.prod(a.x, dtype=np.float64)).astype(np.float32)


@reference("aten.cumsum.default", "aten::cumsum.out")
def _cumsum(a: Args) -> Array:
    dtype = a.out.tensor.dtype
    x = np.atleast_1d(a.x).astype(dtype)
    sums = np.cumsum(x, axis=a.dim, dtype=np.float64 if dtype == "float32" else np.int64)
    return np.asarray(sums.astype(dtype)).reshape(a.S)


def _extremum(a: Args, largest: bool, axis: tuple[int, ...] | None, keepdim: bool) -> Array:
    function, lowest = (np.max, -np.inf) if largest else (np.min, np.inf)
    initial = lowest if a.x.dtype == np.float32 else np.iinfo(a.x.dtype).min if largest else np.iinfo(a.x.dtype).max
    return np.asarray(function(a.x, axis=axis, keepdims=keepdim, initial=initial), a.x.dtype)


reference("aten.amax.default", "aten::amax.out")(lambda a: _extremum(a, True, _axes(a), a.keepdim))
reference("aten.amin.default", "aten::amin.out")(lambda a: _extremum(a, False, _axes(a), a.keepdim))
reference("aten.max.default", "aten::max.unary_out")(lambda a: _extremum(a, True, None, False))
reference("aten.min.default", "aten::min.unary_out")(lambda a: _extremum(a, False, None, False))


def _index(a: Args, choose: Callable[..., Array]) -> Array:
    if not a.x.size:
        return np.zeros(a.O, a.out.tensor.dtype)
    found = choose(a.x.reshape(-1)) if len(a.axes) != 1 else choose(a.x, axis=a.axes[0])
    return np.asarray(found, a.out.tensor.dtype).reshape(a.O)


@reference("aten.argmax.default", "aten::argmax.out")
def _argmax(a: Args) -> Array:
    return _index(a, np.argmax)


@reference("aten.argmin.default", "aten::argmin.out")
def _argmin(a: Args) -> Array:
    return _index(a, np.argmin)


@reference(
    "aten.any.dim", "aten.any.dims", "aten.any.default", "aten::any.out", "aten::any.dims_out", "aten::any.all_out"
)
def _any(a: Args) -> Array:
    return np.asarray(np.any(a.x != 0, axis=a.axes if a.S else None)).astype(a.out.tensor.dtype).reshape(a.O)


def _extremum_and_index(a: Args, choose: Callable[..., Array]) -> tuple[Array, ...]:
    x = np.atleast_1d(a.x)
    at = np.expand_dims(choose(x, axis=a.dim), a.dim) if x.size else np.zeros(0, np.int64)
    values = np.take_along_axis(x, at, a.dim) if x.size else np.zeros(0, a.x.dtype)
    return values.reshape(a.O), at.astype(a.out[1].tensor.dtype).reshape(a.O)


reference("aten.max.dim", "aten::max.dim_max")(lambda a: _extremum_and_index(a, np.argmax))
reference("aten.min.dim", "aten::min.dim_min")(lambda a: _extremum_and_index(a, np.argmin))


def _shifted(a: Args) -> Array:
    x = np.atleast_1d(a.x).astype(np.float64)
    return np.asarray(x - (np.max(x, axis=a.dim, keepdims=True) if x.size else 0))


@reference("aten._softmax.default", "aten::_softmax.out")
def _softmax(a: Args) -> Array:
    e = np.exp(_shifted(a))
    return np.asarray(e / e.sum(axis=a.dim, keepdims=True), np.float32).reshape(a.S)


@reference("aten._log_softmax.default", "aten::_log_softmax.out")
def _log_softmax(a: Args) -> Array:
    x = _shifted(a)
    return np.asarray(x - np.log(np.exp(x).sum(axis=a.dim, keepdims=True)), np.float32).reshape(a.S)
