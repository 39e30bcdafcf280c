"""int8 ops that are tables: a result for each of the 256 values, of elements that may lie at other places."""

import math
from array import array

from webq8.ir.plan import Const, Dispatch
from webq8.ir.types import f32
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Operand

__all__ = ["IDENTITY", "RELU", "UNBOUNDED", "Clamp", "gathered", "requantizing_table"]

Clamp = tuple[float, float]  # low, high: min(max(v, low), high), so high where low is above it

IDENTITY = bytes(v & 255 for v in range(-128, 128))
UNBOUNDED: Clamp = -math.inf, math.inf
RELU: Clamp = 0.0, math.inf


def requantizing_table(
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    clamp: Clamp = UNBOUNDED,
    bounds: tuple[int, int] = (-128, 127),
) -> bytes:
    """The int8 result of each int8 input −128…127: dequantized, clamped, quantized, all in float32 steps.

    A twin of wgsl/dequantize.wgsl and quantize.wgsl on the host; Python's `round` too takes ties to even.
    """
    scale, inv_y_scale, (bottom, top), (low, high) = f32(x_scale), f32(1.0 / y_scale), clamp, bounds
    values = array("f", [(x - x_zero_point) * scale for x in range(-128, 128)])
    scaled = array("f", [min(max(v, bottom), top) * inv_y_scale for v in values])
    results = [v if math.isinf(v) else round(v) + y_zero_point for v in scaled]
    return bytes([int(min(max(v, low), high)) & 255 for v in results])


def gathered(x: Operand, y: Operand, sizes: tuple[int, ...], places: tuple[int, ...], table: bytes) -> Dispatch:
    """y's row-major elements, numbered by `sizes`, from x's bytes `places` apart, through a table."""
    return Dispatch(
        "gather_int8",
        {"x": x.id, "table": Const(table), "y": y.id},
        {
            **words_params(y.layout),
            "rank": len(sizes),
            "sizes": tuple(reversed(sizes)),
            "places": tuple(reversed(places)),
        },
        threads=y.layout.words,
        constants={"elementwise": x.shape == y.shape and x.layout.same_bytes(y.layout)},
    )
