"""Resizing of maps. Which elements are read, and with what weight, is worked out here in float32, step by step
as torch does, for each row and column; the kernels look it up."""

import math
from array import array
from collections.abc import Iterator
from functools import lru_cache

from webq8.dtypes import numel
from webq8.ir.ops.resize import InterpolateInt8, ResizeBilinear, ResizeNearest
from webq8.ir.plan import Const, Dispatch
from webq8.ir.types import f32
from webq8.kernels.registry import Call, kernel
from webq8.kernels.windows import maps_params

__all__ = ["linear_taps", "nearest_taps"]


def _scale(size: int, out: int, given: float) -> float:
    """How many elements of x lie along one of y, in float32."""
    return f32(1.0 / given) if given > 0 else f32(size / out)


@lru_cache(64)
def nearest_taps(size: int, out: int, given: float) -> list[int]:
    """The row (or column) of x that each row of y reads."""
    scale = _scale(size, out, given)
    if out in (size, 2 * size):
        return [i * size // out for i in range(out)]
    return [min(math.floor(f32(f32(i) * scale)), size - 1) for i in range(out)]


@lru_cache(64)
def linear_taps(
    size: int, out: int, align_corners: bool, given: float, half_pixel: bool = True
) -> list[tuple[int, int, float]]:
    """The two rows (or columns) of x that each row of y reads, and the share of the second."""
    if out == size:
        return [(i, i, 0.0) for i in range(out)]
    scale = f32((size - 1) / max(out - 1, 1)) if align_corners else _scale(size, out, given)
    taps = []
    for i in range(out):
        corner = align_corners or not half_pixel
        at = f32(scale * i) if corner else max(0.0, f32(f32(scale * f32(i + 0.5)) - 0.5))
        first = min(math.floor(at), size - 1)
        taps.append((first, min(first + 1, size - 1), min(f32(at - first), 1.0)))
    return taps


@kernel(ResizeNearest)
def resize_nearest(op: ResizeNearest, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    taps = [tap for n in (0, 1) for tap in nearest_taps(x.shape[2 + n], op.size[n], op.scales[n])]
    results = numel(y.shape)
    yield Dispatch(
        "upsample_nearest2d",
        {"x": x.id, "taps": Const(array("I", taps).tobytes()), "y": y.id},
        {"results": results, "maps": maps_params(x.shape, y.shape)},
        results,
    )


@kernel(ResizeBilinear)
def resize_bilinear(op: ResizeBilinear, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    taps = [
        tap
        for n in (0, 1)
        for tap in linear_taps(x.shape[2 + n], op.size[n], op.align_corners, op.scales[n], op.half_pixel)
    ]
    results = numel(y.shape)
    yield Dispatch(
        "upsample_bilinear2d",
        {
            "x": x.id,
            "taps": Const(array("I", [i for first, second, _ in taps for i in (first, second)]).tobytes()),
            "shares": Const(array("f", [share for *_, share in taps]).tobytes()),
            "y": y.id,
        },
        {"results": results, "maps": maps_params(x.shape, y.shape)},
        results,
    )


@kernel(InterpolateInt8, layout="channels")
def interpolate_int8(op: InterpolateInt8, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    taps = array("I", [n for tap in (*op.rows, *op.columns) for n in (*tap, 0)])
    yield Dispatch(
        "interpolate_int8",
        {"x": x.id, "taps": Const(taps.tobytes()), "y": y.id},
        {
            "words": y.layout.words,
            "channel_words": y.layout.padded // 4,
            "maps": maps_params(x.shape, y.shape),
        },
        y.layout.words,
    )
