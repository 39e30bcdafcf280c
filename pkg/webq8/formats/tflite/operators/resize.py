"""Resizing of maps."""

from webq8.formats import xnnpack
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Maps, Value
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.resize import ResizeBilinear
from webq8.ir.types import BadArg

__all__: list[str] = []


def _size(size: Value) -> tuple[int, int]:
    sizes = size.ints("the size")
    if len(sizes) != 2 or min(sizes) < 1:
        raise BadArg(f"a size of {list(sizes)}: height and width are expected")
    return sizes[0], sizes[1]


@lowers("RESIZE_BILINEAR", align_corners="2?", half_pixel="3?")
def resize_bilinear(g: Emitter, x: Value, size: Value, *, align_corners: int, half_pixel: int) -> Lowered:
    to = _size(size)
    if x.is_int8:
        return Maps(xnnpack.resize_bilinear(g.builder, x.maps, to, bool(align_corners), bool(half_pixel)))
    op = ResizeBilinear(x.maps, to, (0.0, 0.0), bool(align_corners), bool(half_pixel))
    return Maps(g.builder.emit(op))


@lowers("RESIZE_NEAREST_NEIGHBOR", align_corners="0?", half_pixel="1?")
def resize_nearest(g: Emitter, x: Value, size: Value, *, align_corners: int, half_pixel: int) -> Lowered:
    to, modes = _size(size), (bool(align_corners), bool(half_pixel))
    if x.is_int8:
        return Maps(xnnpack.resize_nearest(g.builder, x.maps, to, *modes))
    ref, (height, width) = x.maps, x.shape[1:3]
    for axis, (old, new) in enumerate(((height, to[0]), (width, to[1])), 2):
        ref = g.builder.emit(Index(ref, (g.int32s(xnnpack.nearest(old, new, *modes)),), (axis,)))
    return Maps(ref)
