"""Indices that are out of range: refused where constant, the nearest in range where computed."""

from typing import Any

import numpy as np
import pytest
from graphs import Builder, Ref, run_graph_in_page, sendable
from webq8.desktop.host import PythonPage
from webq8.errors import FormatError

INT64 = np.array([-(2**63), -(2**32), -(2**32) + 1, -9, -8, -1, 0, 6, 7, 2**31, 2**32, 2**32 + 1, 2**63 - 1])
FAR = {"int64": INT64, "int32": np.clip(INT64, -(2**31), 2**31 - 1).astype(np.int32)}
ROWS = {  # op, arguments around the index, and whether −1 is the last
    "index": ("aten.index.Tensor", [], [], True),
    "index_select": ("aten.index_select.default", [0], [], False),
    "gather": ("aten.gather.default", [0], [False], False),
    "embedding": ("aten.embedding.default", [], [-1, False, False], False),
}


def graph(op: str, dtype: str, index: np.ndarray | None) -> Any:
    name, before, after, _ = ROWS[op]
    b = Builder()
    shape = (7, 1) if op == "embedding" else (7,)
    x = b.input(shape, "int8")
    i = b.const(index) if index is not None else Ref(b.input(FAR[dtype].shape, dtype))
    out = (len(FAR[dtype] if index is None else index), *shape[1:])
    b.call(name, Ref(x), *before, b.list(i) if op == "index" else i, *after, out=(out, "int8"))
    return sendable(b.method(len(b.values) - 1))


@pytest.mark.parametrize("dtype", FAR)
@pytest.mark.parametrize("op", ROWS)
def test_computed(webq8_page: PythonPage, op: str, dtype: str) -> None:
    x, index = np.arange(1, 8, dtype=np.int8), FAR[dtype]
    data = x.reshape(7, 1) if op == "embedding" else x
    [got], _ = webq8_page.call(run_graph_in_page, graph(op, dtype, None), [data, index], None)
    places = [int(i) + 7 if i < 0 and ROWS[op][3] else int(i) for i in index]
    assert got.reshape(-1).tolist() == [x[min(max(i, 0), 6)] for i in places]


def test_computed_and_written(webq8_page: PythonPage) -> None:
    b = Builder()
    x, i = Ref(b.input((7,), "int8")), Ref(b.input((3,), "int64"))
    b.call("aten.index_put.default", x, b.list(i), b.const(np.array([1, 2, 3], np.int8)), False, out=((7,), "int8"))
    sent = sendable(b.method(len(b.values) - 1))
    [got], _ = webq8_page.call(run_graph_in_page, sent, [np.zeros(7, np.int8), np.array([-9, 2**40, -2])], None)
    assert got.tolist() == [1, 0, 0, 0, 0, 3, 2]


@pytest.mark.parametrize(
    ("op", "index"), [(op, i) for op in ROWS for i in ([0, 7], [-8, 0], [-1]) if op != "index" or i != [-1]]
)
def test_constant(webq8_page: PythonPage, op: str, index: list[int]) -> None:
    sent = graph(op, "int64", np.array(index))
    with pytest.raises(FormatError, match=r"index (7|-8|-1) is outside of dimension 0, of size 7"):
        webq8_page.call(run_graph_in_page, sent, [np.zeros((7, 1) if op == "embedding" else 7, np.int8)], None)


def test_constant_once_folded(webq8_page: PythonPage) -> None:
    b = Builder()
    x = Ref(b.input((7,), "int8"))
    i = Ref(b.call("aten.arange.start_step", 0, 8, 1, None, None, None, False, out=((8,), "int64")))
    b.call("aten.index.Tensor", x, b.list(i), out=((8,), "int8"))
    with pytest.raises(FormatError, match=r"node 1: Index: index 7 is outside of dimension 0"):
        webq8_page.call(run_graph_in_page, sendable(b.method(len(b.values) - 1)), [np.zeros(7, np.int8)], None)
