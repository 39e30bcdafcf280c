"""Ops that only move elements."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, Result, reference
from webq8.handlers.registry import Args

__all__: list[str] = []


def _register(function: Callable[[Args], Result], *names: str) -> None:
    reference(*names)(lambda a: _plain(function(a)))


def _plain(result: Result) -> Result:
    if isinstance(result, tuple):
        return tuple(np.ascontiguousarray(r).reshape(r.shape) for r in result)
    return np.ascontiguousarray(result).reshape(result.shape)


def _copies(name: str, overload: str = "") -> tuple[str, str, str]:
    """The names of a view: in a delegate, as a copy or a view, and as a call of its own."""
    return (
        f"aten.{name}_copy.{overload or 'default'}",
        f"aten.{name}.{overload or 'default'}",
        f"aten::{name}_copy.{overload + '_' if overload else ''}out",
    )


# numpy reshapes to what PyTorch infers for −1, and derives every other shape itself where it can
_register(
    lambda a: a.x.reshape(a.size),
    *_copies("view"),
    "aten._unsafe_view.default",
    "aten::_unsafe_view.out",
    "aten.reshape.default",
    "executorch_prim::et_view.default",
)
_register(lambda a: a.x.reshape(a.O), "aten.flatten.using_ints")
_register(lambda a: np.expand_dims(a.x, a.dim), *_copies("unsqueeze"))
_register(lambda a: np.squeeze(a.x), *_copies("squeeze"))


def _squeeze(a: Args) -> Array:
    dims = a.dim if isinstance(a.dim, tuple) else (a.dim,)
    result: Array = np.squeeze(a.x, tuple(d for d in dims if a.x.ndim and a.x.shape[d] == 1))
    return result


_register(_squeeze, *_copies("squeeze", "dim"), *_copies("squeeze", "dims"))
_register(
    lambda a: a.x,
    "aten.clone.default",
    "aten::clone.out",
    "aten.alias_copy.default",
    "aten::alias_copy.out",
    "aten.detach_copy.default",
    "aten::detach_copy.out",
    "aten.lift_fresh_copy.default",
    "aten::lift_fresh_copy.out",
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops::_clone_dim_order.out",
)
_register(lambda a: np.transpose(a.x, a.dims), *_copies("permute"))
_register(lambda a: np.swapaxes(a.x, a.dim0, a.dim1) if a.x.ndim else a.x, *_copies("transpose", "int"))
_register(lambda a: a.x.T, *_copies("t"))


def _at(a: Args, dim: int, index: Any) -> Array:
    """x[:, …, index, …] with `index` along `dim`."""
    result: Array = a.x[(slice(None),) * (dim % a.x.ndim) + (index,)]
    return result


_register(lambda a: _at(a, a.dim, slice(a.start, a.end, a.step)), *_copies("slice", "Tensor"))
_register(lambda a: _at(a, a.dim, a.index), *_copies("select", "int"))
_register(lambda a: np.flip(a.x, a.dims) if a.x.ndim else a.x, "aten.flip.default", "aten::flip.out")
_register(lambda a: np.broadcast_to(a.x, a.O), *_copies("expand"))
_register(
    lambda a: np.lib.stride_tricks.as_strided(
        a.x.reshape(-1)[a.storage_offset :], a.size, [step * a.x.itemsize for step in a.stride]
    ),
    *_copies("as_strided"),
)


def _unfold(a: Args) -> Array:
    if not a.size:
        return np.zeros(a.O, a.x.dtype)
    x = np.atleast_1d(a.x)
    windows = np.lib.stride_tricks.sliding_window_view(x, a.size, a.dimension)
    kept: Array = windows[(slice(None),) * (a.dimension % x.ndim) + (slice(None, None, a.step),)]
    return kept.reshape(a.O)


_register(_unfold, *_copies("unfold"))
_register(lambda a: np.tile(a.x, a.repeats), "aten.repeat.default", "aten::repeat.out")


@reference("aten.pixel_shuffle.default", "aten::pixel_shuffle.out")
def _pixel_shuffle(a: Args) -> Array:
    r, (*lead, c, h, w) = a.upscale_factor, a.x.shape
    parts = a.x.reshape(*lead, c // r**2, r, r, h, w)
    return np.asarray(np.moveaxis(parts, (-4, -3), (-3, -1)).reshape(a.O))


@reference("aten.pixel_unshuffle.default", "aten::pixel_unshuffle.out")
def _pixel_unshuffle(a: Args) -> Array:
    r, (*lead, c, h, w) = a.downscale_factor, a.x.shape
    parts = a.x.reshape(*lead, c, h // r, r, w // r, r)
    return np.asarray(np.moveaxis(parts, (-3, -1), (-4, -3)).reshape(a.O))


@reference("aten.cat.default", "aten::cat.out")
def _cat(a: Args) -> Array:
    parts = [x for x in a.tensors if x.shape != (0,)] or a.tensors
    return np.concatenate(parts, a.dim)


@reference("aten.split_with_sizes_copy.default", "aten::split_with_sizes_copy.out")
def _split(a: Args) -> Result:
    ends = np.cumsum(a.sizes)
    return tuple(
        np.ascontiguousarray(_at(a, a.dim, slice(end - size, end))) for size, end in zip(a.sizes, ends, strict=True)
    )


@reference("aten.constant_pad_nd.default", "aten::constant_pad_nd.out")
def _constant_pad_nd(a: Args) -> Array:
    y = np.full(a.O, np.array(a.value).astype(a.x.dtype))
    # what of x lands in y: nothing of an axis whose margin is cut away with all that it surrounds
    kept, at = [slice(None)] * a.x.ndim, [slice(None)] * a.x.ndim
    for i, before in enumerate(a.pad[::2]):
        first, end = max(-before, 0), min(a.x.shape[-1 - i], a.O[-1 - i] - before)
        kept[-1 - i] = slice(first, max(first, end))
        at[-1 - i] = slice(first + before, max(first, end) + before)
    y[tuple(at)] = a.x[tuple(kept)]
    return y


def _full(a: Args, value: float) -> Array:
    return np.full(a.O, np.array(value).astype(_dtype(a)))


def _dtype(a: Args) -> str:
    dtype: str = a.out.tensor.dtype
    return dtype


for _name in ("full", "full_like"):
    reference(f"aten.{_name}.default", f"aten::{_name}.out")(lambda a: _full(a, a.fill_value))
for _name, _value in (("zeros", 0), ("ones", 1)):
    for _form in (_name, f"{_name}_like"):
        reference(f"aten.{_form}.default", f"aten::{_form}.out")(partial(_full, value=_value))
reference("aten.scalar_tensor.default", "aten::scalar_tensor.out")(lambda a: _full(a, a.fill_value))
for _name in ("aten.empty.memory_format", "aten.empty_like.default", "dim_order_ops._empty_dim_order.default"):
    reference(_name)(partial(_full, value=0))
for _name in ("aten::empty.out", "aten::empty_like.out", "dim_order_ops::_empty_dim_order.out"):
    reference(_name)(partial(_full, value=0))


@reference(
    "aten.arange.default",
    "aten.arange.start",
    "aten.arange.start_step",
    "aten::arange.out",
    "aten::arange.start_out",
)
def _arange(a: Args) -> Array:
    steps = np.arange(a.O[0], dtype=np.int64)  # intp is int32 in a page
    return (getattr(a, "start", 0) + steps * getattr(a, "step", 1)).astype(_dtype(a))


@reference(
    "aten._to_copy.default",
    "aten::_to_copy.out",
    "dim_order_ops._to_dim_order_copy.default",
    "dim_order_ops::_to_dim_order_copy.out",
)
def _convert(a: Args) -> Array:
    target = np.dtype(_dtype(a))
    if a.x.dtype == np.float32 and target.kind in "iu":
        # one path for all integers, so that what does not fit wraps around
        return np.asarray(a.x.astype(np.int64).astype(target))
    return np.asarray(a.x.astype(target))


@reference("aten.copy.default", "aten::copy.out")
def _copy(a: Args) -> Array:
    return np.ascontiguousarray(np.broadcast_to(_convert(a), a.O)).reshape(a.O)
