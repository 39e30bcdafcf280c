"""int8 convolutions over channels-last maps."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from webq8.dtypes import cdiv, numel, round_up
from webq8.ir.ops.conv import Conv2d
from webq8.ir.plan import Const, Dispatch, Param
from webq8.kernels import select
from webq8.kernels.epilogue import Products
from webq8.kernels.gemm import Rows, gemm
from webq8.kernels.linear import matrix_product
from webq8.kernels.registry import Call, kernel
from webq8.kernels.weights import (
    int32s,
    pack_columns,
    pack_phases,
    pack_rows,
    pack_windows,
    row_sums,
    sums_by_tap,
)
from webq8.kernels.windows import maps_params, window_params

__all__: list[str] = []

_PIXELS = 4  # of y that a thread of the kernels by floats makes
# How many x · weight a float32 sums exactly, whatever they are: 128 · 128 · 1,024 = 2²⁴.
_EXACT_PRODUCTS = 1024


class _Convolution(NamedTuple):
    """A convolution, and the numbers that several of its kernels need."""

    op: Conv2d
    p: Products

    @property
    def out_channels(self) -> int:
        return self.p.weight.shape[0]

    @property
    def in_channels(self) -> int:
        """Channels of x that a group of channels of y reads."""
        return self.p.weight.shape[3]

    @property
    def kernel(self) -> tuple[int, int]:
        return self.p.weight.shape[1], self.p.weight.shape[2]

    @property
    def taps(self) -> int:
        return self.kernel[0] * self.kernel[1]

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of y's maps."""
        return self.p.y.shape[2], self.p.y.shape[3]

    @property
    def pixels(self) -> int:
        """Pixels of y, of all maps."""
        return self.p.y.shape[0] * self.size[0] * self.size[1]

    @property
    def pixel_bytes(self) -> int:
        """Bytes of a pixel of x, with the padding of its channels."""
        return self.p.x.layout.padded

    @property
    def operations(self) -> int:
        """Two for each product, those of taps outside of the map as well. A transposed convolution takes every tap for
        each pixel of x, others for each pixel of y."""
        n, _, *size = (self.p.x if self.op.transposed else self.p.y).shape
        return 2 * n * numel(tuple(size)) * numel(self.p.weight.shape)

    def tap_sums(self) -> Const:
        """Sums of the weights of each tap: what x's zero point is multiplied by."""
        sums = row_sums(self.p.weight.data, self.out_channels, self.taps, self.in_channels)
        return sums_by_tap(sums, self.out_channels, self.taps, round_up(self.out_channels, 4))

    def maps(self) -> dict[str, int]:
        return maps_params(self.p.x.shape, self.p.y.shape)

    def window(self) -> dict[str, int]:
        return window_params(self.kernel, self.op.stride, self.op.padding, self.op.dilation)

    def params(self) -> dict[str, Param]:
        """Params that all kernels but matrix products have."""
        return {
            "n_words": cdiv(self.out_channels, 4),
            "y_channel_words": self.p.y.layout.padded // 4,
            "x_channel_words": self.pixel_bytes // 4,
            "maps": self.maps(),
            "window": self.window(),
            **self.p.params(),
        }


@kernel(Conv2d, layout="channels")
def conv2d(op: Conv2d, call: Call) -> Iterator[Dispatch]:
    """A convolution by the kernel that kernels/select.py chooses; a pointwise one is a matrix product."""
    x, weight = call[op.x], call[op.weight]
    bias = None if op.bias is None else call[op.bias]
    products = Products(x, weight, bias, call.out, op, call.target)
    pixel_bytes = x.layout.padded
    by = select.convolution(op, weight.shape, x.shape[1], pixel_bytes, call.target)
    if by == "pointwise":
        n, channels, *size = x.shape
        yield from matrix_product(products, n * numel(tuple(size)), channels, weight.shape[0], pixel_bytes)
    else:
        yield _WAYS[by](_Convolution(op, products))


def _gemm(c: _Convolution) -> Dispatch:
    """A convolution as a matrix product, whose rows the kernel gathers from the maps: the taps of a pixel, one after
    another."""
    data, row = c.p.weight.data, round_up(c.taps * c.pixel_bytes, 16)
    return gemm(
        c.p,
        pack_rows(data, c.out_channels, c.taps, c.in_channels, c.pixel_bytes, row),
        int32s(row_sums(data, c.out_channels, 1, c.taps * c.in_channels), round_up(c.out_channels, 4)),
        rows=c.pixels,
        columns=c.out_channels,
        steps=row // 16,
        operations=c.operations,
        x_rows=Rows("convolution", c.maps(), c.window(), c.size, c.pixel_bytes),
    )


