"""Constant weights, packed once at load for the kernels that read them."""

from array import array
from typing import NamedTuple

from webq8.dtypes import cdiv, round_up
from webq8.ir.plan import Const
from webq8.plan.layout import scattered

__all__ = ["PackedWindows", "int32s", "pack_phases", "pack_rows", "pack_windows", "row_sums", "sums_by_tap"]


def row_sums(data: memoryview, rows: int, stride: int, parts: int, length: int) -> "array[int]":
    """Sums of int8 weights: of each of `parts` runs of `length` in each row, rows `stride` bytes apart."""
    try:
        import numpy as np
    except ImportError:
        signed = data.cast("b")
        runs = (n * stride + p * length for n in range(rows) for p in range(parts))
        return array("i", (sum(signed[at : at + length]) for at in runs))
    weights = np.frombuffer(data, np.int8)[: rows * stride].reshape(rows, stride)[:, : parts * length]
    return array("i", weights.reshape(rows, parts, length).sum(-1, dtype=np.int32).tobytes())


def int32s(values: "array[int]", count: int) -> Const:
    """int32 values, padded with zeros."""
    return Const((values + array("i", [0] * (count - len(values)))).tobytes())


def sums_by_tap(sums: "array[int]", rows: int, taps: int, padded: int) -> Const:
    """Sums [row, tap] as [tap, row], rows padded."""
    return Const(b"".join((sums[tap::taps] + array("i", [0] * (padded - rows))).tobytes() for tap in range(taps)))


def pack_rows(
    data: memoryview, rows: int, stride: int, parts: int, length: int, padded: int, row_bytes: int = 0
) -> Const:
    """Rows of `parts` runs of `length` bytes, each run padded, and each row to `row_bytes`; rows padded to a multiple
    of 4 of them."""
    row = max(row_bytes, parts * padded)
    if length == padded:  # runs that lie side by side are one
        parts, length = 1, parts * length
    steps = (stride, length, 1), (row, padded, 1)
    return Const(scattered(data, (rows, parts, length), *steps, round_up(rows, 4) * row))


def pack_phases(
    data: memoryview, oc: int, stride: int, kernel: tuple[int, int], apart: tuple[int, int], ic: int, padded: int
) -> tuple[Const, Const]:
    """Weights and sums of a transposed convolution, phase by phase: a phase has every `apart`-th tap on each axis.

    `weight[oc, tap·ic + c]` (rows `stride` bytes apart); each tap's `ic` bytes are padded to `padded`.
    """
    weights, sums = [], array("i")
    for row in range(apart[0]):
        for column in range(apart[1]):
            taps = [
                h * kernel[1] + w for h in range(row, kernel[0], apart[0]) for w in range(column, kernel[1], apart[1])
            ]
            starts = (n * stride + tap * ic for n in range(oc) for tap in taps)
            phase, length = memoryview(b"".join(data[at : at + ic] for at in starts)), len(taps) * ic
            weights.append(pack_rows(phase, oc, length, len(taps), ic, padded).data)
            sums += row_sums(phase, oc, length, 1, length) + array("i", [0] * (-oc % 4))
    return Const(b"".join(weights)), int32s(sums, len(sums))


class PackedWindows(NamedTuple):
    """Weights of a grouped convolution as the words of x that each output channel reads.

    A group's channels may begin and end within a word of x, so each output channel reads `window` words from its
    `first` word on, with weights of zero outside of its group. `shared`: the four channels of every output word read
    the same words.
    """

    weights: Const  # vec4 of four channels' words [channel word, tap, window]
    first: Const  # int32 [channel]
    window: int
    shared: bool


def pack_windows(data: memoryview, stride: int, oc: int, groups: int, taps: int, ic: int) -> PackedWindows:
    """Packs `weight[oc, tap·ic + c]` (rows `stride` bytes apart) with `ic` input channels a group."""
    per_group, padded = oc // groups, round_up(oc, 4)
    starts = [n // per_group * ic for n in range(oc)]
    window = max((cdiv(s + ic, 4) - s // 4 for s in starts), default=0)
    # the last window may not run past the pixel's words
    first = array("i", [min(s // 4, cdiv(ic * groups, 4) - window) for s in starts])
    packed = bytearray(padded * taps * window * 4)
    for n in range(oc):
        word, lane = divmod(n, 4)
        shift = bytes(starts[n] - 4 * first[n])
        for tap in range(taps):
            at = n * stride + tap * ic
            row = (shift + bytes(data[at : at + ic])).ljust(4 * window, b"\0")
            block = memoryview(packed)[(word * taps + tap) * window * 16 :][: window * 16]
            for byte in range(4):
                block[4 * lane + byte :: 16] = row[byte::4]
    shared = all(len({*first[w : w + 4]}) == 1 for w in range(0, oc, 4))
    return PackedWindows(Const(bytes(packed)), int32s(first, padded), window, shared)
