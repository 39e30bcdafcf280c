"""What a profile makes of timestamps, and what the planner says of each step's work."""

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import webq8
from cases import CASES, Case
from graphs import Builder
from webq8 import ops
from webq8.errors import ClosedError, InputError
from webq8.ir.graph import Graph
from webq8.ir.plan import Plan, Step
from webq8.plan.planner import plan_program
from webq8.runtime.profiling import Ceilings, Profile, profile_of
from webq8.stages import drive
from webq8.target import GPU, SOFTWARE, Target

CLASSIFIER = Path(__file__).parents[2] / "web" / "models" / "classifier.pte"

# --- what steps say of their work


def plan_of(graph: Graph, software: bool = True) -> Plan:
    return plan_program({"forward": graph}, Target(kind=SOFTWARE if software else GPU)).plans["forward"]


def single(case: Case) -> tuple[Graph, tuple[Any, ...], tuple[int, ...]]:
    args = case.args()
    y = getattr(ops, case.op)(*args)
    found = ops._Recording()
    out = found.visit(y)
    return found.graph(out), args, y.shape


def of_linear(args: Any, out: tuple[int, ...]) -> int:
    return 2 * prod(out) * args[0].shape[-1]


def of_conv2d(args: Any, out: tuple[int, ...]) -> int:
    return 2 * prod(out) * prod(args[9]) * args[0].shape[1] // args[13]


def of_transposed(args: Any, out: tuple[int, ...]) -> int:
    return 2 * prod(args[0].shape) * prod(args[9]) * out[1] // args[14]


def of_convolution(args: Any, out: tuple[int, ...]) -> int:
    x, weight, _, _, _, _, transposed = args[:7]
    per_element = prod(weight.shape[1:])  # each input's outputs where transposed, else each output's inputs
    return 2 * prod(x.shape if transposed else out) * per_element


OPERATIONS: dict[str, Callable[[Any, tuple[int, ...]], int]] = {
    "q8ta_linear": of_linear,
    "q8ta_linear_gemv": of_linear,
    "linear_q8ta_q8csw": of_linear,
    "linear_qcs4w": of_linear,
    "linear": of_linear,
    "mm": of_linear,
    "bmm": of_linear,
    "addmm": lambda args, out: of_linear(args[1:], out),
    "q8ta_conv2d": of_conv2d,
    "q8ta_conv2d_pw": of_conv2d,
    "q8ta_conv2d_dw": of_conv2d,
    "q8ta_conv2d_transposed": of_transposed,
    "convolution": of_convolution,
    "conv_with_clamp": of_convolution,
    "relu": lambda args, out: 0,
    "quantize_per_tensor": lambda args, out: 0,
}


@pytest.mark.parametrize("software", [True, False])
@pytest.mark.parametrize("op", OPERATIONS)
def test_operations(op: str, software: bool) -> None:
    """Every case of an op, whichever kernels it takes: slices and phases of a product add up to it."""
    cases = [case for case in CASES if case.op == op]
    assert cases
    for case in cases:
        graph, args, out = single(case)
        counted = sum(step.operations for step in plan_of(graph, software).steps)
        assert counted == (OPERATIONS[op](args, out) if prod(out) else 0), case.id


def test_bytes_of_what_is_bound() -> None:
    b = Builder()
    [step] = plan_of(b.graph(b.linear(b.input((64, 32), "int8"), 48, np.random.default_rng(0)))).steps
    x, weight, y = 64 * 32, 48 * 32, 64 * 48
    sums, scales_and_biases = 4 * 48, 8 * 48
    assert step.nbytes == x + weight + sums + scales_and_biases + y


# --- where long methods are cut


def chain(layers: int, size: int) -> Graph:
    b = Builder()
    x = b.input((size, size), "int8")
    for _ in range(layers):
        x = b.linear(x, size)
    return b.graph(x)


def test_a_short_method_is_one_submit() -> None:
    plan = plan_of(chain(3, 64))
    assert plan.ends == (len(plan.steps),) == (3,)
    b = Builder()
    assert plan_of(b.graph(b.quantize(b.input((0, 5), "float32")))).ends == (0,)


def test_a_long_method_is_cut_evenly_on_the_cpu_only() -> None:
    plan = plan_of(chain(50, 512))  # 2.7 · 10⁸ operations a layer
    sizes = np.diff([0, *plan.ends])
    assert plan.ends[-1] == 50
    assert 12 <= sizes[0] <= 20
    assert (sizes[:-1] == sizes[0]).all()
    assert plan_of(chain(50, 512), software=False).ends == (50,)


def test_a_step_too_long_for_a_submit_has_one_of_its_own() -> None:
    plan = plan_of(chain(3, 1536))
    assert plan.ends == (1, 2, 3)


# --- profiles

STEPS = [
    Step("gemm", (), (), (), (1, 1, 1), "node 0", operations=4_000_000, nbytes=3000),
    Step("copy <&>", (), (), (), (1, 1, 1), "node 1", operations=0, nbytes=20_000),
    Step("gemm", (), (), (), (1, 1, 1), "node 2", operations=1_000_000, nbytes=1000),
]
RUNS = [
    [1000, 3000, 3500, 7500, 7600, 8600],
    [11_000, 15_000, 15_000, 18_000, 18_500, 20_000],  # the longest
    [21_000, 24_000, 22_000, 27_000, 27_000, 27_500],  # its second step waits for the first
]


