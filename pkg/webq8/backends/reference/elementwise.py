"""Functions of one element, and of two broadcast ones.

Those without exact results are computed in float64 and rounded once: nearer to the truth than any float32 kernel.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args

__all__: list[str] = []

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _exact(function: Callable[[Args], Any], *names: str) -> None:
    """For functions that float32 (or int32) computes as it should."""
    reference(*names)(lambda a: np.asarray(function(a)))


def _rounded(function: Callable[[Array, Args], Any], name: str) -> None:
    def run(a: Args) -> Array:
        result: Array = np.asarray(function(a.x.astype(np.float64), a), np.float32)
        return result

    reference(f"aten.{name}.default", f"aten::{name}.out")(run)


def _of_x(function: Callable[[Array], Any], x: Array, a: Args) -> Any:
    return function(x)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _gelu(x: Array, a: Args) -> Array:
    if a.approximate == "tanh":
        # 1 + tanh(u) = 2·sigmoid(2u), which does not cancel
        return np.asarray(x * _sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return np.asarray(x * 0.5 * _erfc(-x / np.sqrt(2)))


def _elu(x: Array, a: Args) -> Array:
    return np.asarray(np.where(x < 0, a.scale * a.alpha * np.expm1(x * a.input_scale), a.scale * x))


_rounded(lambda x, a: _sigmoid(x), "sigmoid")
_rounded(lambda x, a: x * np.clip(x + 3, 0, 6) / 6, "hardswish")
_rounded(lambda x, a: np.clip(x + 3, 0, 6) / 6, "hardsigmoid")
_rounded(lambda x, a: x / (1 + np.exp(-x)), "silu")
_rounded(lambda x, a: _erf(x), "erf")
_rounded(_gelu, "gelu")
_rounded(_elu, "elu")
_rounded(lambda x, a: 1 / np.sqrt(x), "rsqrt")
_rounded(lambda x, a: 1 / x, "reciprocal")
for _function in (np.tanh, np.exp, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.sin, np.cos):
    _rounded(partial(_of_x, _function), _function.__name__)


def _whole(a: Args) -> bool:
    kind: str = a.x.dtype.kind
    return kind in "iu"


def _clip(a: Args) -> Array:
    low, high = a.min, a.max
    if _whole(a):
        least, most = np.iinfo(a.x.dtype).min, np.iinfo(a.x.dtype).max
        low, high = (least if low < least else int(low)), (most if high > most else int(high))
    return np.asarray(np.minimum(np.maximum(a.x, a.x.dtype.type(low)), a.x.dtype.type(high)))


_exact(lambda a: np.maximum(a.x, a.x.dtype.type(0)), "aten.relu.default", "aten::relu.out")
_exact(_clip, "aten.clamp.default", "aten::clamp.out", "aten.hardtanh.default", "aten::hardtanh.out")
_exact(lambda a: np.abs(a.x), "aten.abs.default", "aten::abs.out")
_exact(lambda a: -a.x, "aten.neg.default", "aten::neg.out")
_exact(lambda a: (a.x > 0).astype(a.x.dtype) - (a.x < 0).astype(a.x.dtype), "aten.sign.default", "aten::sign.out")
_exact(lambda a: np.rint(a.x), "aten.round.default", "aten::round.out")
_exact(lambda a: np.floor(a.x), "aten.floor.default", "aten::floor.out")
_exact(lambda a: np.ceil(a.x), "aten.ceil.default", "aten::ceil.out")
_exact(lambda a: np.trunc(a.x), "aten.trunc.default", "aten::trunc.out")
_exact(
    lambda a: np.where(a.x > 0, a.x, a.x * np.float32(a.negative_slope)),
    "aten.leaky_relu.default",
    "aten::leaky_relu.out",
)
_exact(
    lambda a: np.where(np.abs(a.x) <= np.float32(a.lambd), np.float32(0), a.x),
    "aten.hardshrink.default",
    "aten::hardshrink.out",
)


def _typed(a: Args, value: Any) -> Any:
    """A number in the dtype of x, integers wrapping around; arrays as they are."""
    if isinstance(value, np.ndarray):
        return value
    return np.array(int(value)).astype(a.x.dtype) if _whole(a) else np.float32(value)


def _sum(a: Args, first: Any, second: Any, alpha: float) -> Array:
    # in 64 bits, cut to those of x
    if _whole(a):
        wide = np.asarray(first).astype(np.int64) + np.int64(int(alpha)) * np.asarray(second).astype(np.int64)
        return np.asarray(wide.astype(a.x.dtype))
    return np.asarray(first + np.float32(alpha) * second)


def _names(name: str, second: str = "out") -> tuple[str, ...]:
    return (f"aten.{name}.Tensor", f"aten::{name}.{second}", f"aten.{name}.Scalar", f"aten::{name}.Scalar_out")


_exact(lambda a: _sum(a, a.x, _typed(a, a.other), a.alpha), *_names("add"))
_exact(lambda a: _sum(a, a.x, _typed(a, a.other), -a.alpha), *_names("sub"))
_exact(lambda a: _sum(a, _typed(a, a.other), a.x, -a.alpha), *_names("rsub", "Tensor_out"))
_exact(lambda a: a.x * _typed(a, a.other), *_names("mul"))


def _remainder(x: Array, other: Any) -> Any:
    """As C++ does in torch: zeros keep the sign of x, infinities do not stand for the quotient."""
    rest = np.fmod(x, other)
    return np.where((rest != 0) & ((rest < 0) != (np.asarray(other) < 0)), rest + other, rest)


def _divide(a: Args) -> Array:
    other, mode = _typed(a, a.other), vars(a).get("rounding_mode")
    if mode == "floor":
        return np.asarray(a.x // other)
    if mode == "trunc":
        if _whole(a):
            towards_zero = (a.x - np.fmod(a.x, other)) // other
            return np.asarray(towards_zero.astype(a.x.dtype))
        return np.asarray(np.trunc(a.x / other).astype(a.x.dtype))
    return np.asarray(a.x.astype(np.float32) / np.asarray(other).astype(np.float32))


_exact(
    _divide,
    *_names("div"),
    "aten.div.Tensor_mode",
    "aten::div.out_mode",
    "aten.div.Scalar_mode",
    "aten::div.Scalar_mode_out",
)
_exact(lambda a: np.fmod(a.x, _typed(a, a.other)), *_names("fmod", "Tensor_out"))
_exact(lambda a: _remainder(a.x, _typed(a, a.other)), *_names("remainder", "Tensor_out"))
_exact(lambda a: np.maximum(a.x, a.other), "aten.maximum.default", "aten::maximum.out")
_exact(lambda a: np.minimum(a.x, a.other), "aten.minimum.default", "aten::minimum.out")
_exact(
    lambda a: np.power(a.x.astype(np.float64), np.asarray(a.other).astype(np.float64)).astype(np.float32),
    "aten.pow.Tensor_Tensor",
    "aten::pow.Tensor_Tensor_out",
    "aten.pow.Tensor_Scalar",
    "aten::pow.Tensor_Scalar_out",
)
_exact(
    lambda a: np.power(np.float64(a.base), a.x.astype(np.float64)).astype(np.float32),
    "aten.pow.Scalar",
    "aten::pow.Scalar_out",
)
_exact(
    lambda a: np.arctan2(a.x.astype(np.float64), a.other.astype(np.float64)).astype(np.float32),
    "aten.atan2.default",
    "aten::atan2.out",
)


def _clamp_by_tensors(a: Args) -> Any:
    raised = a.x if a.min is None else np.maximum(a.x, a.min)
    return raised if a.max is None else np.minimum(raised, a.max)


_exact(_clamp_by_tensors, "aten.clamp.Tensor", "aten::clamp.Tensor_out")


def _compared(function: Callable[[Any, Any], Any], a: Args) -> Any:
    return function(a.x, _typed(a, a.other))


def _both_forms(name: str) -> tuple[str, ...]:
    logical, bitwise = f"logical_{name}", f"bitwise_{name}.Tensor"
    return f"aten.{logical}.default", f"aten::{logical}.out", f"aten.{bitwise}", f"aten::{bitwise}_out"


for _name, _compare in {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}.items():
    _exact(partial(_compared, _compare), *_names(_name, "Tensor_out"))
_exact(lambda a: a.x & a.other, *_both_forms("and"))
_exact(lambda a: a.x | a.other, *_both_forms("or"))
_exact(
    lambda a: a.x == 0,
    "aten.logical_not.default",
    "aten::logical_not.out",
    "aten.bitwise_not.default",
    "aten::bitwise_not.out",
)
_exact(lambda a: np.where(a.condition, a.x, a.other), "aten.where.self", "aten::where.self_out")
