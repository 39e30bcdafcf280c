"""Resizing of float32 maps [N, C, H, W]."""

import math

from webq8.errors import LimitError, shown
from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, Ref, Tensor, f32

__all__ = ["ResizeBilinear", "ResizeNearest", "check_scales"]

_MOST_TAPS = 2**14  # rows or columns; each is worked out when a program is planned


def check_scales(scales: tuple[float, float]) -> None:
    """Raises BadArg for scales that float32 does not hold, or not their reciprocals."""
    if not all(math.isfinite(f32(s)) and (s <= 0 or math.isfinite(f32(1.0 / s))) for s in scales):
        raise BadArg(f"scales of {shown(scales)} are not finite float32 numbers, or 1/scale is none")


def _resized(x: Tensor, size: tuple[int, int], scales: tuple[float, float]) -> Tensor:
    check_scales(scales)
    if min(*size, *x.shape[2:]) < 1:
        raise BadArg(f"cannot resize {list(x.shape[2:])} to {[*size]}")
    if max(size) > _MOST_TAPS:
        raise BadArg(f"a map of {[*size]} is more than {_MOST_TAPS:,} rows or columns", LimitError)
    return Tensor((*x.shape[:2], *size), "float32")


class ResizeNearest(Op):
    """x to `size` (height, width): y has at i the element floor(i / scale) of x, and where a scale is 0, the element
    floor(i · x's size / y's size)."""

    x: Ref
    size: tuple[int, int]
    scales: tuple[float, float]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (_resized(types[self.x], self.size, self.scales),)


class ResizeBilinear(Op):
    """x to `size` (height, width), interpolated between the two nearest rows and columns: those at
    (i + 0.5) / scale − 0.5, with x's size / y's size for 1 / scale where a scale is 0; or, with `align_corners`, at
    i · (x's size − 1) / (y's size − 1)."""

    x: Ref
    size: tuple[int, int]
    scales: tuple[float, float]
    align_corners: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (_resized(types[self.x], self.size, self.scales),)
