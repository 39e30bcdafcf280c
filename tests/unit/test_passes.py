"""Passes: what each makes of a graph, and that the reference gives the same bytes before and after."""

import numpy as np
import pytest
from graphs import DEQUANTIZE, QUANTIZE, Builder, Ref
from random_graphs import random_method
from webq8.backends.reference import fold_constants, run_graph
from webq8.formats.pte.lower import lower
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.edges import edges_of
from webq8.ir.ops.linear import INT8
from webq8.ir.types import PerTensor
from webq8.passes import OPTIMIZATIONS, optimize, required
from webq8.plan.planner import plan_program
from webq8.target import Target

CONV = "et_vk.q8ta_conv2d_pw.default"


def short(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def same_bytes(graph: Graph, *inputs: np.ndarray, names: list[str] | None = None) -> Graph:
    """The optimized graph, after comparing what both compute."""
    on_int8 = required(graph)
    optimized = optimize(on_int8, names)
    want = run_graph(graph, list(inputs))
    for rewritten in (on_int8, optimized):
        for a, b in zip(want, run_graph(rewritten, list(inputs)), strict=True):
            np.testing.assert_array_equal(a, b)
    return optimized


BEFORE_EDGES = [name for name in OPTIMIZATIONS if name not in ("fuse_dequantize", "fuse_quantize")]


def image(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def pointwise(b: Builder, x: int, params=(0.05, 0)) -> int:
    n, c, h, w = b.shape(x)
    rng = np.random.default_rng(2)
    geometry = ((1, 1), (1, 1), (0, 0), (1, 1), 1)
    return b.weighted(CONV, x, (6, c), (n, 6, h, w), 6, rng, *geometry, y_params=params)


def hardtanh(b: Builder, x: int, low: float = 0.0, high: float = 6.0) -> int:
    return b.call("aten.hardtanh.default", Ref(x), low, high, out=(b.shape(x), "float32"))


def test_clamp_becomes_an_epilogue() -> None:
    b = Builder()
    y = pointwise(b, b.quantize(b.input((1, 5, 3, 3), "float32")))
    q = b.quantize(hardtanh(b, b.dequantize(y), 0.0, 1.5))
    optimized = same_bytes(b.graph(b.dequantize(q)), image(1, 5, 3, 3), names=BEFORE_EDGES)
    assert short(optimized) == ["Quantize", "Conv2d", "Dequantize"]
    assert optimized.nodes[1].op.bounds == (0, 30)


def test_other_scale_becomes_a_table() -> None:
    b = Builder()
    y = pointwise(b, b.quantize(b.input((1, 5, 3, 3), "float32")))
    q = b.quantize(hardtanh(b, b.dequantize(y)), (0.03, -128))
    graph = b.graph(b.dequantize(q, (0.03, -128)))
    optimized = same_bytes(graph, image(1, 5, 3, 3), names=["fuse_tables", "fuse_bounds"])
    assert short(optimized) == ["Quantize", "Conv2d", "Lookup", "Dequantize"]
    optimized = same_bytes(graph, image(1, 5, 3, 3), names=BEFORE_EDGES)
    assert short(optimized) == ["Quantize", "Conv2d", "Dequantize"]
    assert optimized.nodes[1].op.through.grid == PerTensor(0.05, 0)


def test_a_function_of_a_moved_function_is_a_table() -> None:
    b = Builder()
    x = b.dequantize(b.quantize(b.input((2, 3, 4, 5), "float32")))
    order = b.list(*map(b.value, (0, 2, 3, 1)))
    moved = b.call("aten.permute_copy.default", Ref(function(b, "hardswish", x)), order, out=((2, 4, 5, 3), "float32"))
    graph = b.graph(b.quantize(function(b, "sigmoid", moved), (0.004, -128)))
    assert short(same_bytes(graph, image(2, 3, 4, 5), names=[])) == ["Quantize", "Permute", "Lookup"]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("op", ["add", "mul"])
def test_a_function_beside_another_tensor_is_a_table_of_floats(op: str, swapped: bool) -> None:
    b = Builder()
    x, y = (
        b.dequantize(b.quantize(b.input((2, 3, 5), "float32"), params), params) for params in ((0.05, 3), (0.02, 1))
    )
    operands = [Ref(function(b, "sigmoid", x)), Ref(y)]
    more = (1,) if op == "add" else ()
    z = b.call(f"aten.{op}.Tensor", *operands[:: -1 if swapped else 1], *more, out=((2, 3, 5), "float32"))
    graph = b.graph(b.quantize(z, (0.01, 4)))
    optimized = same_bytes(graph, image(2, 3, 5), image(2, 3, 5), names=[])
    assert short(optimized) == ["Quantize", "Quantize", "Binary"]
    tables = {optimized.nodes[2].op.a_table, optimized.nodes[2].op.b_table} - {None}
    assert [len(table) for table in tables] == [1024]


def function(b: Builder, name: str, x: int) -> int:
    return b.call(f"aten.{name}.default", Ref(x), out=(b.shape(x), "float32"))


def test_bounds_within_bounds() -> None:
    b = Builder()
    q = b.quantize(hardtanh(b, b.dequantize(pointwise(b, b.quantize(b.input((1, 5, 3, 3), "float32")))), 0.0, 1.5))
    q = b.quantize(hardtanh(b, b.dequantize(q), -1.0, 1.0))
    optimized = same_bytes(b.graph(b.dequantize(q)), image(1, 5, 3, 3), names=["fuse_bounds"])
    assert short(optimized) == ["Quantize", "Conv2d", "Dequantize"]
    assert optimized.nodes[1].op.bounds == (0, 20)


def test_several_functions_become_one_table() -> None:
    b = Builder()
    y = b.dequantize(b.quantize(b.input((7,), "float32")))
    y = b.call("aten.relu.default", Ref(hardtanh(b, y, -1.0, 1.0)), out=((7,), "float32"))
    first = b.quantize(y, (0.02, 3))
    second = b.quantize(b.dequantize(first, (0.02, 3)), (0.07, -9))
    assert short(same_bytes(b.graph(second), image(7), names=BEFORE_EDGES)) == ["Quantize", "Lookup"]


def test_equal_pairs_vanish() -> None:
    b = Builder()
    q = b.quantize(b.input((3, 5), "float32"))
    again = b.quantize(b.dequantize(q))
    assert short(same_bytes(b.graph(b.dequantize(again)), image(3, 5))) == [
        "Quantize",
        "Dequantize",
    ]


def test_unequal_pairs_become_one_requantization() -> None:
    b = Builder()
    q = b.quantize(b.input((3, 5), "float32"), (0.05, 3))
    again = b.quantize(b.dequantize(q, (0.05, 3)), (0.06, -1))
    assert short(same_bytes(b.graph(again), image(3, 5), names=BEFORE_EDGES)) == ["Quantize", "Lookup"]


def test_a_value_used_twice_stays() -> None:
    b = Builder()
    y = pointwise(b, b.quantize(b.input((1, 5, 3, 3), "float32")))
    bounded = b.quantize(hardtanh(b, b.dequantize(y), 0.0, 1.5))
    optimized = same_bytes(b.graph(b.dequantize(bounded), b.dequantize(y)), image(1, 5, 3, 3), names=BEFORE_EDGES)
    assert optimized.nodes[1].op.bounds == INT8
    assert "Lookup" in short(optimized)


def test_moves_and_pooling_run_on_int8() -> None:
    b = Builder()
    y = b.dequantize(b.quantize(b.input((1, 8, 6, 6), "float32")))
    y = b.call("aten.max_pool2d.default", Ref(y), (2, 2), (2, 2), (0, 0), (1, 1), False, out=((1, 8, 3, 3), "float32"))
    y = b.call("aten.pixel_shuffle.default", Ref(y), 2, out=((1, 2, 6, 6), "float32"))
    y = b.call("aten.view_copy.default", Ref(y), (2, 36), out=((2, 36), "float32"))
    q = b.linear(b.quantize(y), 4)
    optimized = same_bytes(b.graph(b.dequantize(q)), image(1, 8, 6, 6), names=BEFORE_EDGES)
    assert short(optimized) == [
        "Quantize",
        "MaxPool2d",
        "PixelShuffle",
        "Reshape",
        "Linear",
        "Dequantize",
    ]


def test_cat_of_two_scales() -> None:
    b = Builder()
    x = b.input((2, 3), "float32")
    parts = [b.dequantize(b.quantize(x, params), params) for params in ((0.05, 0), (0.08, 7))]
    y = b.call("aten.cat.default", b.list(*parts), 1, out=((2, 6), "float32"))
    optimized = same_bytes(b.graph(b.quantize(y, (0.05, 0))), image(2, 3), names=BEFORE_EDGES)
    assert sorted(short(optimized)) == ["Concat", "Lookup", "Quantize", "Quantize"]


def test_cat_along_channels_stays_channels_last() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 8, 3, 3), "float32"))
    parts = [b.dequantize(pointwise(b, x)), b.dequantize(x)]
    y = b.call("aten.cat.default", b.list(parts[1], parts[0]), 1, out=((1, 14, 3, 3), "float32"))
    optimized = same_bytes(b.graph(b.dequantize(pointwise(b, b.quantize(y)))), image(1, 8, 3, 3))
    assert "Concat" in short(optimized)
    assert plan_program({"forward": optimized}, Target()).plans["forward"].relayouts == 0


