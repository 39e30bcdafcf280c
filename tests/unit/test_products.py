"""Products of dequantized tensors with dequantized constants run on int8, to the bit as onnxruntime's integers do."""

from typing import Any

import numpy as np
import pytest
import webq8
from onnx_writer import Sizes, graph, model, node
from webq8.budget import Budget
from webq8.formats import read_file
from webq8.ir.graph import Graph
from webq8.ir.ops.linear import Linear
from webq8.passes import required
from webq8.stages import drive, finish

Array = np.ndarray[Any, Any]
F = np.float32
X_SCALE, Y_SCALE = F(0.043), F(0.31)
SIGNED = {"x": ("int8", 3, -7), "y": ("int8", 11, 0)}
RNG = np.random.default_rng(5)


def qdq(
    op: str,
    x: Array,
    weight: Array,
    scales: Array,
    bias: "Array | None" = None,
    axis: int = 0,
    zeros: tuple[int, int] = (3, -7),
    after: tuple[bytes, ...] = (),
    **attributes: Any,
) -> bytes:
    """quantize → dequantize → op with dequantized weights and biases → (others, from "p" to "q") → quantize."""
    dtype = weight.dtype.type if x.dtype == np.float32 else x.dtype.type
    constants: dict[str, Any] = {
        "xs": X_SCALE,
        "xz": dtype(zeros[0]),
        "w": weight,
        "ws": scales,
        "ys": Y_SCALE,
        "yz": dtype(zeros[1]),
    }
    nodes = [node("DequantizeLinear", ["x", "xs", "xz"], ["a"])]
    nodes.append(node("DequantizeLinear", ["w", "ws"], ["b"], axis=axis))
    reads = ["a", "b"]
    if bias is not None:
        constants |= {"c": bias, "cs": X_SCALE * scales}
        nodes.append(node("DequantizeLinear", ["c", "cs"], ["d"], axis=0))
        reads.append("d")
    nodes += [node(op, reads, ["p"], **attributes), *after]
    nodes.append(node("QuantizeLinear", ["q" if after else "p", "ys", "yz"], ["y"]))
    takes: dict[str, tuple[str, Sizes]] = {"x": (x.dtype.name, x.shape)}
    return model(graph(nodes, takes, {"y": (x.dtype.name, None)}, constants))


def lowered(data: bytes) -> Graph:
    graph, problems = finish(read_file(data).methods["forward"].lower(Budget(None, "test")))
    assert not problems
    return required(graph)


def run(data: bytes, x: Array) -> Array:
    with drive(webq8.load(data, device="cpu")) as program:
        found: Array = program.run(x)
    return found


def requantized(acc: Array, scales: Array, axis: int, zero: int, dtype: Any, low: int = -(2**31)) -> Array:
    """onnxruntime's: f32(acc) · f32(x scale · weight scale / y scale), half to even."""
    shape = [-1 if n == axis else 1 for n in range(acc.ndim)]
    factor = (X_SCALE * scales / Y_SCALE).astype(F).reshape(shape) if scales.ndim else X_SCALE * scales / Y_SCALE
    limits = np.iinfo(dtype)
    q = np.rint(acc.astype(F) * factor) + zero
    return np.clip(q, max(limits.min, low), limits.max).astype(dtype)


def correlated(x: Array, w: Array, stride: int = 1) -> Array:
    """A convolution of x [N, C, W] with w [O, C, K], in integers."""
    k = w.shape[2]
    spans = [x[:, :, n : n + k] for n in range(0, x.shape[2] - k + 1, stride)]
    return np.stack([np.einsum("nck,ock->no", s.astype(np.int64), w.astype(np.int64)) for s in spans], -1)


