"""Resizing of float32 maps. Which elements are read, and with what weight, is worked out here in float32, step by step
as torch does, for each row and column; the kernels look it up."""

import math
from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache

from webq8.dtypes import numel
from webq8.errors import LimitError, shown
from webq8.handlers.registry import F32, Args, BadArg, Bool, Ints, Number, Numbers, f32, op
from webq8.ir import Const, Dispatch

__all__ = ["linear_taps", "nearest_taps"]

_MOST_TAPS = 2**14  # rows or columns; each is worked out when a program is planned
_NO_SCALE = Number(absent=0.0, default=None)


def _sizes(a: Args) -> Mapping[str, object]:
    """Output sizes, and the scales that were given (0 where not)."""
    scales = getattr(a, "scale_factors", None)
    if (a.output_size is None) == (scales is None) and "scale_factors" in vars(a):
        raise BadArg("either output_size or scale_factors is needed")
    if any(values is not None and len(values) != 2 for values in (a.output_size, scales)):
        raise BadArg("output_size and scale_factors are for height and width")
    if scales is None:
        scales = (getattr(a, "scale_height", 0.0), getattr(a, "scale_width", 0.0))
    if not all(math.isfinite(f32(s)) and (s <= 0 or math.isfinite(f32(1.0 / s))) for s in scales):
        raise BadArg(f"scales of {shown(scales)} are not finite float32 numbers, or 1/scale is none")
    sizes = a.output_size
    if sizes is None:
        sizes = (int(a.H * scales[0]), int(a.W * scales[1]))
    if min(*sizes, a.H, a.W) < 1:
        raise BadArg(f"cannot resize {[a.H, a.W]} to {[*sizes]}")
    if max(sizes) > _MOST_TAPS:
        raise BadArg(f"a map of {[*sizes]} is more than {_MOST_TAPS:,} rows or columns", LimitError)
    return {"OH": sizes[0], "OW": sizes[1], "scales": scales}


def _scale(size: int, out: int, given: float) -> float:
    """Elements of x an element of y, in float32."""
    return f32(1.0 / given) if given > 0 else f32(size / out)


@lru_cache(64)
def nearest_taps(size: int, out: int, given: float) -> list[int]:
    """The row or column that each output reads."""
    scale = _scale(size, out, given)
    if out in (size, 2 * size):
        return [i * size // out for i in range(out)]
    return [min(math.floor(f32(f32(i) * scale)), size - 1) for i in range(out)]


@lru_cache(64)
def linear_taps(size: int, out: int, align_corners: bool, given: float) -> list[tuple[int, int, float]]:
    """The two rows or columns that each output reads, and the share of the second."""
    if out == size:
        return [(i, i, 0.0) for i in range(out)]
    scale = f32((size - 1) / max(out - 1, 1)) if align_corners else _scale(size, out, given)
    taps = []
    for i in range(out):
        at = f32(scale * i) if align_corners else max(0.0, f32(f32(scale * f32(i + 0.5)) - 0.5))
        first = min(math.floor(at), size - 1)
        taps.append((first, min(first + 1, size - 1), min(f32(at - first), 1.0)))
    return taps


def _nearest(a: Args) -> Dispatch:
    taps = [*nearest_taps(a.H, a.OH, a.scales[0]), *nearest_taps(a.W, a.OW, a.scales[1])]
    return Dispatch(
        "upsample_nearest2d",
        {"x": a.x.id, "taps": Const(array("I", taps).tobytes()), "y": a.out.id},
        {"outputs": numel(a.out.shape), "y_height": a.OH, "y_width": a.OW, "x_height": a.H, "x_width": a.W},
        numel(a.out.shape),
    )


def _bilinear(a: Args) -> Dispatch:
    taps = [
        *linear_taps(a.H, a.OH, a.align_corners, a.scales[0]),
        *linear_taps(a.W, a.OW, a.align_corners, a.scales[1]),
    ]
    return Dispatch(
        "upsample_bilinear2d",
        {
            "x": a.x.id,
            "taps": Const(array("I", [i for first, second, _ in taps for i in (first, second)]).tobytes()),
            "shares": Const(array("f", [share for *_, share in taps]).tobytes()),
            "y": a.out.id,
        },
        {"outputs": numel(a.out.shape), "y_height": a.OH, "y_width": a.OW, "x_height": a.H, "x_width": a.W},
        numel(a.out.shape),
    )


@op(
    "aten.upsample_nearest2d.vec",
    "aten::upsample_nearest2d.vec_out",
    x=F32("N C H W"),
    output_size=Ints(optional=True, default=None),
    scale_factors=Numbers(optional=True, default=None),
    out=F32("N C OH OW"),
    derive=_sizes,
)
def upsample_nearest2d(a: Args) -> Iterator[Dispatch]:
    """x float32 [N, C, H, W] to `output_size` (height, width), or to floor(size · scale_factors); the nearest element
    is floor(i · size / output size), or floor(i / scale factor)."""
    yield _nearest(a)


@op(
    "aten.upsample_nearest2d.default",
    "aten::upsample_nearest2d.out",
    x=F32("N C H W"),
    output_size=Ints(),
    scale_height=_NO_SCALE,
    scale_width=_NO_SCALE,
    out=F32("N C OH OW"),
    derive=_sizes,
)
def upsample_nearest2d_to_size(a: Args) -> Iterator[Dispatch]:
    """`upsample_nearest2d` to `output_size`; the scales, if given, say which element is the nearest."""
    yield _nearest(a)


@op(
    "aten.upsample_bilinear2d.vec",
    "aten::upsample_bilinear2d.vec_out",
    x=F32("N C H W"),
    output_size=Ints(optional=True, default=None),
    align_corners=Bool(default=False),
    scale_factors=Numbers(optional=True, default=None),
    out=F32("N C OH OW"),
    derive=_sizes,
)
def upsample_bilinear2d(a: Args) -> Iterator[Dispatch]:
    """x float32 [N, C, H, W] to `output_size` (height, width), or to floor(size · scale_factors), interpolated between
    the two nearest rows and columns: those at (i + 0.5) · size / output size − 0.5, or, with `align_corners`, at
    i · (size − 1) / (output size − 1)."""
    yield _bilinear(a)


@op(
    "aten.upsample_bilinear2d.default",
    "aten::upsample_bilinear2d.out",
    x=F32("N C H W"),
    output_size=Ints(),
    align_corners=Bool(),
    scale_height=_NO_SCALE,
    scale_width=_NO_SCALE,
    out=F32("N C OH OW"),
    derive=_sizes,
)
def upsample_bilinear2d_to_size(a: Args) -> Iterator[Dispatch]:
    """`upsample_bilinear2d` to `output_size`; the scales, if given, are used in place of the ratio of the sizes."""
    yield _bilinear(a)
