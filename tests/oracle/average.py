"""Means of int8: the exact sum by one factor."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.core import axes_of, oracle, pair, quantized
from oracle.windows import starts


def _numbers(x: np.ndarray, zero_point: int, table: Sequence[int] | None) -> np.ndarray:
    """What each element stands for, in units of x_scale."""
    looked_up = x.astype(np.int64) if table is None else np.asarray(table, np.int64)[x.astype(np.int64) + 128]
    return np.asarray(looked_up - zero_point)


def _scaled(total: Any, count: int, x_scale: float, y_scale: float, y_zero_point: int) -> np.ndarray:
    factor = np.float32(x_scale / (count * y_scale)) if count else np.float32(0)
    return quantized(np.asarray(total).astype(np.float32) * factor, y_zero_point)


@oracle("mean_int8")
def mean(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    dim: Sequence[int] | None,
    keepdim: bool,
    y_scale: float,
    y_zero_point: int,
    table: Sequence[int] | None = None,
) -> np.ndarray:
    axes = axes_of(x, dim)
    kept = [d for d in range(x.ndim) if d not in axes]
    terms = np.transpose(_numbers(x, x_zero_point, table), [*kept, *axes])
    count = int(np.prod([x.shape[d] for d in axes]))
    total = terms.reshape(*(x.shape[d] for d in kept), count).sum(-1)
    y = _scaled(total, count, x_scale, y_scale, y_zero_point)
    return y.reshape([1 if d in axes else n for d, n in enumerate(x.shape)]) if keepdim else y


@oracle("avg_pool2d_int8")
def avg_pool2d(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    y_scale: float,
    y_zero_point: int,
    table: Sequence[int] | None = None,
) -> np.ndarray:
    (kh, kw), (ph, pw), (sh, sw) = pair(kernel), pair(padding), pair(stride or kernel)
    terms, (height, width) = _numbers(x, x_zero_point, table), x.shape[2:]
    tops, lefts = starts(height, kh, sh, ph, 1, ceil_mode), starts(width, kw, sw, pw, 1, ceil_mode)
    y = np.empty((*x.shape[:2], len(tops), len(lefts)), np.int8)
    for i, top in enumerate(tops):
        for j, left in enumerate(lefts):
            window = terms[:, :, max(0, top) : max(0, top + kh), max(0, left) : max(0, left + kw)]
            count = window.shape[2] * window.shape[3]
            if divisor_override is not None:
                count = divisor_override
            elif count_include_pad:
                count = (min(top + kh, height + ph) - top) * (min(left + kw, width + pw) - left)
            y[:, :, i, j] = _scaled(window.sum((2, 3)), count, x_scale, y_scale, y_zero_point)
    return y


@oracle("adaptive_avg_pool2d_int8")
def adaptive_avg_pool2d(
    x: np.ndarray,
    x_scale: float,
    x_zero_point: int,
    output_size: Any,
    y_scale: float,
    y_zero_point: int,
    table: Sequence[int] | None = None,
) -> np.ndarray:
    (rows, columns), (height, width) = pair(output_size), x.shape[2:]
    terms = _numbers(x, x_zero_point, table)
    y = np.empty((*x.shape[:2], rows, columns), np.int8)
    for i in range(rows):
        for j in range(columns):
            # window i holds the rows r whose stretch r … r + 1 meets i … i + 1 of `rows`
            of_rows = [r for r in range(height) if r * rows < (i + 1) * height and (r + 1) * rows > i * height]
            of_columns = [c for c in range(width) if c * columns < (j + 1) * width and (c + 1) * columns > j * width]
            window = terms[:, :, of_rows][:, :, :, of_columns]
            count = len(of_rows) * len(of_columns)
            y[:, :, i, j] = _scaled(window.sum((2, 3)), count, x_scale, y_scale, y_zero_point)
    return y
