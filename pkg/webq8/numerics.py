"""Float32 functions in plain Python, rounded correctly; passes make the lookup tables of int8 functions with them.

A table has to hold the same bytes with and without numpy, and with every platform's math library, whose last bits
differ. So a function is computed in double; where its error could reach a tie between two float32 numbers, `decimals`
says which of them is nearer. A chain of ops rounds to float32 after each op, as a kernel for each would.
"""

import math
from array import array
from collections.abc import Callable, Iterable, Sequence

from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import (
    Binary,
    BinaryFunction,
    Clamp,
    Elementwise,
    Elu,
    Hardshrink,
    LeakyRelu,
    Unary,
    UnaryFunction,
)
from webq8.ir.ops.linear import INT8
from webq8.ir.types import PerTensor, f32

__all__ = ["apply", "computes", "dequantized", "quantized", "requantizing_table"]

Function = Callable[..., float]

_ERROR = 2.0**-42  # relative error of a result in double, larger than that of any function below
_OVERFLOW = 2.0**128 - 2.0**103  # halfway from the largest float32 to the next power of two


def requantizing_table(x: PerTensor, ops: Sequence[Elementwise], y: PerTensor, bounds: tuple[int, int] = INT8) -> bytes:
    """The lookup table of dequantize → elementwise ops → quantize: the int8 result for each int8 value of x."""
    values = dequantized(x)
    for op in ops:
        values = apply(op, values)
    return quantized(values, y, bounds)


def dequantized(x: PerTensor) -> list[float]:
    """The float32 numbers that the int8 values −128…127 stand for."""
    scale = f32(x.scale)
    return array("f", [(q - x.zero_point) * scale for q in range(-128, 128)]).tolist()


def quantized(values: Iterable[float], y: PerTensor, bounds: tuple[int, int] = INT8, *, divides: bool = False) -> bytes:
    """Quantizes float32 numbers to int8, half to even, within bounds; NaN to the zero point. As wgsl/quantize.wgsl."""
    scale, inverse, zero_point, (low, high) = f32(y.scale), f32(1.0 / y.scale), y.zero_point, bounds
    scaled = array("f", [v / scale for v in values] if divides else [v * inverse for v in values])
    try:
        integers: Iterable[float] = [round(v) + zero_point for v in scaled]
    except (OverflowError, ValueError):  # infinities, NaN
        integers = [round(v) + zero_point if math.isfinite(v) else v for v in scaled]
    bounded = (low if q < low else high if q > high else q for q in integers)
    return bytes([(int(q) if q == q else zero_point) & 255 for q in bounded])


def computes(op: Op) -> bool:
    """Whether `apply` knows the op."""
    return _in_double(op) is not None or _near(op) is not None


def apply(op: Op, *operands: Sequence[float]) -> list[float]:
    """The float32 results of an elementwise op for float32 operands, each rounded correctly (to nearest, ties to even).
    Only the product of `alpha` within an add is rounded before the sum."""
    if function := _in_double(op):
        return array("f", map(function, *operands)).tolist()
    function = _near(op)
    assert function is not None, f"{op}: ask `computes` first"
    values = [*map(function, *operands)]
    below, above = (array("f", [v * bound for v in values]) for bound in (1 - _ERROR, 1 + _ERROR))
    if below != above:  # or NaN is among them
        for n, (a, b) in enumerate(zip(below, above, strict=True)):
            if a != b and values[n] == values[n]:
                below[n] = _nearer(op, [operand[n] for operand in operands], a, b)
    return below.tolist()


def _nearer(op: Op, arguments: Sequence[float], a: float, b: float) -> float:
    """The one of two neighbouring float32 numbers that is nearer to the exact result of an op."""
    from webq8.decimals import side

    tie = math.copysign(_OVERFLOW, a) if math.isinf(a) or math.isinf(b) else (a + b) / 2
    above = side(op, arguments, tie)
    return f32(tie) if above == 0 else max(a, b) if above > 0 else min(a, b)


