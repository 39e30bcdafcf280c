"""Which tile a product gets: what was fastest on an H200 (tests/bench/README.md)."""

import pytest
from webq8.kernels.select import TILES, band, tile
from webq8.target import FEATURES, GPU, MATRIX_GPU, PACKED_DOT, SOFTWARE, Adapter, DeviceClass, Target, target_of

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
    few = Target(kind=GPU.replace(tiles=("small", "deep")), max_compute_workgroup_storage_size=2**15)
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


MATRICES = (("f16", "f32", 16, 16, 16), ("i8", "i32", 16, 16, 32))


@pytest.mark.parametrize(
    ("adapter", "kind"),
    [
        (Adapter("nvidia", subgroup_sizes=frozenset({32}), matrices=MATRICES), MATRIX_GPU),
        (Adapter("nvidia", subgroup_sizes=frozenset({32}), matrices=MATRICES[:1]), GPU),
        (Adapter("amd", subgroup_sizes=frozenset({32, 64}), matrices=MATRICES), GPU),
        (Adapter("intel"), GPU),
        (Adapter("google", "swiftshader", subgroup_sizes=frozenset({32}), matrices=MATRICES), SOFTWARE),
        (Adapter("unknown", fallback=True), SOFTWARE),
    ],
    ids=["matrices", "matrices of floats", "subgroups of two sizes", "neither", "by its name", "by its flag"],
)
def test_class_of_a_device(adapter: Adapter, kind: DeviceClass) -> None:
    assert target_of(adapter, {}, FEATURES, (PACKED_DOT,)).kind is kind
    assert target_of(adapter, {}, (), ()).kind is not MATRIX_GPU
