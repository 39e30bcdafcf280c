"""Matrix products on GPUs: the one way to wgsl/gemm*.wgsl, for linear ops and convolutions."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from webq8.dtypes import cdiv, round_up
from webq8.ir.plan import Const, Dispatch, Param
from webq8.kernels import select
from webq8.kernels.epilogue import Products

__all__ = ["Gathered", "gemm"]

_GEOMETRY = (
    "channel_steps",
    "rows_height",
    "rows_width",
    "y_height",
    "y_width",
    "x_height",
    "x_width",
    "kernel_width",
    "stride_height",
    "stride_width",
    "pad_height",
    "pad_width",
    "dilation_height",
    "dilation_width",
)
_THREADS = 128  # a workgroup of any of the kernels


class Gathered(NamedTuple):
    """Rows of x that are pixels of a convolution's results, their taps gathered from maps. A transposed one falls into
    phases: `strides` and `kernel` are its own, (1, 1) for others (see gemm_io.wgsl)."""

    rows_are: Literal["convolution", "transposed"]
    params: Mapping[str, Param]  # of maps and windows
    size: tuple[int, int]  # rows and columns of pixels, of a phase
    pixel_bytes: int  # of x
    strides: tuple[int, int] = (1, 1)
    kernel: tuple[int, int] = (1, 1)


def gemm(
    p: Products,
    weight: Const,
    sums: Const,
    *,
    rows: int,
    columns: int,
    steps: int,
    operations: int,
    gathered: Gathered | None = None,
) -> Dispatch:
    """y [rows, columns] = requantize(x · weightᵀ), each a sum over `steps` times 16 bytes.

    weight [columns, steps] and sums [columns], columns padded to a multiple of 4. A transposed convolution has weights
    and sums for each phase, one after another, and in `steps` those of the longest.
    """
    geometry: dict[str, Param] = dict.fromkeys(_GEOMETRY, 1)
    rows_are, pixel_words, strides, kernel = "matrix", 4, (1, 1), (1, 1)
    if gathered:
        geometry |= {name: value for name, value in gathered.params.items() if name in geometry}
        geometry |= {"rows_height": gathered.size[0], "rows_width": gathered.size[1]}
        geometry["channel_steps"] = max(1, gathered.pixel_bytes // 16)
        rows_are, strides, kernel = gathered.rows_are, gathered.strides, gathered.kernel
        pixel_words = min(4, gathered.pixel_bytes // 4)  # 4 for any whole number of vec4
    phases = strides[0] * strides[1]
    tile = select.tile(rows, columns, steps, phases, p.target)
    tiles = tile.count(rows, columns)
    return Dispatch(
        tile.kernel,
        {
            "x": p.x.id,
            "weight": weight,
            "sums": sums,
            "channel": p.channel(columns),
            "y": p.y.id,
        },
        {
            "rows": rows,
            "n_words": round_up(columns, 4) // 4,
            "tiles_n": cdiv(columns, tile.columns),
            "tiles": tiles,
            "y_stride": p.y.layout.padded // 4,
            "k_steps": steps,
            **p.epilogue(),
            **geometry,
        },
        threads=tiles * phases * _THREADS,
        constants={
            "rows_are": rows_are,
            "pixel_words": pixel_words,
            "phase_rows": strides[0],
            "phase_columns": strides[1],
            "tap_rows": kernel[0],
            "tap_columns": kernel[1],
        },
        operations=operations,
    )
