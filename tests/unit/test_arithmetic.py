"""Arithmetic between dequantize and quantize: one op on int8 where there is a kernel for it, of the same bytes."""

from collections.abc import Callable

import numpy as np
import pytest
from arithmetic import ALL, BY_TABLE, FLOAT, SHAPE, A, Arithmetic, Y, call, given, inputs
from graphs import Builder, Ref
from webq8.backends.reference import run_graph
from webq8.ir.graph import Graph
from webq8.passes import optimize, required


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def same_bytes(graph: Graph, least: int = 20) -> Graph:
    """The optimized graph, after it was compared with the graph as it is."""
    arrays, optimized = inputs(graph), optimize(required(graph))
    [want] = run_graph(graph, arrays)
    assert len(np.unique(want)) > least, "nothing is told by results that are alike"
    for rewritten in (required(graph), optimized):
        np.testing.assert_array_equal(run_graph(rewritten, arrays)[0], want)
    return optimized


@pytest.mark.parametrize("arithmetic", ALL, ids=lambda arithmetic: arithmetic.name)
def test_on_int8(arithmetic: Arithmetic) -> None:
    graph = arithmetic.graph()
    optimized = same_bytes(graph)
    assert sorted(names(optimized)) == sorted(arithmetic.ops)
    assert {optimized.tensors[ref].dtype for node in optimized.nodes for ref in node.outputs} == {"int8"}
    if "Binary" in arithmetic.ops:
        assert "Dequantize" in names(required(graph)), "only an optimization may do that"
        [binary] = [node.op for node in optimized.nodes if type(node.op).__name__ == "Binary"]
        assert binary.bounds == arithmetic.bounds


def test_by_a_table_of_floats() -> None:
    graph = BY_TABLE.graph()
    assert names(same_bytes(graph)) == names(required(graph)) == [*BY_TABLE.ops]


@pytest.mark.parametrize("arithmetic", FLOAT, ids=lambda arithmetic: arithmetic.name)
def test_in_float(arithmetic: Arithmetic) -> None:
    optimized = same_bytes(arithmetic.graph())
    assert names(optimized).count("Dequantize") >= 1
    assert names(optimized)[-1] == "Quantize"


def test_a_float_result_that_others_read_is_there_as_well() -> None:
    b = Builder()
    y = call(b, "add.Tensor", given(b, A), Ref(given(b, A)), 1)
    graph = b.graph(b.quantize(y, Y), y)
    arrays, optimized = inputs(graph), optimize(required(graph))
    for got, want in zip(run_graph(optimized, arrays), run_graph(graph, arrays), strict=True):
        np.testing.assert_array_equal(got, want)
    assert sorted(names(optimized)) == ["Binary", "Binary", "Dequantize", "Dequantize"]


# --- limits


def chain(length: int, step: Callable[[Builder, int], int]) -> Graph:
    b = Builder()
    y = given(b, A)
    for _ in range(length):
        y = step(b, y)
    return b.graph(b.quantize(y, Y))


@pytest.mark.parametrize(("length", "on_int8"), [(15, True), (16, True), (17, False)])
def test_functions_in_a_row(length: int, on_int8: bool) -> None:
    graph = chain(length, lambda b, y: call(b, "neg.default", y))
    assert (names(same_bytes(graph)) == ["Lookup"]) == on_int8


@pytest.mark.parametrize(("length", "on_int8"), [(63, True), (64, True), (65, False)])
def test_moves_in_a_row(length: int, on_int8: bool) -> None:
    graph = chain(length, lambda b, y: call(b, "flip.default", y, (1, 3)))
    assert ("Dequantize" not in names(same_bytes(graph))) == on_int8


# --- other quantizations


def quantized_otherwise(kind: str) -> Graph:
    """hardswish between tensors that are quantized in another way."""
    b = Builder()
    if kind == "per channel":
        scales, zeros = b.const(np.linspace(0.02, 0.07, 6, dtype=np.float32)), b.const(np.arange(6))
        args = (Ref(b.input(SHAPE, "int8")), scales, zeros, 1, -128, 127, None, None)
        x = b.call("quantized_decomposed.dequantize_per_channel.default", *args, out=(SHAPE, "float32"))
    elif kind == "uint8":
        args = (Ref(b.input(SHAPE, "uint8")), 0.04, 3, 0, 255, 0, None)
        x = b.call("quantized_decomposed.dequantize_per_tensor.default", *args, out=(SHAPE, "float32"))
    else:
        numbers = Ref(b.input((1,), "float32")), b.const(np.array([3], np.int64))
        args = (Ref(b.input(SHAPE, "int8")), *numbers, -128, 127, 1, None)
        x = b.call("quantized_decomposed.dequantize_per_tensor.tensor", *args, out=(SHAPE, "float32"))
    return b.graph(b.quantize(call(b, "hardswish.default", x), Y))


@pytest.mark.parametrize("kind", ["per channel", "uint8", "dynamic"])
def test_nothing_changes_for_other_quantizations(kind: str) -> None:
    graph = quantized_otherwise(kind)
    assert names(optimize(required(graph))) == ["Dequantize", "Unary", "Quantize"]


def pooled(b: Builder, y: int) -> int:
    return call(b, "max_pool2d.default", y, (1, 2), (1, 1), (0, 1), (1, 1), False, shape=(2, 6, 3, 6))


def bounded(b: Builder, y: int) -> int:
    moved = b.call("aten.view_copy.default", Ref(y), (180,), out=((180,), "float32"))
    return call(b, "clamp.default", moved, 0.3, 2.0, shape=(180,))


@pytest.mark.parametrize(
    ("compared", "function", "on_int8"),
    [(pooled, "log", False), (pooled, "tanh", True), (bounded, "log", True), (bounded, "tanh", True)],
)
def test_nan_that_is_compared_stays_nan(compared: Callable[[Builder, int], int], function: str, on_int8: bool) -> None:
    """A logarithm of negative numbers is quantized to the zero point, in whatever window and beyond whatever bounds."""
    b = Builder()
    graph = b.graph(b.quantize(compared(b, call(b, f"{function}.default", given(b, A))), Y))
    assert ("Dequantize" not in names(same_bytes(graph, least=8))) == on_int8
