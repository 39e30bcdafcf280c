"""Between floats and integers, and between integers of different scales."""

from webq8.formats import xnnpack
from webq8.formats.tflite.operators.move import held
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value
from webq8.formats.tflite.windows import one_scale
from webq8.ir.ops.create import Cast
from webq8.ir.ops.quantize import RANGES, Dequantize, Quantize
from webq8.ir.types import BadArg, PerTensor

__all__: list[str] = []


@lowers("QUANTIZE")
def quantize(g: Emitter, x: Value) -> Lowered:
    dtype, y = g.declared().dtype, one_scale(g)
    ref, maps = (x.ref, False) if dtype == "int16" else held(x)
    if x.dtype == "float32":
        return g.in_form(g.emit(Quantize(ref, dtype, *RANGES[dtype])), maps)
    if x.is_int16 and dtype == "int16":
        return g.quantized(g.results[0], x.floats)
    if x.dtype == "int32" and len(x.tensor.scales) == 1:
        ref = g.builder.quantized(ref, PerTensor(x.tensor.scales[0], x.tensor.zero_points[0]))
    elif x.per_tensor is None:
        raise BadArg(f"{x.dtype} without a scale cannot be quantized")
    alike = x.tensor.dtype == g.results[0].dtype
    return g.in_form(xnnpack.requantize(g.builder, ref, y, dtype, alike), maps)


@lowers("DEQUANTIZE")
def dequantize(g: Emitter, x: Value) -> Lowered:
    ref, maps = held(x)
    return x if x.dtype == "float32" else g.in_form(g.builder.emit(Dequantize(ref)), maps)


@lowers("CAST")
def cast(g: Emitter, x: Value) -> Lowered:
    ref, maps = held(x)
    if x.tensor.dtype == "uint8" and x.per_tensor:
        shifted = x.per_tensor.replace(zero_point=x.per_tensor.zero_point + 128)
        ref = xnnpack.requantize(g.builder, ref, shifted, "uint8")
    plain = g.builder.quantized(ref, None)  # a cast is of the integers themselves
    return g.in_form(g.builder.emit(Cast(plain, g.declared().dtype, g.type(ref).shape)), maps)
