"""Pooling of float32 maps."""

from collections.abc import Iterator, Mapping

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.handlers.reduce import reduce_sum
from webq8.handlers.registry import (
    F32,
    Args,
    BadArg,
    Bool,
    Int,
    Operand,
    Pair,
    TensorArg,
    TensorList,
    op,
)
from webq8.ir import Dispatch

__all__ = ["COUNT", "DILATION", "KERNEL", "PADDING", "STRIDE", "adaptive_sizes", "check_divisor", "pooled"]


KERNEL = Pair(1)
STRIDE = Pair(1, optional=True, default=())  # none: the kernel's size
PADDING = Pair(default=0)
DILATION = Pair(1, default=1)


def _check_map(lead: tuple[int, ...]) -> None:
    if len(lead) not in (1, 2):
        raise BadArg(f"x: {len(lead) + 2} dimensions; 3 or 4 are a map (a batch of them) of channels")


def pooled(a: Args, dilation: tuple[int, int]) -> Mapping[str, int]:
    """Output sizes, by the formula in the documentation of `torch.nn.MaxPool2d`."""
    sizes = {}
    for i, letter in enumerate("HW"):
        size, kernel, padding = getattr(a, letter), a.kernel[i], a.padding[i]
        stride = (a.stride or a.kernel)[i]
        reach = dilation[i] * (kernel - 1) + 1
        if padding > kernel // 2:
            raise BadArg(f"padding {padding} is more than half of the kernel's size {kernel}")
        room = size + 2 * padding - reach
        out = (room + (stride - 1 if a.ceil_mode else 0)) // stride + 1
        if a.ceil_mode and (out - 1) * stride >= size + padding:
            out -= 1  # the last window may not begin in the padding after the map
        if out < 1 or not size:
            raise BadArg(f"a kernel that reaches {reach} does not fit size {size} with padding {padding}")
        sizes["O" + letter] = out
    return sizes


def _pooled(a: Args, dilation: tuple[int, int]) -> Mapping[str, int]:
    _check_map(a.B)
    return pooled(a, dilation)


def _geometry(a: Args, y: Operand) -> dict[str, int]:
    """Params of both pooling kernels."""
    (kh, kw), (ph, pw), (sh, sw) = a.kernel, a.padding, a.stride or a.kernel
    return {
        "outputs": numel(y.shape),
        "y_height": a.OH,
        "y_width": a.OW,
        "x_height": a.H,
        "x_width": a.W,
        "kernel_height": kh,
        "kernel_width": kw,
        "stride_height": sh,
        "stride_width": sw,
        "pad_height": ph,
        "pad_width": pw,
    }


def _max_pool(a: Args, y: Operand, index: bool) -> Dispatch:
    params = _geometry(a, y) | {"dilation_height": a.dilation[0], "dilation_width": a.dilation[1]}
    constants = {"index": index, "wide": y.tensor.dtype == "int64"}
    return Dispatch("max_pool2d", {"x": a.x.id, "y": y.id}, params, params["outputs"], constants)


@op(
    "aten.max_pool2d.default",
    x=F32("*B H W"),
    kernel=KERNEL,
    stride=STRIDE,
    padding=PADDING,
    dilation=DILATION,
    ceil_mode=Bool(default=False),
    out=F32("*B OH OW"),
    derive=lambda a: _pooled(a, a.dilation),
)
def max_pool2d(a: Args) -> Iterator[Dispatch]:
    """The largest element of each window of x float32 [N, C, H, W] or [C, H, W]; NaN where there is one.

    kernel, stride (the kernel's size, where empty), padding and dilation in elements: (height, width), or one for both.
    """
    yield _max_pool(a, a.out, index=False)


@op(
    "aten.max_pool2d_with_indices.default",
    "aten::max_pool2d_with_indices.out",
    x=F32("*B H W"),
    kernel=KERNEL,
    stride=STRIDE,
    padding=PADDING,
    dilation=DILATION,
    ceil_mode=Bool(default=False),
    out=TensorList((F32("*B OH OW"), TensorArg(("int64", "int32"), "*B OH OW"))),
    derive=lambda a: _pooled(a, a.dilation),
)
def max_pool2d_with_indices(a: Args) -> Iterator[Dispatch]:
    """`max_pool2d`, and where in its map (row · W + column) each result stands: the first of equals, the last NaN."""
    yield _max_pool(a, a.out[0], index=False)
    yield _max_pool(a, a.out[1], index=True)


COUNT = -(2**31)  # stands for a null: the number of elements divides


def check_divisor(a: Args) -> None:
    if a.divisor_override == 0:
        raise BadArg("divisor_override is 0")


@op(
    "aten.avg_pool2d.default",
    "aten::avg_pool2d.out",
    x=F32("*B H W"),
    kernel=KERNEL,
    stride=STRIDE,
    padding=PADDING,
    ceil_mode=Bool(default=False),
    count_include_pad=Bool(absent=True, default=True),
    divisor_override=Int(absent=COUNT, default=None),
    out=F32("*B OH OW"),
    derive=lambda a: _pooled(a, (1, 1)),
    check=check_divisor,
)
def avg_pool2d(a: Args) -> Iterator[Dispatch]:
    """The sum of each window of x float32 [N, C, H, W] or [C, H, W], over its number of elements.

    That number includes padding (but not what `ceil_mode` adds) with `count_include_pad`; `divisor_override` replaces
    it. kernel, stride and padding as in `max_pool2d`.
    """
    params = _geometry(a, a.out) | {"divisor": 0 if a.divisor_override == COUNT else a.divisor_override}
    constants = {"count_include_pad": a.count_include_pad}
    yield Dispatch("avg_pool2d", {"x": a.x.id, "y": a.out.id}, params, params["outputs"], constants)


def adaptive_sizes(a: Args) -> Mapping[str, int]:
    if not a.H * a.W:
        raise BadArg(f"x: nothing to average in maps of {[a.H, a.W]}")
    if a.H * max(a.output_size[0], 1) >= 2**32 or a.W * max(a.output_size[1], 1) >= 2**32:
        raise BadArg(f"output_size: {list(a.output_size)} of {[a.H, a.W]} is too large", Unsupported)
    return {"OH": a.output_size[0], "OW": a.output_size[1]}


def _adaptive_sizes(a: Args) -> Mapping[str, int]:
    _check_map(a.B)
    return adaptive_sizes(a)


@op(
    "aten._adaptive_avg_pool2d.default",
    "aten.adaptive_avg_pool2d.default",
    "aten::_adaptive_avg_pool2d.out",
    "aten::adaptive_avg_pool2d.out",
    x=F32("*B H W"),
    output_size=Pair(),
    out=F32("*B OH OW"),
    derive=_adaptive_sizes,
)
def adaptive_avg_pool2d(a: Args) -> Iterator[Dispatch]:
    """The mean of each of `output_size` (height, width) windows that divide x float32 [N, C, H, W] or [C, H, W].

    Window i of O takes rows floor(i·H/O) to ceil((i + 1)·H/O) of H; columns alike.
    """
    rank = len(a.x.shape)
    if (a.OH, a.OW) == (1, 1):
        yield reduce_sum(a.x, a.out, (rank - 2, rank - 1), mean=True)
        return
    params = {"outputs": numel(a.out.shape), "y_height": a.OH, "y_width": a.OW, "x_height": a.H, "x_width": a.W}
    yield Dispatch("adaptive_avg_pool2d", {"x": a.x.id, "y": a.out.id}, params, params["outputs"])
