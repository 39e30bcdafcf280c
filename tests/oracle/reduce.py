"""Reductions, running sums and softmax."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from oracle.core import axes_of, dtype_of, exactly, oracle, single, wide


def _lines(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """x with what is reduced as its last axis."""
    kept = [d for d in range(x.ndim) if d not in axes]
    count = int(np.prod([x.shape[d] for d in axes]))
    return np.transpose(x, [*kept, *axes]).reshape(*(x.shape[d] for d in kept), count)


def _shaped(y: np.ndarray, x: np.ndarray, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    return y.reshape([1 if d in axes else n for d, n in enumerate(x.shape)]) if keepdim else y


def _reduced(function: Callable[[np.ndarray], Any], x: np.ndarray, dim: Any, keepdim: bool) -> np.ndarray:
    axes = axes_of(x, dim)
    return _shaped(np.asarray(function(_lines(x, axes))), x, axes, keepdim)


@oracle("sum")
def sum_(x: np.ndarray, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> np.ndarray:
    return single(_reduced(lambda v: v.astype(np.float64).sum(-1), x, dim, keepdim))


@oracle("mean")
def mean(x: np.ndarray, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> np.ndarray:
    return single(_reduced(lambda v: v.astype(np.float64).sum(-1) / np.float64(v.shape[-1]), x, dim, keepdim))


@oracle("var")
def var(x: np.ndarray, dim: Any = None, correction: float | None = None, keepdim: bool = False) -> np.ndarray:
    def of(v: np.ndarray) -> Any:
        count, (real,) = v.shape[-1], wide(v)
        apart = real - real.sum(-1, keepdims=True) / np.float64(count)
        return (apart**2).sum(-1) / np.float64(max(count - (1 if correction is None else correction), 0))

    return single(_reduced(of, x, dim, keepdim))


@oracle("aten.var.dim")
def var_by_flag(x: np.ndarray, dim: Any, unbiased: bool = True, keepdim: bool = False) -> np.ndarray:
    return var(x, dim, int(unbiased), keepdim)


@oracle("prod")
def prod(x: np.ndarray, dim: int, keepdim: bool = False, dtype: Any = None) -> np.ndarray:
    return single(_reduced(lambda v: v.astype(np.float64).prod(-1), x, dim, keepdim))


@oracle("aten.prod.default")
def prod_of_all(x: np.ndarray, dtype: Any = None) -> np.ndarray:
    return single(_reduced(lambda v: v.astype(np.float64).prod(-1), x, None, False))


@oracle("cumsum")
def cumsum(x: np.ndarray, dim: int, dtype: Any = None) -> np.ndarray:
    to = dtype_of(dtype, "float32" if x.dtype.kind == "f" else "int64")
    line = np.moveaxis(np.atleast_1d(x), dim, 0)
    y = np.empty(line.shape, to)
    total = np.zeros(line.shape[1:], np.float64 if to.kind == "f" else object)
    for i in range(len(line)):
        total = total + line[i].astype(total.dtype)
        y[i] = total if to.kind == "f" else exactly(lambda v: v, to, total)
    return np.moveaxis(y, 0, dim).reshape(x.shape)


def _first_extreme(line: np.ndarray, sign: int) -> int:
    """Where the first largest (smallest, by −1) element stands; NaN is further than all."""
    found = 0
    for i, v in enumerate(line.tolist()):
        best = line[found].item()
        if best != best:
            break
        if v != v or v * sign > best * sign:
            found = i
    return found


def _places(x: np.ndarray, axes: tuple[int, ...], sign: int) -> np.ndarray:
    lines = _lines(x, axes)
    flat = lines.reshape(-1, lines.shape[-1])
    if x.dtype.kind == "f":
        # numpy's own search is used where there is nothing to decide, as it is fast
        lost = np.isnan(flat).any(1)
        found = np.asarray(
            [_first_extreme(line, sign) if nan else _search(line, sign) for line, nan in zip(flat, lost, strict=True)]
        )
    else:
        found = np.asarray([_search(line, sign) for line in flat])
    return found.astype(np.int64).reshape(lines.shape[:-1])


def _search(line: np.ndarray, sign: int) -> int:
    return int(np.flatnonzero(line == (line.max() if sign > 0 else line.min()))[0])


def _index(sign: int, x: np.ndarray, dim: int | None, keepdim: bool) -> np.ndarray:
    axes = axes_of(x, dim)
    return _shaped(_places(x, axes, sign), x, axes, keepdim)


def _with_index(sign: int, x: np.ndarray, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    axes = axes_of(x, dim)
    places = _places(x, axes, sign)
    largest = np.take_along_axis(_lines(x, axes), places[..., None], -1)[..., 0]
    return _shaped(largest, x, axes, keepdim), _shaped(places, x, axes, keepdim)


@oracle("argmax")
def argmax(x: np.ndarray, dim: int | None = None, keepdim: bool = False) -> np.ndarray:
    return _index(1, x, dim, keepdim)


@oracle("argmin")
def argmin(x: np.ndarray, dim: int | None = None, keepdim: bool = False) -> np.ndarray:
    return _index(-1, x, dim, keepdim)


@oracle("max")
def max_(x: np.ndarray, dim: int, keepdim: bool = False) -> tuple[np.ndarray, np.ndarray]:
    return _with_index(1, x, dim, keepdim)


@oracle("min")
def min_(x: np.ndarray, dim: int, keepdim: bool = False) -> tuple[np.ndarray, np.ndarray]:
    return _with_index(-1, x, dim, keepdim)


def _extreme(sign: int, x: np.ndarray, dim: Any, keepdim: bool) -> np.ndarray:
    def of(lines: np.ndarray) -> np.ndarray:
        ordered = np.sort(lines, -1)  # NaN comes last
        found = ordered[..., -1 if sign > 0 else 0]
        return np.where(ordered[..., -1] != ordered[..., -1], ordered[..., -1], found)

    return _reduced(of, x, dim, keepdim)


@oracle("amax")
def amax(x: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> np.ndarray:
    return _extreme(1, x, dim, keepdim)


@oracle("amin")
def amin(x: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> np.ndarray:
    return _extreme(-1, x, dim, keepdim)


@oracle("aten.max.default")
def max_of_all(x: np.ndarray) -> np.ndarray:
    return _extreme(1, x, None, False)


@oracle("aten.min.default")
def min_of_all(x: np.ndarray) -> np.ndarray:
    return _extreme(-1, x, None, False)


@oracle("any")
def any_(x: np.ndarray, dim: Sequence[int] | None = None, keepdim: bool = False) -> np.ndarray:
    to = "uint8" if x.dtype == np.uint8 else "bool"
    if dim is not None and len(dim) == 0:
        return (x != 0).astype(to)
    return _reduced(lambda v: (v != 0).sum(-1) > 0, x, dim, keepdim).astype(to)


@oracle("_softmax")
def softmax(x: np.ndarray, dim: int, half_to_float: bool = False) -> np.ndarray:
    return _along(x, dim, lambda v: np.exp(v) / np.exp(v).sum(0))


@oracle("_log_softmax")
def log_softmax(x: np.ndarray, dim: int, half_to_float: bool = False) -> np.ndarray:
    return _along(x, dim, lambda v: v - np.log(np.exp(v).sum(0)))


def _along(x: np.ndarray, dim: int, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A function of lines along `dim`, from each of which its largest element is taken first."""
    line = np.moveaxis(np.atleast_1d(x).astype(np.float64), dim, 0)
    if not line.size:
        return single(x)
    return single(np.moveaxis(function(line - line.max(0)), 0, dim).reshape(x.shape))
