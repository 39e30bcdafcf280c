"""Which kernel an op gets on which device: rules from measurements (tests/bench/README.md), all in this file."""

from collections.abc import Sequence
from typing import Literal

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Binary, FixedPointSum, Lookup, ScaledProduct
from webq8.ir.ops.linear import Linear
from webq8.ir.types import Shape
from webq8.plan.layout import layout
from webq8.records import Record
from webq8.target import Target

__all__ = [
    "EXACT_TERMS",
    "TILES",
    "ConvolutionBy",
    "Tile",
    "band",
    "convolution",
    "depthwise",
    "matmul",
    "product",
    "quantizes",
    "tile",
    "windowed",
]


# --- products of matrices


class Tile(Record):
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
_TILE_COLUMNS = 32  # of the tiles of products that are not large
_FEW_ROWS = 4  # up to here matvec, which reads every weight once a row, wastes less than a tile does


def tile(rows: int, columns: int, steps: int, phases: int, target: Target) -> Tile:
    """The tile of a product of `rows` × `columns` results, each a sum over `steps` times 16 bytes, `phases` times over.

    Small problems get small tiles, so that their workgroups fill a large GPU (an H200 has 132 multiprocessors).
    """

    def makes(name: str, workgroups: int) -> bool:
        return name in target.kind.tiles and phases * TILES[name].count(rows, columns) >= workgroups

    # finding rows by phases takes a thread long, so here it makes the most results
    if phases > 1 and makes("large", 500):
        return TILES["large"]
    if target.max_compute_workgroup_storage_size >= _MATRIX_BYTES:
        if makes("matrix", 200) and columns > 64:
            return TILES["matrix"]
        if makes("matrix_64", 24) and columns > 16 and steps > 8:
            return TILES["matrix_64"]
    if makes("large", 100) and columns > 32:
        return TILES["large"]
    if makes("small", 64) or steps <= 8:
        return TILES["small"]
    return TILES["narrow"] if steps < 100 and makes("narrow", 24) else TILES["deep"]


def product(rows: int, target: Target) -> Literal["linear_gemv", "gemm", "linear"]:
    """The kernel of an int8 product of so many rows; `gemm` comes by tiles."""
    if rows == 1:
        return "linear_gemv"
    return "gemm" if target.kind.tiles else "linear"


def matmul(rows: int) -> Literal["matvec", "matmul"]:
    """The kernel of a float32 product of so many rows."""
    return "matvec" if rows <= _FEW_ROWS else "matmul"


# --- int8 convolutions

# How many (x − x_zero_point) · weight a float32 sums exactly, whatever they are: 255 · 128 · 514 < 2²⁴.
EXACT_TERMS = 514
# Of a row that a thread takes several pixels from, and of all results: with fewer, one word a thread is faster.
_FEWEST_PIXELS, _FEWEST_WORDS = 3, 48

ConvolutionBy = Literal["depthwise", "pointwise", "gemm", "phases", "direct", "windowed"]


def convolution(
    op: Conv2d, weight: tuple[int, ...], in_channels: int, pixel_bytes: int, target: Target
) -> ConvolutionBy:
    """How a convolution is computed: with a kernel a channel; as a product of matrices (x as it is, its pixels gathered
    by taps, or phase by phase where it is transposed); or by threads for a few pixels (of all channels, or of those of
    a group).

    `weight`: its shape; `pixel_bytes`: of x, with padding.
    """
    out_channels, *kernel, _ = weight
    whole, tiles = pixel_bytes % 16 == 0, bool(target.kind.tiles)  # whole vec4 of words
    if op.transposed:
        # strides beyond the kernel make phases without a tap
        gaps = any(s > k for s, k in zip(op.stride, kernel, strict=True))
        return "phases" if tiles and whole and not gaps and op.groups == 1 and op.dilation == (1, 1) else "windowed"
    if op.groups == in_channels == out_channels:
        return "depthwise"
    if op.groups > 1 or not (whole or tiles):
        return "windowed"
    if whole and (*kernel, *op.stride) == (1, 1, 1, 1) and not any(op.padding):
        return "pointwise"
    return "gemm" if tiles else "direct"


def depthwise(
    op: Conv2d, kernel: tuple[int, int], words: int, pixel_bytes: int, target: Target, to_float: bool = False
) -> str:
    """The kernel of a depthwise convolution with so many words of results; `to_float`: it dequantizes them."""
    if target.kind.pixels > 1 and kernel[0] * kernel[1] <= EXACT_TERMS and words >= _FEWEST_WORDS:
        return "conv2d_depthwise_floats"
    if target.kind.bands and kernel == (3, 3) and op.dilation == (1, 1) and op.stride in ((1, 1), (2, 2)):
        return "conv2d_depthwise_3x3"
    return "conv2d_depthwise_wide" if pixel_bytes % 16 == 0 and not to_float else "conv2d_depthwise"


def windowed(window_bytes: int, pixels: int, words: int, target: Target) -> str:
    """The kernel of a convolution that reads `window_bytes` of channels for each tap, has so many `pixels` in a row
    that take the same taps, and so many words of results."""
    large = words >= _FEWEST_WORDS and pixels >= _FEWEST_PIXELS
    by_floats = target.kind.pixels > 1 and window_bytes <= EXACT_TERMS and large
    return "conv2d_windowed_floats" if by_floats else "conv2d_windowed"


def band(rows: int, threads: int) -> int:
    """How many rows of a map a thread takes one after another, where each row has work for `threads`: long bands read
    x once, short ones make threads enough for a large GPU."""
    length = min(8, max(1, rows))
    while length > 1 and cdiv(rows, length) * threads < 2**15:
        length //= 2
    return length


# --- float32 that is quantized


def quantizes(op: Op, reads: Sequence[Shape], y: Shape, target: Target) -> bool:
    """Whether the kernel of an op on int8 quantizes its float32 operands as it reads them, which saves a dispatch.
    `reads` are the shapes of its operands. Kernels that read a number often quantize it as often."""
    if isinstance(op, Binary | FixedPointSum | ScaledProduct | Lookup):
        return True
    if isinstance(op, Linear):
        columns, rows = y[-1], numel(y[:-1])
        by = product(rows, target)
        numbers = numel(reads[0]) * cdiv(columns, 4 if by == "linear_gemv" else _TILE_COLUMNS)
        return by != "linear" and numbers <= target.kind.quantized
    if isinstance(op, Conv2d):
        channels = reads[0][1]
        way = convolution(op, reads[1], channels, layout(reads[0], "channels").padded, target)
        pixels, taps = y[0] * numel(y[2:]), numel(reads[1][1:3])
        numbers = pixels * taps * channels * cdiv(y[1], _TILE_COLUMNS)
        return way in ("gemm", "pointwise") and bool(target.kind.tiles) and numbers <= target.kind.quantized
    return False
