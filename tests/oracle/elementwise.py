"""Elementwise functions of one operand, and of several that are broadcast: in float64, rounded once, or in integers."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from oracle.core import exactly, is_whole, oracle, single, wide

# --- one element


def _of_one(name: str, function: Callable[..., Any]) -> None:
    oracle(name)(lambda x, *rest: single(function(x.astype(np.float64), *rest)))


def _each(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.asarray([function(v) for v in x.ravel().tolist()]).reshape(x.shape)


def _six(x: np.ndarray) -> np.ndarray:
    return np.minimum(np.maximum(x + 3, 0), 6)


def _gelu(x: np.ndarray, approximate: str = "none") -> np.ndarray:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * _each(math.erfc)(-x / math.sqrt(2))


def _elu(x: np.ndarray, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> np.ndarray:
    return np.where(x < 0, scale * alpha * np.expm1(np.minimum(x, 0) * input_scale), scale * x)


_of_one("sigmoid", lambda x: 1 / (1 + np.exp(-x)))
_of_one("hardswish", lambda x: x * _six(x) / 6)
_of_one("hardsigmoid", lambda x: _six(x) / 6)
_of_one("silu", lambda x: x / (1 + np.exp(-x)))
_of_one("gelu", _gelu)
_of_one("elu", _elu)
_of_one("erf", _each(math.erf))
_of_one("rsqrt", lambda x: 1 / np.sqrt(x))
_of_one("reciprocal", lambda x: 1 / x)
for _function in (np.tanh, np.exp, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.sin, np.cos, np.sinh):
    _of_one(_function.__name__, _function)
for _function in (np.floor, np.ceil, np.trunc):
    _of_one(_function.__name__, _function)


@oracle("round")
def round_(x: np.ndarray) -> np.ndarray:
    """By Python's, which takes halves to even numbers."""
    return single(_each(lambda v: math.copysign(round(v), v) if math.isfinite(v) else v)(x.astype(np.float64)))


@oracle("abs")
def abs_(x: np.ndarray) -> np.ndarray:
    return exactly(abs, x.dtype, x) if is_whole(x) else single(np.copysign(x, 1.0))


@oracle("neg")
def neg(x: np.ndarray) -> np.ndarray:
    return exactly(operator.neg, x.dtype, x) if is_whole(x) else single(wide(x)[0] * -1.0)


@oracle("relu")
def relu(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(x < 0, x.dtype.type(0), x))


@oracle("sign")
def sign(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(x > 0, 1, np.where(x < 0, -1, 0))).astype(x.dtype)


@oracle("leaky_relu")
def leaky_relu(x: np.ndarray, negative_slope: float = 0.01) -> np.ndarray:
    return np.asarray(np.where(x > 0, x, single(wide(x)[0] * np.float64(np.float32(negative_slope)))))


@oracle("hardshrink")
def hardshrink(x: np.ndarray, lambd: float = 0.5) -> np.ndarray:
    limit = np.float32(lambd)
    return np.asarray(np.where((x >= -limit) & (x <= limit), np.float32(0), x))


