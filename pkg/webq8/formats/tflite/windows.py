"""What convolutions and pools share: margins, and activations as bounds."""

import math
from collections.abc import Sequence

from webq8.errors import Unsupported
from webq8.formats.tflite.schema import ACTIVATIONS
from webq8.formats.tflite.values import Emitter
from webq8.ir.ops.elementwise import Clamp
from webq8.ir.ops.linear import INT8
from webq8.ir.ops.window import Padding
from webq8.ir.types import BadArg, PerTensor, Ref, f32

__all__ = ["activated", "bounds_of", "float_bounds", "margins", "one_scale"]

_SAME = 0


def margins(padding: int, size: Sequence[int], reach: Sequence[int], stride: Sequence[int]) -> Padding:
    """Rows and columns around maps of `size` for windows that reach so far: none, or as many as make the results of a
    stride cover the maps; of an odd number the larger half comes after."""
    if padding != _SAME:
        return Padding()
    if min(stride) < 1:
        raise BadArg(f"a stride of {tuple(stride)}")
    total = [max((-(-n // s) - 1) * s + r - n, 0) for n, r, s in zip(size, reach, stride, strict=True)]
    top, left = (t // 2 for t in total)
    return Padding(top, left, total[0] - top, total[1] - left)


def float_bounds(activation: int) -> tuple[float, float]:
    """The bounds that an activation is."""
    if activation not in ACTIVATIONS:
        raise BadArg(f"fused activation {activation} is not supported", Unsupported)
    return ACTIVATIONS[activation]


def one_scale(g: Emitter, result: int = 0) -> PerTensor:
    """The scale that the file declares for a result."""
    quantization = g.declared(result).quantization
    if not isinstance(quantization, PerTensor):
        raise BadArg("its result has no scale for all elements")
    return quantization


def bounds_of(g: Emitter, activation: int) -> tuple[int, int]:
    """The bounds that an activation is on int8, quantized as XNNPACK does it, in float32."""
    y = one_scale(g)

    def quantized(value: float) -> int:
        if math.isinf(value):
            return INT8[value > 0]
        return round(min(max(f32(f32(value / f32(y.scale)) + y.zero_point), -128), 127))

    low, high = map(quantized, float_bounds(activation))
    return low, high


def activated(g: Emitter, ref: Ref, activation: int) -> Ref:
    """float32 results within the bounds of an activation."""
    low, high = float_bounds(activation)
    return g.emit(Clamp(ref, low, high)) if activation else ref
