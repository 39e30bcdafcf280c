"""Pooling: maximum of float32 and int8 maps, average of float32 maps."""

from webq8.formats.pte.schema import F32, I8, Arg, Argument, Bool, Int, Pair, TensorArg, TensorList, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, MaxPool2dIndices
from webq8.ir.ops.window import Padding, Window
from webq8.ir.types import BadArg, Ref

__all__ = ["AVERAGE", "checked_divisor", "window_of"]

_WINDOW: dict[str, Arg] = {
    "kernel": Pair(1),
    "stride": Pair(1, optional=True, default=()),  # none: the kernel's size
    "padding": Pair(default=0),
}
_CEIL_MODE = Bool(default=False)
# what calls say of their windows, beside their tensors
_MAXIMUM: dict[str, Arg] = {**_WINDOW, "dilation": Pair(1, default=1), "ceil_mode": _CEIL_MODE}
AVERAGE: dict[str, Arg] = {
    **_WINDOW,
    "ceil_mode": _CEIL_MODE,
    "count_include_pad": Bool(absent=True, default=True),
    "divisor_override": Int(optional=True, default=None),
}


def window_of(
    kernel: tuple[int, int],
    stride: tuple[int, int] | None,
    padding: tuple[int, int],
    dilation: tuple[int, int] = (1, 1),
) -> Window:
    """A window with the same padding on opposite edges."""
    return Window(kernel, stride or kernel, Padding(*padding, *padding), dilation)


def checked_divisor(divisor_override: int | None) -> int | None:
    if divisor_override == 0:
        raise BadArg("divisor_override is 0")
    return divisor_override


@lowers("aten.max_pool2d.default", x=F32("*B H W"), **_MAXIMUM, out=F32("*B OH OW"))
@lowers("webq8.max_pool2d_int8.default", x=I8("N C H W"), **_MAXIMUM, out=I8("N C OH OW"))
def max_pool2d(
    g: Builder,
    x: Argument,
    kernel: tuple[int, int],
    stride: tuple[int, int] | None,
    padding: tuple[int, int],
    dilation: tuple[int, int],
    ceil_mode: bool,
) -> Ref:
    """The largest element of each window of x: float32 [N, C, H, W] or [C, H, W], with NaN where there is one, or int8
    [N, C, H, W].

    kernel, stride (the kernel's size, where empty), padding and dilation in elements: (height, width), or one for both.
    """
    return g.emit(MaxPool2d(x.ref, window_of(kernel, stride, padding, dilation), ceil_mode))


@lowers(
    "aten.max_pool2d_with_indices.default",
    "aten::max_pool2d_with_indices.out",
    x=F32("*B H W"),
    **_MAXIMUM,
    out=TensorList((F32("*B OH OW"), TensorArg(("int64", "int32"), "*B OH OW"))),
)
def max_pool2d_with_indices(
    g: Builder,
    x: Argument,
    kernel: tuple[int, int],
    stride: tuple[int, int] | None,
    padding: tuple[int, int],
    dilation: tuple[int, int],
    ceil_mode: bool,
) -> tuple[Ref, Ref]:
    """`max_pool2d`, and where in its map (row · W + column) each result stands: the first of equals, the last NaN."""
    window = window_of(kernel, stride, padding, dilation)
    value = g.emit(MaxPool2d(x.ref, window, ceil_mode))
    return value, g.emit(MaxPool2dIndices(x.ref, window, ceil_mode, g.declared_dtype("int64", 1)))


@lowers(
    "aten.avg_pool2d.default",
    "aten::avg_pool2d.out",
    x=F32("*B H W"),
    **AVERAGE,
    out=F32("*B OH OW"),
)
def avg_pool2d(
    g: Builder,
    x: Argument,
    kernel: tuple[int, int],
    stride: tuple[int, int] | None,
    padding: tuple[int, int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Ref:
    """The sum of each window of x float32 [N, C, H, W] or [C, H, W], over its number of elements.

    That number includes padding (but not what `ceil_mode` adds) with `count_include_pad`; `divisor_override` replaces
    it. kernel, stride and padding as in `max_pool2d`.
    """
    window, divisor = window_of(kernel, stride, padding), checked_divisor(divisor_override)
    return g.emit(AvgPool2d(x.ref, window, ceil_mode, count_include_pad, divisor))


@lowers(
    "aten._adaptive_avg_pool2d.default",
    "aten.adaptive_avg_pool2d.default",
    "aten::_adaptive_avg_pool2d.out",
    "aten::adaptive_avg_pool2d.out",
    x=F32("*B H W"),
    output_size=Pair(),
    out=F32("*B OH OW"),
)
def adaptive_avg_pool2d(g: Builder, x: Argument, output_size: tuple[int, int]) -> Ref:
    """The mean of each of `output_size` (height, width) windows that divide x float32 [N, C, H, W] or [C, H, W].

    Window i of O takes rows floor(i·H/O) to ceil((i + 1)·H/O) of H; columns alike.
    """
    return g.emit(AdaptiveAvgPool2d(x.ref, output_size))
