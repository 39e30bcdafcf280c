"""Functions of one element, and of two or more that are broadcast."""

import math
from functools import partial, reduce

from webq8.formats.onnx.call import MICROSOFT, Call, Result, operator
from webq8.ir.ops.elementwise import (
    Binary,
    BinaryFunction,
    Clamp,
    Compare,
    CompareFunction,
    Elu,
    Hardshrink,
    LeakyRelu,
    Logical,
    LogicalFunction,
    Unary,
    UnaryFunction,
    Where,
)
from webq8.ir.types import Ref

__all__ = ["binary", "function_of_more", "unary"]

_UNARY: dict[str, UnaryFunction] = {
    "Abs": "abs",
    "Ceil": "ceil",
    "Cos": "cos",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "HardSwish": "hardswish",
    "Log": "log",
    "Neg": "neg",
    "Reciprocal": "reciprocal",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}
_BINARY: dict[str, tuple[BinaryFunction, float]] = {
    "Add": ("add", 1.0),
    "Mul": ("mul", 1.0),  # integer.py has the operator
    "Sub": ("add", -1.0),
    "Max": ("maximum", 1.0),
    "Min": ("minimum", 1.0),
    "Sum": ("add", 1.0),
}
_COMPARES: dict[str, CompareFunction] = {
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
}
_LOGICAL: dict[str, LogicalFunction] = {"And": "and", "Or": "or"}
_NARROW = ("int16", "uint16", "uint32", "uint64")


def unary(c: Call, x: Ref, function: UnaryFunction) -> Ref:
    return c.emit(Unary(x, function))


def binary(c: Call, a: Ref, b: Ref, function: BinaryFunction, alpha: float = 1.0) -> Ref:
    return c.emit(Binary(a, b, function, alpha))


@operator(*_UNARY)
def function_of_one(c: Call) -> Result:
    x, function = c.x(), _UNARY[c.node.operator]
    dtype = c.type().dtype
    if function == "sign" and dtype in ("int64", "int8", "uint8"):
        return c.cast(unary(c, c.cast(x, "int32"), function), dtype)
    return unary(c, x, function)


@operator(*_BINARY.keys() - {"Mul"})
def function_of_more(c: Call) -> Result:
    function, alpha = _BINARY[c.node.operator]
    operands = c.every()
    dtype = c.g.type(operands[0]).dtype
    if dtype in _NARROW:  # their sums and products wrap around as those of int64 do
        operands = [c.cast(x, "int64") for x in operands]
    return c.cast(reduce(partial(_step, c, function, alpha), operands), dtype)


def _step(c: Call, function: BinaryFunction, alpha: float, a: Ref, b: Ref) -> Ref:
    return binary(c, a, b, function, alpha)


@operator("Mean")
def mean(c: Call) -> Result:
    operands = c.every()
    total = reduce(partial(_step, c, "add", 1.0), operands)
    return binary(c, total, c.number(len(operands)), "div")


@operator("Div")
def quotient(c: Call) -> Result:
    dtype = c.type().dtype
    if dtype == "float32":
        return binary(c, c.x(), c.x(1), "div")
    return _wide(c, "div_trunc")


def _wide(c: Call, function: BinaryFunction) -> Ref:
    dtype = c.type().dtype
    a, b = (c.cast(x, "int64") if dtype in _NARROW else x for x in (c.x(), c.x(1)))
    return c.cast(binary(c, a, b, function), dtype)


@operator("Mod")
def rest(c: Call) -> Result:
    return _wide(c, "fmod" if c.integer("fmod", 0) else "remainder")


@operator("Pow")
def power(c: Call) -> Result:
    x, exponent = c.type(), c.g.value(c.x(1))
    if exponent and len(exponent) == 1 and exponent[0] in (2, 3):
        square = binary(c, c.x(), c.x(), "mul")
        return square if exponent[0] == 2 else binary(c, square, c.x(), "mul")
    if exponent and len(exponent) == 1 and exponent[0] == 0.5 and x.dtype == "float32":
        return unary(c, c.x(), "sqrt")
    a, b = (c.cast(c.x(n), "float32") for n in (0, 1))
    y = binary(c, a, b, "pow")
    return y if x.dtype == "float32" else c.cast(unary(c, y, "round"), x.dtype)


