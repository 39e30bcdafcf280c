"""Resizing; which elements are read, and with what weight, is computed in float32."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.resize import InterpolateInt8, ResizeBilinear, ResizeNearest, Tap

__all__: list[str] = []


def _ratio(size: int, out: int, given: float) -> np.float32:
    return np.float32(1.0 / given) if given > 0 else np.float32(size) / np.float32(out)


def _nearest_rows(size: int, out: int, given: float) -> Array:
    i = np.arange(out)
    if out == 2 * size or out == size:
        return i // (out // size)
    at = np.floor(i.astype(np.float32) * _ratio(size, out, given))
    return np.asarray(np.minimum(at.astype(np.int64), size - 1))


@reference(ResizeNearest)
def resize_nearest(op: ResizeNearest, arrays: Arrays) -> Array:
    x = arrays[op.x]
    rows, columns = (_nearest_rows(x.shape[2 + n], op.size[n], op.scales[n]) for n in (0, 1))
    return np.ascontiguousarray(x[:, :, rows][..., columns])


def _linear_matrix(size: int, out: int, align_corners: bool, given: float, half_pixel: bool) -> Array:
    """A matrix [out, size] of the weights with which each output row takes the input rows."""
    i = np.arange(out, dtype=np.float32)
    if out == size:
        at = i
    elif align_corners:
        at = i * (np.float32(size - 1) / np.float32(out - 1) if out > 1 else np.float32(0))
    elif not half_pixel:
        at = i * _ratio(size, out, given)
    else:
        at = np.maximum((i + np.float32(0.5)) * _ratio(size, out, given) - np.float32(0.5), np.float32(0))
    first = np.minimum(np.floor(at).astype(np.int64), size - 1)
    share = np.minimum(at - first.astype(np.float32), np.float32(1))
    matrix = np.zeros((out, size))
    np.add.at(matrix, (np.arange(out), first), 1 - share)
    np.add.at(matrix, (np.arange(out), np.minimum(first + 1, size - 1)), share)
    return matrix


@reference(ResizeBilinear)
def resize_bilinear(op: ResizeBilinear, arrays: Arrays) -> Array:
    x = arrays[op.x]
    rows, columns = (
        _linear_matrix(x.shape[2 + n], op.size[n], op.align_corners, op.scales[n], op.half_pixel) for n in (0, 1)
    )
    return np.asarray(rows @ x.astype(np.float64) @ columns.T, np.float32)


def _weights(taps: tuple[Tap, ...], size: int) -> Array:
    """A matrix [out, size] of the 2048ths of each row (or column) of x in those of y."""
    matrix = np.zeros((len(taps), size), np.int64)
    for i, (first, second, share) in enumerate(taps):
        matrix[i, first] += 2048 - share
        matrix[i, second] += share
    return matrix


@reference(InterpolateInt8)
def interpolate_int8(op: InterpolateInt8, arrays: Arrays) -> Array:
    x = arrays[op.x]
    rows, columns = _weights(op.rows, x.shape[2]), _weights(op.columns, x.shape[3])
    return np.asarray((rows @ x.astype(np.int64) @ columns.T + 2**21) >> 22).astype(np.int8)
