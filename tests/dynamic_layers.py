"""Linear layers of an x whose scales and zero points are inputs of the graph, and what they are by their definition."""

from typing import NamedTuple

import numpy as np
from webq8.budget import Budget
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.linear import Linear
from webq8.ir.types import Dynamic, PerChannel, Tensor

__all__ = ["LAYERS", "Layer"]


class Layer(NamedTuple):
    lead: tuple[int, ...]
    n: int
    k: int
    by_row: bool = False
    wide: bool = False  # scales are float64, zero points int64
    bias: bool = True

    @property
    def id(self) -> str:
        kinds = (("rows", self.by_row), ("wide", self.wide), ("no-bias", not self.bias))
        return "-".join(("x".join(map(str, (*self.lead, self.n, self.k))), *(name for name, there in kinds if there)))

    def inputs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng, rows = np.random.default_rng(self.n), (*self.lead, 1) if self.by_row else (1,)
        scales = rng.uniform(0.01, 0.1, rows).astype(np.float32).astype(np.float64 if self.wide else np.float32)
        zero_points = rng.integers(-128, 128, rows, np.int64 if self.wide else np.int32)
        return rng.integers(-128, 128, (*self.lead, self.k), np.int8), scales, zero_points

    def _constants(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        rng = np.random.default_rng(self.k)
        weight, scales = rng.integers(-128, 128, (self.n, self.k), np.int8), rng.uniform(0.001, 0.01, self.n)
        bias = rng.normal(size=self.n).astype(np.float32) if self.bias else None
        return weight, scales.astype(np.float32), bias

    def graph(self) -> Graph:
        g = Builder(Budget(None, self.id))
        x, scales, zero_points = (g.add(Tensor(a.shape, str(a.dtype))) for a in self.inputs())
        axis = self.lead.index(max(self.lead)) if self.by_row else None
        weight, of_weight, bias = self._constants()
        quantized = g.quantized(x, Dynamic(scales, zero_points, axis))
        by = PerChannel(of_weight.tobytes(), 0)
        w = g.add(Tensor(weight.shape, "int8", memoryview(weight.tobytes()), by))
        b = None if bias is None else g.constant(bias.tobytes(), bias.shape, "float32")
        y = g.emit(Linear(quantized, w, b, x_scale=scales, x_zero_point=zero_points))
        return Graph(tuple(g.tensors), tuple(g.nodes), (x, scales, zero_points), (y,))

    def wanted(self) -> np.ndarray:
        x, scales, zero_points = self.inputs()
        weight, of_weight, bias = self._constants()
        sums = (x.astype(np.int64) - zero_points) @ weight.T.astype(np.int64)
        y = sums.astype(np.float32) * scales.astype(np.float32) * of_weight
        return y if bias is None else y + bias


LAYERS = [
    Layer((1,), 7, 37),
    Layer((1,), 33, 100, wide=True),
    Layer((5,), 7, 37),
    Layer((5,), 7, 37, by_row=True),
    Layer((1, 33), 34, 65, by_row=True, wide=True),
    Layer((131,), 70, 100, by_row=True),
    Layer((131,), 70, 33, wide=True, bias=False),
    Layer((2, 3), 5, 17),
]
