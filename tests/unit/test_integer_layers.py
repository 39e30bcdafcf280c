"""Biases of integers and weights with zero points by the reference, against the oracle; and what an op refuses."""

from array import array

import numpy as np
import pytest
from integer_layers import LAYERS, Layer
from webq8.backends.reference import run_graph
from webq8.ir.ops.linear import Activation, Linear
from webq8.ir.types import BadArg, PerChannel, PerTensor, Ref, Tensor
from webq8.passes import required


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.id)
def test_layer(layer: Layer) -> None:
    """As it is, and without zero points, as kernels take it."""
    graph = layer.graph()
    for each in (graph, required(graph)):
        [y] = run_graph(each, [layer.x()])
        np.testing.assert_array_equal(y, layer.wanted())


@pytest.mark.parametrize(("largest", "ops"), [(124, ["Linear"]), (125, ["Concat", "Linear"])])
def test_zero_points_that_leave_int8_cost_nothing(largest: int, ops: list[str]) -> None:
    """Less zero points down to −3, such weights are int8, or are not."""
    [layer] = (layer for layer in LAYERS if layer.id == "q8ta_linear-7x5x11-zero-points-small")
    graph = layer.graph()
    weight = graph.tensors[graph.nodes[0].op.reads()[1]]
    data = memoryview(bytes([largest]) * weight.shape[0] * weight.shape[1])
    of_three = array("i", [-3] * weight.shape[0]).tobytes()
    assert isinstance(weight.quantization, PerChannel)
    replaced = weight.replace(data=data, quantization=weight.quantization.replace(zero_points=of_three))
    tensors = tuple(replaced if tensor is weight else tensor for tensor in graph.tensors)
    assert [type(node.op).__name__ for node in required(graph._replace(tensors=tensors)).nodes] == ops


def infer(k: int, bias: list[int], activation: Activation = "none") -> None:
    types = [
        Tensor((5, k), "int8", None, PerTensor(0.1, 0)),
        Tensor((2, k), "int8", None, PerChannel(bytes(8), 0)),
        Tensor((len(bias),), "int32", memoryview(np.array(bias, np.int32).tobytes())),
    ]
    Linear(Ref(0), Ref(1), Ref(2), activation).infer(types)


@pytest.mark.parametrize(("size", "activation"), [(3, "none"), (2, "relu")])
def test_what_does_not_fit(size: int, activation: Activation) -> None:
    with pytest.raises(BadArg, match="an int32 bias"):
        infer(4, [1] * size, activation)


def test_sums_that_could_overflow() -> None:
    room = 2**31 - 1 - 1000 * 255 * 128
    infer(1000, [-room, 5])
    with pytest.raises(BadArg, match=f"1000 terms .*; at most 999 beside a bias of {room + 1}"):
        infer(1000, [5, -room - 1])
