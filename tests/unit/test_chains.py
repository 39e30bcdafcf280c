"""Functions between dequantize and quantize: one table each, whose bytes exact arithmetic gives as well."""

import os
import subprocess
import sys
from pathlib import Path

import chains
import numpy as np
import pytest
from chains import FUNCTIONS, InGraph, Y, scale_of_x
from webq8.backends.reference import run_graph
from webq8.budget import Budget
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Lookup
from webq8.ir.ops.move import Permute, Reshape, Slice
from webq8.ir.ops.quantize import Dequantize, Quantize
from webq8.ir.types import PerTensor, Ref, Tensor
from webq8.passes import required

ALL = np.arange(-128, 128, dtype=np.int8)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_table_of_exact_bytes(name: str) -> None:
    function, x = FUNCTIONS[name], scale_of_x(name)
    graph = required(chains.graph(function, x))
    [node] = graph.nodes
    assert isinstance(node.op, Lookup)
    wanted = chains.table(function, x)
    assert node.op.table == wanted
    [got] = run_graph(graph, [ALL])
    assert got.tobytes() == wanted


def test_other_scales_of_results() -> None:
    """Coarse ones, fine ones that most results are too large for, and those under which halves are frequent."""
    for name in ("x·sigmoid(x)", "elu", "tanh", "x·0.3"):
        for y in ((0.5, 100), (0.001, -128), (0.0371 / 2, 1)):
            graph = required(chains.graph(FUNCTIONS[name], scale_of_x(name), y))
            assert [node.op.table for node in graph.nodes] == [chains.table(FUNCTIONS[name], scale_of_x(name), y)]


def test_the_same_bytes_without_numpy() -> None:
    """Neither the passes nor what they compute with imports it."""
    code = (
        "import sys; from importlib.machinery import PathFinder; find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *rest: None if name == 'numpy' else find(name, *rest)\n"
        "import chains; print(*(table.hex() for table in chains.tables().values())); assert 'numpy' not in sys.modules"
    )
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "tests"), *sys.path])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [table.hex() for table in chains.tables().values()]


def moved(function: chains.Function, before: tuple[Op, ...], after: tuple[Op, ...]) -> tuple[Graph, PerTensor]:
    """Moves of a tensor [16, 16], a function, and moves. The x of a move is set here."""
    builder, grid = Builder(Budget(None, "moved")), PerTensor(*scale_of_x(""))
    x = builder.add(Tensor((16, 16), "int8", None, grid))
    y = builder.emit(Dequantize(x))
    for op in before:
        y = builder.emit(op.replace(x=y))
    y = function(InGraph(builder), y)
    for op in after:
        y = builder.emit(op.replace(x=y))
    q = builder.emit(Quantize(y, "int8", -128, 127), PerTensor(*Y))
    return Graph(tuple(builder.tensors), tuple(builder.nodes), (x,), (q,)), grid


TRANSPOSE = Permute(Ref(0), (1, 0))
FLAT, HALF, SQUARE = (Reshape(Ref(0), shape) for shape in ((256,), (128,), (16, 16)))
ODD = Slice(Ref(0), (1, 0), (2, 1), (8, 16))


@pytest.mark.parametrize("name", ["x·sigmoid(x)", "hardswish of four ops", "gelu", "log"])
@pytest.mark.parametrize(
    ("before", "after"),
    [((TRANSPOSE,), ()), ((), (TRANSPOSE,)), ((ODD, TRANSPOSE), (HALF,)), ((FLAT, SQUARE), (TRANSPOSE, ODD, HALF))],
    ids=["before", "after", "on both sides", "several"],
)
def test_moves_before_and_after(name: str, before: tuple[Op, ...], after: tuple[Op, ...]) -> None:
    graph, grid = moved(FUNCTIONS[name], before, after)
    rewritten = required(graph)
    assert [type(node.op) for node in rewritten.nodes if not isinstance(node.op, Lookup)] == [
        type(op) for op in (*before, *after)
    ]
    assert [node.op.table for node in rewritten.nodes if isinstance(node.op, Lookup)] == [
        chains.table(FUNCTIONS[name], (grid.scale, grid.zero_point))
    ]
    table = np.frombuffer(chains.table(FUNCTIONS[name], (grid.scale, grid.zero_point)), np.int8)
    wanted = ALL.reshape(16, 16)
    for op in before:
        wanted = MOVES[id(op)](wanted)
    wanted = table[wanted.astype(int) + 128]
    for op in after:
        wanted = MOVES[id(op)](wanted)
    np.testing.assert_array_equal(run_graph(rewritten, [ALL.reshape(16, 16)])[0], wanted)


MOVES = {
    id(TRANSPOSE): np.transpose,
    id(FLAT): np.ravel,
    id(HALF): np.ravel,
    id(SQUARE): lambda a: a.reshape(16, 16),
    id(ODD): lambda a: a[1::2],
}