def test_per_channel_weights_fold() -> None:
    b = Builder()
    rng = np.random.default_rng(0)
    data, scales = rng.integers(-128, 128, (3, 5), np.int8), np.array([0.1, 0.2, 0.3], np.float32)
    zeros = np.array([0, 1, -2], np.int64)
    args = (b.const(data), b.const(scales), b.const(zeros), 0, -127, 127, None, None)
    y = b.call("quantized_decomposed.dequantize_per_channel.default", *args, out=((3, 5), "float32"))
    graph = b.graph(y)
    assert graph.nodes == ()
    value = graph.tensors[graph.results[0]]
    assert value.data is not None
    want = (data - zeros[:, None]).astype(np.float32) * scales[:, None]
    np.testing.assert_array_equal(np.frombuffer(value.data, np.float32).reshape(3, 5), want)


def test_kernel_calls_and_constant_scales_are_lowered_as_in_delegates() -> None:
    b = Builder()
    x = b.input((3, 5), "float32")
    scale, zero_point = b.const(np.array([0.02])), b.const(np.array([3], np.int64))
    kernel = "quantized_decomposed::{}_per_tensor.{}"
    q = b.call(kernel.format("quantize", "out"), Ref(x), 0.02, 3, -128, 127, 1, out=((3, 5), "int8"))
    y = b.call(kernel.format("dequantize", "out"), Ref(q), 0.02, 3, -128, 127, 1, None, out=((3, 5), "float32"))
    again = (Ref(y), scale, zero_point, -128, 127, 1)
    q = b.call(kernel.format("quantize", "Tensor_out"), *again, out=((3, 5), "int8"))
    last = (Ref(q), scale, zero_point, -128, 127, 1, None)
    y = b.call("quantized_decomposed.dequantize_per_tensor.tensor", *last, out=((3, 5), "float32"))
    optimized = same_bytes(b.graph(y), image(3, 5))
    assert short(optimized) == ["Quantize", "Dequantize"]
    assert optimized.tensors[optimized.nodes[0].outputs[0]].quantization == PerTensor(0.02, 3)