def _bounded(x: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """First the lower bound, then the upper one; NaN stays, and a bound that is NaN gives NaN."""
    y = x
    for bound, beyond in ((low, operator.lt), (high, operator.gt)):
        if bound is not None:
            y = np.where(beyond(y, bound) | ((bound != bound) & (y == y)), bound, y)
    return np.asarray(y).astype(x.dtype)


@oracle("clamp")
def clamp(x: np.ndarray, low: float | None = None, high: float | None = None) -> np.ndarray:
    kind = np.float32 if x.dtype == np.float32 else int
    with np.errstate(over="ignore"):
        return _bounded(x, *(None if bound is None else kind(bound) for bound in (low, high)))


@oracle("hardtanh")
def hardtanh(x: np.ndarray, low: float = -1, high: float = 1) -> np.ndarray:
    return clamp(x, low, high)


@oracle("aten.clamp.Tensor")
def clamp_by_tensors(x: np.ndarray, low: np.ndarray | None = None, high: np.ndarray | None = None) -> np.ndarray:
    return _bounded(x, low, high)


# --- two elements


def _sum(first: Any, second: Any, alpha: float, x: np.ndarray) -> np.ndarray:
    """first + alpha · second, in the dtype of x."""
    if is_whole(x):
        return exactly(lambda a, b: a + int(alpha) * b, x.dtype, first, second)
    return single(np.float64(np.float32(alpha)) * wide(second)[0] + wide(first)[0])


@oracle("add")
def add(x: np.ndarray, other: Any, alpha: float = 1) -> np.ndarray:
    return _sum(x, other, alpha, x)


@oracle("sub")
def sub(x: np.ndarray, other: Any, alpha: float = 1) -> np.ndarray:
    return _sum(x, other, -alpha, x)


@oracle("rsub")
def rsub(x: np.ndarray, other: Any, alpha: float = 1) -> np.ndarray:
    return _sum(other, x, -alpha, x)


@oracle("mul")
def mul(x: np.ndarray, other: Any) -> np.ndarray:
    return exactly(operator.mul, x.dtype, x, other) if is_whole(x) else single(np.multiply(*wide(x, other)))


@oracle("div")
def div(x: np.ndarray, other: Any, rounding_mode: str | None = None) -> np.ndarray:
    if rounding_mode is None:
        return single(np.divide(*wide(x.astype(np.float32), np.asarray(other).astype(np.float32))))
    if is_whole(x):
        rounded = operator.floordiv if rounding_mode == "floor" else _towards_zero
        return exactly(rounded, x.dtype, x, other)
    if rounding_mode == "trunc":
        return np.trunc(single(np.divide(*wide(x, other))))
    return _floor_quotient(x, np.asarray(other, np.float32))


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floor_quotient(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    """As torch has it, step by step in float32: the quotient of what is left without the rest is nearly whole."""
    a, b = np.broadcast_arrays(x, other)
    rest = fmod(a, b)
    quotient = single(np.divide(*wide(single(np.subtract(*wide(a, rest))), b)))
    quotient = np.where((rest != 0) & ((b < 0) != (rest < 0)), quotient - np.float32(1), quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + np.float32(1), whole)
    plain = single(np.divide(*wide(a, b)))
    return np.asarray(np.where(b == 0, plain, np.where(quotient == 0, np.copysign(np.float32(0), plain), whole)))


def _fmod(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * _towards_zero(a, b)


@oracle("fmod", "aten.fmod.Scalar")
def fmod(x: np.ndarray, other: Any) -> np.ndarray:
    """In float64 the rest of two float32 numbers is exact."""
    if is_whole(x):
        return exactly(_fmod, x.dtype, x, other)
    return single(np.fmod(*wide(x, np.asarray(other).astype(np.float32))))


@oracle("remainder", "aten.remainder.Scalar")
def remainder(x: np.ndarray, other: Any) -> np.ndarray:
    """As torch has it: what `fmod` leaves, plus the divisor where their signs differ."""
    if is_whole(x):
        return exactly(lambda a, b: 0 if b == 0 else a % b, x.dtype, x, other)
    divisor = np.asarray(other).astype(np.float32)
    rest = fmod(x, divisor)
    apart = (rest != 0) & (np.signbit(rest) != np.signbit(divisor))
    return np.asarray(np.where(apart & ~np.isnan(rest), rest + divisor, rest))


@oracle("maximum")
def maximum(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _larger(x, other, operator.gt)


@oracle("minimum")
def minimum(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _larger(x, other, operator.lt)


def _larger(x: np.ndarray, other: np.ndarray, beyond: Callable[[Any, Any], Any]) -> np.ndarray:
    return np.asarray(np.where(beyond(x, other) | (x != x), x, other)).astype(x.dtype)


@oracle("pow")
def pow_(x: np.ndarray, other: Any) -> np.ndarray:
    return single(np.power(*wide(x, other)))


@oracle("aten.pow.Scalar")
def pow_of_number(base: float, x: np.ndarray) -> np.ndarray:
    return single(np.power(*wide(base, x)))


@oracle("atan2")
def atan2(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    return single(np.arctan2(*wide(x, other)))


# --- truth values

for _compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
    oracle(_compare.__name__)(lambda x, other, f=_compare: np.asarray(f(x, other)))


@oracle("logical_and", "bitwise_and")
def both(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.int64) + other == 2)


@oracle("logical_or", "bitwise_or")
def either(x: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.int64) + other > 0)


@oracle("logical_not", "bitwise_not")
def not_(x: np.ndarray) -> np.ndarray:
    return np.asarray(x == 0)


@oracle("where")
def where(condition: np.ndarray, x: np.ndarray, other: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(condition.shape, x.shape, other.shape)
    y = np.array(np.broadcast_to(other, shape))
    np.copyto(y, x, where=condition)
    return y
