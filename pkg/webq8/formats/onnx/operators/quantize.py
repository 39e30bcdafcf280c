"""Quantizing and dequantizing, with numbers that the file has or that the run computes."""

from array import array
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.errors import Unsupported
from webq8.formats.folding import dequantized_blocks, packed, quantized_constant
from webq8.formats.onnx.call import MICROSOFT, Call, Result, Value, operator, shift_of
from webq8.formats.onnx.operators.elementwise import binary, unary
from webq8.formats.onnx.tensors import HELD, KINDS, RANGES
from webq8.ir.ops.quantize import ChooseQparams, Dequantize, Quantize
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Dynamic, PerChannel, PerTensor, Quantization, Ref, Shape, Tensor, check_scale

__all__ = ["dequantized", "quantized", "quantized_by_itself"]


class _Numbers(NamedTuple):
    """A scale and a zero point, or one of each for every index along an axis or every block; `zero` is that of the
    integers as they are held."""

    scale: Ref
    zero: Ref | None
    axis: int | None
    block: int = 0


def _numbers(c: Call, x: Shape, scale: Ref, zero: Value | None, shift: int) -> _Numbers:
    """What scales and zero points of a call say of x, whose integers are held shifted by so much."""
    sizes = c.g.type(scale).shape
    block = c.integer("block_size", 0)
    axis = axis_of(c.integer("axis", 1), len(x)) if block or numel(sizes) != 1 else c.integer("axis", 1)
    zeros = None if zero is None else c.cast(c.plain(zero), "int32")
    if shift and zeros is not None:
        zeros = binary(c, zeros, c.number(-shift, "int32"), "add")
    elif shift:
        zeros = c.numbers([-shift] * numel(sizes), sizes, "int32")
    if zeros is not None and numel(sizes) == 1:
        zeros = c.reshaped(zeros, sizes)
    if zeros is not None and c.g.type(zeros).shape != sizes:
        raise BadArg(f"scales {list(sizes)} and zero points {list(c.g.type(zeros).shape)} are not of one shape")
    if not block and numel(sizes) == 1:
        return _Numbers(scale, zeros, None)
    expected = (x[axis],) if not block else (*x[:axis], cdiv(x[axis], block), *x[axis + 1 :])
    if sizes != expected:
        raise BadArg(f"scales {list(sizes)} for {list(x)}: {list(expected)} expected")
    return _Numbers(scale, zeros, axis, block)


def _typed(c: Call, n: _Numbers) -> Quantization:
    """As the type of integers has them, without blocks."""
    scales, zeros = c.g.value(n.scale), [] if n.zero is None else c.g.value(n.zero)
    if scales is None or zeros is None:
        count = (numel(c.g.type(n.scale).shape),)
        zero = c.numbers([0] * count[0], count, "int32") if n.zero is None else n.zero
        return Dynamic(c.reshaped(n.scale, count), c.reshaped(zero, count), n.axis)
    for scale in (min(scales), max(scales), *(s for s in scales if s != s)):
        check_scale(scale, "scale: ")
    if n.axis is None:
        return PerTensor(scales[0], zeros[0] if zeros else 0)
    return PerChannel(packed(scales, "float32"), n.axis, array("i", zeros).tobytes() if any(zeros) else b"")


def _refs(quantization: Quantization) -> tuple[Ref | None, Ref | None]:
    return (quantization.scale, quantization.zero_point) if isinstance(quantization, Dynamic) else (None, None)


def _by_block(c: Call, x: Shape, n: _Numbers, of: Ref) -> Ref:
    """Numbers of blocks, one for each element."""
    axis, sizes = n.axis or 0, c.g.type(of).shape
    split, each = (*sizes[: axis + 1], 1, *sizes[axis + 1 :]), (*sizes[: axis + 1], n.block, *sizes[axis + 1 :])
    wide = (*sizes[:axis], sizes[axis] * n.block, *sizes[axis + 1 :])
    return c.sliced(c.reshaped(c.expanded(c.reshaped(of, split), each), wide), axis, 0, x[axis])


