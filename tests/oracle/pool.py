"""Pooling of float32, window by window."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.core import oracle, pair, single
from oracle.windows import starts


@oracle("max_pool2d_with_indices")
def max_pool2d_with_indices(
    x: np.ndarray,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Goes through the taps as torch does: a larger one, or NaN, takes the place of what was found before."""
    (kh, kw), (ph, pw), (dh, dw) = pair(kernel), pair(padding), pair(dilation)
    sh, sw = pair(stride or kernel)
    height, width = x.shape[-2:]
    tops, lefts = starts(height, kh, sh, ph, dh, ceil_mode), starts(width, kw, sw, pw, dw, ceil_mode)
    best = np.full((*x.shape[:-2], len(tops), len(lefts)), -np.inf, np.float32)
    place = np.zeros(best.shape, np.int64)
    for i, top in enumerate(tops):
        for j, left in enumerate(lefts):
            rows = [r for r in range(top, top + kh * dh, dh) if r >= 0]
            columns = [c for c in range(left, left + kw * dw, dw) if c >= 0]
            place[..., i, j] = rows[0] * width + columns[0]
            for r in rows:
                for c in columns:
                    if r < height and c < width:
                        v = x[..., r, c]
                        taken = (v > best[..., i, j]) | np.isnan(v)
                        best[..., i, j] = np.where(taken, v, best[..., i, j])
                        place[..., i, j] = np.where(taken, r * width + c, place[..., i, j])
    return best, place


@oracle("max_pool2d")
def max_pool2d(*args: Any) -> np.ndarray:
    return max_pool2d_with_indices(*args)[0]


@oracle("avg_pool2d")
def avg_pool2d(
    x: np.ndarray,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> np.ndarray:
    (kh, kw), (ph, pw), (sh, sw) = pair(kernel), pair(padding), pair(stride or kernel)
    height, width = x.shape[-2:]
    tops, lefts = starts(height, kh, sh, ph, 1, ceil_mode), starts(width, kw, sw, pw, 1, ceil_mode)
    y = np.zeros((*x.shape[:-2], len(tops), len(lefts)))
    for i, top in enumerate(tops):
        for j, left in enumerate(lefts):
            taps = [
                x[..., r, c].astype(np.float64)
                for r in range(top, top + kh)
                for c in range(left, left + kw)
                if 0 <= r < height and 0 <= c < width
            ]
            count = len(taps)
            if divisor_override is not None:
                count = divisor_override
            elif count_include_pad:
                # places beyond the padding, which ceil_mode adds, count for nothing
                count = sum(r < height + ph for r in range(top, top + kh))
                count *= sum(c < width + pw for c in range(left, left + kw))
            if taps:
                y[..., i, j] = sum(taps) / count
    return single(y)


@oracle("_adaptive_avg_pool2d", "adaptive_avg_pool2d")
def adaptive_avg_pool2d(x: np.ndarray, output_size: int | Sequence[int]) -> np.ndarray:
    (rows, columns), (height, width) = pair(output_size), x.shape[-2:]
    y = np.empty((*x.shape[:-2], rows, columns))
    for i in range(rows):
        for j in range(columns):
            # window i holds the rows r whose stretch r … r + 1 meets i … i + 1 of `rows`
            of_rows = [r for r in range(height) if r * rows < (i + 1) * height and (r + 1) * rows > i * height]
            of_columns = [c for c in range(width) if c * columns < (j + 1) * width and (c + 1) * columns > j * width]
            y[..., i, j] = x[..., of_rows, :][..., of_columns].astype(np.float64).mean((-2, -1))
    return single(y)
