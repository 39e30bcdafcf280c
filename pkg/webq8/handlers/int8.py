"""int8 ops without an accumulator: add, and what a table of 256 entries or a change of places can do."""

import math
from array import array
from collections.abc import Iterator, Mapping

from webq8.dtypes import cdiv
from webq8.handlers.elementwise import broadcast
from webq8.handlers.pool import DILATION, KERNEL, PADDING, STRIDE, pooled
from webq8.handlers.registry import (
    I8,
    SCALE,
    ZERO_POINT,
    Args,
    BadArg,
    Bool,
    Int,
    Ints,
    Number,
    TensorList,
    check_scale,
    f32,
    op,
)
from webq8.ir import Const, Dispatch, Param
from webq8.plan.layout import LayoutName, strides

__all__ = ["IDENTITY", "RELU", "UNBOUNDED", "Clamp", "requantizing_table"]

Clamp = tuple[float, float]  # low, high: min(max(v, low), high), so high where low is above it

IDENTITY = bytes(v & 255 for v in range(-128, 128))
UNBOUNDED: Clamp = -math.inf, math.inf
RELU: Clamp = 0.0, math.inf


def requantizing_table(
    x_scale: float,
    x_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    clamp: Clamp = UNBOUNDED,
    bounds: tuple[int, int] = (-128, 127),
) -> bytes:
    """The int8 result of each int8 input −128…127: dequantized, clamped, quantized, all in float32 steps.

    A twin of wgsl/dequantize.wgsl and quantize.wgsl on the host; Python's `round` too takes ties to even.
    """
    scale, inv_y_scale, (bottom, top), (low, high) = f32(x_scale), f32(1.0 / y_scale), clamp, bounds
    values = array("f", [(x - x_zero_point) * scale for x in range(-128, 128)])
    scaled = array("f", [min(max(v, bottom), top) * inv_y_scale for v in values])
    results = [v if math.isinf(v) else round(v) + y_zero_point for v in scaled]
    return bytes([int(min(max(v, low), high)) & 255 for v in results])


