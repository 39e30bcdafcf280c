"""Every row of the op table on a second compiler and driver, naga and lavapipe, against the reference, to the bit.

A test is all rows of an op, by the kernels of software adapters and by those of GPUs.
"""

import re
from collections.abc import Iterable
from itertools import chain, groupby, zip_longest
from pathlib import Path

import numpy as np
import pytest
from browser.test_ops import CONVOLUTIONS, PRODUCTS, compare, expected
from cases import CASES, Case
from format_goldens import KINDS, op_cases
from webq8 import ops
from webq8.budget import Budget
from webq8.formats import read_file
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program
from webq8.ir.graph import Graph
from webq8.kernels import select, wgsl
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import lower_file, rewrite
from webq8.stages import drive, finish
from webq8.target import SOFTWARE, Target

TABLE = {op: list(rows) for op, rows in groupby(sorted(CASES, key=lambda case: case.op), lambda case: case.op)}


def run(case: Case) -> list[np.ndarray]:
    result = getattr(ops, case.op)(*case.args())
    return [drive(y.numpy("native")) for y in (result if isinstance(result, tuple) else (result,))]


def check(rows: list[Case]) -> None:
    """Every row, and all that differ are told of."""
    failed = []
    for case in rows:
        got, want = run(case), expected(case)
        assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want], case.id
        try:
            compare(got, want, case)
        except AssertionError as error:
            failed.append(str(error))
    assert not failed, "\n\n".join(failed)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("op", TABLE)
def test_op(op: str) -> None:
    check(TABLE[op])


@pytest.mark.usefixtures("plain_dot")
@pytest.mark.parametrize("op", [op for op in TABLE if op.startswith("q8ta")])
def test_op_without_packed_dot(op: str) -> None:
    check(TABLE[op])


# subgroup matrices are written in a language extension of Chromium's
@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("tile", [name for name in select.TILES if not name.startswith("matrix")])
def test_products_by_each_tile(monkeypatch: pytest.MonkeyPatch, tile: str) -> None:
    monkeypatch.setattr(select, "tile", lambda *_: select.TILES[tile])
    ops.close()
    check(PRODUCTS)
    ops.close()


@pytest.mark.usefixtures("device")
def test_convolutions_by_threads_of_four_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_FEWEST_PIXELS", "_FEWEST_WORDS"):
        monkeypatch.setattr(select, name, 0)
    ops.close()
    check(CONVOLUTIONS)
    ops.close()


def test_every_kernel_is_in_a_plan() -> None:
    """Of the table, the classifier or a committed file, so each has run here, in test_files_native.py or in
    test_format_goldens_native.py, but for those that measure, and those that test_dynamic_layers_native.py runs."""
    elsewhere = re.compile("gemm_matrix.*|ceiling.*|.*_dynamic")
    missing = {name for name in wgsl.kernel_names() if not elsewhere.fullmatch(name)}
    classifier = read_program((Path(__file__).parents[2] / "web" / "models" / "classifier.pte").read_bytes(), "it")
    graphs = [required(lower(classifier.methods["forward"], "it"))]
    rows = filter(None, chain.from_iterable(zip_longest(*TABLE.values())))
    files = (case.model for kind in KINDS for case in op_cases(kind) if isinstance(case.model, bytes))
    for graph in chain(graphs, map(graph_of, rows), chain.from_iterable(map(graphs_of_file, files))):
        if not missing:
            break
        for target in (Target(kind=SOFTWARE), Target()):
            plan = plan_program({"forward": rewrite(graph)}, target).plans["forward"]
            missing -= {step.kernel for step in plan.steps}
    assert not missing


def graphs_of_file(data: bytes) -> Iterable[Graph]:
    return finish(lower_file.steps(finish(read_file.steps(data)), "it", Budget(None, ""), {})).values()


def graph_of(case: Case) -> Graph:
    """What `webq8.ops` plans of a case; all results of an op with several are outputs."""
    results = getattr(ops, case.op)(*case.args())
    recording = ops._Recording()
    outputs = tuple(recording.visit(y) for y in (results if isinstance(results, tuple) else (results,)))
    return required(recording.graph(*outputs))