def profile(runs: list[list[int]] = RUNS, steps: list[Step] = STEPS) -> Profile:
    return profile_of(("net.pte", "forward", "a GPU"), steps, runs, Ceilings(tops=2.0, gbps=10.0))


def test_medians() -> None:
    found = profile()
    assert [(row.kernel, row.node, row.microseconds) for row in found.rows] == [
        ("gemm", "node 0", 3.0),
        ("copy <&>", "node 1", 3.0),
        ("gemm", "node 2", 1.0),
    ]
    assert found.microseconds == 7.0
    assert found.elapsed == 7.6
    assert found.timeline == ((0.0, 2.0), (2.5, 4.0), (6.6, 1.0))
    assert found.runs == 3
    assert found.resolution == 0.1


def test_rates_and_ceilings() -> None:
    first, second, third = profile().rows
    assert first.tops == pytest.approx(4 / 3)
    assert first.gbps == 1.0
    assert first.reached == pytest.approx(2 / 3)  # 4·10⁶ operations take 2 µs
    assert (second.tops, second.gbps) == (0, pytest.approx(20 / 3))
    assert second.reached == pytest.approx(2 / 3)  # 20,000 bytes take 2 µs
    assert third.reached == pytest.approx(0.5)


def test_sums_by_kernel() -> None:
    gemm, copy = profile().kernels
    assert (gemm.kernel, gemm.node, gemm.microseconds, gemm.operations) == ("gemm", "2 dispatches", 4.0, 5_000_000)
    assert gemm.nbytes == 4000
    assert gemm.reached == pytest.approx(2.5 / 4)
    assert (copy.kernel, copy.node, copy.microseconds) == ("copy <&>", "1 dispatch", 3.0)


def test_table() -> None:
    lines = str(profile()).splitlines()
    assert lines[:3] == [
        "net.pte, forward, on a GPU",
        "7.0 µs in 3 dispatches, 7.6 from first to last; medians of 3 runs",
        "ceilings: 2 TOPS (int8 dot products), 10 GB/s",
    ]
    assert [line.split() for line in lines[4:7]] == [
        ["kernel", "where", "µs", "share", "Mop", "MB", "TOPS", "GB/s", "of", "ceiling"],
        ["gemm", "2", "dispatches", "4.0", "57.1%", "5", "0.004", "1.25", "1", "62%"],
        ["copy", "<&>", "1", "dispatch", "3.0", "42.9%", "–", "0.02", "–", "6.67", "67%"],
    ]
    assert [line.split()[-1] for line in lines[9:]] == ["67%", "67%", "50%"]
    assert repr(profile()) == str(profile())


def test_a_coarse_clock_is_told() -> None:
    """Its times are means, since short steps mostly seem to take none."""
    ticks = ((10, 10, 10, 40, 40, 40), (10, 10, 10, 40, 40, 40), (20, 20, 20, 40, 40, 50), (20, 20, 20, 50, 50, 50))
    coarse = profile([[t * 10_000 for t in run] for run in ticks])
    assert coarse.resolution == 100
    assert [row.microseconds for row in coarse.rows] == [0, 275, 25]
    assert coarse.rows[0].tops == coarse.rows[0].reached == 0
    assert "; means of 4 runs" in str(coarse)
    assert "rounds GPU times to 100 µs; Chromium does not with --enable-webgpu-developer-features" in str(coarse)
    assert "rounds" not in str(profile())


def test_html() -> None:
    text = profile()._repr_html_()
    assert "on a GPU" in text
    assert text.count("copy &lt;&amp;&gt;") == 2
    assert "copy <" not in text
    assert text.count("<tr>") == 2 + 2 + 3  # heads, kernels, dispatches
    assert 'style="width:75.00%"><i class="least" style="width:66.67%"' in text


def test_trace(tmp_path: Path) -> None:
    found = profile()
    found.save_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace == found.trace()
    names = {e["name"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    assert names == {"process_name": "a GPU", "thread_name": "net.pte, forward"}
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [
        ("gemm", 0.0, 2.0),
        ("copy <&>", 2.5, 4.0),
        ("gemm", 6.6, 1.0),
    ]
    assert [e["args"]["step"] for e in events] == [0, 1, 2]
    assert {(e["pid"], e["tid"]) for e in trace["traceEvents"]} == {(1, 1)}


def test_a_method_without_dispatches() -> None:
    empty = profile([[], []], [])
    assert (empty.rows, empty.microseconds, empty.elapsed, empty.kernels) == ((), 0, 0, ())
    assert "0.0 µs in 0 dispatches" in str(empty)
    assert empty._repr_html_().count("<tr>") == 2


def test_profiling_needs_the_gpu() -> None:
    program = drive(webq8.load(CLASSIFIER, device="cpu"))
    with pytest.raises(InputError, match=r'classifier\.pte: profiling measures the GPU; load it with device="webgpu"'):
        drive(program.profile(np.zeros((1, 64), np.float32)))
    program.close()
    with pytest.raises(ClosedError, match=r"classifier\.pte was closed"):
        drive(program.profile(np.zeros((1, 64), np.float32)))
