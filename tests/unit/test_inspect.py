"""Where each op of a file runs, as `webq8.inspect` tells it."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from graphs import Builder, Ref
from webq8.formats import FileOp
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.inspect import where_ops_run
from webq8.target import Target

CONTAINERS = Path(__file__).parents[1] / "data" / "containers"
NONE = list[str]()  # no optimizations


def runs(b: Builder, output: int, names: list[str] | None = None) -> list[str]:
    """Where each call of a method runs, in the order of the calls."""
    graph = rewrite(required(b.graph(output)), names)
    plan = plan_program({"forward": graph}, Target()).plans["forward"]
    rows = where_ops_run([FileOp(call.where, call.name) for call in b.calls], [], (graph, plan))
    found = {node: row["runs"] for row in rows for node in row["nodes"]}
    assert sum(row["count"] for row in rows) == len(found) == len(b.calls)
    return [found[call.where] for call in b.calls]


def unary(b: Builder, name: str, x: int) -> int:
    return b.call(f"aten.{name}.default", Ref(x), out=(b.shape(x), "float32"))


def layer(b: Builder) -> int:
    """Two calls."""
    return b.linear(b.quantize(b.input((4, 16), "float32")), 8, np.random.default_rng(0))


@pytest.mark.parametrize("names", [None, NONE])
def test_functions_of_int8_are_tables(names: list[str] | None) -> None:
    """Also where the table is part of the kernel before."""
    b = Builder()
    y = b.dequantize(b.quantize(unary(b, "exp", unary(b, "sigmoid", b.dequantize(layer(b)))), (0.02, 0)), (0.02, 0))
    kernels, tables = ["int8 kernel"] * 2, ["table"] * 3
    dequantize = "folded"  # the table is of its int8
    assert runs(b, y, names) == [*kernels, dequantize, *tables, "int8 kernel"]


def test_bounds_of_a_kernel_are_no_table() -> None:
    b = Builder()
    clamped = b.call("aten.hardtanh.default", Ref(b.dequantize(layer(b))), 0.0, 1.5, out=((4, 8), "float32"))
    y = b.dequantize(b.quantize(clamped))
    assert runs(b, y) == ["int8 kernel", "int8 kernel", "folded", "int8 kernel", "int8 kernel", "int8 kernel"]


def test_functions_before_a_mean_are_part_of_it() -> None:
    b = Builder()
    x = b.dequantize(b.quantize(b.input((1, 3, 4, 4), "float32")))
    mean = b.call("aten.mean.dim", Ref(unary(b, "hardswish", x)), [2, 3], True, None, out=((1, 3, 1, 1), "float32"))
    y = b.dequantize(b.quantize(mean))
    assert runs(b, y) == ["int8 kernel", "folded", "int8 kernel", "int8 kernel", "int8 kernel", "int8 kernel"]


def test_what_takes_no_dispatch_is_folded() -> None:
    b = Builder()
    table = b.call("aten.permute_copy.default", b.const(np.ones((2, 4), np.float32)), [1, 0], out=((4, 2), "float32"))
    view = b.call("aten.view_copy.default", Ref(b.input((8,), "float32")), [4, 2], out=((4, 2), "float32"))
    y = b.call("aten.mul.Tensor", Ref(view), Ref(table), out=((4, 2), "float32"))
    unary(b, "exp", y)  # which nobody needs
    assert runs(b, y) == ["folded", "folded", "float", "folded"]


def test_floats_and_integers() -> None:
    """An op that is read as floats too runs twice; the slower counts."""
    b = Builder()
    x = unary(b, "sigmoid", b.dequantize(b.quantize(b.input((4, 8), "float32"))))
    less = b.call("aten.lt.Scalar", Ref(x), 0.5, out=((4, 8), "bool"))
    both = b.call("aten.logical_not.default", Ref(less), out=((4, 8), "bool"))
    assert runs(b, both) == ["int8 kernel", "int8 kernel", "float", "float", "integer"]


def test_rows_say_why_not() -> None:
    found = webq8.inspect(CONTAINERS / "two_delegates.pte")["methods"]["forward"]["runs"]
    [bad, *rest] = found
    reason = "no such op in webq8"
    assert bad == {"op": "aten::asinh.out", "runs": "unsupported", "reason": reason, "count": 1,
                   "nodes": ["instruction 1"]}  # fmt: skip
    assert [(row["op"], row["runs"]) for row in rest] == [
        ("aten.relu.default", "supported"),
        ("aten.sigmoid.default", "supported"),
    ]