def test_scales_that_are_computed_stay_tensors() -> None:
    b = Builder()
    x, scale = b.input((3, 5), "float32"), b.input((1,), "float32")
    zero_point = b.const(np.array([3], np.int64))
    op = "quantized_decomposed::quantize_per_tensor.Tensor_out"
    q = b.call(op, Ref(x), Ref(scale), zero_point, -128, 127, 1, out=((3, 5), "int8"))
    optimized = same_bytes(b.graph(q), image(3, 5), np.array([0.02], np.float32))
    assert short(optimized) == ["Quantize"]
    assert optimized.nodes[0].op.scale in optimized.inputs


def test_other_integers_keep_their_steps() -> None:
    """Tables and moves are for int8."""
    b = Builder()
    number = {"uint8": 0, "int16": 2}
    y = b.input((2, 3, 5, 7), "float32")
    for dtype in number:
        q = b.call(QUANTIZE, Ref(y), 0.02, 7, 0, 100, number[dtype], out=((2, 3, 5, 7), dtype))
        y = b.call(DEQUANTIZE, Ref(q), 0.02, 7, 0, 100, number[dtype], None, out=((2, 3, 5, 7), "float32"))
        y = b.call("aten.relu.default", Ref(y), out=((2, 3, 5, 7), "float32"))
        y = b.call("aten.permute_copy.default", Ref(y), (0, 1, 2, 3), out=((2, 3, 5, 7), "float32"))
    q = b.quantize(y)
    optimized = same_bytes(b.graph(q), image(2, 3, 5, 7))
    assert short(optimized).count("Dequantize") == 2


@pytest.mark.parametrize("name", OPTIMIZATIONS)
def test_each_alone(name: str) -> None:
    for seed in range(1000, 1040):
        method, inputs = random_method(seed)
        same_bytes(lower(method, "graph"), *inputs, names=[name])


