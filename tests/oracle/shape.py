"""Ops that only move elements, make constants, or convert."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.core import dtype_of, exactly, oracle

# --- views


def _filled(size: Sequence[int], count: int) -> list[int]:
    """A size of −1 is what the others leave."""
    known = math.prod(n for n in size if n != -1)
    return [count // known if n == -1 else n for n in size]


@oracle("view", "view_copy", "_unsafe_view", "reshape")
def view(x: np.ndarray, size: Sequence[int]) -> np.ndarray:
    return np.ravel(x).reshape(_filled(size, x.size))


@oracle("flatten")
def flatten(x: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    if not x.ndim:
        return x.reshape(1)
    first, last = start_dim % x.ndim, end_dim % x.ndim
    return view(x, [*x.shape[:first], math.prod(x.shape[first : last + 1]), *x.shape[last + 1 :]])


@oracle("unsqueeze", "unsqueeze_copy")
def unsqueeze(x: np.ndarray, dim: int) -> np.ndarray:
    shape = list(x.shape)
    shape.insert(dim + x.ndim + 1 if dim < 0 else dim, 1)
    return view(x, shape)


@oracle("squeeze", "squeeze_copy")
def squeeze(x: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    named = {d % max(1, x.ndim) for d in dims}
    return view(x, [n for d, n in enumerate(x.shape) if n != 1 or d not in named])


@oracle("clone", "alias_copy", "detach_copy", "lift_fresh_copy", "_clone_dim_order", "prepack")
def clone(x: np.ndarray) -> np.ndarray:
    return x.copy()


@oracle("copy")
def copy(into: np.ndarray, x: np.ndarray) -> np.ndarray:
    y = np.empty(into.shape, x.dtype)
    y[...] = x
    return converted(y, into.dtype)


# --- orders


@oracle("permute", "permute_copy")
def permute(x: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    y = np.empty([x.shape[d] for d in dims], x.dtype)
    for at in np.ndindex(x.shape):
        y[tuple(at[d] for d in dims)] = x[at]
    return y


@oracle("transpose", "transpose_copy")
def transpose(x: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    dims = list(range(x.ndim))
    if dims:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return permute(x, dims)


@oracle("t", "t_copy")
def t(x: np.ndarray) -> np.ndarray:
    return permute(x, list(range(x.ndim))[::-1])


@oracle("flip")
def flip(x: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    y, turned = np.empty_like(x), {d % x.ndim for d in dims}
    for at in np.ndindex(x.shape):
        y[tuple(n - 1 - i if d in turned else i for d, (i, n) in enumerate(zip(at, x.shape, strict=True)))] = x[at]
    return y


# --- parts


def _take(x: np.ndarray, dim: int, places: Sequence[int]) -> np.ndarray:
    y = np.empty((*x.shape[:dim], len(places), *x.shape[dim + 1 :]), x.dtype)
    for i, place in enumerate(places):
        y[(slice(None),) * dim + (i,)] = x[(slice(None),) * dim + (place,)]
    return y


def _places(size: int, start: int | None, end: int | None, step: int) -> range:
    """Negative ones count from the end; what lies outside is brought to the ends."""

    def bound(place: int | None, default: int) -> int:
        place = default if place is None else place
        return min(max(place + size if place < 0 else place, 0), size)

    return range(bound(start, 0), bound(end, size), step)


@oracle("slice", "slice_copy")
def slice_(x: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> np.ndarray:
    return _take(x, dim % x.ndim, _places(x.shape[dim], start, end, step))


@oracle("select", "select_copy")
def select(x: np.ndarray, dim: int, index: int) -> np.ndarray:
    at = dim % x.ndim
    return _take(x, at, [index % x.shape[at]]).reshape((*x.shape[:at], *x.shape[at + 1 :]))


@oracle("split_with_sizes_copy")
def split(x: np.ndarray, sizes: Sequence[int], dim: int = 0) -> tuple[np.ndarray, ...]:
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return tuple(_take(x, dim % x.ndim, range(end - n, end)) for n, end in zip(sizes, ends, strict=True))


# --- more of the same


@oracle("expand", "expand_copy")
def expand(x: np.ndarray, size: Sequence[int], implicit: Any = None) -> np.ndarray:
    old = [1] * (len(size) - x.ndim) + list(x.shape)
    y = np.empty([o if n == -1 else n for n, o in zip(size, old, strict=True)], x.dtype)
    y[...] = x
    return y


@oracle("repeat")
def repeat(x: np.ndarray, repeats: Sequence[int]) -> np.ndarray:
    old = [1] * (len(repeats) - x.ndim) + list(x.shape)
    source = x.reshape(old)
    y = np.empty([n * r for n, r in zip(old, repeats, strict=True)], x.dtype)
    for at in np.ndindex(y.shape):
        y[at] = source[tuple(i % n for i, n in zip(at, old, strict=True))]
    return y


@oracle("cat")
def cat(tensors: Sequence[np.ndarray], dim: int = 0) -> np.ndarray:
    """Tensors of shape [0] are left out, as torch does for old programs' sake."""
    some = [t for t in tensors if t.shape != (0,)] or list(tensors[:1])
    shape, at = list(some[0].shape), dim % some[0].ndim
    shape[at] = sum(t.shape[at] for t in some)
    y, start = np.empty(shape, some[0].dtype), 0
    for part in some:
        y[(slice(None),) * at + (slice(start, start + part.shape[at]),)] = part
        start += part.shape[at]
    return y


