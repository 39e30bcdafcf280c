"""Pools."""

import math

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, Value, operator
from webq8.formats.onnx.operators.elementwise import binary, unary
from webq8.formats.onnx.operators.move import padded
from webq8.formats.onnx.operators.window import Windows, windows
from webq8.ir.ops.move import Pad
from webq8.ir.ops.pool import AvgPool2d, MaxPool2d, MaxPool2dIndices
from webq8.ir.ops.reduce import Extremum, Mean
from webq8.ir.ops.window import Padding, Window
from webq8.ir.types import BadArg, Ref


def _window(w: Windows) -> Window:
    return Window(w.kernel, w.stride, w.padding, w.dilation)


def _fits(w: Windows) -> bool:
    """Whether the op takes this padding; else it is laid around the map before."""
    return all(p <= k // 2 for p, k in zip(w.padding, w.kernel * 2, strict=True))


def _mapped(c: Call, x: Ref) -> Ref:
    """x as maps [N, C, H, W]."""
    n, channels, *size = c.g.type(x).shape
    return c.reshaped(x, (n, channels, *(1,) * (2 - len(size)), *size))


def _unmapped(c: Call, y: Ref) -> Ref:
    n, channels, *size = c.g.type(y).shape
    return c.reshaped(y, (n, channels, *size[2 - (len(c.shape()) - 2) :]))


@operator("MaxPool")
def max_pool(c: Call) -> Result:
    if c.integer("storage_order", 0):
        raise BadArg("storage_order: indices in column-major order are not supported", Unsupported)
    w, ceil = windows(c, c.shape()[2:], c.integers("kernel_shape")), bool(c.integer("ceil_mode", 0))
    value = c.value(0)
    tensor = c.g.type(value.ref)
    if tensor.dtype not in ("int8", "float32") or (tensor.dtype == "uint8"):
        value = c.shifted(value)
    x = value._replace(ref=_mapped(c, value.ref))
    least = {"float32": -math.inf, "int8": -128 + 128 * value.shifted}
    if not _fits(w):
        around = w.padding
        x = padded(c, x, [0, 0, *around[:2]], [0, 0, *around[2:]], least[c.g.type(x.ref).dtype])
        w = w._replace(padding=Padding())
    y = x._replace(ref=_unmapped(c, c.emit(MaxPool2d(x.ref, _window(w), ceil))))
    if len(c.node.outputs) < 2:
        return y
    if w.padding == Padding() and any(windows(c, c.shape()[2:], c.integers("kernel_shape")).padding):
        raise BadArg("indices of windows padded by more than half of the kernel are not supported", Unsupported)
    if tensor.dtype != "float32":
        raise BadArg(f"indices of maxima of {tensor.dtype} are not supported", Unsupported)
    places = c.emit(MaxPool2dIndices(x.ref, _window(w), ceil, "int64"))
    shape, size = c.g.type(places).shape, numel(c.shape()[2:])
    first = c.numbers([n * size for n in range(numel(shape[:2]))], (*shape[:2], 1, 1), "int64")
    return y, Value(_unmapped(c, binary(c, places, first, "add")))


@operator("AveragePool")
def average_pool(c: Call) -> Result:
    w, ceil = windows(c, c.shape()[2:], c.integers("kernel_shape")), bool(c.integer("ceil_mode", 0))
    if max(w.dilation) > 1:
        raise BadArg("dilations of an average are not supported", Unsupported)
    counted, x = bool(c.integer("count_include_pad", 0)), _mapped(c, c.x())
    uneven = w.padding[:2] != w.padding[2:]
    if not _fits(w) or (counted and uneven):
        if not counted or ceil:
            raise BadArg(f"pads {list(w.padding)} of an average are not supported", Unsupported)
        top, left, bottom, right = w.padding
        x = c.emit(Pad(x, (0, 0, top, left), (0, 0, bottom, right), 0.0))
        w = w._replace(padding=Padding())
    return _unmapped(c, c.emit(AvgPool2d(x, _window(w), ceil, counted, None)))


@operator("LpPool")
def power_pool(c: Call) -> Result:
    p = c.integer("p", 2)
    if p not in (1, 2):
        raise BadArg(f"p = {p} is not supported; 1 and 2 are", Unsupported)
    w, x = windows(c, c.shape()[2:], c.integers("kernel_shape")), _mapped(c, c.x())
    if max(w.dilation) > 1 or c.integer("ceil_mode", 0):
        raise BadArg("dilations and ceil_mode are not supported", Unsupported)
    powers = unary(c, x, "abs") if p == 1 else binary(c, x, x, "mul")
    top, left, bottom, right = w.padding
    powers = c.emit(Pad(powers, (0, 0, top, left), (0, 0, bottom, right), 0.0)) if any(w.padding) else powers
    total = c.emit(AvgPool2d(powers, _window(w._replace(padding=Padding())), False, True, 1))
    return _unmapped(c, total if p == 1 else unary(c, total, "sqrt"))


@operator("GlobalAveragePool")
def global_average_pool(c: Call) -> Result:
    return c.emit(Mean(c.x(), tuple(range(2, len(c.shape()))), True))


@operator("GlobalMaxPool")
def global_max_pool(c: Call) -> Result:
    return c.emit(Extremum(c.x(), tuple(range(2, len(c.shape()))), True, True))
