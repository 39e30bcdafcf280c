"""Resizing, with numpy's float32 arithmetic for what is read."""

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args


def _ratio(size: int, out: int, given: float) -> np.float32:
    return np.float32(1.0 / given) if given > 0 else np.float32(size) / np.float32(out)


def _nearest_rows(size: int, out: int, given: float) -> Array:
    i = np.arange(out)
    if out == 2 * size or out == size:
        return i // (out // size)
    at = np.floor(i.astype(np.float32) * _ratio(size, out, given))
    return np.asarray(np.minimum(at.astype(np.int64), size - 1))


@reference(
    "aten.upsample_nearest2d.vec",
    "aten::upsample_nearest2d.vec_out",
    "aten.upsample_nearest2d.default",
    "aten::upsample_nearest2d.out",
)
def _nearest(a: Args) -> Array:
    rows, columns = _nearest_rows(a.H, a.OH, a.scales[0]), _nearest_rows(a.W, a.OW, a.scales[1])
    return np.ascontiguousarray(a.x[:, :, rows][..., columns])


def _linear_matrix(size: int, out: int, align_corners: bool, given: float) -> Array:
    """[out, size]: the shares that outputs take of each row."""
    i = np.arange(out, dtype=np.float32)
    if out == size:
        at = i
    elif align_corners:
        at = i * (np.float32(size - 1) / np.float32(out - 1) if out > 1 else np.float32(0))
    else:
        at = np.maximum((i + np.float32(0.5)) * _ratio(size, out, given) - np.float32(0.5), np.float32(0))
    first = np.minimum(np.floor(at).astype(np.int64), size - 1)
    share = np.minimum(at - first.astype(np.float32), np.float32(1))
    matrix = np.zeros((out, size))
    np.add.at(matrix, (np.arange(out), first), 1 - share)
    np.add.at(matrix, (np.arange(out), np.minimum(first + 1, size - 1)), share)
    return matrix


@reference(
    "aten.upsample_bilinear2d.vec",
    "aten::upsample_bilinear2d.vec_out",
    "aten.upsample_bilinear2d.default",
    "aten::upsample_bilinear2d.out",
)
def _bilinear(a: Args) -> Array:
    rows = _linear_matrix(a.H, a.OH, a.align_corners, a.scales[0])
    columns = _linear_matrix(a.W, a.OW, a.align_corners, a.scales[1])
    return np.asarray(rows @ a.x.astype(np.float64) @ columns.T, np.float32)