@oracle("constant_pad_nd")
def constant_pad_nd(x: np.ndarray, pad: Sequence[int], value: float = 0) -> np.ndarray:
    # pairs of the last dimension first
    before, after = [0] * x.ndim, [0] * x.ndim
    for i in range(len(pad) // 2):
        before[-1 - i], after[-1 - i] = pad[2 * i], pad[2 * i + 1]
    y = full([n + b + a for n, b, a in zip(x.shape, before, after, strict=True)], value, str(x.dtype))
    for at in np.ndindex(y.shape):
        source = tuple(i - b for i, b in zip(at, before, strict=True))
        if all(0 <= i < n for i, n in zip(source, x.shape, strict=True)):
            y[at] = x[source]
    return y


@oracle("pixel_shuffle")
def pixel_shuffle(x: np.ndarray, factor: int) -> np.ndarray:
    r, (*lead, c, h, w) = factor, x.shape
    y = np.empty((*lead, c // r**2, h * r, w * r), x.dtype)
    for i in range(r):
        for j in range(r):
            y[..., i::r, j::r] = x[..., i * r + j :: r * r, :, :]
    return y


@oracle("pixel_unshuffle")
def pixel_unshuffle(x: np.ndarray, factor: int) -> np.ndarray:
    r, (*lead, c, h, w) = factor, x.shape
    y = np.empty((*lead, c * r**2, h // r, w // r), x.dtype)
    for i in range(r):
        for j in range(r):
            y[..., i * r + j :: r * r, :, :] = x[..., i::r, j::r]
    return y


@oracle("as_strided", "as_strided_copy")
def as_strided(
    x: np.ndarray, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> np.ndarray:
    y, storage = np.empty(size, x.dtype), x.ravel()
    for at in np.ndindex(y.shape):
        y[at] = storage[(storage_offset or 0) + sum(i * s for i, s in zip(at, stride, strict=True))]
    return y


@oracle("unfold", "unfold_copy")
def unfold(x: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    if not x.ndim:
        return np.full(size, x)
    dim = dimension % x.ndim
    windows = range((x.shape[dim] - size) // step + 1)
    shape = (*x.shape[:dim], len(windows), *x.shape[dim + 1 :], size)
    y = np.empty(shape, x.dtype)
    for at in np.ndindex(shape):
        y[at] = x[(*at[:dim], at[dim] * step + at[-1], *at[dim + 1 : -1])]
    return y


# --- constants


@oracle("full")
def full(size: Sequence[int], value: Any, dtype: Any = "float32", *rest: Any) -> np.ndarray:
    to = dtype_of(dtype, "float32")
    y = np.empty(size, to)
    y[...] = converted(np.asarray(value), to)
    return y


@oracle("full_like")
def full_like(x: np.ndarray, value: Any, dtype: Any = None, *rest: Any) -> np.ndarray:
    return full(x.shape, value, str(dtype_of(dtype, x.dtype)))


# torch leaves open what "empty" ones hold; here it is zeros
@oracle("zeros", "empty", "_empty_dim_order")
def zeros(size: Sequence[int], dtype: Any = "float32", *rest: Any) -> np.ndarray:
    return full(size, 0, dtype)


@oracle("zeros_like", "empty_like")
def zeros_like(x: np.ndarray, dtype: Any = None, *rest: Any) -> np.ndarray:
    return full_like(x, 0, dtype)


@oracle("ones")
def ones(size: Sequence[int], dtype: Any = "float32", *rest: Any) -> np.ndarray:
    return full(size, 1, dtype)


@oracle("ones_like")
def ones_like(x: np.ndarray, dtype: Any = None, *rest: Any) -> np.ndarray:
    return full_like(x, 1, dtype)


@oracle("scalar_tensor")
def scalar_tensor(value: Any, dtype: Any = "float32", *rest: Any) -> np.ndarray:
    return full((), value, dtype)


@oracle("arange")
def arange(start: float, end: float, step: float = 1, dtype: Any = None, *rest: Any) -> np.ndarray:
    whole = all(isinstance(v, int) for v in (start, end, step))
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    values = [start + i * step for i in range(max(0, count))]
    return converted(
        np.asarray(values, np.int64 if whole else np.float64), dtype_of(dtype, "int64" if whole else "float32")
    )


# --- conversions


@oracle("_to_copy", "_to_dim_order_copy")
def to_copy(x: np.ndarray, dtype: Any = None, *rest: Any) -> np.ndarray:
    return converted(x, dtype_of(dtype, x.dtype))


def converted(x: np.ndarray, to: np.dtype) -> np.ndarray:
    """Fractions are cut off, whole numbers wrap around, and what is not zero is true."""
    if to.kind == "b":
        return np.asarray(x != 0)
    if to.kind == "f":
        return np.asarray(x).astype(to)
    return exactly(lambda v: v, to, x)
