"""Resizing of float32 maps."""

from webq8.formats.pte.schema import F32, Argument, Bool, Ints, Number, Numbers, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.resize import ResizeBilinear, ResizeNearest, check_scales
from webq8.ir.types import BadArg, Ref

__all__: list[str] = []

_NO_SCALE = Number(absent=0.0, default=None)
_SIZE, _SCALES = Ints(optional=True, default=None), Numbers(optional=True, default=None)


def _pair(values: tuple[float, ...]) -> tuple[float, float]:
    if len(values) != 2:
        raise BadArg("output_size and scale_factors are for height and width")
    return values[0], values[1]


def _size_and_scales(
    x: Argument, output_size: tuple[int, ...] | None, scale_factors: tuple[float, ...] | None
) -> tuple[tuple[int, int], tuple[float, float]]:
    """The output size and the scales, of which a call gives one."""
    if (output_size is None) == (scale_factors is None):
        raise BadArg("either output_size or scale_factors is needed")
    if output_size is not None:
        return _size(output_size), (0.0, 0.0)
    assert scale_factors is not None
    scales = _pair(scale_factors)
    check_scales(scales)
    return (int(x.shape[2] * scales[0]), int(x.shape[3] * scales[1])), scales


def _size(output_size: tuple[int, ...]) -> tuple[int, int]:
    height, width = _pair(output_size)
    return int(height), int(width)


@lowers(
    "aten.upsample_nearest2d.vec",
    "aten::upsample_nearest2d.vec_out",
    x=F32("N C H W"),
    output_size=_SIZE,
    scale_factors=_SCALES,
    out=F32("N C OH OW"),
)
def upsample_nearest2d(
    g: Builder, x: Argument, output_size: tuple[int, ...] | None, scale_factors: tuple[float, ...] | None
) -> Ref:
    """x float32 [N, C, H, W] to `output_size` (height, width), or to floor(size · scale_factors); the nearest element
    is floor(i · size / output size), or floor(i / scale factor)."""
    return g.emit(ResizeNearest(x.ref, *_size_and_scales(x, output_size, scale_factors)))


@lowers(
    "aten.upsample_nearest2d.default",
    "aten::upsample_nearest2d.out",
    x=F32("N C H W"),
    output_size=Ints(),
    scale_height=_NO_SCALE,
    scale_width=_NO_SCALE,
    out=F32("N C OH OW"),
)
def upsample_nearest2d_to_size(
    g: Builder, x: Argument, output_size: tuple[int, ...], scale_height: float, scale_width: float
) -> Ref:
    """`upsample_nearest2d` to `output_size`; the scales, if given, say which element is the nearest."""
    return g.emit(ResizeNearest(x.ref, _size(output_size), (scale_height, scale_width)))


@lowers(
    "aten.upsample_bilinear2d.vec",
    "aten::upsample_bilinear2d.vec_out",
    x=F32("N C H W"),
    output_size=_SIZE,
    align_corners=Bool(default=False),
    scale_factors=_SCALES,
    out=F32("N C OH OW"),
)
def upsample_bilinear2d(
    g: Builder,
    x: Argument,
    output_size: tuple[int, ...] | None,
    align_corners: bool,
    scale_factors: tuple[float, ...] | None,
) -> Ref:
    """x float32 [N, C, H, W] to `output_size` (height, width), or to floor(size · scale_factors), interpolated between
    the two nearest rows and columns: those at (i + 0.5) · size / output size − 0.5, or, with `align_corners`, at
    i · (size − 1) / (output size − 1)."""
    return g.emit(ResizeBilinear(x.ref, *_size_and_scales(x, output_size, scale_factors), align_corners))


@lowers(
    "aten.upsample_bilinear2d.default",
    "aten::upsample_bilinear2d.out",
    x=F32("N C H W"),
    output_size=Ints(),
    align_corners=Bool(),
    scale_height=_NO_SCALE,
    scale_width=_NO_SCALE,
    out=F32("N C OH OW"),
)
def upsample_bilinear2d_to_size(
    g: Builder,
    x: Argument,
    output_size: tuple[int, ...],
    align_corners: bool,
    scale_height: float,
    scale_width: float,
) -> Ref:
    """`upsample_bilinear2d` to `output_size`; the scales, if given, are used in place of the ratio of the sizes."""
    return g.emit(ResizeBilinear(x.ref, _size(output_size), (scale_height, scale_width), align_corners))