def test_all_together() -> None:
    for seed in range(1040, 1100):
        method, inputs = random_method(seed)
        assert len(same_bytes(lower(method, "graph"), *inputs).nodes) <= len(method.calls) + 4


def test_none_changes_nothing() -> None:
    method, _ = random_method(5)
    graph = required(lower(method, "graph"))
    assert optimize(graph, []) == graph
    assert optimize(graph) != graph


def test_constants_fold() -> None:
    b = Builder()
    data = b.const(np.arange(6, dtype=np.int64).reshape(2, 3))
    y = b.call("dim_order_ops::_to_dim_order_copy.out", data, False, (0, 1), out=((2, 3), "float32"))
    y = b.call("aten.permute_copy.default", Ref(y), (1, 0), out=((3, 2), "float32"))
    x = b.input((3, 2), "float32")
    z = b.call("aten.add.Tensor", Ref(x), Ref(y), 1, out=((3, 2), "float32"))
    graph = fold_constants(b.graph(z))
    assert short(graph) == ["Binary"]
    array = image(3, 2)
    [got] = run_graph(graph, [array])
    np.testing.assert_array_equal(got, array + np.arange(6, dtype=np.float32).reshape(2, 3).T)


# --- edges


def edges(node: Node) -> tuple[bool, bool]:
    """Whether a node quantizes what it reads, and whether it dequantizes what it makes."""
    found = edges_of(node.op)
    return any(found.quantizes), found.dequantizes is not None


def test_edges_join_their_neighbours() -> None:
    b = Builder()
    y = pointwise(b, b.quantize(b.input((1, 5, 3, 3), "float32")))
    [node] = same_bytes(b.graph(b.dequantize(y)), image(1, 5, 3, 3)).nodes
    assert edges(node) == (True, True)
    assert len(node.places) == 3


def test_edges_with_other_readers_stay() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 5, 3, 3), "float32"))
    y, z = pointwise(b, x), pointwise(b, x)
    optimized = same_bytes(b.graph(b.dequantize(y), b.dequantize(z), y), image(1, 5, 3, 3))
    assert sorted(short(optimized)) == ["Conv2d", "Conv2d", "Dequantize", "Quantize"]
    assert sorted(map(edges, optimized.nodes)) == [*[(False, False)] * 3, (False, True)]


def test_one_tensor_is_quantized_in_one_way() -> None:
    """An op reads a tensor as one kind, so it does not quantize it to two scales."""
    b = Builder()
    x = b.input((2, 5, 7), "float32")
    a, c = b.quantize(x, (0.05, 3)), b.quantize(x, (0.02, -4))
    args = (Ref(a), Ref(c), 0.05, 3, 0.02, -4, 0.06, 1, 1.0)
    y = b.call("et_vk.q8ta_add.default", *args, out=((2, 5, 7), "int8"))
    assert short(same_bytes(b.graph(y), image(2, 5, 7))) == ["Quantize", "Binary"]


@pytest.mark.parametrize("op", ["add", "mean"])
def test_tables_join_sums_and_means(op: str) -> None:
    b = Builder()
    x = b.quantize(b.input((1, 6, 4, 5), "float32"))
    if op == "add":
        y = b.call("et_vk.q8ta_add.default", Ref(x), Ref(x), *(0.05, 0) * 3, 1.0, out=((1, 6, 4, 5), "int8"))
    else:
        y = b.call("aten.mean.dim", Ref(b.dequantize(x)), (2, 3), True, None, out=((1, 6, 1, 1), "float32"))
        y = b.quantize(y)
    z = b.call("aten.hardswish.default", Ref(b.dequantize(y)), out=(b.shape(y), "float32"))
    optimized = same_bytes(b.graph(b.quantize(z, (0.03, -9))), image(1, 6, 4, 5), names=BEFORE_EDGES)
    assert short(optimized) == ["Quantize", {"add": "Binary", "mean": "Mean"}[op]]
    assert optimized.nodes[1].op.through.grid == PerTensor(0.05, 0)


def test_layers_of_float_results_read_int8() -> None:
    b = Builder()
    x, rng = b.quantize(b.input((2, 16), "float32")), np.random.default_rng(2)
    weight, scales = b.const(rng.integers(-128, 128, (4, 16), np.int8)), b.const(np.full(4, 0.01, np.float32))
    args = (Ref(x), 0.05, 0, Ref(weight), None, Ref(scales), None)
    y = b.call("et_vk.linear_q8ta_q8csw.default", *args, out=((2, 4), "float32"))
    assert short(same_bytes(b.graph(y), image(2, 16))) == ["Quantize", "Linear"]