# --- functions that double gives to the last bit of float32: exact ones, and quotients and roots, which come out right
# although they are rounded twice


def _whole(function: Callable[[float], int]) -> Function:
    """A rounding to whole numbers whose zeros keep the sign of x."""
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


def _reciprocal(x: float) -> float:
    return 1 / x if x else math.copysign(math.inf, x)


def _quotient(a: float, b: float) -> float:
    return a / b if b else a * math.copysign(math.inf, b)


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


_UNARY_IN_DOUBLE: dict[UnaryFunction, Function] = {
    "abs": abs,
    "neg": lambda x: -x,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "round": _whole(round),
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "sqrt": _root,
    "reciprocal": _reciprocal,
}
_BINARY_IN_DOUBLE: dict[BinaryFunction, Function] = {
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "maximum": lambda a, b: a if a > b or a != a else b,
    "minimum": lambda a, b: a if a < b or a != a else b,
}


def _in_double(op: Op) -> Function | None:
    """The function of an op in double, if rounding its result to float32 rounds correctly; None for other ops."""
    match op:
        case Unary():
            return _UNARY_IN_DOUBLE.get(op.function)
        case Clamp():
            low, high = f32(op.low), f32(op.high)
            lowest = min(low, high)
            return lambda x: lowest if x < low else high if x > high else x
        case LeakyRelu():
            slope = f32(op.slope)
            return lambda x: x if x > 0 else x * slope
        case Hardshrink():
            threshold = f32(op.threshold)
            return lambda x: 0.0 if abs(x) <= threshold else x
        case Binary(function="add"):
            alpha = f32(op.alpha)
            return lambda a, b: a + f32(alpha * b)
        case Binary():
            return _BINARY_IN_DOUBLE.get(op.function)
    return None


# --- functions that double gives with a small error


def _sigmoid(x: float) -> float:
    e = math.exp(-abs(x))
    return (1.0 if x >= 0 else e) / (1.0 + e)


def _hardsigmoid(x: float) -> float:
    return min(max(x + 3, 0.0), 6.0) / 6


def _bounded(function: Function) -> Function:
    """The function, infinite where it overflows."""

    def bounded(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return bounded


def _logarithm(function: Function, pole: float = 0.0) -> Function:
    return lambda x: function(x) if x > pole else -math.inf if x == pole else math.nan


def _periodic(function: Function) -> Function:
    return lambda x: math.nan if math.isinf(x) else function(x)


def _power(a: float, b: float) -> float:
    odd = b % 2 == 1  # also for an infinite b, whose rest is NaN
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:  # 0 to a negative power, or a root of a negative number
        return math.nan if a else math.copysign(math.inf, a) if odd else math.inf


_exp, _expm1, _sinh = _bounded(math.exp), _bounded(math.expm1), _bounded(math.sinh)
_NEAR: dict[UnaryFunction, Function] = {
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "hardsigmoid": _hardsigmoid,
    "hardswish": lambda x: x * _hardsigmoid(x),
    "tanh": math.tanh,
    "erf": math.erf,
    "gelu": lambda x: x * math.erfc(-x * math.sqrt(0.5)) / 2,
    # 1 + tanh(u) is 2·sigmoid(2u), which does not cancel
    "gelu_tanh": lambda x: x * _sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x * x * x)),
    "exp": _exp,
    "expm1": _expm1,
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": _logarithm(math.log1p, -1.0),
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else math.nan if x else math.copysign(math.inf, x),
    "sin": _periodic(math.sin),
    "cos": _periodic(math.cos),
    "sinh": lambda x: math.copysign(_sinh(abs(x)), x),
}


def _near(op: Op) -> Function | None:
    """The function of an op in double, whose relative error is less than `_ERROR`; None for other ops."""
    match op:
        case Unary():
            return _NEAR.get(op.function)
        case Elu():
            scale, factor, inner = op.scale, op.scale * op.alpha, op.input_scale
            return lambda x: factor * _expm1(x * inner) if x < 0 else scale * x
        case Binary(function="pow"):
            return _power
    return None
