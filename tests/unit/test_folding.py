"""Constants that are computed when a file is lowered are those that the reference computes, to the bit."""

import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from webq8.backends.reference import run_graph
from webq8.budget import Budget
from webq8.formats.folding import FoldingBuilder, dequantized_blocks, packed, quantized_constant
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.core import Op
from webq8.ir.ops.create import Cast, Fill, Sequence
from webq8.ir.ops.elementwise import Binary, Clamp, Compare, LeakyRelu, Logical, Unary, Where
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import Concat, Expand, Permute, Repeat, Reshape, Slice, Split
from webq8.ir.ops.reduce import Extremum, Mean, Product, Sum
from webq8.ir.types import PerChannel, PerTensor, Ref, Tensor

W = np.arange(-12, 12, dtype=np.int64).reshape(2, 3, 4)
F = np.linspace(-3, 5, 24, dtype=np.float32).reshape(2, 3, 4)
B = (W % 3 == 0)[0]
N = np.array([[1, -1], [0, 2]], np.int64)
A, C, D = Ref(0), Ref(1), Ref(2)
CASES: dict[str, tuple[Op, tuple[Any, ...]]] = {
    "reshape": (Reshape(A, (4, 6)), (W,)),
    "permute": (Permute(A, (2, 0, 1)), (W,)),
    "slice": (Slice(A, (1, 2, 0), (1, -1, 3), (1, 3, 2)), (W,)),
    "expand": (Expand(A, (5, 2, 3, 4)), (F,)),
    "repeat": (Repeat(A, (2, 1, 2, 1)), (W,)),
    "concat": (Concat((A, C), 1), (W, W[:, :1])),
    "concat of bytes": (Concat((A, C), 0), (B, B)),
    "index": (Index(A, (C,), (1,), from_end=True), (W, N)),
    "fill": (Fill((2, 3), "int64", -7), ()),
    "fill of truth": (Fill((3,), "bool", 1), ()),
    "sequence": (Sequence(5, -2, 6, "int32"), ()),
    "to float": (Cast(A, "float32", (2, 3, 4)), (W,)),
    "to integers": (Cast(A, "int64", (2, 3, 4)), (F,)),
    "to bytes": (Cast(A, "uint8", (2, 3, 4)), (W,)),
    "to truth": (Cast(A, "bool", (2, 3, 4)), (W,)),
    "sum": (Sum(A, (0, 2), True), (F,)),
    "mean": (Mean(A, (1,), False), (F,)),
    "product": (Product(A, (2,), False), (F[:, :, :2],)),
    "largest": (Extremum(A, (0, 1), False, True), (F,)),
    "least": (Extremum(A, (2,), True, False), (W.astype(np.int32),)),
    "add": (Binary(A, C, "add", -3.0), (W, W[0, :1])),
    "wrapping": (Binary(A, C, "mul"), (W * 2**61, W)),
    "trunc": (Binary(A, C, "div_trunc"), (W, np.array([5, -5, 3, -7]))),
    "floor": (Binary(A, C, "div_floor"), (W, np.array([5, -5, 3, -7]))),
    "fmod": (Binary(A, C, "fmod"), (W, np.array([5, -5, 3, -7]))),
    "remainder": (Binary(A, C, "remainder"), (W, np.array([5, -5, 3, -7]))),
    "quotient": (Binary(A, C, "div"), (F, F[:, :, ::-1].copy())),
    "least of two": (Binary(A, C, "minimum"), (W, W[:, ::-1].copy())),
    "compare": (Compare(A, C, "ge"), (W, W[:, ::-1].copy())),
    "logical": (Logical(A, C, "and"), (B, B[:, ::-1].copy())),
    "where": (Where(A, C, D), (B, W, np.array(7))),
    "negative": (Unary(A, "neg"), (W,)),
    "exp": (Unary(A, "exp"), (F,)),
    "clamp": (Clamp(A, -2.0, 3.0), (W,)),
    "leaky": (LeakyRelu(A, 0.3), (F,)),
}


