"""Copies between elements that lie strides apart (wgsl/strided_copy.wgsl)."""

import math
import struct
from collections.abc import Sequence

from webq8.dtypes import cdiv
from webq8.ir.plan import Const, Dispatch
from webq8.kernels.walk import Axis, axes_of, merged

__all__ = ["NOTHING", "insert", "scaled", "strided_copy"]

NOTHING = bytes(8)  # an element of zero, which stands where none is copied from


def scaled(
    axes: Sequence[Axis], jumps: Sequence[int], item: int, tensors: int = 1
) -> tuple[list[Axis], list[int], bool]:
    """A loop over elements of `item` bytes as one over words, or over bytes where words would be torn.

    The loop goes through so many `tensors` at once, the first of which has elements of that size. `jumps` are other
    distances in the first tensor, which are scaled alike. Returns both, and whether they are in bytes.
    """
    alone = (1,) + (0,) * (tensors - 1)  # one element further in the first tensor, none in the others

    def in_words(a: Axis) -> Axis:
        return a._replace(strides=(a.strides[0] * item // 4, *a.strides[1:]))

    if item == 8:
        return [Axis(2, alone, 0, 2), *map(in_words, axes)], [2 * jump for jump in jumps], False
    if item == 4:
        return [*axes], [*jumps], False
    inner, rest = (axes[0], axes[1:]) if axes else (Axis(1, alone, 0, 1), ())
    # without further axes the last word may run past the end
    whole = inner.strides == alone and inner.full and (inner.size % 4 == 0 or not rest)
    if whole and not any(distance % 4 for distance in (*jumps, *(a.strides[0] for a in rest))):
        words = cdiv(inner.size, 4)
        return [Axis(words, alone, 0, words), *map(in_words, rest)], [jump // 4 for jump in jumps], False
    return [*axes], [*jumps], True


def strided_copy(
    x: int | Const, y: int, item: int, axes: Sequence[Axis], base: int = 0, fill: bytes = NOTHING, insert: bool = False
) -> Dispatch:
    """Copies elements of `item` bytes from x, along `axes` of one stride each from element `base` on, to y in row-major
    order; `fill` goes where a coordinate has no element. With `insert` it is y that is walked along the axes, and what
    they do not reach stays as it is."""
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
