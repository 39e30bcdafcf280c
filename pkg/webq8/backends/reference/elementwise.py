"""Elementwise functions of one operand, and of two or three that are broadcast.

Those without exact results are computed in float64 and rounded once: nearer to the truth than any float32 kernel.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.numbers import dequantized, inverse, to_integers
from webq8.ir.ops.elementwise import (
    Binary,
    BinaryFunction,
    Clamp,
    ClampBy,
    Compare,
    CompareFunction,
    Elu,
    FixedPointSum,
    Hardshrink,
    LeakyRelu,
    Logical,
    Lookup,
    LookupPair,
    ScaledProduct,
    Unary,
    UnaryFunction,
    Where,
)
from webq8.ir.types import Ref

__all__: list[str] = []

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


# --- one operand


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


_IN_DOUBLE: dict[UnaryFunction, Callable[[Array], Any]] = {
    "sigmoid": _sigmoid,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "erf": _erf,
    "gelu": lambda x: x * 0.5 * _erfc(-x / np.sqrt(2)),
    # 1 + tanh(u) = 2·sigmoid(2u), which does not cancel
    "gelu_tanh": lambda x: x * _sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "tanh": np.tanh,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "sinh": np.sinh,
}
# what float32, or an integer, computes as it should
_EXACT: dict[UnaryFunction, Callable[[Array], Any]] = {
    "abs": np.abs,
    "neg": np.negative,
    "sign": lambda x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype),
    "round": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}


@reference(Unary)
def unary(op: Unary, arrays: Arrays) -> Array:
    x = arrays[op.x]
    if op.function in _EXACT:
        return np.asarray(_EXACT[op.function](x))
    return np.asarray(_IN_DOUBLE[op.function](x.astype(np.float64)), np.float32)


@reference(Clamp)
def clamp(op: Clamp, arrays: Arrays) -> Array:
    x, low, high = arrays[op.x], op.low, op.high
    if x.dtype.kind in "iu":
        least, most = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
        low, high = (least if low < least else int(low)), (most if high > most else int(high))
    return np.asarray(np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)))


@reference(LeakyRelu)
def leaky_relu(op: LeakyRelu, arrays: Arrays) -> Array:
    x = arrays[op.x]
    return np.where(x > 0, x, x * np.float32(op.slope))


@reference(Elu)
def elu(op: Elu, arrays: Arrays) -> Array:
    x = arrays[op.x].astype(np.float64)
    y = np.where(x < 0, op.scale * op.alpha * np.expm1(x * op.input_scale), op.scale * x)
    return np.asarray(y, np.float32)


@reference(Hardshrink)
def hardshrink(op: Hardshrink, arrays: Arrays) -> Array:
    x = arrays[op.x]
    return np.where(np.abs(x) <= np.float32(op.threshold), np.float32(0), x)


@reference(Lookup)
def lookup(op: Lookup, arrays: Arrays) -> Array:
    result: Array = np.frombuffer(op.table, np.int8)[arrays[op.x].astype(np.int32) + 128]
    return result


# --- two operands


def _quotient_to_zero(a: Array, b: Array) -> Any:
    if a.dtype.kind == "f":
        return np.trunc(a / b)
    return (a - np.fmod(a, b)) // b


def _remainder(a: Array, b: Array) -> Any:
    """As C++ does in torch: zeros keep the sign of a, infinities do not stand for the quotient."""
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def _in_double(function: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Any]:
    return lambda a, b: function(a.astype(np.float64), b.astype(np.float64))


_BINARY: dict[BinaryFunction, Callable[[Array, Array], Any]] = {
    "mul": np.multiply,
    "div": lambda a, b: a.astype(np.float32) / b.astype(np.float32),
    "div_floor": np.floor_divide,
    "div_trunc": _quotient_to_zero,
    "fmod": np.fmod,
    "remainder": _remainder,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": _in_double(np.power),
    "atan2": _in_double(np.arctan2),
}


@reference(Binary)
def binary(op: Binary, arrays: Arrays) -> Array:
    a, b = arrays[op.a], arrays[op.b]
    if arrays.out.quantization is None:
        return _combined(op, a, b).astype(arrays.out.dtype)
    first = _floats(a, op.a_table, arrays, op.a)
    second = _floats(b, op.b_table, arrays, op.b) if b.dtype == np.int8 else b
    y = arrays.out_quantization
    combined = _combined(op, first, second)
    quanta = combined / np.float32(y.scale) if op.divides else combined * inverse(y.scale)
    return to_integers(quanta, y.zero_point, *op.bounds)


def _floats(x: Array, table: bytes | None, arrays: Arrays, ref: Ref) -> Array:
    """What int8 stands for: by a table, or by its quantization."""
    if table is None:
        return dequantized(x, arrays.quantization(ref))
    result: Array = np.frombuffer(table, np.float32)[x.astype(np.int32) + 128]
    return result


def _combined(op: Binary, a: Array, b: Array) -> Array:
    if op.function != "add":
        return np.asarray(_BINARY[op.function](a, b))
    if a.dtype.kind == "f":
        return np.asarray(a + np.float32(op.alpha) * b)
    # in 64 bits, cut to those of a
    return np.asarray(a.astype(np.int64) + np.int64(int(op.alpha)) * b.astype(np.int64)).astype(a.dtype)


@reference(FixedPointSum)
def fixed_point_sum(op: FixedPointSum, arrays: Arrays) -> Array:
    a, b = (arrays[ref].astype(np.int64) * by for ref, by in zip((op.a, op.b), op.multipliers, strict=True))
    whole = np.floor_divide(a + b + op.bias, 2**op.shift)
    return np.asarray(np.clip(whole + arrays.out_quantization.zero_point, *op.bounds)).astype(np.int8)


@reference(ScaledProduct)
def scaled_product(op: ScaledProduct, arrays: Arrays) -> Array:
    a, b = (arrays[ref].astype(np.float32) - arrays.quantization(ref).zero_point for ref in (op.a, op.b))
    return to_integers(a * b * np.float32(op.factor), arrays.out_quantization.zero_point, *op.bounds)


@reference(LookupPair)
def lookup_pair(op: LookupPair, arrays: Arrays) -> Array:
    a, b = (arrays[ref].astype(np.int32) + 128 for ref in (op.a, op.b))
    return np.asarray(np.frombuffer(op.table, op.dtype).reshape(256, 256)[a, b])


# --- truth values

_COMPARE: dict[CompareFunction, Callable[[Array, Array], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@reference(Compare)
def compare(op: Compare, arrays: Arrays) -> Array:
    return np.asarray(_COMPARE[op.function](arrays[op.a], arrays[op.b]))


@reference(Logical)
def logical(op: Logical, arrays: Arrays) -> Array:
    a, b = arrays[op.a], arrays[op.b]
    return np.asarray(a & b if op.function == "and" else a | b)


@reference(ClampBy)
def clamp_by(op: ClampBy, arrays: Arrays) -> Array:
    x = arrays[op.x]
    raised = x if op.low is None else np.maximum(x, arrays[op.low])
    return np.asarray(raised if op.high is None else np.minimum(raised, arrays[op.high]))


@reference(Where)
def where(op: Where, arrays: Arrays) -> Array:
    return np.where(arrays[op.condition], arrays[op.a], arrays[op.b])
