"""Values that a program keeps between runs, on the CPU, and what they cost on a GPU."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.backends import null
from webq8.budget import Budget
from webq8.errors import ClosedError
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph, State
from webq8.ir.ops.elementwise import Binary
from webq8.ir.types import Tensor
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.load import compile_graphs
from webq8.runtime.program import Program
from webq8.stages import drive
from webq8.target import Target

CONTAINERS = Path(__file__).parents[1] / "data" / "containers"
GOLDEN = np.load(CONTAINERS / "stateful.npz")


def graph() -> Graph:
    """y = x + a + 10 · b, of float32 [3]; then b becomes a, and a becomes x: a line that each value goes along."""
    built, kind = Builder(Budget(None, "test")), Tensor((3,), "float32")
    x, a, b = (built.add(kind) for _ in range(3))
    ten = built.add(Tensor((1,), "float32", memoryview(np.float32([10]).tobytes())))
    y = built.emit(Binary(built.emit(Binary(x, a, "add")), built.emit(Binary(b, ten, "mul")), "add"))
    first = Tensor((3,), "float32", memoryview(np.float32([1, 2, 3]).tobytes()))
    return Graph(tuple(built.tensors), tuple(built.nodes), (x,), (y,), (State(a, x, kind), State(b, a, first)))


def line(device: str) -> Program:
    return drive(compile_graphs({"forward": graph()}, "line", device))


def test_a_line_of_values() -> None:
    with line("cpu") as program:
        for _ in range(2):
            given = [np.full(3, n, np.float32) for n in (4, 5, 6, 7)]
            got = [program.run(x)[0] for x in given]
            assert got == [4 + 0 + 10, 5 + 4 + 0, 6 + 5 + 40, 7 + 6 + 50]
            program.reset()
    with pytest.raises(ClosedError, match="line was closed; load it again"):
        program.reset()


def test_plan() -> None:
    """What the second leaves is what the first has found, and nothing is written over it meanwhile."""
    plan = plan_program({"forward": rewrite(graph())}, Target()).plans["forward"]
    (a, b), [x], [y] = plan.states, plan.inputs, plan.outputs
    assert [state.initial for state in plan.states] == [bytes(16), np.float32([1, 2, 3, 0]).tobytes()]
    assert (a.left, b.left) == (x, a.read)
    assert len({x, a.read, y}) == len({x, a.read, b.read}) == 3


def test_an_exported_model_agrees_with_torch() -> None:
    program = drive(webq8.load(CONTAINERS / "stateful.pte", device="cpu"))
    for _ in range(2):
        for x, *wanted in zip(*(GOLDEN[name] for name in ("in0", "out0", "out1")), strict=True):
            for got, want in zip(program.run(x), wanted, strict=True):
                np.testing.assert_array_equal(got, want)
        program.reset()


def test_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer each, which resetting writes to and closing frees."""
    monkeypatch.setattr(null.backend, "_device", None)
    gpu = drive(null.backend.device()).raw
    kinds: list[str] = []
    gpu.refuse = kinds.append
    program, x = line("null"), np.zeros(3, np.float32)
    plan = program._plans["forward"]
    assert gpu.alive["buffer"] == len(plan.buffers) + 1 + 2
    program.run(x)
    kinds.clear()
    program.run(x)
    program.reset()
    assert [kind for kind in kinds if kind in ("write", "submit", "buffer")] == ["write", "submit", "write", "write"]
    program.close()
    assert gpu.alive["buffer"] == 0
