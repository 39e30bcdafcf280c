"""Resizing of maps."""

from collections.abc import Sequence

import numpy as np

from oracle.core import oracle, single


def _sizes(
    x: np.ndarray, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> list[tuple[int, int, float | None]]:
    """For rows and for columns: how many there are, how many there will be, and the factor, where one is given."""
    found = []
    for axis in (0, 1):
        size, factor = x.shape[2 + axis], None if scale_factors is None else scale_factors[axis]
        new = int(np.floor(size * factor)) if output_size is None else output_size[axis]
        found.append((size, new, factor))
    return found


@oracle("upsample_nearest2d")
def nearest(
    x: np.ndarray, output_size: Sequence[int] | None = None, scale_factors: Sequence[float] | None = None
) -> np.ndarray:
    lines = []
    for size, new, factor in _sizes(x, output_size, scale_factors):
        step = np.float32(size) / np.float32(new) if factor is None else np.float32(1 / factor)
        if new in (size, 2 * size):  # so torch has it, whatever the factor says
            step = np.float32(size / new)
        lines.append([min(int(np.float32(i) * step), size - 1) for i in range(new)])
    rows, columns = lines
    return x[:, :, rows][:, :, :, columns]


@oracle("upsample_bilinear2d")
def bilinear(
    x: np.ndarray,
    output_size: Sequence[int] | None = None,
    align_corners: bool = False,
    scale_factors: Sequence[float] | None = None,
) -> np.ndarray:
    y = x.astype(np.float64)
    for axis, (size, new, factor) in enumerate(_sizes(x, output_size, scale_factors), 2):
        mixing = np.zeros((new, size))
        for i in range(new):
            if new == size:
                place = float(i)
            elif align_corners:
                place = i * (size - 1) / (new - 1) if new > 1 else 0.0
            else:
                place = max(0.0, (i + 0.5) * (size / new if factor is None else 1 / factor) - 0.5)
            first = min(int(place), size - 1)
            mixing[i, first] += 1 - (place - first)
            mixing[i, min(first + 1, size - 1)] += place - first
        y = np.moveaxis(np.tensordot(mixing, y, (1, axis)), 0, axis)
    return single(y)
