"""Packed weights against what their kernels read of them, element by element."""

import sys
from itertools import product

import numpy as np
import pytest
from webq8.kernels.weights import pack_columns, pack_phases, pack_rows, pack_windows, row_sums

RNG = np.random.default_rng(0)


def int8(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape, np.int8)


@pytest.mark.parametrize("numpy", [True, False], ids=["numpy", "plain"])
@pytest.mark.parametrize("shape", [(5, 3, 7), (1, 1, 1), (4, 9, 600), (3, 2, 0), (0, 2, 3)])
def test_row_sums(shape: tuple[int, ...], numpy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = int8(*shape)
    if not numpy:
        monkeypatch.setitem(sys.modules, "numpy", None)
    assert list(row_sums(memoryview(weights.tobytes()), *shape)) == weights.sum(-1, dtype=int).ravel().tolist()


def test_rows_and_columns_are_padded() -> None:
    weights = int8(5, 3, 7)
    rows = np.frombuffer(pack_rows(memoryview(weights.tobytes()), 5, 3, 7, 8, 32).data, np.int8).reshape(8, 32)
    np.testing.assert_array_equal(rows[:5, :24].reshape(5, 3, 8)[..., :7], weights)
    assert np.abs(rows.astype(int)).sum() == np.abs(weights.astype(int)).sum()
    taps = int8(6, 9)
    columns = np.frombuffer(pack_columns(memoryview(taps.tobytes()), 6, 9, 16).data, np.int8).reshape(12, 16)
    np.testing.assert_array_equal(columns[:9, :6], taps.T)
    assert np.abs(columns.astype(int)).sum() == np.abs(taps.astype(int)).sum()


@pytest.mark.parametrize(
    ("groups", "channels", "depth", "taps"),
    [(1, 6, 3, 9), (1, 7, 130, 1), (2, 3, 5, 6), (3, 3, 2, 4), (5, 2, 1, 9), (8, 4, 4, 9), (7, 1, 3, 2), (4, 9, 8, 1)],
)
def test_windows(groups: int, channels: int, depth: int, taps: int) -> None:
    """A kernel multiplies words of x from a channel's first one on; so do these, for one pixel and each tap."""
    weights, x = int8(groups, channels, taps, depth), int8(taps, -(-groups * depth // 4) * 4)
    packed = pack_windows(memoryview(weights.tobytes()), groups * channels, groups, taps, depth)
    read = np.frombuffer(packed.weights.data, np.int8).reshape(-1, taps, packed.window, 4, 4)
    first = np.frombuffer(packed.first.data, np.int32)
    for n in range(groups * channels):
        word, lane = divmod(n, 4)
        start = 4 * first[n]
        found = x[:, start : start + 4 * packed.window].astype(int).ravel() @ read[word, :, :, lane].astype(int).ravel()
        group = n // channels
        inside = x[:, group * depth : (group + 1) * depth].astype(int)
        assert found == (inside * weights[group, n % channels]).sum(), n
    words = [set(first[n : n + 4]) for n in range(0, groups * channels - 3, 4)]
    assert not packed.shared or all(len(w) == 1 for w in words)


@pytest.mark.parametrize(("kernel", "stride"), [((2, 2), (2, 2)), ((3, 2), (1, 2)), ((5, 4), (3, 2)), ((3, 3), (1, 1))])
@pytest.mark.parametrize(("oc", "ic"), [(5, 17), (8, 16), (33, 3)])
def test_phases(kernel: tuple[int, int], stride: tuple[int, int], oc: int, ic: int) -> None:
    """Each phase has every `stride`-th tap, in order, channels padded."""
    weights, padded, rows = int8(oc, *kernel, ic), -(-ic // 16) * 16, -(-oc // 4) * 4
    packed, sums = pack_phases(memoryview(weights.tobytes()), oc, kernel, stride, ic, padded)
    data, found = np.frombuffer(packed.data, np.int8), np.frombuffer(sums.data, np.int32)
    for phase, (row, column) in enumerate(product(range(stride[0]), range(stride[1]))):
        taps = weights[:, row :: stride[0], column :: stride[1]].reshape(oc, -1, ic)
        want = np.zeros((rows, taps.shape[1], padded), np.int8)
        want[:oc, :, :ic] = taps
        here, data = data[: want.size], data[want.size :]
        np.testing.assert_array_equal(here.reshape(want.shape), want)
        np.testing.assert_array_equal(found[phase * rows :][:rows], want.sum((1, 2), dtype=int))
    assert not data.size
