"""Layouts against numpy's own transposing and padding."""

import numpy as np
import pytest
from webq8.plan.layout import Layout, default_layout, layout, nbytes

SHAPES = [(2, 3, 5, 7), (1, 4, 1, 1), (1, 1, 1, 1), (2, 8, 3, 3), (0, 3, 2, 2), (3, 5, 0, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_channels_last(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-128, 128, shape, np.int8)
    padding = (-shape[1]) % 4
    want = np.pad(x.transpose(0, 2, 3, 1), ((0, 0), (0, 0), (0, 0), (0, padding)))
    assert layout(shape, "channels").pack(memoryview(x.tobytes())) == want.tobytes()


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 17), (1, 7), (16,), (5,), (), (2, 3, 5, 7), (0, 3)], ids=str)
def test_rows(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-128, 128, shape, np.int8)
    rows = x.reshape(-1, shape[-1] if shape else 1)
    want = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 16)))
    assert layout(shape, "rows").pack(memoryview(x.tobytes())) == want.tobytes()


def test_plain_means_row_major_without_gaps() -> None:
    assert layout((3, 16), "rows").plain
    assert layout((1, 5), "rows").plain
    assert not layout((3, 5), "rows").plain
    assert not layout((1, 4, 3, 3), "channels").plain
    assert layout((2, 4, 1, 1), "channels").plain
    assert layout((2, 4, 1, 1), "channels").same_bytes(layout((2, 4, 1, 1), "plain"))
    assert not layout((2, 3, 1, 1), "channels").same_bytes(layout((2, 3, 1, 1), "plain"))
    assert Layout(1, 5, 1, 16).words == 4


def test_defaults_and_sizes() -> None:
    assert default_layout((1, 3, 4, 4), "int8") == "channels"
    assert default_layout((3, 4), "int8") == "rows"
    assert default_layout((1, 3, 4, 4), "float32") == "plain"
    assert nbytes((1, 3, 4, 4), "int8", "channels") == 64
    assert nbytes((3, 3), "float32", "plain") == 36
    assert nbytes((3,), "uint8", "plain") == 4
