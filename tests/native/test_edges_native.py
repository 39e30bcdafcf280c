"""Kernels that quantize what they read and dequantize what they write, for both classes of devices and by each tile."""

from collections.abc import Sequence

import numpy as np
import pytest
from cases import Case
from edges import PRODUCTS, ROWS, graph_of, quantizes_always, wanted
from webq8.kernels import select
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive


def check(rows: Sequence[Case]) -> None:
    failed = []
    for case in rows:
        graph, inputs = graph_of(case)
        with drive(compile_graphs({"forward": required(graph)}, case.id, "native")) as program:
            got, want = program.run(*inputs), wanted(case)
        if got.dtype != want.dtype or not np.array_equal(got, want, equal_nan=True):
            failed.append(case.id)
    assert not failed


OPS = sorted({case.op for case in ROWS})


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("op", OPS)
def test_op(op: str) -> None:
    check([case for case in ROWS if case.op == op])


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("op", OPS)
def test_op_whatever_it_costs(monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    """Kernels quantize however often they read a number."""
    monkeypatch.setattr(select, "quantizes", quantizes_always)
    check([case for case in ROWS if case.op == op])


# subgroup matrices are written in a language extension of Chromium's
@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("tile", [name for name in select.TILES if not name.startswith("matrix")])
def test_products_by_each_tile(monkeypatch: pytest.MonkeyPatch, tile: str) -> None:
    monkeypatch.setattr(select, "tile", lambda *_: select.TILES[tile])
    monkeypatch.setattr(select, "quantizes", quantizes_always)
    check(PRODUCTS)
