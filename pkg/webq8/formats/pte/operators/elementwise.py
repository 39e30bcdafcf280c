"""Elementwise functions of one operand, and of two or three that are broadcast; comparisons.

Integers stand for themselves here, whatever an earlier call took them for; only `q8ta_` operators say otherwise.
"""

import math
import struct
from typing import Literal

from webq8.dtypes import ITEMSIZE
from webq8.formats.pte.schema import (
    I8,
    SCALE,
    ZERO_POINT,
    Argument,
    Choice,
    Ints,
    Number,
    TensorArg,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.elementwise import (
    DTYPES,
    NUMBERS,
    Binary,
    BinaryFunction,
    Clamp,
    ClampBy,
    Compare,
    CompareFunction,
    Elu,
    Hardshrink,
    LeakyRelu,
    Logical,
    Lookup,
    Unary,
    UnaryFunction,
    Where,
    check_whole,
)
from webq8.ir.types import BadArg, PerTensor, Ref, f32
from webq8.numerics import requantizing_table

_X = TensorArg(NUMBERS, "*S")
_OUT = TensorArg(NUMBERS, "*S", like="x")
_FLOATS = TensorArg(("float32",), "*S")
_FOUR_BYTES = TensorArg(NUMBERS[:2], "*S")


def _plain(g: Builder, x: Argument) -> Ref:
    """A tensor whose integers stand for themselves."""
    return g.quantized(x.ref, None)


# --- one operand


def _lowers_unary(name: UnaryFunction, formula: str, tensor: TensorArg = _FLOATS) -> None:
    @lowers(f"aten.{name}.default", f"aten::{name}.out", x=tensor, out=_OUT)
    def unary(g: Builder, x: Argument) -> Ref:
        return g.emit(Unary(_plain(g, x), name))

    unary.__doc__ = formula


@lowers("aten.relu.default", "aten::relu.out", x=_X, out=_OUT)
def relu(g: Builder, x: Argument) -> Ref:
    """y = max(x, 0)."""
    return g.emit(Clamp(_plain(g, x), low=0.0))


_FORMULAS: dict[UnaryFunction, str] = {
    "sigmoid": "y = 1 / (1 + exp(−x)).",
    "hardswish": "y = x · min(max(x + 3, 0), 6) / 6.",
    "hardsigmoid": "y = min(max(x + 3, 0), 6) / 6.",
    "tanh": "y = tanh(x).",
    "silu": "y = x / (1 + exp(−x)).",
    "erf": "y = erf(x), the error function.",
    "exp": "y = exp(x).",
    "expm1": "y = exp(x) − 1, precise near 0.",
    "log": "y = ln(x).",
    "log2": "y = log₂(x).",
    "log10": "y = log₁₀(x).",
    "log1p": "y = ln(1 + x), precise near 0.",
    "sqrt": "y = √x.",
    "rsqrt": "y = 1 / √x.",
    "reciprocal": "y = 1 / x.",
    "sin": "y = sin(x), x in radians; precise for |x| up to 50,000.",
    "cos": "y = cos(x), x in radians; precise for |x| up to 50,000.",
    "sinh": "y = sinh(x) = (exp(x) − exp(−x)) / 2, precise near 0.",
    "round": "y is x rounded to a whole number, half to even.",
    "floor": "y is the largest whole number not above x.",
    "ceil": "y is the smallest whole number not below x.",
    "trunc": "y is x without its fraction.",
}
for _name, _formula in _FORMULAS.items():
    _lowers_unary(_name, _formula)
_lowers_unary("abs", "y = |x|.", _X)
_lowers_unary("neg", "y = −x.", _X)
_lowers_unary("sign", "y = 1 where x > 0, −1 where x < 0, else 0, for NaN too.", _FOUR_BYTES)


@lowers(
    "aten.clamp.default",
    "aten::clamp.out",
    x=_X,
    min=Number(absent=-math.inf, default=None),
    max=Number(absent=math.inf, default=None),
    out=_OUT,
)
def clamp(g: Builder, x: Argument, min: float, max: float) -> Ref:
    """y = min(max(x, min), max); a bound may be left out."""
    return g.emit(Clamp(_plain(g, x), min, max))


@lowers("aten.hardtanh.default", "aten::hardtanh.out", x=_X, min=Number(default=-1), max=Number(default=1), out=_OUT)
def hardtanh(g: Builder, x: Argument, min: float, max: float) -> Ref:
    """y = min(max(x, min), max)."""
    return g.emit(Clamp(_plain(g, x), min, max))


@lowers(
    "aten.gelu.default",
    "aten::gelu.out",
    x=_FLOATS,
    approximate=Choice(("none", "tanh"), default="none"),
    out=_OUT,
)
def gelu(g: Builder, x: Argument, approximate: Literal["none", "tanh"]) -> Ref:
    """y = x · Φ(x) with Φ(x) = (1 + erf(x/√2)) / 2, or (1 + tanh(√(2/π)·(x + 0.044715·x³))) / 2 for "tanh"."""
    return g.emit(Unary(x.ref, "gelu" if approximate == "none" else "gelu_tanh"))


@lowers("aten.leaky_relu.default", "aten::leaky_relu.out", x=_FLOATS, negative_slope=Number(default=0.01), out=_OUT)
def leaky_relu(g: Builder, x: Argument, negative_slope: float) -> Ref:
    """y = x where x > 0, else x · negative_slope."""
    return g.emit(LeakyRelu(x.ref, negative_slope))


@lowers(
    "aten.elu.default",
    "aten::elu.out",
    x=_FLOATS,
    alpha=Number(default=1),
    scale=Number(default=1),
    input_scale=Number(default=1),
    out=_OUT,
)
def elu(g: Builder, x: Argument, alpha: float, scale: float, input_scale: float) -> Ref:
    """y = scale · x where x ≥ 0, else scale · alpha · (exp(x · input_scale) − 1)."""
    return g.emit(Elu(x.ref, alpha=alpha, scale=scale, input_scale=input_scale))


@lowers("aten.hardshrink.default", "aten::hardshrink.out", x=_FLOATS, lambd=Number(default=0.5), out=_OUT)
def hardshrink(g: Builder, x: Argument, lambd: float) -> Ref:
    """y = 0 where |x| ≤ lambd, else x."""
    return g.emit(Hardshrink(x.ref, threshold=lambd))


@lowers(
    "et_vk.q8ta_relu.default",
    x=I8("*S"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    out=I8("*S"),
)
def q8ta_relu(g: Builder, x: Argument, x_scale: float, x_zero_point: int, y_scale: float, y_zero_point: int) -> Ref:
    """y = quantize(max((x − x_zero_point) · x_scale, 0)): int8 of any shape, by a lookup table of 256 entries."""
    of_x, of_y = PerTensor(x_scale, x_zero_point), PerTensor(y_scale, y_zero_point)
    ref = g.quantized(x.ref, of_x)
    return g.emit(Lookup(ref, requantizing_table(of_x, (Clamp(ref, low=0.0),), of_y)), of_y)


@lowers("webq8.table.default", x=I8("*S"), table=Ints(), out=I8("*S"))
def table(g: Builder, x: Argument, table: tuple[int, ...]) -> Ref:
    """y = table[x + 128]: int8 of any shape, through 256 entries that are int8 as well."""
    return g.emit(Lookup(x.ref, bytes(v & 255 for v in table)))


# --- two operands
#
# Decorators work from the bottom up, and the first declaration has the short name: the overload for tensors.

_OTHER = TensorArg(NUMBERS, "*T", like="x")
_RESULT = TensorArg(NUMBERS, "*O", like="x")
_FLOAT_OTHER = TensorArg(("float32",), "*T")
_FLOAT_RESULT = TensorArg(("float32",), "*O")
_NUMBER = Number()
_ALPHA = Number(default=1)


def _constant(g: Builder, value: float, dtype: str) -> Ref:
    """A number as a tensor without axes, integers wrapping around."""
    if dtype == "float32":
        return g.constant(struct.pack("<f", f32(value)), (), dtype)
    return g.constant((int(value) % 2**64).to_bytes(8, "little")[: ITEMSIZE[dtype]], (), dtype)


def _second(g: Builder, x: Argument, other: Argument | float) -> Ref:
    if isinstance(other, Argument):
        return _plain(g, other)
    check_whole("other", other, x.dtype, wraps=x.dtype == "int32")  # those that int32 cannot hold wrap around
    return _constant(g, other, x.dtype)


def _binary(g: Builder, x: Argument, other: Argument | float, function: BinaryFunction, alpha: float = 1.0) -> Ref:
    return g.emit(Binary(_plain(g, x), _second(g, x, other), function, alpha))


@lowers("aten.add.Scalar", "aten::add.Scalar_out", x=_X, other=_NUMBER, alpha=_ALPHA, out=_RESULT)
@lowers("aten.add.Tensor", "aten::add.out", x=_X, other=_OTHER, alpha=_ALPHA, out=_RESULT)
def add(g: Builder, x: Argument, other: Argument | float, alpha: float) -> Ref:
    """y = x + alpha · other, both broadcast; int32 wraps around."""
    return _binary(g, x, other, "add", alpha)


@lowers("aten.sub.Scalar", "aten::sub.Scalar_out", x=_X, other=_NUMBER, alpha=_ALPHA, out=_RESULT)
@lowers("aten.sub.Tensor", "aten::sub.out", x=_X, other=_OTHER, alpha=_ALPHA, out=_RESULT)
def sub(g: Builder, x: Argument, other: Argument | float, alpha: float) -> Ref:
    """y = x − alpha · other, both broadcast; int32 wraps around."""
    return _binary(g, x, other, "add", -alpha)


@lowers("aten.rsub.Scalar", "aten::rsub.Scalar_out", x=_X, other=_NUMBER, alpha=_ALPHA, out=_RESULT)
@lowers("aten.rsub.Tensor", "aten::rsub.Tensor_out", x=_X, other=_OTHER, alpha=_ALPHA, out=_RESULT)
def rsub(g: Builder, x: Argument, other: Argument | float, alpha: float) -> Ref:
    """y = other − alpha · x, both broadcast; int32 wraps around."""
    return g.emit(Binary(_second(g, x, other), _plain(g, x), "add", -alpha))


@lowers("aten.mul.Scalar", "aten::mul.Scalar_out", x=_X, other=_NUMBER, out=_RESULT)
@lowers("aten.mul.Tensor", "aten::mul.out", x=_X, other=_OTHER, out=_RESULT)
def mul(g: Builder, x: Argument, other: Argument | float) -> Ref:
    """y = x · other, both broadcast; int32 wraps around."""
    return _binary(g, x, other, "mul")


_QUOTIENT = TensorArg(NUMBERS, "*O")
_ROUNDING = Choice((None, "trunc", "floor"), default=None)


@lowers("aten.div.Scalar", "aten::div.Scalar_out", x=_X, other=_NUMBER, out=_FLOAT_RESULT)
@lowers("aten.div.Tensor", "aten::div.out", x=_X, other=_OTHER, out=_FLOAT_RESULT)
@lowers(
    "aten.div.Scalar_mode",
    "aten::div.Scalar_mode_out",
    x=_X,
    other=_NUMBER,
    rounding_mode=_ROUNDING,
    out=_QUOTIENT,
)
@lowers("aten.div.Tensor_mode", "aten::div.out_mode", x=_X, other=_OTHER, rounding_mode=_ROUNDING, out=_QUOTIENT)
def div(
    g: Builder, x: Argument, other: Argument | float, rounding_mode: Literal["trunc", "floor"] | None = None
) -> Ref:
    """y = x / other in float32, both broadcast; or rounded to zero ("trunc") or down ("floor"), in the dtype of x."""
    functions: dict[str | None, BinaryFunction] = {None: "div", "trunc": "div_trunc", "floor": "div_floor"}
    return _binary(g, x, other, functions[rounding_mode])


def _rest(g: Builder, x: Argument, other: Argument | float, function: BinaryFunction) -> Ref:
    if x.dtype != "float32" and other == 0:
        raise BadArg(f"other: no {x.dtype} is divided by 0")
    return _binary(g, x, other, function)


@lowers("aten.fmod.Scalar", "aten::fmod.Scalar_out", x=_X, other=_NUMBER, out=_RESULT)
@lowers("aten.fmod.Tensor", "aten::fmod.Tensor_out", x=_X, other=_OTHER, out=_RESULT)
def fmod(g: Builder, x: Argument, other: Argument | float) -> Ref:
    """y = x − trunc(x / other) · other, both broadcast and exact, with the sign of x. Integers divided by 0 leave 0."""
    return _rest(g, x, other, "fmod")


@lowers("aten.remainder.Scalar", "aten::remainder.Scalar_out", x=_X, other=_NUMBER, out=_RESULT)
@lowers("aten.remainder.Tensor", "aten::remainder.Tensor_out", x=_X, other=_OTHER, out=_RESULT)
def remainder(g: Builder, x: Argument, other: Argument | float) -> Ref:
    """y = x − floor(x / other) · other, both broadcast: it has the sign of other. Integers divided by 0 leave 0."""
    return _rest(g, x, other, "remainder")


@lowers("aten.maximum.default", "aten::maximum.out", x=_X, other=_OTHER, out=_RESULT)
def maximum(g: Builder, x: Argument, other: Argument) -> Ref:
    """y = the larger of x and other, both broadcast; NaN where either is."""
    return _binary(g, x, other, "maximum")


@lowers("aten.minimum.default", "aten::minimum.out", x=_X, other=_OTHER, out=_RESULT)
def minimum(g: Builder, x: Argument, other: Argument) -> Ref:
    """y = the smaller of x and other, both broadcast; NaN where either is."""
    return _binary(g, x, other, "minimum")


@lowers("aten.pow.Tensor_Scalar", "aten::pow.Tensor_Scalar_out", x=_FLOATS, other=_NUMBER, out=_FLOAT_RESULT)
@lowers("aten.pow.Tensor_Tensor", "aten::pow.Tensor_Tensor_out", x=_FLOATS, other=_FLOAT_OTHER, out=_FLOAT_RESULT)
def power(g: Builder, x: Argument, other: Argument | float) -> Ref:
    """y = x ^ other, both broadcast."""
    return _binary(g, x, other, "pow")


@lowers("aten.pow.Scalar", "aten::pow.Scalar_out", base=_NUMBER, x=_FLOATS, out=_FLOAT_RESULT)
def power_of_number(g: Builder, base: float, x: Argument) -> Ref:
    """y = base ^ x."""
    return g.emit(Binary(_constant(g, base, "float32"), x.ref, "pow"))


@lowers("aten.atan2.default", "aten::atan2.out", x=_FLOATS, other=_FLOAT_OTHER, out=_FLOAT_RESULT)
def atan2(g: Builder, x: Argument, other: Argument) -> Ref:
    """y is the angle of the point (other, x) from the axis of other, in −π…π, both broadcast."""
    return _binary(g, x, other, "atan2")


@lowers(
    "et_vk.q8ta_add.default",
    a=I8("*A"),
    b=I8("*B"),
    a_scale=SCALE,
    a_zero_point=ZERO_POINT,
    b_scale=SCALE,
    b_zero_point=ZERO_POINT,
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    alpha=Number(default=1.0),
    out=I8("*O"),
)
def q8ta_add(
    g: Builder,
    a: Argument,
    b: Argument,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    alpha: float,
) -> Ref:
    """y = quantize((a − a_zero_point) · a_scale + alpha · ((b − b_zero_point) · b_scale)): int8, shapes broadcast."""
    first, second = PerTensor(a_scale, a_zero_point), PerTensor(b_scale, b_zero_point)
    op = Binary(g.quantized(a.ref, first), g.quantized(b.ref, second), "add", alpha)
    return g.emit(op, PerTensor(y_scale, y_zero_point))


# --- truth values

_BOOLS = TensorArg(("bool",), "*S")
_OTHER_BOOLS = TensorArg(("bool",), "*T")
_TRUTH = TensorArg(("bool",), "*O")
_ANY = TensorArg(DTYPES, "*S")
_ANY_OTHER = TensorArg(DTYPES, "*T", like="x")


def _lowers_comparison(name: CompareFunction, sign: str) -> None:
    @lowers(f"aten.{name}.Scalar", f"aten::{name}.Scalar_out", x=_X, other=_NUMBER, out=_TRUTH)
    @lowers(f"aten.{name}.Tensor", f"aten::{name}.Tensor_out", x=_ANY, other=_ANY_OTHER, out=_TRUTH)
    def comparison(g: Builder, x: Argument, other: Argument | float) -> Ref:
        return g.emit(Compare(_plain(g, x), _second(g, x, other), name))

    comparison.__doc__ = f"y says whether x {sign} other, both broadcast."


_SIGNS: dict[CompareFunction, str] = {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}
for _compare, _sign in _SIGNS.items():
    _lowers_comparison(_compare, _sign)


@lowers("aten.bitwise_and.Tensor", "aten::bitwise_and.Tensor_out", x=_BOOLS, other=_OTHER_BOOLS, out=_TRUTH)
@lowers("aten.logical_and.default", "aten::logical_and.out", x=_BOOLS, other=_OTHER_BOOLS, out=_TRUTH)
def logical_and(g: Builder, x: Argument, other: Argument) -> Ref:
    """y says whether x and other hold, both broadcast."""
    return g.emit(Logical(x.ref, other.ref, "and"))


@lowers("aten.bitwise_or.Tensor", "aten::bitwise_or.Tensor_out", x=_BOOLS, other=_OTHER_BOOLS, out=_TRUTH)
@lowers("aten.logical_or.default", "aten::logical_or.out", x=_BOOLS, other=_OTHER_BOOLS, out=_TRUTH)
def logical_or(g: Builder, x: Argument, other: Argument) -> Ref:
    """y says whether x or other holds, both broadcast."""
    return g.emit(Logical(x.ref, other.ref, "or"))


@lowers("aten.bitwise_not.default", "aten::bitwise_not.out", x=_BOOLS, out=_TRUTH)
@lowers("aten.logical_not.default", "aten::logical_not.out", x=_ANY, out=_TRUTH)
def logical_not(g: Builder, x: Argument) -> Ref:
    """y says whether x is zero or false."""
    return g.emit(Compare(_plain(g, x), _constant(g, 0, x.dtype), "eq"))


@lowers(
    "aten.clamp.Tensor",
    "aten::clamp.Tensor_out",
    x=_FOUR_BYTES,
    min=TensorArg(_FOUR_BYTES.dtypes, "*L", like="x", optional=True),
    max=TensorArg(_FOUR_BYTES.dtypes, "*H", like="x", optional=True),
    out=_RESULT,
)
def clamp_by_tensors(g: Builder, x: Argument, min: Argument | None, max: Argument | None) -> Ref:
    """y = min(max(x, min), max), all three broadcast; either may be left out. NaN where any of them is."""
    low, high = (None if bound is None else _plain(g, bound) for bound in (min, max))
    return g.emit(ClampBy(_plain(g, x), low, high))


@lowers(
    "aten.where.self",
    "aten::where.self_out",
    condition=TensorArg(("bool",), "*C"),
    x=_ANY,
    other=_ANY_OTHER,
    out=TensorArg(DTYPES, "*O", like="x"),
)
def where(g: Builder, condition: Argument, x: Argument, other: Argument) -> Ref:
    """y = x where the condition holds, else other, all three broadcast."""
    return g.emit(Where(condition.ref, _plain(g, x), _plain(g, other)))
