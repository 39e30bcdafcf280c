"""Functions of one element, and of two or three broadcast ones; comparisons."""

import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.errors import Unsupported
from webq8.handlers.registry import MAX_RANK, Args, BadArg, Choice, Number, Operand, TensorArg, f32, op
from webq8.handlers.shape import CODES, DTYPES, axes_of, broadcast_strides, merged
from webq8.ir import Const, Dispatch, Param

__all__ = ["broadcast"]

# in the order of the constants in wgsl/unary.wgsl and wgsl/binary.wgsl
_UNARY = (
    *("relu", "clamp", "leaky_relu", "elu", "hardshrink", "hardsigmoid", "hardswish", "sigmoid", "silu", "tanh"),
    *("gelu", "gelu_tanh", "erf", "abs", "neg", "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt"),
    *("reciprocal", "sin", "cos", "round", "floor", "ceil", "trunc", "sign"),
)
_BINARY = ("add", "mul", "div", "maximum", "minimum", "pow", "div_trunc", "div_floor", "fmod", "remainder", "atan2")

# in the order of the constants in wgsl/integers.wgsl
_INTEGERS = (
    *("add", "mul", "maximum", "minimum", "div_trunc", "div_floor", "fmod", "remainder"),
    *("abs", "clamp", "eq", "ne", "lt", "le", "gt", "ge", "div"),
)

_INT32, _INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
_NUMBERS = ("float32", "int32", "int64", "int8", "uint8")
_WIDE = _NUMBERS[2:]  # computed in 64 bits
# numbers that stand beside tensors: floats, which hold every integer up to 2⁵³
_RANGE = {"int32": _INT32, "int64": (-(2**53), 2**53), "int8": (-128, 127), "uint8": (0, 255), "bool": (0, 1)}

_X = TensorArg(_NUMBERS, "*S", "plain")
_OUT = TensorArg(_NUMBERS, "*S", "plain", like="x")
_FLOATS = TensorArg(("float32",), "*S")
_FOUR_BYTES = TensorArg(_NUMBERS[:2], "*S")


