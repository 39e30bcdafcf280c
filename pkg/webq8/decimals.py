"""Decides on which side of a number the exact result of a function lies, where double cannot tell.

Loaded by `numerics` when it is needed, which is seldom: once in a hundred thousand results.
"""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext

from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Binary, Elu, Unary, UnaryFunction

__all__ = ["side"]

_DIGITS = (40, 120)  # of precision; a result that agrees with a tie in the second many is taken for the tie
_SPARE = 60  # digits that functions may lose: 39 for whole turns of the largest float32, 47 for 1 − erf near 0


def side(op: Op, arguments: Sequence[float], of: float) -> int:
    """−1, 0 or 1 where the exact result is below, at or above a number."""
    for digits in _DIGITS:
        with localcontext(Context(prec=digits + _SPARE)):
            difference = _value(op, [*map(Decimal, arguments)]) - Decimal(of)
            if abs(difference) > abs(Decimal(of)).scaleb(-digits):
                return 1 if difference > 0 else -1
    return 0


def _value(op: Op, arguments: Sequence[Decimal]) -> Decimal:
    x = arguments[0]
    match op:
        case Unary():
            return _FUNCTIONS[op.function](x)
        case Elu():
            scale, alpha, inner = map(Decimal, (op.scale, op.alpha, op.input_scale))
            return scale * (alpha * _expm1(x * inner) if x < 0 else x)
        case Binary(function="pow"):
            return x ** arguments[1]
    raise TypeError(f"{op} has no exact form")


def _series(term: Decimal, factor: Callable[[int], Decimal]) -> Decimal:
    """The sum of a series, each term a factor times the one before, until terms change nothing."""
    total, before, n = term, Decimal(0), 0
    while total != before:
        n += 1
        term *= factor(n)
        total, before = total + term, total
    return total


def _pi() -> Decimal:
    """π, by Newton's series of arcsin(1/2), which is π/6."""
    total, before, power, n = Decimal("0.5"), Decimal(0), Decimal("0.5"), 0
    while total != before:
        n += 1
        power *= Decimal(2 * n - 1) / (8 * n)
        total, before = total + power / (2 * n + 1), total
    return 6 * total


def _expm1(x: Decimal) -> Decimal:
    return x.exp() - 1


def _sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def _tanh(x: Decimal) -> Decimal:
    return _expm1(2 * x) / (_expm1(2 * x) + 2)


def _hardsigmoid(x: Decimal) -> Decimal:
    return min(max(x + 3, Decimal(0)), Decimal(6)) / 6


def _erf(x: Decimal) -> Decimal:
    """erf, by a series of which no term is negative: 2/√π · e^(−x²) · Σ 2ⁿ·x^(2n + 1) / (1·3·…·(2n + 1))."""
    square = 2 * x * x
    return 2 / _pi().sqrt() * (-x * x).exp() * _series(x, lambda n: square / (2 * n + 1))


def _gelu_tanh(x: Decimal) -> Decimal:
    return x * _sigmoid((8 / _pi()).sqrt() * (x + Decimal("0.044715") * x**3))


def _sine(x: Decimal, quarters: int) -> Decimal:
    """The sine of x + quarters·π/2."""
    half_pi = _pi() / 2
    n = (x / half_pi).to_integral_value()
    rest = x - n * half_pi
    quadrant, square = (int(n) + quarters) % 4, rest * rest
    if quadrant % 2:
        value = _series(Decimal(1), lambda n: -square / (2 * n * (2 * n - 1)))
    else:
        value = _series(rest, lambda n: -square / (2 * n * (2 * n + 1)))
    return -value if quadrant > 1 else value


_FUNCTIONS: dict[UnaryFunction, Callable[[Decimal], Decimal]] = {
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "hardsigmoid": _hardsigmoid,
    "hardswish": lambda x: x * _hardsigmoid(x),
    "tanh": _tanh,
    "erf": _erf,
    "gelu": lambda x: x * (1 + _erf(x / Decimal(2).sqrt())) / 2,
    "gelu_tanh": _gelu_tanh,
    "exp": lambda x: x.exp(),
    "expm1": _expm1,
    "log": lambda x: x.ln(),
    "log2": lambda x: x.ln() / Decimal(2).ln(),
    "log10": lambda x: x.log10(),
    "log1p": lambda x: (1 + x).ln(),
    "rsqrt": lambda x: 1 / x.sqrt(),
    "sin": lambda x: _sine(x, 0),
    "cos": lambda x: _sine(x, 1),
    "sinh": lambda x: (_expm1(x) - _expm1(-x)) / 2,
}
