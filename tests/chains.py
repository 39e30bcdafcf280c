"""Functions of one tensor as they stand in models: of one op, and of several. Each is written once, for a graph and for
exact arithmetic. Needs no numpy.
"""

import struct
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol, TypeVar, get_args

import exact
from webq8.budget import Budget
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.elementwise import (
    Binary,
    BinaryFunction,
    Clamp,
    Elu,
    Hardshrink,
    LeakyRelu,
    Lookup,
    Unary,
    UnaryFunction,
)
from webq8.ir.ops.quantize import Dequantize, Quantize
from webq8.ir.types import PerTensor, Ref, Tensor
from webq8.passes import required

V = TypeVar("V")
Params = tuple[float, int]  # scale and zero point


class Ops(Protocol[V]):
    """What functions are written in. Numbers are float32 constants."""

    def unary(self, function: UnaryFunction, x: V) -> V: ...
    def number(self, value: float) -> V: ...
    def binary(self, function: BinaryFunction, a: V, b: V) -> V: ...
    def clamp(self, x: V, low: float, high: float) -> V: ...
    def leaky_relu(self, x: V, slope: float) -> V: ...
    def hardshrink(self, x: V, threshold: float) -> V: ...
    def elu(self, x: V, alpha: float, scale: float, input_scale: float) -> V: ...


Function = Callable[[Ops[Any], Any], Any]


