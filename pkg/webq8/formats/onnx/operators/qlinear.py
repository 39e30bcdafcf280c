"""Operators that compute on integers and have their scales beside them (QLinear…, QGemm): they are lowered as the float
operator between dequantize and quantize, which passes run on int8."""

from webq8.errors import Unsupported
from webq8.formats.onnx.call import MICROSOFT, OPERATORS, Call, Result, Value, operator
from webq8.formats.onnx.operators.elementwise import binary
from webq8.formats.onnx.operators.quantize import dequantized, quantized
from webq8.ir.types import BadArg, Ref


def _floats(c: Call, n: int) -> Value:
    """The numbers that an input stands for, whose scale and zero point follow it."""
    return Value(dequantized(c, c.value(n), c.x(n + 1), c.value(n + 2) if c.has(n + 2) else None))


def _applied(c: Call, name: str, *operands: Value | None) -> Ref:
    """What the float operator of a name makes of operands, with the attributes of the call."""
    inner = Call(c.node._replace(operator=name, version=_VERSION), operands, c.g, c.body)
    inner.unread &= c.unread
    made = OPERATORS["", name](inner)
    c.unread &= inner.unread
    if isinstance(made, Value):
        return c.plain(made)
    assert not isinstance(made, tuple), "these have one result"
    return made


_VERSION = 13  # of the float operators, whose axes are attributes then


def _quantized(c: Call, y: Ref, n: int) -> Value:
    """A result as integers; its scale and zero point are inputs n and n + 1."""
    zero = c.value(n + 1) if c.has(n + 1) else None
    first = c.value(0)
    kind = (zero.kind or c.g.type(zero.ref).dtype) if zero else "uint8" if first.shifted else c.type(0).dtype
    return quantized(c, y, c.x(n), zero, kind)


@operator("QLinearConv")
def qlinear_conv(c: Call) -> Result:
    weight = _by_output(c, 3)
    bias = None
    if c.has(8):  # its scale is that of the products
        scale = binary(c, c.reshaped(c.x(1), ()), c.x(4), "mul")
        bias = Value(dequantized(c.as_axis(0), c.value(8), scale, None))
    return _quantized(c, _applied(c, "Conv", _floats(c, 0), weight, bias), 6)


def _by_output(c: Call, n: int) -> Value:
    """A weight whose scales are those of its first axis."""
    return Value(dequantized(c.as_axis(0), c.value(n), c.x(n + 1), c.value(n + 2) if c.has(n + 2) else None))


@operator("QLinearMatMul")
@operator("QLinearMatMul", domain=MICROSOFT)
def qlinear_matmul(c: Call) -> Result:
    last = c.as_axis(len(c.shape(3)) - 1)
    b = Value(dequantized(last, c.value(3), c.x(4), c.value(5) if c.has(5) else None))
    first = c.as_axis(max(len(c.shape()) - 2, 0))
    a = Value(dequantized(first, c.value(0), c.x(1), c.value(2) if c.has(2) else None))
    return _quantized(c, _applied(c, "MatMul", a, b), 6)


@operator("QGemm", domain=MICROSOFT)
def qgemm(c: Call) -> Result:
    transposed = bool(c.integer("transB", 0))
    b = Value(dequantized(c.as_axis(0 if transposed else 1), c.value(3), c.x(4), c.value(5) if c.has(5) else None))
    if c.fraction("alpha", 1.0) != 1.0 and c.has(6):
        raise BadArg("alpha beside C is not supported", Unsupported)
    bias = None
    if c.has(6):
        scale = binary(c, c.reshaped(c.x(1), ()), c.x(4), "mul")
        bias = Value(dequantized(c.as_axis(0), c.value(6), scale, None))
    y = _applied(c, "Gemm", _floats(c, 0), b, bias)
    return _quantized(c, y, 7) if c.has(7) else y


@operator("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_binary(c: Call) -> Result:
    return _quantized(c, _applied(c, c.node.operator.removeprefix("QLinear"), _floats(c, 0), _floats(c, 3)), 6)


@operator("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(c: Call) -> Result:
    parts = [_floats(c, n) for n in range(2, len(c.inputs), 3)]
    zero = c.value(1)
    return quantized(c, _applied(c, "Concat", *parts), c.x(0), zero, zero.kind or c.g.type(zero.ref).dtype)


@operator(
    "QLinearGlobalAveragePool",
    "QLinearAveragePool",
    "QLinearLeakyRelu",
    "QLinearSigmoid",
    "QLinearSoftmax",
    "QLinearReduceMean",
    domain=MICROSOFT,
)
def qlinear_unary(c: Call) -> Result:
    if c.integer("channels_last", 0):
        raise BadArg("channels_last is not supported", Unsupported)
    c.ignore("opset")
    name = c.node.operator.removeprefix("QLinear")
    return _quantized(c, _applied(c, name, _floats(c, 0)), 3)


@operator("QLinearWhere", domain=MICROSOFT)
def qlinear_where(c: Call) -> Result:
    zero = c.value(8)
    y = _applied(c, "Where", c.value(0), _floats(c, 1), _floats(c, 4))
    return quantized(c, y, c.x(7), zero, zero.kind or c.g.type(zero.ref).dtype)
