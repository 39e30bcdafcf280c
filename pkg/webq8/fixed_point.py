"""Integers in place of real numbers, as gemmlowp and TFLite scale them; in plain Python, where numbers have no width.

A multiplier stands for a positive real number: its significand times 2³¹, and its exponent.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

__all__ = [
    "Multiplier",
    "doubled_high",
    "halves_away",
    "inverse_root",
    "multiplier",
    "reciprocal",
    "shifted_down",
    "steps_of",
]


def halves_away(v: float) -> int:
    """The nearest integer, halves away from zero; as C's round."""
    return int(math.copysign(math.floor(abs(v) + 0.5), v))


def doubled_high(a: int, b: int, bits: int = 31) -> int:
    """a · b / 2^bits, rounded to nearest, halves up, and saturated."""
    return min((a * b + (1 << bits >> 1)) >> bits, (1 << bits) - 1)


def shifted_down(v: int, exponent: int) -> int:
    """v / 2^exponent, rounded to nearest, halves away from zero."""
    mask = (1 << exponent) - 1
    return (v >> exponent) + int((v & mask) > (mask >> 1) + (v < 0))


class Multiplier(NamedTuple):
    significand: int
    exponent: int

    def times(self, v: int) -> int:
        """v times the number, in two roundings."""
        left, right = max(self.exponent, 0), max(-self.exponent, 0)
        return shifted_down(doubled_high(v << left, self.significand), right)

    def times_up(self, v: int) -> int:
        """The same with halves up in the second rounding, as NEON's instruction has it."""
        left, right = max(self.exponent, 0), max(-self.exponent, 0)
        return (doubled_high(v << left, self.significand) + (1 << right >> 1)) >> right

    def raised(self, exponent: int) -> "Multiplier":
        """2^exponent times the number."""
        return Multiplier(self.significand, self.exponent + exponent)

    @property
    def high(self) -> int:
        """The significand in 15 bits."""
        return min((self.significand + 2**15) >> 16, 2**15 - 1)


def multiplier(value: float) -> Multiplier:
    """The multiplier that is nearest to a number."""
    fraction, exponent = math.frexp(value)
    significand = halves_away(fraction * 2**31)
    if significand == 2**31:
        significand, exponent = 2**30, exponent + 1
    return Multiplier(significand, exponent) if exponent >= -31 else Multiplier(0, 0)


def inverse_root(v: int) -> Multiplier:
    """1 / √v, by five steps of Newton's method; of numbers below 1 as of 1."""
    if v <= 1:
        return Multiplier(2**31 - 1, 0)
    exponent = 11
    while v >= 1 << 29:
        v //= 4
        exponent += 1
    pairs = (32 - v.bit_length() - 1) // 2 - 1
    exponent, v = exponent - pairs, v << 2 * pairs
    # numbers with three bits before the point, x times 2²⁸; a product of three of them has nine
    half = shifted_down(v >> 1, 1)
    x = 1 << 28
    for _ in range(5):
        cube = _saturated(doubled_high(doubled_high(x, x), x) << 6)
        x = _saturated((doubled_high((1 << 28) + (1 << 27), x) - doubled_high(half, cube)) << 3)
    significand = doubled_high(x, 1518500250)
    if exponent < 0:
        significand, exponent = significand << -exponent, 0
    return Multiplier(significand, -exponent)


def reciprocal(v: int) -> Multiplier:
    """1 / v, by three steps of Newton's method; 0 of 0."""
    if v < 1:
        return Multiplier(0, 0)
    bits = v.bit_length()
    # v is a power of two times 1 … 2; x with two bits before the point is the reciprocal of half of that
    half = v << (31 - bits)
    x = 1515870810 + doubled_high(half, -1010580540)
    for _ in range(3):
        x += _saturated(doubled_high(x, (1 << 29) - doubled_high(half, x)) << 2)
    return Multiplier(_saturated(x << 1), 1 - bits)


def _saturated(v: int) -> int:
    return max(-(2**31), min(v, 2**31 - 1))


def steps_of(function: Callable[[int], int], low: int, high: int) -> tuple[int, ...]:
    """The 255 integers from which on a rising function of low…high is at least −127, −126, …, 127."""
    steps, first = list[int](), low
    for value in range(-127, 128):
        beyond = high + 1
        # the module bisect takes no more numbers than fit in a word, which a page's Python has 32 bits for
        while first < beyond:
            middle = (first + beyond) // 2
            if function(middle) < value:
                first = middle + 1
            else:
                beyond = middle
        steps.append(first)
    return tuple(steps)