@operator(*_COMPARES)
def comparison(c: Call) -> Result:
    a, b = c.x(), c.x(1)
    if c.g.type(a).dtype in _NARROW:
        a, b = c.cast(a, "int64"), c.cast(b, "int64")
    return c.emit(Compare(a, b, _COMPARES[c.node.operator]))


@operator(*_LOGICAL)
def logical(c: Call) -> Result:
    return c.emit(Logical(c.x(), c.x(1), _LOGICAL[c.node.operator]))


@operator("Xor")
def exclusive_or(c: Call) -> Result:
    return c.emit(Compare(c.x(), c.x(1), "ne"))


@operator("Not")
def negation(c: Call) -> Result:
    return c.emit(Compare(c.x(), c.number(0, "bool"), "eq"))


@operator("IsNaN")
def is_nan(c: Call) -> Result:
    return c.emit(Compare(c.x(), c.x(), "ne"))


@operator("IsInf")
def is_inf(c: Call) -> Result:
    positive, negative = c.integer("detect_positive", 1), c.integer("detect_negative", 1)
    found = [c.emit(Compare(c.x(), c.number(math.inf), "eq"))] * bool(positive)
    found += [c.emit(Compare(c.x(), c.number(-math.inf), "eq"))] * bool(negative)
    if not found:
        return c.emit(Compare(c.x(), c.number(math.inf), "gt"))
    return reduce(lambda a, b: c.emit(Logical(a, b, "or")), found)


@operator("Where")
def where(c: Call) -> Result:
    a, b, dtype = c.x(1), c.x(2), c.type(1).dtype
    if dtype in _NARROW:
        a, b = c.cast(a, "int64"), c.cast(b, "int64")
    return c.cast(c.emit(Where(c.x(), a, b)), dtype)


# --- activations


@operator("Relu")
def relu(c: Call) -> Result:
    return c.emit(Clamp(c.x(), low=0.0))


@operator("Clip")
def clip(c: Call) -> Result:
    bounds = [c.maybe(n) for n in (1, 2)]
    low, high = c.fraction("min", -math.inf), c.fraction("max", math.inf)
    known = [None if b is None else c.g.value(b) for b in bounds]
    if all(b is None or k for b, k in zip(bounds, known, strict=True)):
        low = known[0][0] if known[0] else low
        high = known[1][0] if known[1] else high
        if low > high:  # max is applied last
            low = high
        return c.emit(Clamp(c.x(), low, high))
    x = c.x() if bounds[0] is None else binary(c, c.x(), bounds[0], "maximum")
    return x if bounds[1] is None else binary(c, x, bounds[1], "minimum")


@operator("LeakyRelu")
def leaky_relu(c: Call) -> Result:
    return c.emit(LeakyRelu(c.x(), c.fraction("alpha", 0.01)))


@operator("PRelu")
def prelu(c: Call) -> Result:
    below = binary(c, c.emit(Clamp(c.x(), high=0.0)), c.x(1), "mul")
    return binary(c, c.emit(Clamp(c.x(), low=0.0)), below, "add")


@operator("Elu")
def elu(c: Call) -> Result:
    return c.emit(Elu(c.x(), c.fraction("alpha", 1.0), 1.0, 1.0))


@operator("Selu")
def selu(c: Call) -> Result:
    alpha, gamma = c.fraction("alpha", 1.67326319217681884765625), c.fraction("gamma", 1.05070102214813232421875)
    return c.emit(Elu(c.x(), alpha, gamma, 1.0))


@operator("Celu")
def celu(c: Call) -> Result:
    alpha = c.fraction("alpha", 1.0)
    return c.emit(Elu(c.x(), alpha, 1.0, 1.0 / alpha))


@operator("HardSigmoid")
def hard_sigmoid(c: Call) -> Result:
    scaled = binary(c, c.x(), c.number(c.fraction("alpha", 0.2)), "mul")
    return c.emit(Clamp(binary(c, scaled, c.number(c.fraction("beta", 0.5)), "add"), 0.0, 1.0))


@operator("ThresholdedRelu")
def thresholded_relu(c: Call) -> Result:
    above = c.emit(Compare(c.x(), c.number(c.fraction("alpha", 1.0)), "gt"))
    return c.emit(Where(above, c.x(), c.number(0.0)))


@operator("Shrink")
def shrink(c: Call) -> Result:
    bias, threshold = c.fraction("bias", 0.0), c.fraction("lambd", 0.5)
    kept = c.emit(Hardshrink(c.x(), threshold))
    return binary(c, kept, unary(c, kept, "sign"), "add", -bias) if bias else kept