def names(graph: Graph) -> list[str]:
    return [name for n in graph.nodes if (name := type(n.op).__name__) != "Bitcast"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("channels", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_a_convolution_of_rows(dtype: Any, channels: bool, biased: bool) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = RNG.integers(low, high + 1, (2, 5, 11)).astype(dtype)
    w = RNG.integers(-128, 128, (6, 5, 3)).astype(np.int8)
    scales = RNG.uniform(0.001, 0.02, 6).astype(F) if channels else np.array(0.007, F)
    bias = RNG.integers(-5000, 5000, 6).astype(np.int32) if biased else None
    zeros = (3, -7) if dtype == np.int8 else (131, 17)
    data = qdq("Conv", x, w, scales, bias, zeros=zeros, strides=[2])
    acc = correlated(x.astype(np.int64) - zeros[0], w, 2)
    acc = acc if bias is None else acc + bias[:, None]
    assert np.array_equal(run(data, x), requantized(acc, scales, 1, zeros[1], dtype))
    assert "Convolution" not in names(lowered(data))
    assert "Conv2d" in names(lowered(data))


def test_relu_and_bounds_join_the_product() -> None:
    x = RNG.integers(-128, 128, (1, 4, 9)).astype(np.int8)
    w, scales = RNG.integers(-128, 128, (3, 4, 1)).astype(np.int8), np.full(3, 0.004, F)
    data = qdq("Conv", x, w, scales, after=(node("Relu", ["p"], ["q"]),))
    expected = requantized(correlated(x.astype(np.int64) - 3, w), scales, 1, -7, np.int8, low=-7)
    assert np.array_equal(run(data, x), expected)
    assert not {"Convolution", "Clamp", "Dequantize"} & set(names(lowered(data)))


@pytest.mark.parametrize("groups", [1, 2])
def test_a_transposed_convolution(groups: int) -> None:
    x = RNG.integers(-128, 128, (1, 4, 5)).astype(np.int8)
    w = RNG.integers(-128, 128, (4, 3, 2)).astype(np.int8)
    scales = np.array([0.004, 0.01, 0.002], F) if groups == 1 else np.array(0.004, F)
    data = qdq("ConvTranspose", x, w, scales, axis=1, strides=[2], group=groups)
    depth, each = 4 // groups, 3
    acc = np.zeros((1, 3 * groups, 10), np.int64)
    for g in range(groups):
        part = np.einsum(
            "nci,cok->noik", x[:, g * depth : (g + 1) * depth].astype(np.int64) - 3, w[g * depth :][:depth]
        )
        acc[:, g * each : (g + 1) * each] = part.reshape(1, each, 10)
    assert np.array_equal(run(data, x), requantized(acc, scales, 1, -7, np.int8))
    assert "Conv2d" in names(lowered(data))


@pytest.mark.parametrize("transposed", [True, False])
def test_a_linear_layer(transposed: bool) -> None:
    x = RNG.integers(-128, 128, (3, 7)).astype(np.int8)
    w = RNG.integers(-128, 128, (7, 5)).astype(np.int8)
    scales, bias = RNG.uniform(0.001, 0.02, 5).astype(F), RNG.integers(-900, 900, 5).astype(np.int32)
    held, axis = (w.T.copy(), 0) if transposed else (w, 1)
    data = qdq("Gemm", x, held, scales, bias, axis=axis, transB=int(transposed))
    acc = (x.astype(np.int64) - 3) @ w.astype(np.int64) + bias
    assert np.array_equal(run(data, x), requantized(acc, scales, 1, -7, np.int8))
    made = lowered(data)
    assert names(made) == ["Linear"]
    (op,) = (n.op for n in made.nodes if isinstance(n.op, Linear))
    assert op.bias is not None
    assert made.tensors[op.bias].dtype == "int32"


def test_a_bias_that_is_added_afterwards() -> None:
    """A float one is added to the scaled sum, as floats are."""
    x = RNG.integers(-128, 128, (2, 3, 7)).astype(np.int8)
    w = RNG.integers(-128, 128, (7, 5)).astype(np.int8)
    scales = RNG.uniform(0.001, 0.02, 5).astype(F)
    bias = node("Constant", [], ["e"], value=np.linspace(-3, 3, 5, dtype=F))
    data = qdq("MatMul", x, w, scales, axis=1, after=(bias, node("Add", ["e", "p"], ["q"])))
    acc = (x.astype(np.int64) - 3) @ w.astype(np.int64)
    floats = acc.astype(F) * X_SCALE * scales + np.linspace(-3, 3, 5, dtype=F)
    expected = np.clip(np.rint(floats * F(1 / np.float64(Y_SCALE))) - 7, -128, 127)
    assert np.array_equal(run(data, x), expected)
    assert names(lowered(data)) == ["Linear"]


def test_what_has_no_op_on_int8_stays_in_float32() -> None:
    """Scales along the inputs of weights."""
    x = RNG.integers(-128, 128, (3, 7)).astype(np.int8)
    w = RNG.integers(-128, 128, (7, 5)).astype(np.int8)
    data = qdq("MatMul", x, w, RNG.uniform(0.001, 0.02, 7).astype(F), axis=0)
    assert "MatMul" in names(lowered(data))
    assert run(data, x).shape == (3, 5)


def test_results_of_floats() -> None:
    """What nothing quantizes; x comes as maps that are flattened."""
    x = RNG.integers(-128, 128, (3, 7, 1, 1)).astype(np.int8)
    w = RNG.integers(-128, 128, (7, 5)).astype(np.int8)
    constants = {"xs": X_SCALE, "xz": np.int8(3), "w": w, "ws": F(0.01), "c": np.linspace(-1, 1, 5, dtype=F)}
    nodes = [
        node("DequantizeLinear", ["x", "xs", "xz"], ["a"]),
        node("Flatten", ["a"], ["f"]),
        node("DequantizeLinear", ["w", "ws"], ["b"]),
        node("Gemm", ["f", "b", "c"], ["y"]),
    ]
    data = model(graph(nodes, {"x": ("int8", x.shape)}, {"y": ("float32", None)}, constants))
    acc = (x[:, :, 0, 0].astype(np.int64) - 3) @ w.astype(np.int64)
    assert np.array_equal(run(data, x), acc.astype(F) * X_SCALE * F(0.01) + np.linspace(-1, 1, 5, dtype=F))
    assert names(lowered(data)) == ["Reshape", "Linear"]
