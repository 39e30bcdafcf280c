"""Arithmetic of dequantized tensors that is quantized again, as residual networks have it: what it becomes on int8."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from graphs import Builder, Params, Ref
from webq8.ir.graph import Graph

Y = (0.043, 11)
A, B = (0.031, -5), (0.052, 9)
SHAPE = (2, 6, 3, 5)


class Arithmetic(NamedTuple):
    """`build` adds ops, whose float32 result is quantized; `ops` are what becomes of them, with `bounds`."""

    name: str
    build: Callable[[Builder], int]
    ops: tuple[str, ...] = ("Binary",)
    bounds: tuple[int, int] = (-128, 127)

    def graph(self) -> Graph:
        b = Builder()
        return b.graph(b.quantize(self.build(b), Y))


def inputs(graph: Graph) -> list[np.ndarray]:
    rng = np.random.default_rng(6)
    return [rng.integers(-128, 128, graph.tensors[ref].shape, np.int8) for ref in graph.inputs]


def given(b: Builder, params: Params, shape: tuple[int, ...] = SHAPE) -> int:
    return b.dequantize(b.input(shape, "int8"), params)


def call(b: Builder, name: str, x: int, *args: object, shape: tuple[int, ...] = SHAPE) -> int:
    return b.call(f"aten.{name}", Ref(x), *args, out=(shape, "float32"))


def of_two(name: str, *more: object, shape: tuple[int, ...] = SHAPE, other: tuple[int, ...] = ()) -> Callable[..., int]:
    return lambda b: call(b, name, given(b, A, shape), Ref(given(b, B, other or shape)), *more, shape=shape)


def of_constant(name: str, shape: tuple[int, ...], *more: object, first: bool = False) -> Callable[[Builder], int]:
    values = np.random.default_rng(8).normal(size=shape).astype(np.float32)

    def build(b: Builder) -> int:
        x, constant = given(b, A), b.const(values)
        return call(b, name, *((constant, Ref(x)) if first else (x, constant)), *more)

    return build


def then(build: Callable[[Builder], int], name: str, *args: object) -> Callable[[Builder], int]:
    return lambda b: call(b, name, build(b), *args)


def _concat(b: Builder) -> int:
    wide = (2, 12, 3, 5)
    return b.call("aten.cat.default", b.list(given(b, A), given(b, B)), 1, out=(wide, "float32"))


def _clamped_before(b: Builder) -> int:
    """A clamp whose bounds are no int8 of the scale, so that its result is none either."""
    return call(b, "add.Tensor", call(b, "hardtanh.default", given(b, A), -0.7, 0.7), Ref(given(b, B)), 1)


def _moved_before(b: Builder) -> int:
    x = b.call("aten.permute_copy.default", Ref(given(b, A, (2, 3, 5, 6))), (0, 3, 1, 2), out=(SHAPE, "float32"))
    return call(b, "add.Tensor", x, Ref(given(b, B)), 1)


def _moved_after(b: Builder) -> int:
    y = of_two("mul.Tensor")(b)
    return b.call("aten.permute_copy.default", Ref(y), (0, 2, 3, 1), out=((2, 3, 5, 6), "float32"))


ZERO = Y[1]
ALL = (
    Arithmetic("sum", of_two("add.Tensor", 1)),
    Arithmetic("sum of whole words", of_two("add.Tensor", 1, shape=(1, 16, 4, 8))),
    Arithmetic("sum of rows", of_two("add.Tensor", 1, shape=(7, 19))),
    Arithmetic("sum of a broadcast map", of_two("add.Tensor", 1, other=(1, 6, 1, 1))),
    Arithmetic("difference", of_two("sub.Tensor", 1)),
    Arithmetic("with a factor", of_two("add.Tensor", -0.375)),
    Arithmetic("product", of_two("mul.Tensor")),
    Arithmetic("gate for each channel", of_two("mul.Tensor", other=(2, 6, 1, 1))),
    Arithmetic("maximum", of_two("maximum.default")),
    Arithmetic("minimum", of_two("minimum.default")),
    Arithmetic("product with a vector", of_constant("mul.Tensor", (6, 1, 1))),
    Arithmetic("sum with a vector", of_constant("add.Tensor", (1, 6, 1, 1), 1)),
    Arithmetic("sum of a vector and a tensor", of_constant("add.Tensor", (6, 1, 1), 1, first=True)),
    Arithmetic("maximum with a vector", of_constant("maximum.default", (6, 1, 1))),
    Arithmetic("product with a whole map", of_constant("mul.Tensor", SHAPE)),
    Arithmetic("product with a number", of_constant("mul.Tensor", ()), ("Lookup",)),
    Arithmetic("sum and relu", then(of_two("add.Tensor", 1), "relu.default"), bounds=(ZERO, 127)),
    Arithmetic("product and clamp", then(of_two("mul.Tensor"), "clamp.default", -1.0, 2.0), bounds=(-12, 58)),
    Arithmetic("sum of a moved tensor", _moved_before, ("Permute", "Binary")),
    Arithmetic("moved product", _moved_after, ("Binary", "Permute")),
    Arithmetic("concatenation of two scales", _concat, ("Lookup", "Lookup", "Concat")),
)
# Stays in float32: there is no kernel for it.
FLOAT = (
    Arithmetic("a vector less a tensor", of_constant("sub.Tensor", (6, 1, 1), 1, first=True)),
    Arithmetic("quotient", of_two("div.Tensor")),
)
# A function beside another tensor: a table of floats, whatever is optimized.
BY_TABLE = Arithmetic("sum of a clamped tensor", _clamped_before, ("Binary",))
