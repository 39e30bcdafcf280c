"""Loops over elements that lie strides apart, and the kernel that copies along them (wgsl/strided_copy.wgsl)."""

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.ir.plan import Const, Dispatch

__all__ = [
    "NOTHING",
    "Axis",
    "axes_of",
    "broadcast_strides",
    "contiguous",
    "insert",
    "merged",
    "scaled",
    "strided_copy",
]

NOTHING = bytes(8)  # what stands where no element comes from


class Axis(NamedTuple):
    """An axis of a loop over elements: how far each step goes in each tensor (0: stays), and which of its coordinates,
    `low` to before `high`, have an element there."""

    size: int
    strides: tuple[int, ...]
    low: int
    high: int

    @property
    def full(self) -> bool:
        return (self.low, self.high) == (0, self.size)


def axes_of(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    """A loop over all elements: the strides of each tensor that it goes through."""
    return [Axis(size, tuple(steps), 0, size) for size, *steps in zip(sizes, *strides, strict=True)]


def contiguous(shape: Sequence[int]) -> list[int]:
    """Strides of a row-major tensor."""
    return [numel(tuple(shape[i + 1 :])) for i in range(len(shape))]


def broadcast_strides(shape: Sequence[int], out: Sequence[int]) -> list[int]:
    """Strides that read a row-major tensor of `shape` as if it had the shape `out`."""
    steps = [0 if size == 1 else step for size, step in zip(shape, contiguous(shape), strict=True)]
    return [0] * (len(out) - len(shape)) + steps


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same loop with as few axes as possible, the innermost first."""
    result: list[Axis] = []
    for a in reversed(axes):
        inner = result[-1] if result else None
        if a.size == 1 and a.full:
            continue
        if inner and inner.full and a.strides == tuple(step * inner.size for step in inner.strides):
            size = inner.size
            result[-1] = Axis(a.size * size, inner.strides, a.low * size, a.high * size)
        else:
            result.append(a)
    return result


def scaled(
    axes: Sequence[Axis], jumps: Sequence[int], item: int, tensors: int = 1
) -> tuple[list[Axis], list[int], bool]:
    """A loop over elements of `item` bytes as one over words, or over bytes where words would be torn.

    It goes through as many `tensors` at once. The first has these elements; so count `jumps`, what else is added to a
    place in it.
    """
    alone = (1,) + (0,) * (tensors - 1)  # a step in the first only

    def in_words(a: Axis) -> Axis:
        return a._replace(strides=(a.strides[0] * item // 4, *a.strides[1:]))

    if item == 8:
        return [Axis(2, alone, 0, 2), *map(in_words, axes)], [2 * jump for jump in jumps], False
    if item == 4:
        return [*axes], [*jumps], False
    inner, rest = (axes[0], axes[1:]) if axes else (Axis(1, alone, 0, 1), ())
    # without further axes the last word may run past the end
    whole = inner.strides == alone and inner.full and (inner.size % 4 == 0 or not rest)
    if whole and not any(step % 4 for step in (*jumps, *(a.strides[0] for a in rest))):
        words = cdiv(inner.size, 4)
        return [Axis(words, alone, 0, words), *map(in_words, rest)], [jump // 4 for jump in jumps], False
    return [*axes], [*jumps], True


def strided_copy(
    x: int | Const, y: int, item: int, axes: Sequence[Axis], base: int = 0, fill: bytes = NOTHING, insert: bool = False
) -> Dispatch:
    """Copies elements of `item` bytes; `axes` have one stride each, `fill` is what elements from outside become."""
    loop, (base,), as_bytes = scaled(merged(axes), (base,), item)
    count = math.prod(a.size for a in loop)
    even, odd = struct.unpack("<II", fill)
    return Dispatch(
        "strided_copy",
        {"x": x, "y": y},
        {
            "count": count,
            "rank": len(loop),
            "base": base % 2**32,
            "fill_even": even,
            "fill_odd": odd,
            "axes": tuple(n for a in loop for n in (a.size, a.strides[0] % 2**32, a.low, a.high)),
        },
        threads=cdiv(count, 4) if as_bytes else count,
        constants={"bytes": as_bytes, "insert": insert},
    )


def insert(x: int, y: int, item: int, outer: int, row: int, start: int, pitch: int) -> Dispatch:
    """Copies the rows of x to y, whose rows have `pitch` elements, from element `start` on."""
    if item == 1 and (row % 4 or start % 4 or pitch % 4):
        # a thread writes whole words of y, so that no two write to the same one
        axes = [*axes_of((outer,), (row,)), Axis(pitch if row else 0, (1,), start, start + row)]
        return strided_copy(x, y, 1, axes, -start, insert=True)
    if item == 1:
        item, row, start, pitch = 4, row // 4, start // 4, pitch // 4
    return strided_copy(x, y, item, axes_of((outer, row), (pitch, 1)), start, insert=True)
