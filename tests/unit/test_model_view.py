"""What the second view's Python (`web/model.py`) makes of shapes: pictures that inputs hold, ways to show outputs."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from webq8 import TensorSpec

FILE = Path(__file__).parents[2] / "web" / "model.py"
SPEC = importlib.util.spec_from_file_location("model", FILE)
assert SPEC is not None
assert SPEC.loader is not None
model: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(model)


@pytest.mark.parametrize(
    ("shape", "frames"),
    [
        ((1, 3, 20, 30), {"NCHW": (20, 30, 3)}),
        ((8, 20, 30, 4), {"NHWC": (20, 30, 4)}),
        ((20, 30, 1), {"NHWC": (20, 30, 1)}),
        ((1, 3, 4, 4), {"NCHW": (4, 4, 3), "NHWC": (3, 4, 4)}),
        ((4, 5, 3), {"NHWC": (4, 5, 3), "NCHW": (5, 3, 4)}),
        ((1, 8, 8, 8), {}),
        ((0, 0, 3), {}),
        ((8, 3), {}),
        ((1, 1, 3, 8, 8), {}),
    ],
)
def test_frames(shape: tuple[int, ...], frames: dict[str, tuple[int, ...]]) -> None:
    found = model.frames(shape)
    assert list(found.items()) == list(frames.items())


def test_the_usual_scale_comes_first() -> None:
    plain = [TensorSpec((1,), dtype) for dtype in ("float32", "uint8", "int8")]
    assert [model.scales(spec)[0] for spec in plain] == ["0 to 1", "0 to 255", "−128 to 127"]


@pytest.mark.parametrize(
    ("dtype", "scale", "zero_point", "name"),
    [
        ("int8", 1 / 255, -128, "0 to 1"),
        ("uint8", 0.0039, 0, "0 to 1"),
        ("int8", 1 / 127.5, 0, "−1 to 1"),
        ("uint8", 0.0078, 128, "−1 to 1"),
        ("int8", 1.0, -128, "0 to 255"),
        ("int8", 1.0, 0, "−128 to 127"),
    ],
)
def test_scale_that_integers_span(dtype: str, scale: float, zero_point: int, name: str) -> None:
    found = model.scales(TensorSpec((1,), dtype, "x", False, scale, zero_point))
    assert found[0] == name
    assert sorted(found) == sorted(model.SCALES)


@pytest.mark.parametrize(
    ("y", "views"),
    [
        (np.zeros((1, 1000)), ["top", "table"]),
        (np.zeros((1, 2)), ["table"]),
        (np.zeros(()), ["table"]),
        (np.array("text"), ["table"]),
        (np.zeros((0, 4)), ["table"]),
        (np.zeros((1, 4420, 4)), ["table", "top", "heat"]),  # boxes
        (np.zeros((12, 48)), ["heat", "table", "top"]),
        (np.zeros((1, 3, 20, 30)), ["picture", "heat", "table", "top"]),
        (np.zeros((20, 30, 1), np.int8), ["picture", "heat", "table", "top"]),
        (np.zeros((1, 65, 65, 21)), ["heat", "table", "top"]),  # classes of pixels
    ],
)
def test_views(y: np.ndarray[Any, Any], views: list[str]) -> None:
    assert list(model.views(y)) == views


def test_planes() -> None:
    y = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    assert (model.planes(y) == y.reshape(6, 4, 5)).all()
    assert (model.planes(np.moveaxis(y[:, :2], 1, -1)) == y[:, :2].reshape(4, 4, 5)).all(), "channels last"
    assert model.views(np.zeros((1, 65, 65, 21)))["heat"] == 21


def test_places_leave_out_axes_of_one_element() -> None:
    assert [model.index((1, 3, 4), i) for i in (0, 11)] == ["0, 0", "2, 3"]
    assert model.index((1, 10), 7) == "7"
    assert model.index((), 0) == ""
