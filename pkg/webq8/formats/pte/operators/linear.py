"""Fully connected layers with int8 or int4 weights."""

from webq8.formats.pte.operators.weights import quantized_rows
from webq8.formats.pte.schema import (
    ACTIVATION,
    F32,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Argument,
    Constant,
    TensorArg,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.linear import Activation, Linear
from webq8.ir.types import BadArg, PerChannel, PerTensor, Ref

_NIBBLES = (
    bytes((byte >> 4) - 8 & 255 for byte in range(256)),
    bytes((byte & 15) - 8 & 255 for byte in range(256)),
)


@lowers(
    "et_vk.q8ta_linear.default",
    "et_vk.q8ta_linear_gemv.default",
    x=I8("*B K"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    weight=Constant("int8", "N K+"),
    weight_sums=IGNORED,
    weight_scales=Constant("float32", "N+", "scales"),
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    bias=Constant("float32", "N+", "finite", optional=True),
    activation=ACTIVATION,
    out=I8("*B N"),
)
def q8ta_linear(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    weight: Argument,
    weight_scales: Argument,
    y_scale: float,
    y_zero_point: int,
    bias: Argument | None,
    activation: Activation,
) -> Ref:
    """y[m, n] = requantize(Σ_k (x[m, k] − x_zero_point) · weight[n, k]), with scales of each n, bias and activation.

    x int8 [*B, K], weight int8 [N, K] with zero point 0 (rows may be padded), weight_scales and bias float32 [N].
    One row has a kernel of its own, whichever of the two names the file uses.
    """
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point))
    weights = quantized_rows(g, weight, weight_scales, x.shape[-1])
    return g.emit(Linear(x_ref, weights, bias and bias.ref, activation), PerTensor(y_scale, y_zero_point))


@lowers(
    "et_vk.linear_q8ta_q8csw.default",
    x=TensorArg(("int8", "float32"), "*B K"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    weight=Constant("int8", "N K+"),
    weight_sums=IGNORED,
    weight_scales=Constant("float32", "N+", "scales"),
    bias=Constant("float32", "N+", "finite", optional=True),
    out=F32("*B N"),
)
def linear_q8ta_q8csw(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    weight: Argument,
    weight_scales: Argument,
    bias: Argument | None,
) -> Ref:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] · weight_scales[n] + bias[n], in float32.

    x int8 [*B, K] stands for (x − x_zero_point) · x_scale; x float32 is taken as it is. weight int8 [N, K].
    """
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point)) if x.dtype == "int8" else x.ref
    return g.emit(Linear(x_ref, quantized_rows(g, weight, weight_scales, x.shape[-1]), bias and bias.ref))


@lowers(
    "aten._weight_int8pack_mm.default",
    "aten::_weight_int8pack_mm.out",
    x=F32("*B K"),
    weight=Constant("int8", "N K+"),
    weight_scales=Constant("float32", "N+", "finite"),
    out=F32("*B N"),
)
def weight_int8pack_mm(g: Builder, x: Argument, weight: Argument, weight_scales: Argument) -> Ref:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] · weight_scales[n]; x float32 [*B, K], weight int8 [N, K]."""
    return g.emit(Linear(x.ref, quantized_rows(g, weight, weight_scales, x.shape[-1]), None))


@lowers(
    "et_vk.linear_qcs4w.default",
    x=F32("*B K"),
    weight=Constant("uint8", "N H"),
    weight_scales=Constant("float32", "N+", "scales"),
    out=F32("*B N"),
)
def linear_qcs4w(g: Builder, x: Argument, weight: Argument, weight_scales: Argument) -> Ref:
    """y[m, n] = Σ_k x[m, k] · (weight4[n, k] − 8) · weight_scales[n]; x float32 [*B, K].

    weight uint8 [N, K/2] holds two values a byte, the earlier one in its upper half.
    """
    n, half = weight.shape
    if 2 * half != x.shape[-1]:
        raise BadArg(f"weight: {half} bytes a row hold {2 * half} values of 4 bits, K is {x.shape[-1]}")
    assert weight.data is not None, "declared constant"
    assert weight_scales.data is not None, "declared constant"
    unpacked, packed = bytearray(2 * len(weight.data)), bytes(weight.data)
    unpacked[::2], unpacked[1::2] = (packed.translate(table) for table in _NIBBLES)
    scales = PerChannel(bytes(weight_scales.data[: 4 * n]), axis=0)
    weights = g.quantized(g.constant(memoryview(unpacked), (n, 2 * half), "int8"), scales)
    return g.emit(Linear(x.ref, weights, None))
