"""Int8 layers as TFLite and ONNX have them: the op table's with biases of integers and zero points of weights."""

from array import array
from typing import Any, NamedTuple

import numpy as np
from cases import INT8_CASES, Case
from oracle import expected
from webq8 import ops
from webq8.ir.graph import Graph
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.linear import Linear
from webq8.ir.types import PerChannel, Ref, Tensor

__all__ = ["LAYERS", "Layer"]

_WEIGHT, _BIAS = 3, 8  # their places among the arguments of each; the activation is the last


class Layer(NamedTuple):
    case: Case
    zero_points: str = "none"

    @property
    def id(self) -> str:
        return f"{self.case.id}-zero-points-{self.zero_points}"

    def _arguments(self) -> list[Any]:
        """Those of the row, without activation, and with integers that are about as large as the sums of products."""
        *args, _ = self.case.args()
        rng = np.random.default_rng(len(self.case.id))
        if args[_BIAS].dtype == np.float32:
            args[_BIAS] = rng.integers(-30_000, 30_000, args[_BIAS].shape, np.int32)
        return [*args, "none"]

    def _zero_points(self, channels: int) -> np.ndarray:
        """Large ones leave numbers that are no int8."""
        largest = {"none": 0, "small": 3, "large": 128}[self.zero_points]
        return np.random.default_rng(channels).integers(-largest, max(largest, 1), channels, np.int32)

    def wanted(self) -> np.ndarray:
        """What the oracle computes, of weights that are less their zero points already."""
        args = self._arguments()
        weight = args[_WEIGHT].astype(np.int16)
        depthwise = self.case.op == "q8ta_conv2d_dw"
        zero_points = self._zero_points(weight.shape[2 if depthwise else 0])
        args[_WEIGHT] = weight - zero_points.astype(np.int16).reshape((1, 1, -1) if depthwise else (-1, 1))
        return expected(self.case.op, tuple(args))[0]

    def graph(self) -> Graph:
        args = self._arguments()
        bias, args[_BIAS] = args[_BIAS], None
        recording = ops._Recording()
        result = recording.visit(getattr(ops, self.case.op)(*args))
        graph = recording.graph(result)
        (node,) = graph.nodes
        op = node.op
        assert isinstance(op, Linear | Conv2d)
        weight = graph.tensors[op.weight]
        by, channels = weight.quantization, weight.shape[0]
        assert isinstance(by, PerChannel)
        zero_points = array("i", self._zero_points(channels)).tobytes()
        weight = weight.replace(quantization=by.replace(zero_points=zero_points))
        added = Tensor((channels,), "int32", memoryview(bias[:channels].tobytes()))
        first = len(graph.tensors)
        op = op.replace(weight=Ref(first), bias=Ref(first + 1))
        op.infer((*graph.tensors, weight, added))
        return graph._replace(tensors=(*graph.tensors, weight, added), nodes=(node._replace(op=op),))

    def x(self) -> np.ndarray:
        return np.asarray(self.case.args()[0])


# no bias has room beside the largest sum in int32, and no zero points of weights beside such a bias
_CASES = [
    case
    for case in INT8_CASES
    if case.op.startswith(("q8ta_linear", "q8ta_conv2d"))
    and case.args()[_BIAS] is not None
    and "largest-sum" not in case.name
]


def _cancelling(rng: np.random.Generator) -> tuple[Any, ...]:
    """Sums beyond 2²⁴, which floats round, and biases that leave a few quanta of those of the first row."""
    x, weight = rng.integers(100, 128, (5, 2049), np.int8), rng.integers(100, 128, (35, 2049), np.int8)
    sums = weight.astype(np.int64) @ x[0]
    assert sums.min() > 2**24
    bias = (np.arange(-17, 18) - sums).astype(np.int32)
    return x, 0.5, 0, weight, None, np.full(35, 2, np.float32), 1.0, 0, bias, "none"


LAYERS = [
    *(Layer(case, zero_points) for case in _CASES for zero_points in ("none", "small", "large")),
    Layer(Case("q8ta_linear", "cancelling", _cancelling)),
]
