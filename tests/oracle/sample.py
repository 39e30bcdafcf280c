"""Grid sampling: coordinates in float32, step by step, as torch computes them."""

import math

import numpy as np

from oracle.core import oracle, single

_F = np.float32


@oracle("grid_sampler_2d")
def grid_sampler_2d(
    x: np.ndarray, grid: np.ndarray, interpolation: int = 0, padding: int = 0, align_corners: bool = False
) -> np.ndarray:
    n, c, height, width = x.shape
    y = np.zeros((n, c, *grid.shape[1:3]))
    for b, i, j in np.ndindex(*grid.shape[:3]):
        column = _unnormalized(grid[b, i, j, 0], width, align_corners)
        row = _unnormalized(grid[b, i, j, 1], height, align_corners)
        for (r, by_row), (k, by_column) in _taps(row, column, (height, width), interpolation, padding, align_corners):
            if 0 <= r < height and 0 <= k < width:
                y[b, :, i, j] += x[b, :, r, k].astype(np.float64) * (by_row * by_column)
    return single(y)


def _unnormalized(place: np.float32, size: int, align_corners: bool) -> np.float32:
    if align_corners:
        return _F((place + _F(1)) / _F(2) * _F(size - 1))
    return _F(((place + _F(1)) * _F(size) - _F(1)) / _F(2))


def _within(place: np.float32, size: int, padding: int, align_corners: bool) -> np.float32:
    """A place as the padding has it: 0 leaves it, 1 moves it to the border, 2 reflects it."""
    if padding == 0:
        return place
    if padding == 2:
        low, high = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
        place = _reflected(place, low, high)
    return min(max(place, _F(0)), _F(size - 1))


def _reflected(place: np.float32, twice_low: int, twice_high: int) -> np.float32:
    if twice_low == twice_high:
        return _F(0)
    low, span = _F(twice_low / 2), _F((twice_high - twice_low) / 2)
    away = abs(place - low)
    extra, flips = np.fmod(away, span), math.floor(away / span)
    return _F(extra + low) if flips % 2 == 0 else _F(span - extra + low)


Tap = tuple[int, float]


def _taps(
    row: np.float32, column: np.float32, sizes: tuple[int, int], interpolation: int, padding: int, align_corners: bool
) -> list[tuple[Tap, Tap]]:
    """Rows and columns that are read, each with its weight."""
    if interpolation == 2:
        lines = [_cubic(place, size, padding, align_corners) for place, size in zip((row, column), sizes, strict=True)]
    else:
        lines = []
        for place, size in zip((row, column), sizes, strict=True):
            at = _within(place, size, padding, align_corners)
            if interpolation == 1:
                lines.append([(round(float(at)), 1.0)])
            else:
                first = math.floor(at)
                part = float(at) - first
                lines.append([(first, 1 - part), (first + 1, part)])
    return [(r, c) for r in lines[0] for c in lines[1]]


def _cubic(place: np.float32, size: int, padding: int, align_corners: bool) -> list[Tap]:
    """Four taps of the cubic convolution with a = −0.75, each brought within the map by itself."""
    first, a = math.floor(place), -0.75
    t = float(place) - first

    def near(d: float) -> float:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: float) -> float:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    return [(int(_within(_F(first - 1 + i), size, padding, align_corners)), w) for i, w in enumerate(weights)]
