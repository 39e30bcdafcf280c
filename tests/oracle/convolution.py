"""Convolutions of float32."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from oracle.core import oracle, single
from oracle.windows import correlate, spread


def _for_axes(value: int | Sequence[int], axes: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * axes if len(values) == 1 else values


@oracle("convolution")
def convolution(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    transposed: bool = False,
    output_padding: Any = 0,
    groups: int = 1,
) -> np.ndarray:
    s, p, d, extra = (_for_axes(v, x.ndim - 2) for v in (stride, padding, dilation, output_padding))
    if transposed:
        y = spread(x, weight, s, p, d, extra, groups)
    else:
        y = correlate(x, weight, s, [(n, n) for n in p], d, groups)
    if bias is not None:
        y = y + bias.reshape(-1, *[1] * (x.ndim - 2))
    return single(y)


@oracle("conv_with_clamp")
def conv_with_clamp(*args: Any) -> np.ndarray:
    *convolved, low, high = args
    y = convolution(*convolved)
    if low is not None:
        y = np.maximum(y, np.float32(low))
    return y if high is None else np.minimum(y, np.float32(high))
