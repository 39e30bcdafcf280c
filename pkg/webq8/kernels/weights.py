"""Constant weights, packed when a model is loaded, for the kernels that read them."""

from array import array
from typing import NamedTuple

from webq8.dtypes import cdiv, round_up
from webq8.ir.plan import Const
from webq8.scatter import scatter, scattered

__all__ = [
    "PackedWindows",
    "int32s",
    "pack_columns",
    "pack_phases",
    "pack_rows",
    "pack_windows",
    "row_sums",
    "sums_by_tap",
]

_RAISED = bytes(byte ^ 128 for byte in range(256))  # int8, each 128 more


def row_sums(data: memoryview, rows: int, parts: int, length: int) -> "array[int]":
    """Sums of int8 weights: of each of `parts` runs of `length` in each row."""
    try:
        import numpy as np
    except ImportError:
        raised = bytes(data).translate(_RAISED)  # Python adds up bytes three times as fast as signed elements
        runs = (raised[n * length : (n + 1) * length] for n in range(rows * parts))
        return array("i", (sum(run) - 128 * length for run in runs))
    weights = np.frombuffer(data, np.int8).reshape(rows, parts, length)
    return array("i", weights.sum(-1, dtype=np.int32).tobytes())


def int32s(values: "array[int]", count: int) -> Const:
    """int32 values, padded with zeros to `count`."""
    return Const((values + array("i", [0] * (count - len(values)))).tobytes())


def sums_by_tap(sums: "array[int]", rows: int, taps: int, padded: int) -> Const:
    """Sums [row, tap] as [tap, row], rows padded."""
    return Const(b"".join((sums[tap::taps] + array("i", [0] * (padded - rows))).tobytes() for tap in range(taps)))


def pack_rows(data: memoryview, rows: int, parts: int, length: int, padded: int, row_bytes: int = 0) -> Const:
    """Rows of `parts` runs of `length` bytes, each run padded, and each row to `row_bytes`; rows padded to a multiple
    of 4 of them."""
    row = max(row_bytes, parts * padded)
    if length == padded:  # runs that lie side by side are one
        parts, length = 1, parts * length
    if parts * length == row:
        return Const(bytes(data).ljust(round_up(rows, 4) * row, b"\0"))
    strides = (parts * length, length, 1), (row, padded, 1)
    return Const(scattered(data, (rows, parts, length), *strides, round_up(rows, 4) * row))


def pack_columns(data: memoryview, rows: int, columns: int, padded: int) -> Const:
    """Weights [row, column] as [column, row], rows padded, columns to a multiple of 4."""
    strides = (columns, 1, 1), (1, padded, 1)
    return Const(scattered(data, (rows, columns, 1), *strides, round_up(columns, 4) * padded))


def pack_phases(
    data: memoryview, oc: int, kernel: tuple[int, int], stride: tuple[int, int], ic: int, padded: int
) -> tuple[Const, Const]:
    """Weights and sums of a transposed convolution, phase by phase: a phase has every `stride`-th tap on each axis.

    `weight[oc, tap, ic]`; each tap's `ic` bytes are padded to `padded`.
    """
    taps, rows = kernel[0] * kernel[1], round_up(oc, 4)
    packed, sums, by_tap = bytearray(rows * taps * padded), array("i"), row_sums(data, oc, taps, ic)
    at = 0
    for row in range(stride[0]):
        for column in range(stride[1]):
            phase = [
                h * kernel[1] + w for h in range(row, kernel[0], stride[0]) for w in range(column, kernel[1], stride[1])
            ]
            strides = (taps * ic, 1, 1), (len(phase) * padded, 1, 1)
            for n, tap in enumerate(phase):
                scatter(packed, data, (oc, ic, 1), *strides, start=tap * ic, at=at + n * padded)
            at += rows * len(phase) * padded
            sums += array("i", map(sum, zip(*(by_tap[tap::taps] for tap in phase), strict=True)))
            sums += array("i", [0] * (rows - oc))
    return Const(bytes(packed)), int32s(sums, len(sums))


class PackedWindows(NamedTuple):
    """Weights of a grouped convolution as the words of x that each output channel reads.

    A group's channels may begin and end within a word of x, so each output channel reads `window` words from its
    `first` word on, with weights of zero outside of its group. `shared`: the four channels of every word of y read
    the same words.
    """

    weights: Const  # vec4 of four channels' words [channel word, tap, window]
    first: Const  # int32 [channel]
    window: int
    shared: bool


def pack_windows(data: memoryview, oc: int, groups: int, taps: int, ic: int) -> PackedWindows:
    """Packs `weight[oc, tap, ic]` with `ic` input channels a group."""
    per_group, padded = oc // groups, round_up(oc, 4)
    starts = range(0, groups * ic, ic)  # of each group
    window = max((cdiv(start + ic, 4) - start // 4 for start in starts), default=0) if oc else 0
    # the last window may not run past the pixel's words
    words = [min(start // 4, cdiv(ic * groups, 4) - window) for start in starts]
    packed, row = bytearray(padded * taps * window * 4), taps * ic
    for group, (start, word) in enumerate(zip(starts, words, strict=True)):
        # channels that lie in the same byte of words and of vec4 are equal strides stride on both sides
        for channel in range(group * per_group, group * per_group + min(4, per_group)):
            for c in range(min(4, ic)):
                byte = start - 4 * word + c
                sizes = cdiv((group + 1) * per_group - channel, 4), taps, cdiv(ic - c, 4)
                target = channel // 4 * taps * window * 16 + byte // 4 * 16 + channel % 4 * 4 + byte % 4
                strides = (4 * row, ic, 4), (taps * window * 16, window * 16, 16)
                scatter(packed, data, sizes, *strides, start=channel * row + c, at=target)
    first = array("i", [word for word in words for _ in range(per_group)])
    shared = all(len({*first[w : w + 4]}) == 1 for w in range(0, oc, 4))
    return PackedWindows(Const(bytes(packed)), int32s(first, padded), window, shared)
