"""Quantize and dequantize in the ops beside them: by the reference against the oracle, and what plans make of them."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from cases import Case
from edges import ROWS, graph_of, quantizes_always, wanted
from webq8.backends.reference import run_graph
from webq8.ir.ops.edges import edges_of
from webq8.ir.plan import Step
from webq8.kernels import select, wgsl
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.target import GPU, SOFTWARE, DeviceClass, Target


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_row(case: Case) -> None:
    graph, inputs = graph_of(case)
    fused = rewrite(required(graph))
    [node] = [node for node in fused.nodes if edges_of(node.op).dequantizes]
    assert len(fused.nodes) == 1
    assert len(edges_of(node.op).quantizes) == len(inputs)
    for computed in (graph, fused):
        [y] = run_graph(computed, inputs)
        np.testing.assert_array_equal(y, wanted(case))


def steps(kind: DeviceClass) -> Iterator[Step]:
    for case in ROWS:
        yield from plan_program({"it": rewrite(required(graph_of(case)[0]))}, Target(kind=kind)).plans["it"].steps


def test_kernels_do_not_quantize_where_it_costs_more() -> None:
    names = {kind: {step.kernel for step in steps(kind)} for kind in (SOFTWARE, GPU)}
    assert not any(name.startswith("dequantize") for found in names.values() for name in found)
    software = {step.kernel for step in steps(SOFTWARE) if ("quantizes", True) in step.constants}
    assert software == {"gather_int8"} | ({"linear_gemv"} & software)
    assert {"quantize", "quantize_flat"} & names[GPU]  # for depthwise convolutions, and those of many channels


def test_every_kernel_has_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "quantizes", quantizes_always)
    found: dict[str, set[str]] = {}
    for tile in (None, *select.TILES.values()):
        if tile:
            monkeypatch.setattr(select, "tile", lambda *_, tile=tile: tile)
        for step in chain(steps(SOFTWARE), steps(GPU)) if tile is None else steps(GPU):
            found.setdefault(step.kernel, set()).update(name for name, value in step.constants if value)
    for name in wgsl.kernel_names():
        if name.endswith("_dynamic"):  # of results that are float32 anyway
            continue
        edges = wgsl.kernel(name).overrides & {"dequantizes", "quantizes", "quantizes_a", "quantizes_b"}
        assert edges <= found.get(name, set()), name