def dequantized(c: Call, value: Value, scale: Ref, zero: Value | None) -> Ref:
    """The float32 numbers that integers stand for."""
    held = c.shifted(value) if c.g.type(value.ref).data is not None or value.shifted else value
    if shift_of(c.g.type(held.ref).dtype) and c.g.value(scale) and (zero is None or c.g.value(zero.ref)):
        held = c.shifted(value)
    tensor = c.g.type(held.ref)
    shift = 2 ** (8 * _size(tensor.dtype) - 1) if held.shifted else 0
    n = _numbers(c, tensor.shape, scale, zero, shift)
    if not n.block:
        quantization = _typed(c, n)
        return c.emit(Dequantize(c.g.quantized(held.ref, quantization), *_refs(quantization)))
    scales, zeros = c.g.value(n.scale), None if n.zero is None else c.g.value(n.zero)
    if tensor.data is not None and scales and (n.zero is None or zeros):
        data = dequantized_blocks(tensor, scales, zeros, n.axis or 0, n.block)
        return c.g.constant(data, tensor.shape, "float32")
    x = c.cast(c.g.quantized(held.ref, None), "float32")
    if n.zero is not None:
        x = binary(c, x, _by_block(c, tensor.shape, n, c.cast(n.zero, "float32")), "add", -1.0)
    return binary(c, x, _by_block(c, tensor.shape, n, scale), "mul")


def _size(dtype: str) -> int:
    return {"int8": 1, "int16": 2}.get(dtype, 4)


def quantized(c: Call, x: Ref, scale: Ref, zero: Value | None, kind: str) -> Value:
    """Integers of a kind that stand for float32 numbers."""
    x, held = c.cast(x, "float32"), HELD.get(kind, kind)
    if kind not in RANGES or held in ("int64", "uint32", "uint64"):
        raise BadArg(f"quantizing to {kind} is not supported", Unsupported)
    shape, shift = c.g.type(x).shape, shift_of(held)
    low, high = (bound - shift for bound in RANGES[kind])
    n = _numbers(c, shape, scale, zero, shift)
    dtype = held.removeprefix("u")
    if n.block:
        y = unary(c, binary(c, x, _by_block(c, shape, n, scale), "div"), "round")
        if n.zero is not None:
            y = binary(c, y, _by_block(c, shape, n, c.cast(n.zero, "float32")), "add")
        n, x = _Numbers(c.number(1.0), None, None), y  # what is left is to bound and convert
    quantization = _typed(c, n)
    constant = c.g.type(x)
    if constant.data is not None and not isinstance(quantization, Dynamic):
        data = quantized_constant(constant, quantization, dtype, low, high)
        return Value(c.g.quantized(c.g.constant(data, shape, dtype), quantization), bool(shift), kind)
    ref = c.g.node(
        Quantize(x, dtype, low, high, *_refs(quantization), divides=True), (_int(shape, dtype, quantization),)
    )[0]
    return Value(ref, bool(shift), kind)


def _int(shape: Shape, dtype: str, quantization: Quantization) -> Tensor:
    return Tensor(shape, dtype, None, quantization)


@operator("QuantizeLinear")
@operator("QuantizeLinear", domain=MICROSOFT)
def quantize_linear(c: Call) -> Result:
    c.ignore("saturate", "precision")
    zero = c.value(2) if c.has(2) else None
    kind = KINDS.get(c.integer("output_dtype", 0), "")
    if zero is not None:
        kind = zero.kind or c.type(2).dtype
    return quantized(c, c.x(), c.x(1), zero, kind or "uint8")


@operator("DequantizeLinear")
@operator("DequantizeLinear", domain=MICROSOFT)
def dequantize_linear(c: Call) -> Result:
    c.ignore("output_dtype")
    return dequantized(c, c.value(0), c.x(1), c.value(2) if c.has(2) else None)


@operator("DynamicQuantizeLinear")
def dynamic_quantize_linear(c: Call) -> Result:
    """uint8 by a scale and a zero point that hold all of x, and 0."""
    held, scale, zero = quantized_by_itself(c, c.x())
    scalar, point = c.reshaped(scale, ()), c.reshaped(c.plain(zero), ())
    return held, Value(scalar, of=held.ref), Value(point, of=held.ref)


def quantized_by_itself(c: Call, x: Ref) -> tuple[Value, Ref, Value]:
    """x as uint8, and the scale and the zero point that hold all of x, and 0."""
    scale, zero = c.emit_all(ChooseQparams(x, -128, 127, 2.0**-126, "float32", "int32"))
    made = _int(c.g.type(x).shape, "int8", Dynamic(scale, zero))
    y = c.g.node(Quantize(x, "int8", -128, 127, scale, zero, divides=True), (made,))[0]
    unsigned = c.cast(binary(c, zero, c.number(128, "int32"), "add"), "uint8")
    return Value(y, shifted=True), scale, Value(unsigned)
