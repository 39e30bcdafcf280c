"""Which kernel an op gets on which device: rules from measurements (tests/bench/README.md), all in this file."""

from dataclasses import dataclass

from webq8.dtypes import cdiv
from webq8.target import Target

__all__ = ["TILES", "Tile", "band", "tile"]


@dataclass(frozen=True)
class Tile:
    """A kernel of wgsl/gemm*.wgsl, and the results that a workgroup of it makes."""

    kernel: str
    rows: int
    columns: int

    def count(self, rows: int, columns: int) -> int:
        return cdiv(rows, self.rows) * cdiv(columns, self.columns)


TILES = {
    "matrix": Tile("gemm_matrix", 128, 128),
    "matrix_64": Tile("gemm_matrix_64", 64, 64),
    "large": Tile("gemm", 128, 64),
    "small": Tile("gemm_small", 32, 32),
    "narrow": Tile("gemm_narrow", 16, 32),
    "deep": Tile("gemm_deep", 16, 16),
}
# Workgroup memory of the kernels by subgroup matrices; the others stay within WebGPU's default.
_MATRIX_BYTES = 24 * 1024


def tile(rows: int, columns: int, steps: int, phases: int, target: Target) -> Tile:
    """The tile of a product of `rows` × `columns` results, each a sum over `steps` times 16 bytes, `phases` times over.

    Small problems get small tiles, so that their workgroups fill a large GPU (an H200 has 132 multiprocessors).
    """

    def count(name: str) -> int:
        return phases * TILES[name].count(rows, columns)

    # finding rows by phases takes a thread long, so here it makes the most results
    if phases > 1 and count("large") >= 500:
        return TILES["large"]
    if "matrix" in target.kind.tiles and target.max_compute_workgroup_storage_size >= _MATRIX_BYTES:
        if count("matrix") >= 200 and columns > 64:
            return TILES["matrix"]
        if count("matrix_64") >= 24 and columns > 16 and steps > 8:
            return TILES["matrix_64"]
    if count("large") >= 100 and columns > 32:
        return TILES["large"]
    if count("small") >= 64 or steps <= 8:
        return TILES["small"]
    return TILES["narrow"] if steps < 100 and count("narrow") >= 24 else TILES["deep"]


def band(rows: int, threads: int) -> int:
    """How many rows of a map a thread takes one after another, where each row has work for `threads`: long bands read
    x once, short ones make threads enough for a large GPU."""
    length = min(8, max(1, rows))
    while length > 1 and cdiv(rows, length) * threads < 2**15:
        length //= 2
    return length
