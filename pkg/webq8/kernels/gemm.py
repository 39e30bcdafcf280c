"""Matrix products on GPUs: the one way to wgsl/gemm*.wgsl, for linear ops and convolutions."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from webq8.dtypes import cdiv, round_up
from webq8.ir.plan import Const, Dispatch
from webq8.kernels import select
from webq8.kernels.epilogue import Products
from webq8.kernels.windows import maps_params, window_params

__all__ = ["Rows", "gemm"]

_THREADS = 128  # a workgroup of any of the kernels


class Rows(NamedTuple):
    """What the rows of x in a product are: those of a matrix, or pixels of y, whose taps the kernel gathers from maps.

    A transposed convolution falls into phases: `strides` and `kernel` are its own, (1, 1) for others (see
    wgsl/parts/gemm_io.wgsl).
    """

    rows_are: Literal["matrix", "convolution", "transposed"]
    maps: Mapping[str, int]
    window: Mapping[str, int]
    size: tuple[int, int]  # rows and columns of pixels that a map has, of a phase
    pixel_bytes: int  # of x
    strides: tuple[int, int] = (1, 1)
    kernel: tuple[int, int] = (1, 1)


# the kernels read no maps and no windows of a matrix
_MATRIX = Rows("matrix", maps_params((1, 1), (1, 1)), window_params((1, 1), (1, 1), (1, 1)), (1, 1), 16)


def gemm(
    p: Products,
    weight: Const,
    sums: Const,
    *,
    rows: int,
    columns: int,
    steps: int,
    operations: int,
    x_rows: Rows = _MATRIX,
) -> Dispatch:
    """y [rows, columns] = requantize(x · weightᵀ), each a sum over `steps` times 16 bytes.

    weight [columns, steps] and sums [columns], columns padded to a multiple of 4. A transposed convolution has weights
    and sums for each phase, one after another, and in `steps` those of the longest.
    """
    phases = x_rows.strides[0] * x_rows.strides[1]
    tile = select.tile(rows, columns, steps, phases, p.target)
    tiles = tile.count(rows, columns)
    return Dispatch(
        p.kernel(tile.kernel),
        {**p.bind(), "weight": weight, "sums": sums},
        {
            "rows": rows,
            "n_words": round_up(columns, 4) // 4,
            "tiles_n": cdiv(columns, tile.columns),
            "tiles": tiles,
            "y_stride": p.y_stride,
            "k_steps": steps,
            "channel_steps": max(1, x_rows.pixel_bytes // 16),
            "rows_height": x_rows.size[0],
            "rows_width": x_rows.size[1],
            "maps": x_rows.maps,
            "window": x_rows.window,
            **p.params(reads=True),
        },
        threads=tiles * phases * _THREADS,
        constants={
            **p.overrides(),
            "rows_are": x_rows.rows_are,
            "pixel_words": min(4, x_rows.pixel_bytes // 4),  # 4 for any whole number of vec4
            "phase_rows": x_rows.strides[0],
            "phase_columns": x_rows.strides[1],
            "tap_rows": x_rows.kernel[0],
            "tap_columns": x_rows.kernel[1],
        },
        operations=operations,
    )