def _phases(c: _Convolution) -> Dispatch:
    """A transposed convolution as matrix products, one for each remainder of a tap divided by the stride."""
    stride = c.op.stride
    weight, sums = pack_phases(c.p.weight.data, c.out_channels, c.kernel, stride, c.in_channels, c.pixel_bytes)
    height, width = cdiv(c.size[0], stride[0]), cdiv(c.size[1], stride[1])
    most_taps = cdiv(c.kernel[0], stride[0]) * cdiv(c.kernel[1], stride[1])
    return gemm(
        c.p,
        weight,
        sums,
        rows=c.p.x.shape[0] * height * width,
        columns=c.out_channels,
        steps=most_taps * c.pixel_bytes // 16,
        operations=c.operations,
        x_rows=Rows("transposed", c.maps(), c.window(), (height, width), c.pixel_bytes, stride, c.kernel),
    )


def _direct(c: _Convolution) -> Dispatch:
    return Dispatch(
        "conv2d",
        {
            "x": c.p.x.id,
            "weight": pack_rows(c.p.weight.data, c.out_channels, c.taps, c.in_channels, c.pixel_bytes),
            "tap_sums": c.tap_sums(),
            "channel": c.p.channel(),
            "y": c.p.y.id,
        },
        {"pixels": c.pixels, **c.params()},
        threads=cdiv(c.pixels, _PIXELS) * cdiv(c.out_channels, 4),
        constants={"long_sums": c.in_channels > _EXACT_PRODUCTS, **c.p.overrides()},
        operations=c.operations,
    )


def _windowed(c: _Convolution) -> Dispatch:
    packed = pack_windows(c.p.weight.data, c.out_channels, c.op.groups, c.taps, c.in_channels)
    (height, width), n_words = c.size, cdiv(c.out_channels, 4)
    words = c.pixels * n_words
    bind: dict[str, int | Const] = {
        "x": c.p.x.id,
        "weight": packed.weights,
        "first": packed.first,
        "channel": c.p.channel(),
        "y": c.p.y.id,
    }
    params: dict[str, Param] = {"window_words": packed.window, **c.params()}
    constants = {"shared_window": packed.shared, "transposed": c.op.transposed, **c.p.overrides()}
    # between the pixels of a thread, so that they take the same taps
    pixel_stride = max(1, min(c.op.stride[1], width)) if c.op.transposed else 1
    name = select.windowed(4 * packed.window, width // pixel_stride, words, c.p.target)
    if name == "conv2d_windowed_floats":
        constants["long_sums"] = c.taps * 4 * packed.window > select.EXACT_TERMS
        rows, blocks = c.p.y.shape[0] * height, cdiv(cdiv(width, pixel_stride), _PIXELS)
        params |= {"rows": rows, "blocks": blocks, "pixel_stride": pixel_stride}
        threads = rows * pixel_stride * blocks * n_words
        return Dispatch(name, bind, params, threads, constants, operations=c.operations)
    bind["tap_sums"] = c.tap_sums()
    return Dispatch(name, bind, params | {"words": words}, words, constants, operations=c.operations)


def _depthwise(c: _Convolution) -> Dispatch:
    words = c.pixel_bytes // 4
    bind: dict[str, int | Const] = {
        "x": c.p.x.id,
        "weight": pack_columns(c.p.weight.data, c.out_channels, c.taps, 4 * words),
        "channel": c.p.channel(),
        "y": c.p.y.id,
    }
    name = select.depthwise(c.op, c.kernel, c.pixels * words, c.pixel_bytes, c.p.target, c.p.y.edge is not None)
    if name == "conv2d_depthwise_3x3":
        return _depthwise_3x3(c, bind)
    params, threads = c.params() | {"n_words": words}, c.pixels * words
    if name == "conv2d_depthwise_floats":
        params["pixels"], threads = c.pixels, cdiv(c.pixels, _PIXELS) * words
    else:
        params["words"] = threads
        if name == "conv2d_depthwise_wide":
            threads //= 4
            del params["written"]  # it writes int8 alone
    return Dispatch(name, bind, params, threads, c.p.overrides(), operations=c.operations)


def _depthwise_3x3(c: _Convolution, bind: Mapping[str, int | Const]) -> Dispatch:
    (n, _, height, width), words = c.p.y.shape, c.pixel_bytes // 4
    strips = cdiv(width, 4 // c.op.stride[1])
    band_rows = select.band(height, n * strips * words)
    bands = cdiv(height, band_rows)
    threads = n * bands * strips * words
    return Dispatch(
        "conv2d_depthwise_3x3",
        bind,
        {
            "maps": c.maps(),
            "pad_height": c.op.padding[0],
            "pad_width": c.op.padding[1],
            **c.p.params(),
            "threads": threads,
            "stride": c.op.stride[0],
            "n_words": words,
            "strips": strips,
            "bands": bands,
            "band_rows": band_rows,
        },
        threads,
        c.p.overrides(),
        operations=c.operations,
    )


_WAYS: Mapping[str, Callable[[_Convolution], Dispatch]] = {
    "depthwise": _depthwise,
    "gemm": _gemm,
    "phases": _phases,
    "direct": _direct,
    "windowed": _windowed,
}
