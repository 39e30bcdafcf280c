"""Grid sampling: coordinates in float32, since they decide what is read, and sums in float64."""

from collections.abc import Iterator

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.sample import GridSample

__all__: list[str] = []

_ONE, _TWO, _HALF = np.float32(1), np.float32(2), np.float32(0.5)


def _place(v: Array, size: int, align_corners: bool) -> Array:
    if align_corners:
        return np.asarray((v + _ONE) / _TWO * np.float32(size - 1))
    return np.asarray(((v + _ONE) * np.float32(size) - _ONE) / _TWO)


def _padded(at: Array, size: int, op: GridSample) -> Array:
    if op.padding == "reflection":
        low, span = (np.float32(0), size - 1) if op.align_corners else (-_HALF, size)
        if span == 0:
            at = np.zeros_like(at)
        else:
            # back and forth between the two ends
            extra = np.fmod(np.abs(at - low), np.float32(2 * span))
            at = np.minimum(extra, np.float32(2 * span) - extra) + low
    return at if op.padding == "zeros" else np.clip(at, np.float32(0), np.float32(size - 1))


def _read(x: Array, row: Array, column: Array) -> Array:
    """Reads elements [N, C, OH, OW] at whole coordinates; 0 beyond the map."""
    n, c, height, width = x.shape
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    rows, columns = (np.where(inside, v, 0).astype(np.int64)[:, None] for v in (row, column))
    values = x[np.arange(n)[:, None, None, None], np.arange(c)[None, :, None, None], rows, columns]
    return np.where(inside[:, None], values.astype(np.float64), 0)


def _linear(t: Array) -> Iterator[tuple[int, Array]]:
    yield 0, 1 - t
    yield 1, t


def _cubic(t: Array) -> Iterator[tuple[int, Array]]:
    """Keys' cubic convolution with a = −0.75, piece by piece."""
    a = -0.75
    for offset in (-1, 0, 1, 2):
        d = np.abs(t - offset)
        if offset in (0, 1):
            yield offset, (a + 2) * d**3 - (a + 3) * d**2 + 1
        else:
            yield offset, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a


@reference(GridSample)
def grid_sample(op: GridSample, arrays: Arrays) -> Array:
    x, grid = arrays[op.x], arrays[op.grid]
    height, width = x.shape[2:]
    cubic = op.interpolation == "bicubic"
    column, row = (_place(grid[..., n], size, op.align_corners) for n, size in enumerate((width, height)))
    if not cubic:
        row, column = _padded(row, height, op), _padded(column, width, op)
    if op.interpolation == "nearest":
        return _read(x, np.rint(row), np.rint(column)).astype(np.float32)
    weights = _cubic if cubic else _linear
    top, left = np.floor(row), np.floor(column)
    y = np.zeros(arrays.out.shape)
    for i, down in weights((row - top).astype(np.float64)):
        for j, across in weights((column - left).astype(np.float64)):
            at = top + np.float32(i), left + np.float32(j)
            if cubic:
                at = _padded(at[0], height, op), _padded(at[1], width, op)
            y += _read(x, *at) * (down * across)[:, None]
    return y.astype(np.float32)
