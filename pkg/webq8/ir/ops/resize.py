"""Resizing of maps [N, C, H, W]."""

import math

from webq8.errors import LimitError, shown
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.move import moved
from webq8.ir.types import BadArg, Ref, Tensor, f32

__all__ = ["InterpolateInt8", "ResizeBilinear", "ResizeNearest", "Tap", "check_scales"]

Tap = tuple[int, int, int]  # two rows (or columns) of x, and the share of the second, in 2048ths

_MOST_TAPS = 2**14  # rows or columns; each is worked out when a program is planned


def check_scales(scales: tuple[float, float]) -> None:
    """Raises BadArg for scales that float32 does not hold, or not their reciprocals."""
    if not all(math.isfinite(f32(s)) and (s <= 0 or math.isfinite(f32(1.0 / s))) for s in scales):
        raise BadArg(f"scales of {shown(scales)} are not finite float32 numbers, or 1/scale is none")


def _resized(x: Tensor, size: tuple[int, int], scales: tuple[float, float]) -> Tensor:
    check_scales(scales)
    if min(*size, *x.shape[2:]) < 1:
        raise BadArg(f"cannot resize {list(x.shape[2:])} to {[*size]}")
    if max(size) > _MOST_TAPS or max(x.shape[2:]) >= 2**31:
        raise BadArg(f"{list(x.shape[2:])} to {[*size]}: more than {_MOST_TAPS:,} rows or columns", LimitError)
    return Tensor((*x.shape[:2], *size), "float32")


class ResizeNearest(Op):
    """float32 x to `size` (height, width): y has at i the element floor(i / scale) of x, and where a scale is 0, the
    element floor(i · x's size / y's size)."""

    x: Ref
    size: tuple[int, int]
    scales: tuple[float, float]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (_resized(types[self.x], self.size, self.scales),)


class ResizeBilinear(Op):
    """float32 x to `size` (height, width), interpolated between the two nearest rows and columns: those at
    (i + 0.5) / scale − 0.5, with x's size / y's size for 1 / scale where a scale is 0; at i / scale without
    `half_pixel`; or, with `align_corners`, at i · (x's size − 1) / (y's size − 1)."""

    x: Ref
    size: tuple[int, int]
    scales: tuple[float, float]
    align_corners: bool
    half_pixel: bool = True

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (_resized(types[self.x], self.size, self.scales),)


class InterpolateInt8(Op):
    """Each row and column of y between two of x, int8 in fixed point: with first + share · (second − first) between
    columns, then between rows, y = (2²² · that + 2²¹) >> 22. Shares of 0 only pick elements."""

    HIDDEN = frozenset({"rows", "columns"})
    x: Ref
    rows: tuple[Tap, ...]
    columns: tuple[Tap, ...]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, size = types[self.x], (len(self.rows), len(self.columns))
        if x.dtype != "int8" or len(x.shape) != 4:
            raise BadArg(f"x: {x.dtype} {list(x.shape)}; int8 [N, C, H, W] is expected")
        for taps, most in zip((self.rows, self.columns), x.shape[2:], strict=True):
            if any(not (min(a, b) >= 0 and max(a, b) < most and 0 <= share <= 2048) for a, b, share in taps):
                raise BadArg(f"taps beyond {most} rows or columns")
        return (moved(x, _resized(x, size, (0.0, 0.0)).shape),)

    def exact(self, types: Types) -> bool:
        return True
