"""Which tile a product gets: what was fastest on an H200 (tests/bench/README.md)."""

from dataclasses import replace

import pytest
from webq8.kernels.select import TILES, band, tile
from webq8.target import GPU, MATRIX_GPU, Target

PLAIN = Target()
MATRIX = Target(kind=MATRIX_GPU, max_compute_workgroup_storage_size=2**15)


@pytest.mark.parametrize(
    ("rows", "columns", "k", "by_dot_products", "by_matrices"),
    [
        (4096, 4096, 4096, "large", "matrix"),
        (2048, 2048, 2048, "large", "matrix"),
        (1024, 1024, 1024, "large", "matrix_64"),
        (392, 512, 4608, "small", "matrix_64"),
        (3136, 64, 576, "small", "matrix_64"),
        (12544, 96, 16, "large", "large"),
        (196, 384, 64, "small", "small"),
        (784, 192, 32, "small", "small"),
        (196, 96, 576, "narrow", "narrow"),
        (49, 960, 160, "narrow", "narrow"),
        (49, 160, 960, "deep", "deep"),
        (49, 512, 4608, "deep", "deep"),
    ],
)
def test_tile(rows: int, columns: int, k: int, by_dot_products: str, by_matrices: str) -> None:
    assert tile(rows, columns, k // 16, 1, PLAIN) == TILES[by_dot_products]
    assert tile(rows, columns, k // 16, 1, MATRIX) == TILES[by_matrices]


def test_matrices_need_workgroup_memory() -> None:
    small = Target(kind=MATRIX_GPU, max_compute_workgroup_storage_size=2**14)
    assert tile(4096, 4096, 256, 1, small) == TILES["large"]


def test_a_class_gets_its_own_tiles_alone() -> None:
    few = Target(kind=replace(GPU, tiles=("small", "deep")), max_compute_workgroup_storage_size=2**15)
    for phases in (1, 4):
        assert tile(4096, 4096, 256, phases, few) == TILES["small"]
    assert tile(196, 96, 36, 1, few) == TILES["deep"]


def test_phases_count_as_more_tiles() -> None:
    assert tile(8 * 64 * 64, 32, 4, 4, MATRIX) == TILES["large"]
    assert tile(64, 32, 4, 4, MATRIX) == TILES["small"]


@pytest.mark.parametrize(
    ("rows", "threads", "length"), [(56, 2**20, 8), (56, 2**13, 8), (56, 2**11, 2), (7, 1, 1), (0, 5, 1)]
)
def test_band(rows: int, threads: int, length: int) -> None:
    assert band(rows, threads) == length
