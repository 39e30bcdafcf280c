"""Int8 layers whose bias is integers, as TFLite and ONNX have them: the layers of the op table with another bias."""

from typing import Any

import numpy as np
from cases import INT8_CASES, Case
from oracle import expected
from webq8 import ops
from webq8.ir.graph import Graph
from webq8.ir.types import Ref, Tensor

__all__ = ["LAYERS", "graph_of", "wanted"]

_BIAS = 8  # its place among the arguments of each; the activation is the last

LAYERS = [
    case
    for case in INT8_CASES
    if case.op.startswith(("q8ta_linear", "q8ta_conv2d"))
    and case.args()[_BIAS] is not None
    and "largest-sum" not in case.name  # no bias has room beside it in int32
]


def _arguments(case: Case) -> list[Any]:
    """Those of a row, without activation, and with integers that are about as large as the sums of products."""
    *args, _ = case.args()
    rng = np.random.default_rng(len(case.id))
    args[_BIAS] = rng.integers(-30_000, 30_000, args[_BIAS].shape, np.int32)
    return [*args, "none"]


def wanted(case: Case) -> np.ndarray:
    """What the oracle computes, by the scales and the bias of the channels that there are."""
    return expected(case.op, tuple(_arguments(case)))[0]


def graph_of(case: Case) -> tuple[Graph, np.ndarray]:
    """The layer, and its input."""
    args = _arguments(case)
    bias, args[_BIAS] = args[_BIAS], None
    recording = ops._Recording()
    result = recording.visit(getattr(ops, case.op)(*args))
    graph = recording.graph(result)
    (node,) = graph.nodes
    channels = graph.tensors[node.op.reads()[1]].shape[0]
    added = Tensor((channels,), "int32", memoryview(bias[:channels].tobytes()))
    op = node.op.replace(bias=Ref(len(graph.tensors)))
    return graph._replace(tensors=(*graph.tensors, added), nodes=(node._replace(op=op),)), args[0]
