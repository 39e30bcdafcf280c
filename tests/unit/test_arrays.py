"""Results where numpy is not installed."""

import copy
import itertools
import math

import numpy as np
import pytest
from webq8.arrays import Array, to_array


def array_of(x: np.ndarray) -> Array:
    return Array(memoryview(bytearray(x.tobytes())), x.shape, x.dtype.name)


SHAPES = [(), (5,), (1, 4), (3, 2, 2), (0,), (3, 0), (0, 3)]
KINDS = list(itertools.product(SHAPES, ["float32", "int8", "int64", "bool"]))


@pytest.mark.parametrize(("shape", "dtype"), KINDS)
def test_values(shape: tuple[int, ...], dtype: str) -> None:
    x = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    y = array_of(x)
    assert (y.shape, y.dtype, y.nbytes, y.tolist()) == (x.shape, dtype, x.nbytes, x.tolist())
    view = y.__buffer__(0)
    assert (view.shape, view.nbytes, bytes(view)) == (x.shape, x.nbytes, x.tobytes())
    if shape:
        assert [getattr(row, "tolist", lambda row=row: row)() for row in y] == x.tolist()
        assert len(y) == len(x)


def test_indexing() -> None:
    y = array_of(np.arange(12, dtype=np.int32).reshape(2, 3, 2))
    assert y[1].shape == (3, 2)
    assert (y[1, 2, 0], y[1][2][0], y[-1][-1].tolist()) == (10, 10, [10, 11])
    y[0, 0, 1] = 7
    assert y[0].tolist() == [[0, 7], [2, 3], [4, 5]]
    with pytest.raises(IndexError, match="row 2 of 2"):
        y[2]
    assert copy.deepcopy(y.tolist()) == y.tolist()
    assert not hasattr(y, "_absent")
    assert not hasattr(y, "absent")


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (np.array([[0.1, 2], [np.nan, 1e9]], np.float32), "float32 [2, 2]: [[0.1, 2], [nan, 1e+09]]"),
        (np.array(7, np.int8), "int8 []: 7"),
        (np.array([True, False]), "bool [2]: [True, False]"),
        (np.zeros((2, 0), np.int8), "int8 [2, 0]: [[], []]"),
        (np.arange(1001), "int64 [1001]: [0, 1, 2, …, 998, 999, 1000]"),
        (np.zeros((2, 600), np.int8), "int8 [2, 600]: [[0, 0, 0, …, 0, 0, 0], [0, 0, 0, …, 0, 0, 0]]"),
    ],
)
def test_repr(x: np.ndarray, text: str) -> None:
    assert repr(array_of(x)) == f"<webq8 array {text}>"


def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    y = to_array(bytearray(b"\1\2\3\4"), (2, 2), "int8")
    assert isinstance(y, Array)
    assert y.tolist() == [[1, 2], [3, 4]]