class InGraph:
    """Adds ops to a graph."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def number(self, value: float) -> Ref:
        return self.builder.constant(struct.pack("<f", value), (), "float32")

    def unary(self, function: UnaryFunction, x: Ref) -> Ref:
        return self.builder.emit(Unary(x, function))

    def binary(self, function: BinaryFunction, a: Ref, b: Ref) -> Ref:
        return self.builder.emit(Binary(a, b, function))

    def clamp(self, x: Ref, low: float, high: float) -> Ref:
        return self.builder.emit(Clamp(x, low, high))

    def leaky_relu(self, x: Ref, slope: float) -> Ref:
        return self.builder.emit(LeakyRelu(x, slope))

    def hardshrink(self, x: Ref, threshold: float) -> Ref:
        return self.builder.emit(Hardshrink(x, threshold))

    def elu(self, x: Ref, alpha: float, scale: float, input_scale: float) -> Ref:
        return self.builder.emit(Elu(x, alpha=alpha, scale=scale, input_scale=input_scale))


class NotANumber(Exception):
    """There is no result; quantizing gives the zero point."""


_OF_POSITIVE = ("log", "log2", "log10", "sqrt", "rsqrt")
_INFINITE = {"log": -1, "log2": -1, "log10": -1, "rsqrt": 1, "reciprocal": 1}  # at 0
_BINARY: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "maximum": max,
    "minimum": min,
}


def f32(x: float) -> Fraction:
    return Fraction(exact.nearest(Fraction(x)))


class Exactly:
    """Float32 numbers, each the one nearest to an exact result of numbers before. Infinite ones are as large as no
    int8 is, whatever its scale."""

    LARGEST = Fraction(10**60)

    def rounded(self, value: Fraction) -> Fraction:
        return value if abs(value) == self.LARGEST else f32(value)  # type: ignore[arg-type]

    def number(self, value: float) -> Fraction:
        return f32(value)

    def unary(self, function: UnaryFunction, x: Fraction) -> Fraction:
        if x < 0 and function in _OF_POSITIVE:
            raise NotANumber
        if not x and function in _INFINITE:
            return _INFINITE[function] * self.LARGEST
        return self.rounded(exact.EXACT[function](x))

    def binary(self, function: BinaryFunction, a: Fraction, b: Fraction) -> Fraction:
        return self.rounded(_BINARY[function](a, b))

    def clamp(self, x: Fraction, low: float, high: float) -> Fraction:
        return min(max(x, f32(low)), f32(high))

    def leaky_relu(self, x: Fraction, slope: float) -> Fraction:
        return x if x > 0 else self.rounded(x * f32(slope))

    def hardshrink(self, x: Fraction, threshold: float) -> Fraction:
        return Fraction(0) if abs(x) <= f32(threshold) else x

    def elu(self, x: Fraction, alpha: float, scale: float, input_scale: float) -> Fraction:
        below = Fraction(alpha) * (exact.exp(x * Fraction(input_scale)) - 1)
        return self.rounded(Fraction(scale) * (x if x >= 0 else below))


def _hardswish_of_four(o: Ops[V], x: V) -> V:
    sum_ = o.clamp(o.binary("add", x, o.number(3.0)), 0.0, 6.0)
    return o.binary("div", o.binary("mul", sum_, x), o.number(6.0))


def _gelu_of_five(o: Ops[V], x: V) -> V:
    erf = o.unary("erf", o.binary("mul", x, o.number(0.5**0.5)))
    return o.binary("mul", o.binary("mul", x, o.number(0.5)), o.binary("add", erf, o.number(1.0)))


def _mish(o: Ops[V], x: V) -> V:
    return o.binary("mul", x, o.unary("tanh", o.unary("log1p", o.unary("exp", x))))


# of two ops and more, or with parameters
_WRITTEN: dict[str, Function] = {
    "x·sigmoid(x)": lambda o, x: o.binary("mul", x, o.unary("sigmoid", x)),
    "sigmoid(x)·x": lambda o, x: o.binary("mul", o.unary("sigmoid", x), x),
    "x·hardsigmoid(x)": lambda o, x: o.binary("mul", x, o.unary("hardsigmoid", x)),
    "hardswish of four ops": _hardswish_of_four,
    "gelu of five ops": _gelu_of_five,
    "mish": _mish,
    "leaky_relu": lambda o, x: o.leaky_relu(x, 0.01),
    "elu": lambda o, x: o.elu(x, 1.7, 0.9, 0.4),
    "selu": lambda o, x: o.elu(x, 1.6732632423543772, 1.0507009873554805, 1.0),
    "hardshrink": lambda o, x: o.hardshrink(x, 0.5),
    "relu6": lambda o, x: o.clamp(x, 0.0, 6.0),
    "softsign": lambda o, x: o.binary("div", x, o.binary("add", o.unary("abs", x), o.number(1.0))),
    "x·0.3": lambda o, x: o.binary("mul", x, o.number(0.3)),
    "0.3·x": lambda o, x: o.binary("mul", o.number(0.3), x),
    "x + x": lambda o, x: o.binary("add", x, x),
    "x²·x": lambda o, x: o.binary("mul", o.binary("mul", x, x), x),
    "max(x, −0.7)": lambda o, x: o.binary("maximum", x, o.number(-0.7)),
    "min(tanh(x), x)": lambda o, x: o.binary("minimum", o.unary("tanh", x), x),
}
_OF_ONE: dict[str, Function] = {
    function: lambda o, x, function=function: o.unary(function, x)  # type: ignore[misc]
    for function in get_args(UnaryFunction)
}
FUNCTIONS = _OF_ONE | _WRITTEN

_POSITIVE = (0.0371, -128)  # whole range
_BOTH = (0.0371, 5)


def scale_of_x(name: str) -> Params:
    """The quantization of an x that a function has results for."""
    return _POSITIVE if name in _OF_POSITIVE else (0.007, 5) if name == "log1p" else _BOTH


Y = (0.0123, -3)  # quantization of results


def graph(function: Function, x_params: Params, y_params: Params = Y) -> Graph:
    """All int8 numbers, dequantized, through a function, and quantized."""
    builder = Builder(Budget(None, "chains"))
    x = builder.add(Tensor((256,), "int8", None, PerTensor(*x_params)))
    y = function(InGraph(builder), builder.emit(Dequantize(x)))
    q = builder.emit(Quantize(y, "int8", -128, 127), PerTensor(*y_params))
    return Graph(tuple(builder.tensors), tuple(builder.nodes), (x,), (q,))


def table(function: Function, x_params: Params, y_params: Params = Y) -> bytes:
    """What the function makes of −128…127, by exact arithmetic that rounds where float32 does."""

    def entries() -> Iterator[int]:
        scale, inverse = f32(x_params[0]), f32(1.0 / y_params[0])
        for q in range(-128, 128):
            try:
                y = function(Exactly(), f32((q - x_params[1]) * scale))  # type: ignore[arg-type]
            except NotANumber:
                yield y_params[1] & 255
                continue
            scaled = y if abs(y) == Exactly.LARGEST else f32(y * inverse)
            yield min(max(round(scaled) + y_params[1], -128), 127) & 255

    return bytes(entries())


def tables() -> dict[str, bytes]:
    """The only table that the passes make of each function."""
    found = {}
    for name, function in FUNCTIONS.items():
        nodes = required(graph(function, scale_of_x(name))).nodes
        assert [type(node.op) for node in nodes] == [Lookup], (name, nodes)
        found[name] = nodes[0].op.table  # type: ignore[attr-defined]
    return found
