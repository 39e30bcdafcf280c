"""int8 ops without an accumulator: add, and what a table of 256 entries or a change of places can do."""

import math
from collections.abc import Callable, Iterator, Mapping

from webq8.handlers.registry import I8, SCALE, ZERO_POINT, Args, BadArg, Int, Number, check_scale, f32, op
from webq8.ir import Const, Dispatch
from webq8.layout import LayoutName, strides

__all__ = ["requantizing_table"]


def quantize(value: float, inv_scale: float, zero_point: int) -> int:
    """Host's twin of wgsl/quantize.wgsl, in float32 steps; Python's `round` too takes ties to even."""
    scaled = f32(value * inv_scale)
    return int(min(max(scaled if math.isinf(scaled) else round(scaled) + zero_point, -128), 127))


def requantizing_table(
    x_scale: float, x_zero_point: int, y_scale: float, y_zero_point: int, function: Callable[[float], float]
) -> Const:
    """The int8 result of each int8 input −128…127: dequantized, `function`, quantized."""
    inv_y_scale = f32(1.0 / y_scale)
    values = (f32((x - x_zero_point) * f32(x_scale)) for x in range(-128, 128))
    return Const(bytes(quantize(function(v), inv_y_scale, y_zero_point) & 255 for v in values))


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
    table = requantizing_table(a.x_scale, a.x_zero_point, a.y_scale, a.y_zero_point, lambda v: max(v, 0.0))
    yield _gather(a, a.x.shape, strides(a.x.shape, a.x.layout_name), table)


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
    yield _gather(
        a,
        sizes,
        places,
        requantizing_table(a.x_scale, a.x_zero_point, 1.0 / a.inv_y_scale, a.y_zero_point, lambda v: v),
    )


def _gather(a: Args, sizes: tuple[int, ...], places: tuple[int, ...], table: Const) -> Dispatch:
    """y's row-major elements, numbered by `sizes`, from x's bytes `places` apart, through a table."""
    y = a.out.layout
    return Dispatch(
        "gather_int8",
        {"x": a.x.id, "table": table, "y": a.out.id},
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
    )


def _broadcast(a: Args) -> Mapping[str, tuple[int, ...]]:
    rank = max(len(a.A), len(a.B))
    pairs = zip((1,) * (rank - len(a.A)) + a.A, (1,) * (rank - len(a.B)) + a.B, strict=True)
    sizes = []
    for x, y in pairs:
        if x != y and 1 not in (x, y):
            raise BadArg(f"shapes {list(a.A)} and {list(a.B)} do not broadcast")
        sizes.append(y if x == 1 else x)
    return {"O": tuple(sizes)}


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
    derive=_broadcast,
    check=_check_alpha,
)
def add(a: Args) -> Iterator[Dispatch]:
    """y = quantize((a − a_zero_point) · a_scale + alpha · ((b − b_zero_point) · b_scale)): int8, shapes broadcast."""
    y, rank = a.out.layout, len(a.O)
    same = all(t.shape == a.O and t.layout.same_bytes(y) for t in (a.a, a.b))
    yield Dispatch(
        "add_int8",
        {"a": a.a.id, "b": a.b.id, "y": a.out.id},
        {
            "words": y.words,
            "channels": y.channels,
            "inner": y.inner,
            "channel_words": y.padded // 4,
            "rank": rank,
            "sizes": tuple(reversed(a.O)),
            "a_places": _places(a.a.shape, a.a.layout_name, a.O),
            "b_places": _places(a.b.shape, a.b.layout_name, a.O),
            "a_zero_point": a.a_zero_point,
            "a_scale": f32(a.a_scale),
            "b_zero_point": a.b_zero_point,
            "b_scale": f32(a.b_scale),
            "alpha": f32(a.alpha),
            "inv_y_scale": f32(1.0 / a.y_scale),
            "y_zero_point": a.y_zero_point,
        },
        threads=y.words,
        constants={"elementwise": same},
    )


def _places(shape: tuple[int, ...], name: LayoutName, out: tuple[int, ...]) -> tuple[int, ...]:
    """Bytes between neighbours along each axis of the broadcast output, innermost first; 0 along broadcast ones."""
    steps = strides(shape, name)
    places = [0 if size == 1 else step for size, step in zip(shape, steps, strict=True)]
    return tuple(reversed([0] * (len(out) - len(shape)) + places))
