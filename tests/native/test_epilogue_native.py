"""Lookup tables in epilogues: every kernel that has the epilogue, for both classes of devices."""

import numpy as np
import pytest
from graphs import Builder, Ref
from webq8.backends.reference import run_graph
from webq8.ir.graph import Graph
from webq8.passes import optimize, required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive

Y = (0.03, -5)
MAP = (2, 12, 9, 7)
POINTWISE, CONV, DEPTHWISE, TRANSPOSED = (
    f"et_vk.q8ta_conv2d{suffix}.default" for suffix in ("_pw", "", "_dw", "_transposed")
)
# operator, weights, results and geometry as ExecuTorch has them; the kernels that software adapters and GPUs take
LAYERS = {
    "pointwise": (POINTWISE, (10, 12), (2, 10, 9, 7), ((1, 1), (1, 1), (0, 0), (1, 1), 1), "linear", "gemm_small"),
    "3x3": (CONV, (10, 108), (2, 10, 9, 7), ((3, 3), (1, 1), (1, 1), (1, 1), 1), "conv2d", "gemm_deep"),
    "groups": (
        *(CONV, (10, 54), (2, 10, 9, 7), ((3, 3), (1, 1), (1, 1), (1, 1), 2)),
        *("conv2d_windowed_floats", "conv2d_windowed"),
    ),
    "depthwise": (
        *(DEPTHWISE, (3, 3, 12), (2, 12, 9, 7), ((3, 3), (1, 1), (1, 1), (1, 1), 12)),
        *("conv2d_depthwise_floats", "conv2d_depthwise_3x3"),
    ),
    "tall depthwise": (
        *(DEPTHWISE, (5, 3, 12), (2, 12, 7, 7), ((5, 3), (1, 1), (1, 1), (1, 1), 12)),
        *("conv2d_depthwise_floats", "conv2d_depthwise_wide"),
    ),
    "transposed": (
        *(TRANSPOSED, (10, 48), (2, 10, 18, 14), ((2, 2), (2, 2), (0, 0), (0, 0), (1, 1), 1)),
        *("conv2d_windowed_floats", "gemm_small"),
    ),
}


def with_hardswish(b: Builder, y: int) -> Graph:
    """A layer's results dequantized, through hardswish, and quantized to another scale."""
    floats = b.dequantize(y, Y)
    activated = b.call("aten.hardswish.default", Ref(floats), out=(b.shape(floats), "float32"))
    return b.graph(b.quantize(activated, (0.021, -100)))


def check(graph: Graph, kernels: tuple[str, str], gpu: bool) -> None:
    """The table takes no dispatch of its own, and the results are the reference's."""
    x = np.random.default_rng(2).normal(size=graph.tensors[graph.inputs[0]].shape).astype(np.float32) * 2
    on_int8 = required(graph)
    assert [type(node.op).__name__ for node in on_int8.nodes][-1] == "Lookup"
    assert len(optimize(on_int8).nodes) == 1
    [want] = run_graph(graph, [x])
    assert len({*want.ravel().tolist()}) > 10
    with drive(compile_graphs({"forward": on_int8}, "layer", "native")) as program:
        assert kernels[gpu] in {step.kernel for step in program._plans["forward"].steps}
        np.testing.assert_array_equal(program.run(x), want)


@pytest.mark.parametrize("name", LAYERS)
def test_convolution(kernels: str, name: str) -> None:
    op, weight, out, geometry, *by = LAYERS[name]
    b = Builder()
    x = b.quantize(b.input(MAP, "float32"))
    y = b.weighted(op, x, weight, out, out[1], np.random.default_rng(1), *geometry, y_params=Y)
    check(with_hardswish(b, y), (by[0], by[1]), kernels == "gpu")


@pytest.mark.parametrize(("rows", "by"), [(5, ("linear", "gemm_small")), (1, ("linear_gemv", "linear_gemv"))])
def test_linear(kernels: str, rows: int, by: tuple[str, str]) -> None:
    b = Builder()
    y = b.linear(b.quantize(b.input((rows, 40), "float32")), 33, np.random.default_rng(1), y_params=Y)
    check(with_hardswish(b, y), by, kernels == "gpu")


POOL = ("aten.avg_pool2d.default", ((3, 2), (2, 1), (1, 0), False, True, None), (2, 12, 5, 6), "avg_pool2d_int8")
MEAN = ("aten.mean.dim", ((2, 3), True, None), (2, 12, 1, 1), "mean_int8")


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("to_float", [False, True])
@pytest.mark.parametrize("name", ["sum", "sum with a row", "mean", "pool"])
def test_sums_and_means(name: str, to_float: bool) -> None:
    """They take tables, and dequantize what these give."""
    b = Builder()
    x = b.quantize(b.input(MAP, "float32"))
    if name.startswith("sum"):
        other = x if name == "sum" else b.quantize(b.input((7,), "float32"))
        args = (Ref(x), Ref(other), 0.05, 0, 0.05, 0, *Y, 1.0)
        y, by = b.call("et_vk.q8ta_add.default", *args, out=(MAP, "int8")), "binary_int8"
    else:
        op, args, out, by = MEAN if name == "mean" else POOL
        y = b.quantize(b.call(op, Ref(b.dequantize(x)), *args, out=(out, "float32")), Y)
    floats = b.dequantize(y, Y)
    activated = b.call("aten.hardswish.default", Ref(floats), out=(b.shape(floats), "float32"))
    y = b.quantize(activated, (0.021, -100))
    graph = b.graph(b.dequantize(y, (0.021, -100)) if to_float else y)
    rng = np.random.default_rng(2)
    inputs = [rng.normal(size=graph.tensors[ref].shape).astype(np.float32) * 2 for ref in graph.inputs]
    on_int8 = required(graph)
    with drive(compile_graphs({"forward": on_int8}, name, "native")) as program:
        [step] = [step for step in program._plans["forward"].steps if step.kernel.startswith(by)]
        assert ("through_table", True) in step.constants
        assert (("dequantizes", True) in step.constants) == to_float
        np.testing.assert_array_equal(program.run(*inputs), run_graph(on_int8, inputs)[0])


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 4, 4, 16)])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("op", ["add", "mul"])
def test_functions_beside_other_tensors(op: str, swapped: bool, shape: tuple[int, ...]) -> None:
    """A sum or product of sigmoid(x), by a table of floats, and y."""
    b = Builder()
    x, y = (b.dequantize(b.quantize(b.input(shape, "float32"), params), params) for params in ((0.05, 3), (0.02, 1)))
    operands = [Ref(b.call("aten.sigmoid.default", Ref(x), out=(shape, "float32"))), Ref(y)]
    more = (1,) if op == "add" else ()
    z = b.call(f"aten.{op}.Tensor", *operands[:: -1 if swapped else 1], *more, out=(shape, "float32"))
    graph = b.graph(b.quantize(z, (0.01, 4)))
    inputs = [np.random.default_rng(n).normal(size=shape).astype(np.float32) for n in range(2)]
    [want] = run_graph(graph, inputs)
    with drive(compile_graphs({"forward": required(graph)}, "sum", "native")) as program:
        np.testing.assert_array_equal(program.run(*inputs), want)
