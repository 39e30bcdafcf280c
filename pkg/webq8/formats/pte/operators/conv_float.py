"""float32 convolutions."""

import math

from webq8.formats.pte.schema import F32, GROUPS, Arg, Argument, Bool, Ints, Number, TensorArg, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.conv import Convolution, spatial_axes
from webq8.ir.types import BadArg, Ref

_ARGS: dict[str, Arg] = {
    "x": F32("*S"),
    "weight": F32("*W"),
    "bias": TensorArg(("float32",), "OC", optional=True),
    "stride": Ints(default=(1,)),
    "padding": Ints(default=(0,)),
    "dilation": Ints(default=(1,)),
    "transposed": Bool(default=False),
    "output_padding": Ints(default=(0,)),
    "groups": GROUPS,
}


@lowers("aten.convolution.default", "aten::convolution.out", out=F32("*O"), **_ARGS)
def convolution(
    g: Builder,
    x: Argument,
    weight: Argument,
    bias: Argument | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
) -> Ref:
    """Convolution of x float32 [N, IC, H, W] or [N, IC, L], `transposed` or not.

    weight float32 [OC, IC/groups, Kh, Kw], transposed [IC, OC/groups, Kh, Kw]; bias [OC]; stride, padding, dilation and
    output_padding in elements, for each axis or one for all.
    """
    return _convolution(g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _convolution(
    g: Builder,
    x: Argument,
    weight: Argument,
    bias: Argument | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
    low: float = -math.inf,
    high: float = math.inf,
) -> Ref:
    axes = spatial_axes(x.shape, weight.shape)
    steps, reach = (_pair(name, v, axes, least=1) for name, v in (("stride", stride), ("dilation", dilation)))
    around = _pair("padding", padding, axes, least=0)
    extra = _pair("output_padding", output_padding, axes, least=0) if transposed else (0, 0)
    if transposed and any(e >= max(s, d) for e, s, d in zip(extra, steps, reach, strict=True)):
        raise BadArg(f"output_padding {extra} must be less than stride {steps} or dilation {reach}")
    sizes = steps, around * 2, reach, groups, transposed, extra
    return g.emit(Convolution(x.ref, weight.ref, bias and bias.ref, *sizes, low, high))


@lowers(
    "et_vk.conv_with_clamp.default",
    "et_vk::conv_with_clamp.out",
    out=F32("*O"),
    **_ARGS,
    output_min=Number(absent=-math.inf, default=None),
    output_max=Number(absent=math.inf, default=None),
)
def conv_with_clamp(
    g: Builder,
    x: Argument,
    weight: Argument,
    bias: Argument | None,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: tuple[int, ...],
    groups: int,
    output_min: float,
    output_max: float,
) -> Ref:
    """`convolution`, clamped to output_min … output_max (no limit, where null)."""
    sizes = stride, padding, dilation, transposed, output_padding, groups
    return _convolution(g, x, weight, bias, *sizes, output_min, output_max)


def _pair(name: str, values: tuple[int, ...], axes: int, least: int) -> tuple[int, int]:
    """An argument for height and width; one integer serves both axes; maps in one dimension have a height of one."""
    if len(values) not in (1, axes) or min(values) < least:
        raise BadArg(f"{name}: {list(values)}; {axes} integers of at least {least} expected")
    return values[0] if axes == 2 else least, values[-1]
