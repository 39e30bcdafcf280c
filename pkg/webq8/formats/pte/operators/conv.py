"""int8 convolutions."""

from webq8.formats.pte.operators.weights import quantized_rows
from webq8.formats.pte.schema import (
    ACTIVATION,
    GROUPS,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Arg,
    Argument,
    Constant,
    Pair,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.linear import Activation
from webq8.ir.types import BadArg, PerChannel, PerTensor, Ref, Tensor
from webq8.scatter import scattered

_OUT = I8("N OC OH OW")


def _declared(weight: str, **more: Arg) -> dict[str, Arg]:
    """The arguments of an int8 convolution in the order of its schema; `more` comes before the dilation."""
    return {
        "x": I8("N IC H W"),
        "x_scale": SCALE,
        "x_zero_point": ZERO_POINT,
        "weight": Constant("int8", weight),
        "weight_sums": IGNORED,
        "weight_scales": Constant("float32", "OC+", "scales"),
        "y_scale": SCALE,
        "y_zero_point": ZERO_POINT,
        "bias": Constant("float32", "OC+", "finite", optional=True),
        "kernel": Pair(1),
        "stride": Pair(1, default=(1, 1)),
        "padding": Pair(default=(0, 0)),
        **more,
        "dilation": Pair(1, default=(1, 1)),
        "groups": GROUPS,
        "activation": ACTIVATION,
    }


@lowers("et_vk.q8ta_conv2d.default", "et_vk.q8ta_conv2d_pw.default", out=_OUT, **_declared("OC R+"))
def conv2d(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    weight: Argument,
    weight_scales: Argument,
    y_scale: float,
    y_zero_point: int,
    bias: Argument | None,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
    activation: Activation,
) -> Ref:
    """2-D convolution: y[oc, oh, ow] = requantize(Σ (x[ic, ih, iw] − x_zero_point) · weight[oc, kh, kw, ic]) with
    ih = oh·stride_h + kh·dilation_h − padding_h, columns alike; outside of the map x is its zero point.

    x int8 [N, IC, H, W]; weight int8 [OC, Kh·Kw·IC/groups] as `weight[oc, (kh·Kw + kw)·IC/groups + ic]` (rows may be
    padded), weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW]. A pointwise one is a matrix product.
    """
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point))
    weights = _from_rows(g, x, weight, weight_scales, kernel, groups)
    sizes = stride, padding * 2, dilation, groups
    op = Conv2d(x_ref, weights, bias and bias.ref, *sizes, activation=activation)
    return g.emit(op, PerTensor(y_scale, y_zero_point))


@lowers("et_vk.q8ta_conv2d_dw.default", out=_OUT, **_declared("KH KW OC"))
def conv2d_depthwise(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    weight: Argument,
    weight_scales: Argument,
    y_scale: float,
    y_zero_point: int,
    bias: Argument | None,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
    activation: Activation,
) -> Ref:
    """Depthwise 2-D convolution: each channel by a kernel of its own, as `q8ta_conv2d` with groups = IC = OC.

    x int8 [N, OC, H, W], weight int8 [Kh, Kw, OC], weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW].
    """
    in_channels, (*size, out_channels) = x.shape[1], weight.shape
    if not groups == in_channels == out_channels or kernel != tuple(size):
        raise BadArg(
            f"a depthwise convolution needs groups = {groups} equal to {in_channels} input and {out_channels} output "
            f"channels and weights of its kernel's size {kernel}"
        )
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point))
    weights = _from_taps(g, weight, weight_scales)
    sizes = stride, padding * 2, dilation, groups
    op = Conv2d(x_ref, weights, bias and bias.ref, *sizes, activation=activation)
    return g.emit(op, PerTensor(y_scale, y_zero_point))


@lowers("et_vk.q8ta_conv2d_transposed.default", out=_OUT, **_declared("OC R+", output_padding=Pair(default=(0, 0))))
def conv2d_transposed(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    weight: Argument,
    weight_scales: Argument,
    y_scale: float,
    y_zero_point: int,
    bias: Argument | None,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int],
    output_padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
    activation: Activation,
) -> Ref:
    """Transposed 2-D convolution, in gather form: output (oh, ow) takes tap (kh, kw) from input row
    ih = (oh + padding_h − kh·dilation_h) / stride_h where that is a whole number within the map, columns alike.

    x int8 [N, IC, H, W]; weight int8 [OC, Kh·Kw·IC/groups] as `weight[oc, (kh·Kw + kw)·IC/groups + ic]` (rows may be
    padded), weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW].
    """
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point))
    weights = _from_rows(g, x, weight, weight_scales, kernel, groups)
    sizes = stride, padding * 2, dilation, groups, True, output_padding
    op = Conv2d(x_ref, weights, bias and bias.ref, *sizes, activation=activation)
    return g.emit(op, PerTensor(y_scale, y_zero_point))


def _from_rows(
    g: Builder, x: Argument, weight: Argument, scales: Argument, kernel: tuple[int, int], groups: int
) -> Ref:
    """Weights as [OC, Kh, Kw, IC/groups], from rows that may be padded."""
    depth = x.shape[1] // groups
    length = kernel[0] * kernel[1] * depth
    weight.check_size(1, length, "R")
    return quantized_rows(g, weight, scales, length, (weight.shape[0], *kernel, depth))


def _from_taps(g: Builder, weight: Argument, scales: Argument) -> Ref:
    """Weights as [OC, Kh, Kw, 1], from [Kh, Kw, OC]."""
    assert weight.data is not None, "declared constant"
    assert scales.data is not None, "declared constant"
    kh, kw, channels = weight.shape
    taps = kh * kw
    g.budget.keep(taps * channels)
    data = scattered(weight.data, (taps, channels, 1), (channels, 1, 1), (1, taps, 1), taps * channels)
    quantization = PerChannel(bytes(scales.data[: 4 * channels]), axis=0)
    return g.add(Tensor((channels, kh, kw, 1), "int8", memoryview(data), quantization))