@operator("Softplus")
def softplus(c: Call) -> Result:
    """log(1 + exp(x)), which does not overflow."""
    rest = unary(c, unary(c, unary(c, unary(c, c.x(), "abs"), "neg"), "exp"), "log1p")
    return binary(c, c.emit(Clamp(c.x(), low=0.0)), rest, "add")


@operator("Softsign")
def softsign(c: Call) -> Result:
    return binary(c, c.x(), binary(c, unary(c, c.x(), "abs"), c.number(1.0), "add"), "div")


@operator("Mish")
def mish(c: Call) -> Result:
    plus = softplus(c)
    assert isinstance(plus, int)
    return binary(c, c.x(), unary(c, plus, "tanh"), "mul")


@operator("Gelu")
def gelu(c: Call) -> Result:
    return unary(c, c.x(), "gelu" if c.text("approximate", "none") == "none" else "gelu_tanh")


@operator("Gelu", "BiasGelu", "FastGelu", domain=MICROSOFT)
def gelu_with_bias(c: Call) -> Result:
    x = binary(c, c.x(), c.x(1), "add") if c.has(1) else c.x()
    return unary(c, x, "gelu_tanh" if c.node.operator == "FastGelu" else "gelu")


@operator("QuickGelu", domain=MICROSOFT)
def quick_gelu(c: Call) -> Result:
    return swish(c, c.fraction("alpha", 1.702))


@operator("Swish")
def plain_swish(c: Call) -> Result:
    return swish(c, c.fraction("alpha", 1.0))


def swish(c: Call, alpha: float) -> Ref:
    """x · sigmoid(alpha · x)"""
    if alpha == 1.0:
        return unary(c, c.x(), "silu")
    return binary(c, c.x(), unary(c, binary(c, c.x(), c.number(alpha), "mul"), "sigmoid"), "mul")


# --- angles, of what the functions above are made of


@operator("Tan")
def tangent(c: Call) -> Result:
    return binary(c, unary(c, c.x(), "sin"), unary(c, c.x(), "cos"), "div")


@operator("Atan")
def arctangent(c: Call) -> Result:
    return binary(c, c.x(), c.number(1.0), "atan2")


@operator("Asin", "Acos")
def arcsine(c: Call) -> Result:
    """The angles of the points (√((1 − x)(1 + x)), x) and (x, √((1 − x)(1 + x)))."""
    less, more = binary(c, c.number(1.0), c.x(), "add", -1.0), binary(c, c.number(1.0), c.x(), "add")
    side = unary(c, binary(c, less, more, "mul"), "sqrt")
    points = (c.x(), side) if c.node.operator == "Asin" else (side, c.x())
    return binary(c, *points, "atan2")


@operator("Cosh")
def hyperbolic_cosine(c: Call) -> Result:
    half = binary(c, unary(c, c.x(), "abs"), c.number(math.log(2)), "add", -1.0)
    grown = unary(c, half, "exp")
    return binary(c, grown, binary(c, c.number(0.25), grown, "div"), "add")


@operator("Asinh")
def inverse_sinh(c: Call) -> Result:
    """sign(x) · log1p(|x| + x² / (1 + √(x² + 1)))"""
    size, one = unary(c, c.x(), "abs"), c.number(1.0)
    square = binary(c, size, size, "mul")
    root = unary(c, binary(c, square, one, "add"), "sqrt")
    rest = binary(c, square, binary(c, root, one, "add"), "div")
    return binary(c, unary(c, c.x(), "sign"), unary(c, binary(c, size, rest, "add"), "log1p"), "mul")


@operator("Acosh")
def inverse_cosh(c: Call) -> Result:
    """log1p(t + √(2t + t²)), t = x − 1"""
    t = binary(c, c.x(), c.number(1.0), "add", -1.0)
    root = unary(c, binary(c, t, binary(c, t, c.number(2.0), "add"), "mul"), "sqrt")
    return unary(c, binary(c, t, root, "add"), "log1p")


@operator("Atanh")
def inverse_tanh(c: Call) -> Result:
    """(log1p(x) − log1p(−x)) / 2"""
    both = binary(c, unary(c, c.x(), "log1p"), unary(c, unary(c, c.x(), "neg"), "log1p"), "add", -1.0)
    return binary(c, both, c.number(0.5), "mul")
