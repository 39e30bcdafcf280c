"""Windows of maps: where they start, what they hold, and convolutions by them."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def starts(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[int]:
    """The places, from −padding on, where windows start that lie in the padded map.

    With `ceil_mode` one that reaches beyond it is there, too, unless it starts beyond the map and its first padding.
    """
    reach = dilation * (kernel - 1) + 1
    found = []
    start = -padding
    while start + reach <= size + padding:
        found.append(start)
        start += stride
    if ceil_mode and start < size and (not found or found[-1] + reach < size + padding):
        found.append(start)
    return found


def correlate(
    x: np.ndarray,
    weight: np.ndarray,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
) -> np.ndarray:
    """Sums of x [N, IC, …] by weight [OC, IC / groups, …] in float64. Outside of x lie zeros; negative padding cuts."""
    axes = tuple(range(2, x.ndim))
    for axis, (before, after) in zip(axes, padding, strict=True):
        part = slice(max(0, -before), max(0, x.shape[axis] + min(0, after)))
        x = x[(slice(None),) * axis + (part,)]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((max(0, b), max(0, a)) for b, a in padding)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:], strict=True)]
    if any(r > x.shape[axis] for r, axis in zip(reach, axes, strict=True)):
        out = [max(0, (x.shape[a] - r) // s + 1) for r, a, s in zip(reach, axes, stride, strict=True)]
        return np.zeros((len(x), len(weight), *out))
    view = sliding_window_view(x, reach, axes)
    view = view[(..., *(slice(None, None, s) for s in stride), *(slice(None, None, d) for d in dilation))]
    inputs, outputs, taps = weight.shape[1], len(weight) // groups, tuple(range(-len(axes), 0))
    parts = []
    for g in range(groups):
        of_group = view[:, g * inputs : (g + 1) * inputs]
        kernels = weight[g * outputs : (g + 1) * outputs].astype(np.float64)
        parts.append(np.tensordot(of_group, kernels, ((1, *taps), (1, *taps))))
    return np.moveaxis(np.concatenate(parts, -1), -1, 1)


def spread(
    x: np.ndarray,
    weight: np.ndarray,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> np.ndarray:
    """A transposed convolution of x [N, IC, …] by weight [IC, OC / groups, …].

    It is the convolution of x, with stride − 1 zeros between its elements, by the kernel back to front.
    """
    sizes = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride, strict=True)]
    apart = np.zeros((*x.shape[:2], *sizes))
    apart[(..., *(slice(None, None, s) for s in stride))] = x
    inputs, outputs = len(weight) // groups, weight.shape[1]
    kernels = weight.reshape(groups, inputs, outputs, *weight.shape[2:]).swapaxes(1, 2)
    kernels = kernels.reshape(groups * outputs, inputs, *weight.shape[2:])
    kernels = kernels[(..., *(slice(None, None, -1) for _ in sizes))]
    margins = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    both = [(m, m + extra) for m, extra in zip(margins, output_padding, strict=True)]
    return correlate(apart, kernels, [1] * len(sizes), both, dilation, groups)
