"""Maps, read at computed places: places in float32, as they decide what is read, and sums in float64."""

from collections.abc import Iterator

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__: list[str] = []

_ONE, _TWO, _HALF = np.float32(1), np.float32(2), np.float32(0.5)


def _place(v: Array, size: int, align_corners: bool) -> Array:
    if align_corners:
        return np.asarray((v + _ONE) / _TWO * np.float32(size - 1))
    return np.asarray(((v + _ONE) * np.float32(size) - _ONE) / _TWO)


def _padded(at: Array, size: int, a: Args) -> Array:
    if a.padding == 2:
        low, span = (np.float32(0), size - 1) if a.align_corners else (-_HALF, size)
        if span == 0:
            at = np.zeros_like(at)
        else:
            # back and forth between the two ends
            extra = np.fmod(np.abs(at - low), np.float32(2 * span))
            at = np.minimum(extra, np.float32(2 * span) - extra) + low
    return at if a.padding == 0 else np.clip(at, np.float32(0), np.float32(size - 1))


def _read(a: Args, row: Array, column: Array) -> Array:
    """Elements [N, C, OH, OW] at whole coordinates; 0 beyond the map."""
    inside = (row >= 0) & (row < a.H) & (column >= 0) & (column < a.W)
    r, c = (np.where(inside, v, 0).astype(np.int64)[:, None] for v in (row, column))
    values = a.x[np.arange(a.N)[:, None, None, None], np.arange(a.C)[None, :, None, None], r, c]
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


@reference("aten.grid_sampler_2d.default", "aten::grid_sampler_2d.out")
def _grid_sampler(a: Args) -> Array:
    column, row = (_place(a.grid[..., n], size, a.align_corners) for n, size in enumerate((a.W, a.H)))
    if a.interpolation != 2:
        row, column = _padded(row, a.H, a), _padded(column, a.W, a)
    if a.interpolation == 1:
        return _read(a, np.rint(row), np.rint(column)).astype(np.float32)
    weights = _cubic if a.interpolation == 2 else _linear
    top, left = np.floor(row), np.floor(column)
    y = np.zeros((a.N, a.C, a.OH, a.OW))
    for i, down in weights((row - top).astype(np.float64)):
        for j, across in weights((column - left).astype(np.float64)):
            at = top + np.float32(i), left + np.float32(j)
            if a.interpolation == 2:
                at = _padded(at[0], a.H, a), _padded(at[1], a.W, a)
            y += _read(a, *at) * (down * across)[:, None]
    return y.astype(np.float32)