def _near(x: float) -> float:
    """The nearest float32, infinities among them."""
    try:
        return f32(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _within_int32(x: float) -> int:
    return int(min(max(x, _INT32[0]), _INT32[1]))


# --- one element


def _unary(
    a: Args,
    function: str,
    low: float = -math.inf,
    high: float = math.inf,
    parameters: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Iterator[Dispatch]:
    if a.x.tensor.dtype in _WIDE:
        own = {"relu": "clamp", "neg": "add"}.get(function, function)
        x, other = (_number(a, 0), a.x) if function == "neg" else (a.x, _number(a, 0))
        yield _integers(a, own, x, other, -1, (low, high))
        return
    count = numel(a.S)
    first, second, third = map(_near, parameters)
    yield Dispatch(
        "unary",
        {"x": a.x.id, "y": a.out.id},
        {
            "count": count,
            "low": _near(low),
            "high": _near(high),
            "a": first,
            "b": second,
            "c": third,
            "integer_low": _within_int32(low),
            "integer_high": _within_int32(high),
        },
        threads=count,
        constants={"function": _UNARY.index(function), "integer": a.x.tensor.dtype == "int32"},
    )


def _register_unary(name: str, formula: str, tensor: TensorArg = _FLOATS) -> None:
    @op(f"aten.{name}.default", f"aten::{name}.out", x=tensor, out=_OUT)
    def function(a: Args) -> Iterator[Dispatch]:
        yield from _unary(a, name)

    function.__doc__ = formula


@op("aten.relu.default", "aten::relu.out", x=_X, out=_OUT)
def relu(a: Args) -> Iterator[Dispatch]:
    """y = max(x, 0)."""
    yield from _unary(a, "relu", low=0)


for _name, _formula in {
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
    "round": "x rounded to a whole number, half to even.",
    "floor": "The largest whole number not above x.",
    "ceil": "The smallest whole number not below x.",
    "trunc": "x without its fraction.",
}.items():
    _register_unary(_name, _formula)
_register_unary("abs", "y = |x|.", _X)
_register_unary("neg", "y = −x.", _X)
_register_unary("sign", "y = 1 where x > 0, −1 where x < 0, else 0, for NaN too.", _FOUR_BYTES)


def _check_number(a: Args, name: str, number: float, bounds: tuple[int, int] | None) -> None:
    dtype = a.x.tensor.dtype
    whole = dtype == "float32" or (math.isfinite(number) and number == int(number))
    if not whole or not (bounds is None or bounds[0] <= number <= bounds[1]):
        raise BadArg(f"{name} = {number} with {dtype} tensors is not supported", Unsupported)


def _check_bounds(a: Args) -> None:
    for bound in (a.min, a.max):
        if math.isnan(bound):
            raise BadArg("a bound that is not a number is not supported", Unsupported)
        if math.isfinite(bound):
            _check_number(a, "a bound", bound, _RANGE.get(a.x.tensor.dtype))


@op(
    "aten.clamp.default",
    "aten::clamp.out",
    x=_X,
    min=Number(absent=-math.inf, default=None),
    max=Number(absent=math.inf, default=None),
    out=_OUT,
    check=_check_bounds,
)
def clamp(a: Args) -> Iterator[Dispatch]:
    """y = min(max(x, min), max); a bound may be left out."""
    yield from _unary(a, "clamp", a.min, a.max)


@op(
    "aten.hardtanh.default",
    "aten::hardtanh.out",
    x=_X,
    min=Number(default=-1),
    max=Number(default=1),
    out=_OUT,
    check=_check_bounds,
)
def hardtanh(a: Args) -> Iterator[Dispatch]:
    """y = min(max(x, min), max)."""
    yield from _unary(a, "clamp", a.min, a.max)


@op(
    "aten.gelu.default",
    "aten::gelu.out",
    x=_FLOATS,
    approximate=Choice(("none", "tanh"), default="none"),
    out=_OUT,
)
def gelu(a: Args) -> Iterator[Dispatch]:
    """y = x · Φ(x) with Φ(x) = (1 + erf(x/√2)) / 2, or (1 + tanh(√(2/π)·(x + 0.044715·x³))) / 2 for "tanh"."""
    yield from _unary(a, "gelu" if a.approximate == "none" else "gelu_tanh")


@op("aten.leaky_relu.default", "aten::leaky_relu.out", x=_FLOATS, negative_slope=Number(default=0.01), out=_OUT)
def leaky_relu(a: Args) -> Iterator[Dispatch]:
    """y = x where x > 0, else x · negative_slope."""
    yield from _unary(a, "leaky_relu", parameters=(a.negative_slope, 0, 0))


@op(
    "aten.elu.default",
    "aten::elu.out",
    x=_FLOATS,
    alpha=Number(default=1),
    scale=Number(default=1),
    input_scale=Number(default=1),
    out=_OUT,
)
def elu(a: Args) -> Iterator[Dispatch]:
    """y = scale · x where x ≥ 0, else scale · alpha · (exp(x · input_scale) − 1)."""
    yield from _unary(a, "elu", parameters=(a.alpha * a.scale, a.scale, a.input_scale))


@op("aten.hardshrink.default", "aten::hardshrink.out", x=_FLOATS, lambd=Number(default=0.5), out=_OUT)
def hardshrink(a: Args) -> Iterator[Dispatch]:
    """y = 0 where |x| ≤ lambd, else x."""
    yield from _unary(a, "hardshrink", parameters=(a.lambd, 0, 0))


# --- two elements
#
# Decorators work from the bottom up, and what is registered first has the short name: the overload for tensors.


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that tensors of these shapes are broadcast to."""
    rank = max(map(len, shapes))
    if rank > MAX_RANK:
        raise BadArg(f"{rank} dimensions; at most {MAX_RANK} are supported", Unsupported)
    out: list[int] = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        known = {s for s in sizes if s != 1} or {1}
        if len(known) > 1:
            raise BadArg(f"the shapes {' and '.join(str(list(s)) for s in shapes)} do not broadcast")
        out += known
    return tuple(out)


def _broadcast_params(out: tuple[int, ...], *operands: Operand | Const) -> dict[str, Param]:
    """Params of a loop over the output's elements: per axis its size and a stride of each operand."""
    shapes = [o.shape if isinstance(o, Operand) else () for o in operands]
    axes = merged(axes_of(out, *(broadcast_strides(shape, out) for shape in shapes)))
    spare = (0,) * (3 - len(operands))
    return {
        "count": numel(out),
        "rank": len(axes),
        "axes": tuple(n for axis in axes for n in (axis.size, *axis.strides, *spare)),
    }


def _bound(operand: Operand | Const) -> int | Const:
    return operand.id if isinstance(operand, Operand) else operand


def _integers(
    a: Args,
    function: str,
    first: Operand | Const,
    second: Operand | Const,
    alpha: float = 1,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Dispatch:
    """A function of integers that are not int32, in 64 bits."""
    numbers = (alpha, *(min(max(bound, _INT64[0]), _INT64[1]) for bound in bounds))
    words = (struct.unpack("<2I", (int(n) % 2**64).to_bytes(8, "little")) for n in numbers)
    shape, item = a.out.shape, ITEMSIZE[a.out.tensor.dtype]
    return Dispatch(
        "integers",
        {"a": _bound(first), "b": _bound(second), "y": a.out.id},
        _broadcast_params(shape, first, second) | dict(zip(("alpha", "low", "high"), words, strict=True)),
        threads=cdiv(numel(shape), 4) if item == 1 else numel(shape),
        constants={"function": _INTEGERS.index(function), "dtype": CODES.index(a.x.tensor.dtype), "y_item": item},
    )


def _binary(a: Args, function: str, first: Operand | Const, second: Operand | Const, alpha: float = 1) -> Dispatch:
    if a.x.tensor.dtype in _WIDE:
        return _integers(a, function, first, second, alpha)
    integer = a.x.tensor.dtype == "int32"
    numbers: dict[str, Param] = {
        "alpha": _near(alpha),
        "integer_alpha": (int(alpha) + 2**31) % 2**32 - 2**31 if integer else 0,
    }
    return Dispatch(
        "binary",
        {"a": _bound(first), "b": _bound(second), "y": a.out.id},
        _broadcast_params(a.O, first, second) | numbers,
        threads=numel(a.O),
        constants={"function": _BINARY.index(function), "integer": integer},
    )


def _broadcast_both(a: Args) -> Mapping[str, Any]:
    return {"O": broadcast(a.S, a.T)}


def _unchanged(a: Args) -> Mapping[str, Any]:
    return {"O": a.S}


def _check_whole(a: Args) -> None:
    """A tensor of integers stays one only with whole numbers; those that int32 cannot hold wrap around."""
    for name in ("other", "alpha"):
        number, dtype = vars(a).get(name), a.x.tensor.dtype
        if isinstance(number, float):
            _check_number(a, name, number, None if dtype == "int32" or name == "alpha" else _RANGE.get(dtype))


def _number(a: Args, value: float) -> Const:
    """A number as an operand, in the dtype of x."""
    if a.x.tensor.dtype == "bool":
        return Const(bytes([value != 0]))
    if a.x.tensor.dtype != "float32":
        return Const((int(value) % 2**64).to_bytes(8, "little")[: ITEMSIZE[a.x.tensor.dtype]])
    return Const(struct.pack("<f", _near(value)))


_OTHER = TensorArg(_NUMBERS, "*T", "plain", like="x")
_RESULT = TensorArg(_NUMBERS, "*O", "plain", like="x")
_FLOAT_OTHER = TensorArg(("float32",), "*T")
_FLOAT_RESULT = TensorArg(("float32",), "*O")
_NUMBER = Number()
_ALPHA = Number(default=1)


def _second(a: Args) -> Operand | Const:
    return a.other if isinstance(a.other, Operand) else _number(a, a.other)


@op(
    "aten.add.Scalar",
    "aten::add.Scalar_out",
    x=_X,
    other=_NUMBER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_unchanged,
    check=_check_whole,
)
@op(
    "aten.add.Tensor",
    "aten::add.out",
    x=_X,
    other=_OTHER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_broadcast_both,
    check=_check_whole,
)
def add(a: Args) -> Iterator[Dispatch]:
    """y = x + alpha · other, both broadcast; int32 wraps around."""
    yield _binary(a, "add", a.x, _second(a), a.alpha)


@op(
    "aten.sub.Scalar",
    "aten::sub.Scalar_out",
    x=_X,
    other=_NUMBER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_unchanged,
    check=_check_whole,
)
@op(
    "aten.sub.Tensor",
    "aten::sub.out",
    x=_X,
    other=_OTHER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_broadcast_both,
    check=_check_whole,
)
def sub(a: Args) -> Iterator[Dispatch]:
    """y = x − alpha · other, both broadcast; int32 wraps around."""
    yield _binary(a, "add", a.x, _second(a), -a.alpha)


@op(
    "aten.rsub.Scalar",
    "aten::rsub.Scalar_out",
    x=_X,
    other=_NUMBER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_unchanged,
    check=_check_whole,
)
@op(
    "aten.rsub.Tensor",
    "aten::rsub.Tensor_out",
    x=_X,
    other=_OTHER,
    alpha=_ALPHA,
    out=_RESULT,
    derive=_broadcast_both,
    check=_check_whole,
)
def rsub(a: Args) -> Iterator[Dispatch]:
    """y = other − alpha · x, both broadcast; int32 wraps around."""
    yield _binary(a, "add", _second(a), a.x, -a.alpha)


@op("aten.mul.Scalar", "aten::mul.Scalar_out", x=_X, other=_NUMBER, out=_RESULT, derive=_unchanged, check=_check_whole)
@op("aten.mul.Tensor", "aten::mul.out", x=_X, other=_OTHER, out=_RESULT, derive=_broadcast_both)
def mul(a: Args) -> Iterator[Dispatch]:
    """y = x · other, both broadcast; int32 wraps around."""
    yield _binary(a, "mul", a.x, _second(a))


def _quotient(a: Args) -> Mapping[str, Any]:
    shape = broadcast(a.S, a.T) if isinstance(a.other, Operand) else a.S
    return {"O": shape, "result": a.x.tensor.dtype if a.rounding_mode else "float32"}


def _check_quotient(a: Args) -> None:
    _check_whole(a)
    out = vars(a).get("out")
    if out is not None and out.tensor.dtype != a.result:
        raise BadArg(f"out: expected {a.result}, got {out.tensor.dtype}")


_QUOTIENT = TensorArg(_NUMBERS, "*O", "plain", like="result")
_ROUNDING = Choice((None, "trunc", "floor"), default=None)


@op(
    "aten.div.Scalar",
    "aten::div.Scalar_out",
    x=_X,
    other=_NUMBER,
    out=_FLOAT_RESULT,
    derive=_unchanged,
    check=_check_whole,
)
@op("aten.div.Tensor", "aten::div.out", x=_X, other=_OTHER, out=_FLOAT_RESULT, derive=_broadcast_both)
@op(
    "aten.div.Scalar_mode",
    "aten::div.Scalar_mode_out",
    x=_X,
    other=_NUMBER,
    rounding_mode=_ROUNDING,
    out=_QUOTIENT,
    derive=_quotient,
    check=_check_quotient,
)
@op(
    "aten.div.Tensor_mode",
    "aten::div.out_mode",
    x=_X,
    other=_OTHER,
    rounding_mode=_ROUNDING,
    out=_QUOTIENT,
    derive=_quotient,
    check=_check_quotient,
)
def div(a: Args) -> Iterator[Dispatch]:
    """y = x / other in float32, both broadcast; or rounded to zero ("trunc") or down ("floor"), in the dtype of x."""
    mode = vars(a).get("rounding_mode")
    yield _binary(a, f"div_{mode}" if mode else "div", a.x, _second(a))


def _check_divisor(a: Args) -> None:
    _check_whole(a)
    if a.x.tensor.dtype != "float32" and a.other == 0:
        raise BadArg(f"other: no {a.x.tensor.dtype} is divided by 0")


@op(
    "aten.fmod.Scalar",
    "aten::fmod.Scalar_out",
    x=_X,
    other=_NUMBER,
    out=_RESULT,
    derive=_unchanged,
    check=_check_divisor,
)
@op("aten.fmod.Tensor", "aten::fmod.Tensor_out", x=_X, other=_OTHER, out=_RESULT, derive=_broadcast_both)
def fmod(a: Args) -> Iterator[Dispatch]:
    """y = x − trunc(x / other) · other, both broadcast and exact, with the sign of x. Integers divided by 0 leave 0."""
    yield _binary(a, "fmod", a.x, _second(a))


@op(
    "aten.remainder.Scalar",
    "aten::remainder.Scalar_out",
    x=_X,
    other=_NUMBER,
    out=_RESULT,
    derive=_unchanged,
    check=_check_divisor,
)
@op("aten.remainder.Tensor", "aten::remainder.Tensor_out", x=_X, other=_OTHER, out=_RESULT, derive=_broadcast_both)
def remainder(a: Args) -> Iterator[Dispatch]:
    """y = x − floor(x / other) · other, both broadcast: it has the sign of other. Integers divided by 0 leave 0."""
    yield _binary(a, "remainder", a.x, _second(a))


@op("aten.maximum.default", "aten::maximum.out", x=_X, other=_OTHER, out=_RESULT, derive=_broadcast_both)
def maximum(a: Args) -> Iterator[Dispatch]:
    """y = the larger of x and other, both broadcast; NaN where either is."""
    yield _binary(a, "maximum", a.x, a.other)


@op("aten.minimum.default", "aten::minimum.out", x=_X, other=_OTHER, out=_RESULT, derive=_broadcast_both)
def minimum(a: Args) -> Iterator[Dispatch]:
    """y = the smaller of x and other, both broadcast; NaN where either is."""
    yield _binary(a, "minimum", a.x, a.other)


@op(
    "aten.pow.Tensor_Scalar",
    "aten::pow.Tensor_Scalar_out",
    x=_FLOATS,
    other=_NUMBER,
    out=_FLOAT_RESULT,
    derive=_unchanged,
)
@op(
    "aten.pow.Tensor_Tensor",
    "aten::pow.Tensor_Tensor_out",
    x=_FLOATS,
    other=_FLOAT_OTHER,
    out=_FLOAT_RESULT,
    derive=_broadcast_both,
)
def power(a: Args) -> Iterator[Dispatch]:
    """y = x ^ other, both broadcast."""
    yield _binary(a, "pow", a.x, _second(a))


@op("aten.pow.Scalar", "aten::pow.Scalar_out", base=_NUMBER, x=_FLOATS, out=_FLOAT_RESULT, derive=_unchanged)
def power_of_number(a: Args) -> Iterator[Dispatch]:
    """y = base ^ x."""
    yield _binary(a, "pow", _number(a, a.base), a.x)


@op(
    "aten.atan2.default",
    "aten::atan2.out",
    x=_FLOATS,
    other=_FLOAT_OTHER,
    out=_FLOAT_RESULT,
    derive=_broadcast_both,
)
def atan2(a: Args) -> Iterator[Dispatch]:
    """The angle of the point (other, x) from the axis of other, in −π…π, both broadcast."""
    yield _binary(a, "atan2", a.x, a.other)


# --- truth values

# in the order of the constants in wgsl/compare.wgsl
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge", "and", "or")
_COMPARE_DTYPES = ("float32", "int32", "bool")

_BOOLS = TensorArg(("bool",), "*S")
_OTHER_BOOLS = TensorArg(("bool",), "*T")
_TRUTH = TensorArg(("bool",), "*O")


def _compare(a: Args, function: str, other: Operand | Const) -> Dispatch:
    if a.x.tensor.dtype in _WIDE:
        return _integers(a, function, a.x, other)
    return Dispatch(
        "compare",
        {"a": a.x.id, "b": _bound(other), "y": a.out.id},
        _broadcast_params(a.O, a.x, other),
        threads=cdiv(numel(a.O), 4),
        constants={"function": _COMPARE.index(function), "dtype": _COMPARE_DTYPES.index(a.x.tensor.dtype)},
    )


def _register_comparison(name: str, sign: str) -> None:
    any_x, any_other = TensorArg(DTYPES, "*S", "plain"), TensorArg(DTYPES, "*T", "plain", like="x")

    @op(
        f"aten.{name}.Scalar",
        f"aten::{name}.Scalar_out",
        x=_X,
        other=_NUMBER,
        out=_TRUTH,
        derive=_unchanged,
        check=_check_whole,
    )
    @op(f"aten.{name}.Tensor", f"aten::{name}.Tensor_out", x=any_x, other=any_other, out=_TRUTH, derive=_broadcast_both)
    def comparison(a: Args) -> Iterator[Dispatch]:
        yield _compare(a, name, _second(a))

    comparison.__doc__ = f"Whether x {sign} other, both broadcast."


for _name, _sign in {"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"}.items():
    _register_comparison(_name, _sign)


@op(
    "aten.bitwise_and.Tensor",
    "aten::bitwise_and.Tensor_out",
    x=_BOOLS,
    other=_OTHER_BOOLS,
    out=_TRUTH,
    derive=_broadcast_both,
)
@op(
    "aten.logical_and.default",
    "aten::logical_and.out",
    x=_BOOLS,
    other=_OTHER_BOOLS,
    out=_TRUTH,
    derive=_broadcast_both,
)
def logical_and(a: Args) -> Iterator[Dispatch]:
    """Whether x and other hold, both broadcast."""
    yield _compare(a, "and", a.other)


@op(
    "aten.bitwise_or.Tensor",
    "aten::bitwise_or.Tensor_out",
    x=_BOOLS,
    other=_OTHER_BOOLS,
    out=_TRUTH,
    derive=_broadcast_both,
)
@op("aten.logical_or.default", "aten::logical_or.out", x=_BOOLS, other=_OTHER_BOOLS, out=_TRUTH, derive=_broadcast_both)
def logical_or(a: Args) -> Iterator[Dispatch]:
    """Whether x or other holds, both broadcast."""
    yield _compare(a, "or", a.other)


@op("aten.bitwise_not.default", "aten::bitwise_not.out", x=_BOOLS, out=_TRUTH, derive=_unchanged)
@op(
    "aten.logical_not.default",
    "aten::logical_not.out",
    x=TensorArg(DTYPES, "*S", "plain"),
    out=_TRUTH,
    derive=_unchanged,
)
def logical_not(a: Args) -> Iterator[Dispatch]:
    """Whether x is zero or false."""
    yield _compare(a, "eq", _number(a, 0))


def _between(a: Args) -> Mapping[str, Any]:
    bounds = [b for b in (a.min, a.max) if b is not None]
    if not bounds:
        raise BadArg("min or max is needed")
    return {"O": broadcast(a.S, *(b.shape for b in bounds))}


@op(
    "aten.clamp.Tensor",
    "aten::clamp.Tensor_out",
    x=_FOUR_BYTES,
    min=TensorArg(_FOUR_BYTES.dtypes, "*L", like="x", optional=True),
    max=TensorArg(_FOUR_BYTES.dtypes, "*H", like="x", optional=True),
    out=_RESULT,
    derive=_between,
)
def clamp_by_tensors(a: Args) -> Iterator[Dispatch]:
    """y = min(max(x, min), max), all three broadcast; either may be left out. NaN where any of them is."""
    integer = a.x.tensor.dtype == "int32"
    lowest, highest = _INT32 if integer else (-math.inf, math.inf)
    low, high = (b or _number(a, all_) for b, all_ in ((a.min, lowest), (a.max, highest)))
    yield Dispatch(
        "clamp_by_tensors",
        {"x": a.x.id, "low": _bound(low), "high": _bound(high), "y": a.out.id},
        _broadcast_params(a.O, a.x, low, high),
        threads=numel(a.O),
        constants={"integer": integer},
    )


@op(
    "aten.where.self",
    "aten::where.self_out",
    condition=TensorArg(("bool",), "*C"),
    x=TensorArg(DTYPES, "*S", "plain"),
    other=TensorArg(DTYPES, "*T", "plain", like="x"),
    out=TensorArg(DTYPES, "*O", "plain", like="x"),
    derive=lambda a: {"O": broadcast(a.C, a.S, a.T)},
)
def where(a: Args) -> Iterator[Dispatch]:
    """y = x where the condition holds, else other, all three broadcast."""
    item = ITEMSIZE[a.x.tensor.dtype]
    yield Dispatch(
        "where",
        {"condition": a.condition.id, "a": a.x.id, "b": a.other.id, "y": a.out.id},
        _broadcast_params(a.O, a.condition, a.x, a.other),
        threads=cdiv(numel(a.O), 4) if item == 1 else numel(a.O),
        constants={"item": item},
    )
