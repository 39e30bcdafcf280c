"""Which variant of a kernel a problem gets: rules from measurements, all in this file."""

from dataclasses import dataclass

from webq8.dtypes import cdiv

__all__ = ["TileShape", "tile_shape"]

# What keeps a large GPU busy (132 multiprocessors of an H200); the least steps (of 16 bytes of K) that are worth a
# slice of their own; and the sums that are long enough for slices, which cost a second dispatch.
_WORKGROUPS, _LEAST_STEPS, _LONG = 264, 16, 64


@dataclass(frozen=True)
class TileShape:
    """Of wgsl/gemm.wgsl: rows of 8 threads a workgroup, and slices of K that run side by side."""

    thread_rows: int
    slices: int


def tile_shape(rows: int, tiles_n: int, steps: int) -> TileShape:
    """Large tiles where there are enough of them, else small ones, else K in slices."""
    if cdiv(rows, 128) * tiles_n >= _WORKGROUPS:
        return TileShape(16, 1)
    if steps < _LONG:
        return TileShape(8, 1)
    tiles = cdiv(rows, 64) * tiles_n
    return TileShape(8, max(1, min(_WORKGROUPS // max(tiles, 1), steps // _LEAST_STEPS)))
