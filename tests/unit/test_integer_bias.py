"""Biases of integers by the reference, against the oracle; and what an op refuses."""

import numpy as np
import pytest
from cases import Case
from integer_bias import LAYERS, graph_of, wanted
from webq8.backends.reference import run_graph
from webq8.ir.ops.linear import Activation, Linear
from webq8.ir.types import BadArg, PerChannel, PerTensor, Ref, Tensor


@pytest.mark.parametrize("case", LAYERS, ids=lambda case: case.id)
def test_layer(case: Case) -> None:
    graph, x = graph_of(case)
    [y] = run_graph(graph, [x])
    np.testing.assert_array_equal(y, wanted(case))


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
