"""Matrix products on GPUs: the one way to wgsl/gemm*.wgsl, for linear ops and convolutions."""

from collections.abc import Mapping

from webq8.dtypes import cdiv, round_up
from webq8.ir.plan import Const, Dispatch, Param
from webq8.kernels import select
from webq8.kernels.epilogue import Products

__all__ = ["CONVOLUTION", "MATRIX", "TRANSPOSED", "gemm"]

MATRIX, CONVOLUTION, TRANSPOSED = range(3)  # what wgsl/gemm_io.wgsl calls them
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


def gemm(
    p: Products,
    weight: Const,
    sums: Const,
    *,
    rows: int,
    columns: int,
    steps: int,
    operations: int,
    rows_are: int = MATRIX,
    pixel_words: int = 4,
    geometry: Mapping[str, Param] | None = None,
    strides: tuple[int, int] = (1, 1),
    kernel: tuple[int, int] = (1, 1),
) -> Dispatch:
    """y [rows, columns] = requantize(x · weightᵀ), each a sum over `steps` times 16 bytes.

    weight [columns, steps] and sums [columns], columns padded to a multiple of 4. `geometry`: what gathers the rows of
    a convolution from maps whose pixels have `pixel_words` words: 1 or 2, or 4 for any whole number of vec4. `strides`
    and `kernel` are of a transposed one, which has weights and sums for each phase, one after another, and in `steps`
    those of the longest (see wgsl/gemm_io.wgsl).
    """
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
            **dict.fromkeys(_GEOMETRY, 1),
            **(geometry or {}),
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
