"""Functions by exact arithmetic: sums of fractions, rounded to float32 by whole numbers. It imports nothing of the
package, and uses neither `decimal` nor a math library.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

_BITS = 300  # of what sums are rounded to, which keeps fractions short: 90 digits


def nearest(value: Fraction) -> float:
    """The float32 number nearest to a fraction, the even one of two, found by whole numbers alone."""
    if value == 0:
        return 0.0
    m = abs(value)
    exponent = m.numerator.bit_length() - m.denominator.bit_length()
    exponent -= m < Fraction(2) ** exponent  # now 2ᵉ ≤ m < 2ᵉ⁺¹
    unit = Fraction(2) ** max(exponent - 23, -149)
    rounded = round(m / unit) * unit  # half to even
    result = math.inf if rounded >= 2**128 else float(rounded)
    return math.copysign(result, value)


def short(value: Fraction) -> Fraction:
    """A fraction rounded to `_BITS` after its first."""
    if not value:
        return value
    shift = _BITS - value.numerator.bit_length() + value.denominator.bit_length()
    return Fraction(round(value * Fraction(2) ** shift)) / Fraction(2) ** shift


def series(term: Fraction, factor: Callable[[int], Fraction]) -> Fraction:
    total, n, size = term, 0, abs(term)
    while term and abs(term) > size / 2**_BITS:
        n += 1
        term = short(term * factor(n))
        total += term
    return total


@cache
def exp(x: Fraction) -> Fraction:
    """By halving x until its series is short, and squaring."""
    halvings = max(0, math.ceil(abs(x)).bit_length() + 8)
    y = x / 2**halvings
    result = series(Fraction(1), lambda n: y / n)
    for _ in range(halvings):
        result = short(result * result)
    return result


@cache
def root(x: Fraction) -> Fraction:
    scale = 4 ** (_BITS + x.denominator.bit_length())
    return Fraction(math.isqrt(x.numerator * scale // x.denominator), math.isqrt(scale))


def artanh(x: Fraction) -> Fraction:
    square, power, total, n = x * x, x, x, 1
    while power and abs(power) > abs(x) / 2**_BITS:
        power, n = short(power * square), n + 2
        total += power / n
    return total


@cache
def log(x: Fraction) -> Fraction:
    """By powers of 2, and the series of artanh for what is near 1."""
    twos = 0
    while x > Fraction(4, 3):
        x, twos = x / 2, twos + 1
    while x < Fraction(2, 3):
        x, twos = x * 2, twos - 1
    return 2 * artanh((x - 1) / (x + 1)) + twos * log_of_2()


@cache
def log_of_2() -> Fraction:
    return 2 * artanh(Fraction(1, 3))


@cache
def pi() -> Fraction:
    """Machin's."""

    def arctan(x: Fraction) -> Fraction:
        total, power, n = x, x, 1
        while abs(power) > Fraction(1, 2 ** (_BITS + 200)):
            power, n = -power * x * x, n + 2
            total += power / n
        return total

    return 16 * arctan(Fraction(1, 5)) - 4 * arctan(Fraction(1, 239))


@cache
def sine(x: Fraction) -> Fraction:
    """Of what is left of x without whole turns, by a third of its angle three times."""
    x -= 2 * pi() * round(x / (2 * pi()))
    y = short(x / 27)
    value = series(y, lambda n: -y * y / (2 * n * (2 * n + 1)))
    for _ in range(3):
        value = short(3 * value - 4 * value**3)
    return value


@cache
def erf(x: Fraction) -> Fraction:
    """By the alternating series, whose terms become large before they are small."""
    total, power, n = x, x, 0
    while abs(power) > Fraction(1, 2**_BITS):
        n += 1
        power = -power * x * x / n
        power = Fraction(round(power * 2 ** (2 * _BITS)), 2 ** (2 * _BITS))
        total += power / (2 * n + 1)
    return total * 2 / root(pi())


def sigmoid(x: Fraction) -> Fraction:
    return 1 / (1 + exp(-x))


def hardsigmoid(x: Fraction) -> Fraction:
    return min(max(x + 3, Fraction(0)), Fraction(6)) / 6


EXACT: dict[str, Callable[[Fraction], Fraction]] = {
    "abs": abs,
    "neg": lambda x: -x,
    "sign": lambda x: Fraction((x > 0) - (x < 0)),
    "round": lambda x: Fraction(round(x)),
    "floor": lambda x: Fraction(math.floor(x)),
    "ceil": lambda x: Fraction(math.ceil(x)),
    "trunc": lambda x: Fraction(math.trunc(x)),
    "sqrt": root,
    "rsqrt": lambda x: 1 / root(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "hardsigmoid": hardsigmoid,
    "hardswish": lambda x: x * hardsigmoid(x),
    "tanh": lambda x: 2 * sigmoid(2 * x) - 1,
    "erf": erf,
    "gelu": lambda x: x * (1 + erf(x / root(Fraction(2)))) / 2,
    "gelu_tanh": lambda x: x * sigmoid(2 * root(2 / pi()) * (x + Fraction(44715, 10**6) * x**3)),
    "exp": exp,
    "expm1": lambda x: exp(x) - 1,
    "log": log,
    "log2": lambda x: log(x) / log_of_2(),
    "log10": lambda x: log(x) / log(Fraction(10)),
    "log1p": lambda x: log(1 + x),
    "sin": sine,
    "cos": lambda x: sine(x + pi() / 2),
    "sinh": lambda x: (exp(x) - exp(-x)) / 2,
}
