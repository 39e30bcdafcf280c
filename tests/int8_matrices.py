"""Products of int8 matrices that a run computes, and what they are by their definition, in whole numbers."""

from typing import NamedTuple

import numpy as np
from webq8.budget import Budget
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.matmul import MatMul
from webq8.ir.types import PerTensor, Tensor

__all__ = ["PRODUCTS", "Product"]

A, B, Y = PerTensor(0.021, -7), PerTensor(0.013, 11), PerTensor(0.17, 5)


class Product(NamedTuple):
    name: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    of_a: PerTensor = A
    of_b: PerTensor = B
    of_y: PerTensor | None = Y

    @property
    def transposed(self) -> bool:
        return "transposed" in self.name

    @property
    def whole(self) -> bool:
        return "whole" in self.name

    def graph(self) -> Graph:
        g = Builder(Budget(None, self.name))
        a, b = (g.add(Tensor(s, "int8", None, q)) for s, q in ((self.a, self.of_a), (self.b, self.of_b)))
        op = MatMul(a, b, transposed=self.transposed, whole=self.whole)
        y = g.emit(op, None if self.whole else self.of_y)
        return Graph(tuple(g.tensors), tuple(g.nodes), (a, b), (y,))

    def inputs(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(len(self.name))
        low = -128 if "largest" not in self.name else 126
        a, b = (rng.integers(low, 128, shape, np.int8) for shape in (self.a, self.b))
        return a, b

    def wanted(self) -> np.ndarray:
        a, b = (x.astype(np.int64) for x in self.inputs())
        letters = "bnk" if self.transposed else "bkn"
        batched = f"bmk,{letters}->bmn" if len(self.b) > 2 else f"...k,{letters[1:]}->...n"
        shapes = ((-1, *x.shape[-2:]) if len(self.b) > 2 else x.shape for x in (a, b))
        a, b = (x.reshape(shape) for x, shape in zip((a, b), shapes, strict=True))
        sums = np.einsum(batched, a - self.of_a.zero_point, b - self.of_b.zero_point)
        assert abs(sums).max(initial=0) < 2**31
        sums = sums.reshape(*self.a[:-1], sums.shape[-1])
        if self.whole:
            return sums.astype(np.int32)
        factor = np.float32(self.of_a.scale) * np.float32(self.of_b.scale)
        if self.of_y is None:
            return sums.astype(np.float32) * factor
        quanta = np.rint(sums.astype(np.float32) * (factor / np.float32(self.of_y.scale)))
        return np.clip(quanta + self.of_y.zero_point, -128, 127).astype(np.int8)


_SIZES = [(1, 1, 1), (2, 3, 4), (5, 7, 11), (33, 34, 65), (31, 70, 129), (67, 5, 200), (1, 130, 63)]

PRODUCTS = [
    *(Product(f"{m}x{n}x{k}", (m, k), (k, n)) for m, n, k in _SIZES),
    *(Product(f"{m}x{n}x{k} transposed", (m, k), (n, k)) for m, n, k in _SIZES),
    *(Product(f"{m}x{n}x{k} floats", (m, k), (k, n), of_y=None) for m, n, k in _SIZES),
    *(Product(f"{m}x{n}x{k} whole", (m, k), (k, n)) for m, n, k in _SIZES),
    Product("rows of three axes", (3, 5, 20), (20, 9)),
    Product("batches", (3, 5, 37), (3, 37, 9)),
    Product("batches transposed floats", (3, 5, 37), (3, 9, 37), of_y=None),
    Product("heads", (2, 3, 5, 37), (2, 3, 37, 9)),
    Product("heads transposed", (2, 3, 5, 37), (2, 3, 9, 37)),
    Product("no zero points", (9, 37), (37, 10), PerTensor(0.021, 0), PerTensor(0.013, 0)),
    Product("zero point of a", (9, 37), (37, 10), PerTensor(0.021, 127), PerTensor(0.013, 0)),
    Product("zero point of b", (9, 37), (37, 10), PerTensor(0.021, 0), PerTensor(0.013, -128)),
    Product(
        "largest sums", (3, 32_896), (32_896, 5), PerTensor(0.021, -128), PerTensor(0.013, -128), PerTensor(3e4, 0)
    ),
    Product("saturated", (9, 37), (37, 10), of_y=PerTensor(1e-9, 3)),
]