@op(
    "et_vk.q8ta_relu.default",
    x=I8("*S"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    out=I8("*S"),
)
def relu(a: Args) -> Iterator[Dispatch]:
    """y = quantize(max((x − x_zero_point) · x_scale, 0)): int8 of any shape, by a table of 256 entries."""
    table = requantizing_table(a.x_scale, a.x_zero_point, a.y_scale, a.y_zero_point, RELU)
    yield _through_table(a, table)


@op("webq8.table.default", x=I8("*S"), table=Ints(), out=I8("*S"))
def table(a: Args) -> Iterator[Dispatch]:
    """y = table[x + 128]: int8 of any shape; what rewriting makes of dequantize → function → quantize."""
    yield _through_table(a, bytes(v & 255 for v in a.table))


def _through_table(a: Args, table: bytes) -> Dispatch:
    return _gather(a, a.x.shape, strides(a.x.shape, a.x.layout_name), table)


def _pixel_shuffle_shape(a: Args) -> Mapping[str, int]:
    if a.C % (a.upscale_factor**2):
        raise BadArg(f"upscale_factor {a.upscale_factor} squared does not divide {a.C} channels")
    r = a.upscale_factor
    return {"OC": a.C // r**2, "OH": a.H * r, "OW": a.W * r}


def _check_inverse_scale(a: Args) -> None:
    check_scale(a.inv_y_scale, "inv_y_scale: ")


@op(
    "et_vk.q8ta_pixel_shuffle.default",
    x=I8("N C H W", "channels"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    inv_y_scale=Number(),
    y_zero_point=ZERO_POINT,
    upscale_factor=Int(1),
    out=I8("N OC OH OW", "channels"),
    derive=_pixel_shuffle_shape,
    check=_check_inverse_scale,
)
def pixel_shuffle(a: Args) -> Iterator[Dispatch]:
    """y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w] with r = upscale_factor, requantized where scales differ.

    x int8 [N, C, H, W], y int8 [N, C/r², H·r, W·r]; inv_y_scale is 1/y_scale, as the schema has it.
    """
    r, (n, c, h, w) = a.upscale_factor, strides(a.x.shape, a.x.layout_name)
    sizes, places = (a.N, a.OC, a.H, r, a.W, r), (n, c * r * r, h, c * r, w, c)
    yield _gather(a, sizes, places, requantizing_table(a.x_scale, a.x_zero_point, 1.0 / a.inv_y_scale, a.y_zero_point))


def _gather(a: Args, sizes: tuple[int, ...], places: tuple[int, ...], table: bytes) -> Dispatch:
    """y's row-major elements, numbered by `sizes`, from x's bytes `places` apart, through a table."""
    x, y = a.x.layout, a.out.layout
    return Dispatch(
        "gather_int8",
        {"x": a.x.id, "table": Const(table), "y": a.out.id},
        {
            "words": y.words,
            "channels": y.channels,
            "inner": y.inner,
            "channel_words": y.padded // 4,
            "rank": len(sizes),
            "sizes": tuple(reversed(sizes)),
            "places": tuple(reversed(places)),
        },
        threads=y.words,
        constants={"elementwise": a.x.shape == a.out.shape and x.same_bytes(y)},
    )


def _check_alpha(a: Args) -> None:
    if not math.isfinite(f32(a.alpha)):
        raise BadArg(f"alpha: {a.alpha} is not a finite float32 number")


@op(
    "et_vk.q8ta_add.default",
    a=I8("*A"),
    b=I8("*B"),
    a_scale=SCALE,
    a_zero_point=ZERO_POINT,
    b_scale=SCALE,
    b_zero_point=ZERO_POINT,
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    alpha=Number(default=1.0),
    out=I8("*O"),
    derive=lambda a: {"O": broadcast(a.A, a.B)},
    check=_check_alpha,
    fuses_clamp=True,
)
def add(a: Args) -> Iterator[Dispatch]:
    """y = quantize((a − a_zero_point) · a_scale + alpha · ((b − b_zero_point) · b_scale)): int8, shapes broadcast."""
    y = a.out.layout
    bind = {"a": a.a.id, "b": a.b.id, "y": a.out.id}
    params: dict[str, Param] = {
        "a_zero_point": a.a_zero_point,
        "a_scale": f32(a.a_scale),
        "b_zero_point": a.b_zero_point,
        "b_scale": f32(a.b_scale),
        "alpha": f32(a.alpha),
        "inv_y_scale": f32(1.0 / a.y_scale),
        "y_zero_point": a.y_zero_point,
        "y_min": a.clamp[0],
        "y_max": a.clamp[1],
    }
    if y.words % 4 == 0 and all(t.shape == a.O and t.layout.same_bytes(y) for t in (a.a, a.b)):
        yield Dispatch("add_int8_flat", bind, {"groups": y.words // 4, **params}, threads=y.words // 4)
        return
    params |= {
        "words": y.words,
        "channels": y.channels,
        "inner": y.inner,
        "channel_words": y.padded // 4,
        "rank": len(a.O),
        "sizes": tuple(reversed(a.O)),
        "a_places": _places(a.a.shape, a.a.layout_name, a.O),
        "b_places": _places(a.b.shape, a.b.layout_name, a.O),
    }
    yield Dispatch("add_int8", bind, params, threads=y.words)


def _places(shape: tuple[int, ...], name: LayoutName, out: tuple[int, ...]) -> tuple[int, ...]:
    """Bytes between neighbours along each axis of the broadcast output, innermost first; 0 along broadcast ones."""
    steps = strides(shape, name)
    places = [0 if size == 1 else step for size, step in zip(shape, steps, strict=True)]
    return tuple(reversed([0] * (len(out) - len(shape)) + places))


@op(
    "webq8.max_pool2d_int8.default",
    x=I8("N C H W", "channels"),
    kernel=KERNEL,
    stride=STRIDE,
    padding=PADDING,
    dilation=DILATION,
    ceil_mode=Bool(default=False),
    out=I8("N C OH OW", "channels"),
    derive=lambda a: pooled(a, a.dilation),
)
def max_pool2d(a: Args) -> Iterator[Dispatch]:
    """The largest of each window: int8 [N, C, H, W]; what rewriting makes of dequantize → max_pool2d → quantize."""
    y, (sh, sw) = a.out.layout, a.stride or a.kernel
    yield Dispatch(
        "max_pool2d_int8",
        {"x": a.x.id, "y": a.out.id},
        {
            "words": y.words,
            "channel_words": y.padded // 4,
            "y_height": a.OH,
            "y_width": a.OW,
            "x_height": a.H,
            "x_width": a.W,
            "kernel_height": a.kernel[0],
            "kernel_width": a.kernel[1],
            "stride_height": sh,
            "stride_width": sw,
            "pad_height": a.padding[0],
            "pad_width": a.padding[1],
            "dilation_height": a.dilation[0],
            "dilation_width": a.dilation[1],
        },
        threads=y.words,
    )


def _joined(a: Args) -> Mapping[str, int]:
    shapes = [t.shape for t in a.tensors]
    if any(len(s) != 4 or s[:1] + s[2:] != shapes[0][:1] + shapes[0][2:] for s in shapes):
        raise BadArg(f"tensors: shapes {[list(s) for s in shapes]} differ beyond their channels")
    if any(s[1] % 4 for s in shapes[:-1]):
        raise BadArg("tensors: only the last one's channels may be other than a multiple of 4")
    n, _, h, w = shapes[0]
    return {"N": n, "C": sum(s[1] for s in shapes), "H": h, "W": w}


@op(
    "webq8.cat_channels_int8.default",
    tensors=TensorList((I8("...", "channels"),)),
    out=I8("N C H W", "channels"),
    derive=_joined,
)
def cat_channels(a: Args) -> Iterator[Dispatch]:
    """Maps side by side along their channels: int8 [N, C_i, H, W]; what rewriting makes of `cat` along axis 1 where all
    but the last have whole words of channels, so that they stay channels-last."""
    first, y = 0, a.out.layout
    for x in a.tensors:
        words = cdiv(x.shape[1], 4)
        params = {
            "words": y.outer * y.inner * words,
            "channel_words": words,
            "x_channel_words": x.layout.padded // 4,
            "y_channel_words": y.padded // 4,
            "first_word": first,
        }
        yield Dispatch("cat_int8", {"x": x.id, "y": a.out.id}, params, threads=y.outer * y.inner * words)
        first += words