def built(kind: Callable[[Budget], Builder], op: Op, arrays: tuple[Any, ...]) -> tuple[Builder, Ref]:
    g = kind(Budget(None, "test"))
    for x in arrays:
        g.constant(x.tobytes(), x.shape, x.dtype.name)
    return g, g.emit(op)


@pytest.mark.parametrize("name", CASES)
def test_constants(name: str) -> None:
    op, arrays = CASES[name]
    plain, ref = built(Builder, op, arrays)
    (expected,) = run_graph(Graph(tuple(plain.tensors), tuple(plain.nodes), (), (ref,)), [])
    folding, ref = built(FoldingBuilder, op, arrays)
    found = folding.type(ref)
    assert not folding.nodes
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype.name)
    assert bytes(found.data or b"") == expected.tobytes()


def test_parts() -> None:
    g = FoldingBuilder(Budget(None, "test"))
    x = g.constant(W.tobytes(), W.shape, "int64")
    found = [g.value(ref) for ref in g.emit_all(Split(x, (1, 3), 2))]
    assert found == [W[:, :, :1].ravel().tolist(), W[:, :, 1:].ravel().tolist()]


@pytest.mark.parametrize(
    ("op", "arrays"),
    [
        (MatMul(A, C), (F[0], F[0].T.copy())),
        (Cast(A, "int64", (2,)), (np.array([np.nan, np.inf], np.float32),)),
        (Binary(A, C, "remainder"), (W, np.array(0))),
        (Unary(A, "neg"), (np.zeros(2**17, np.int64),)),
    ],
)
def test_what_is_left_to_the_run(op: Op, arrays: tuple[Any, ...]) -> None:
    assert len(built(FoldingBuilder, op, arrays)[0].nodes) == 1


def test_weights_lie_otherwise_whatever_their_size() -> None:
    x = np.arange(2**18, dtype=np.int8).reshape(2**9, 2**9)
    g, ref = built(FoldingBuilder, Permute(A, (1, 0)), (x,))
    assert bytes(g.type(ref).data or b"") == x.T.tobytes()


def test_quantized_constants() -> None:
    """x / scale, not x · 1/scale: the third is a tie."""
    x = np.array([[0.5, -0.5, 127.5], [np.nan, np.inf, 8.0]], np.float32)
    tensor = Tensor(x.shape, "float32", memoryview(x.tobytes()).cast("B"))
    assert list(quantized_constant(tensor, PerTensor(1.0, 3), "uint8", 0, 255)) == [3, 3, 131, 3, 255, 11]
    channels = PerChannel(np.array([0.5, 2], np.float32).tobytes(), 0, np.array([0, -1], np.int32).tobytes())
    found = np.frombuffer(quantized_constant(tensor, channels, "int8", -128, 127), np.int8)
    assert found.tolist() == [1, -1, 127, -1, 127, 3]


@pytest.mark.parametrize("numpy", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_blocks(axis: int, numpy: bool) -> None:
    x = np.arange(-32, 28, dtype=np.int8).reshape(3, 5, 4)
    shape = tuple(-(-n // 2) if at == axis else n for at, n in enumerate(x.shape))
    scales = np.linspace(0.1, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    zeros = np.arange(scales.size).reshape(shape) - 4
    wide, offset = (np.repeat(n, 2, axis).take(range(x.shape[axis]), axis) for n in (scales, zeros))
    expected = (x - offset).astype(np.float32) * wide
    tensor = Tensor(x.shape, "int8", memoryview(x.tobytes()))
    with patch.dict(sys.modules, {} if numpy else {"numpy": None}):
        found = dequantized_blocks(tensor, scales.ravel().tolist(), zeros.ravel().tolist(), axis, 2)
    assert found == expected.tobytes()


def test_packed_integers_wrap_around() -> None:
    assert packed([300, -1], "uint8") == bytes([44, 255])
    assert packed([2**31], "int32") == (2**31).to_bytes(4, "little")
