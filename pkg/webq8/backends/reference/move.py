"""Ops that only move elements."""

from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, Arrays, Result, reference
from webq8.backends.reference.numbers import dequantized, inverse, to_integers
from webq8.ir.ops.move import (
    Bitcast,
    Concat,
    Expand,
    Pad,
    Permute,
    PixelShuffle,
    PixelUnshuffle,
    Repeat,
    Reshape,
    Slice,
    Split,
    Strided,
)
from webq8.ir.types import PerTensor

__all__: list[str] = []


def _row_major(y: Array) -> Array:
    """The elements of a view in a contiguous array; scalars stay scalars."""
    return np.ascontiguousarray(y).reshape(y.shape)


@reference(Bitcast)
def bitcast(op: Bitcast, arrays: Arrays) -> Array:
    return arrays[op.x]


@reference(Reshape)
def reshape(op: Reshape, arrays: Arrays) -> Array:
    return arrays[op.x].reshape(op.shape)


@reference(Permute)
def permute(op: Permute, arrays: Arrays) -> Array:
    return _row_major(np.transpose(arrays[op.x], op.order))


@reference(Slice)
def slice_(op: Slice, arrays: Arrays) -> Array:
    y = arrays[op.x]
    for at, (start, step, size) in enumerate(zip(op.starts, op.steps, op.shape, strict=True)):
        y = np.take(y, start + step * np.arange(size), at)
    return _row_major(y)


@reference(Strided)
def strided(op: Strided, arrays: Arrays) -> Array:
    flat = arrays[op.x].reshape(-1)
    if 0 in op.shape:
        return np.zeros(op.shape, flat.dtype)
    steps = [step * flat.itemsize for step in op.strides]
    return _row_major(np.lib.stride_tricks.as_strided(flat[op.offset :], op.shape, steps))


@reference(Expand)
def expand(op: Expand, arrays: Arrays) -> Array:
    return _row_major(np.broadcast_to(arrays[op.x], op.shape))


@reference(Repeat)
def repeat(op: Repeat, arrays: Arrays) -> Array:
    return _row_major(np.tile(arrays[op.x], op.repeats))


@reference(PixelShuffle)
def pixel_shuffle(op: PixelShuffle, arrays: Arrays) -> Array:
    r, (*lead, c, h, w) = op.factor, arrays[op.x].shape
    parts = arrays[op.x].reshape(*lead, c // r**2, r, r, h, w)
    y = _row_major(np.moveaxis(parts, (-4, -3), (-3, -1)).reshape(arrays.out.shape))
    of_x, of_y = arrays.type(op.x).quantization, arrays.out.quantization
    if isinstance(of_x, PerTensor) and isinstance(of_y, PerTensor):
        return to_integers(dequantized(y, of_x) * inverse(of_y.scale), of_y.zero_point)
    return y


@reference(PixelUnshuffle)
def pixel_unshuffle(op: PixelUnshuffle, arrays: Arrays) -> Array:
    r, (*lead, c, h, w) = op.factor, arrays[op.x].shape
    parts = arrays[op.x].reshape(*lead, c, h // r, r, w // r, r)
    return _row_major(np.moveaxis(parts, (-3, -1), (-4, -3)).reshape(arrays.out.shape))


@reference(Concat)
def concat(op: Concat, arrays: Arrays) -> Array:
    return np.concatenate([arrays[ref] for ref in op.tensors], op.axis)


@reference(Split)
def split(op: Split, arrays: Arrays) -> Result:
    ends = np.cumsum(op.sizes)
    return tuple(_row_major(part) for part in np.split(arrays[op.x], ends[:-1], op.axis))


@reference(Pad)
def pad(op: Pad, arrays: Arrays) -> Array:
    x, shape = arrays[op.x], arrays.out.shape
    y = np.full(shape, np.array(op.value).astype(x.dtype))
    # the part of x that y keeps; nothing where negative margins cut away a whole axis
    kept, at = list[Any](), list[Any]()
    for before, size, room in zip(op.before, x.shape, shape, strict=True):
        first, end = max(-before, 0), min(size, room - before)
        kept.append(slice(first, max(first, end)))
        at.append(slice(first + before, max(first, end) + before))
    y[tuple(at)] = x[tuple(kept)]
    return y
