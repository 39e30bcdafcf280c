"""Convolutions and pools."""

from array import array
from collections.abc import Callable

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats import xnnpack
from webq8.formats.tflite.operators.batches import Blocks, Cropped, Dilated
from webq8.formats.tflite.operators.move import Padded, sliced
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Maps, Value
from webq8.formats.tflite.windows import activated, bounds_of, float_bounds, margins, one_scale
from webq8.ir.ops.conv import Conv2d, Convolution
from webq8.ir.ops.move import Permute, Reshape
from webq8.ir.ops.pool import AvgPool2d, MaxPool2d
from webq8.ir.ops.quantize import ChooseQparams, Dequantize, Quantize
from webq8.ir.ops.window import Padding, Window
from webq8.ir.types import BadArg, Dynamic, PerChannel, PerTensor, Ref, Shape, Tensor
from webq8.scatter import scattered

__all__: list[str] = []

Pair = tuple[int, int]
_CONV = {"padding": "0b", "stride_w": "1i", "stride_h": "2i"}


@lowers("CONV_2D", **_CONV, activation="3b", dilation_w="4i=1", dilation_h="5i=1")
def conv_2d(
    g: Emitter,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    padding: int,
    stride_w: int,
    stride_h: int,
    activation: int,
    dilation_w: int,
    dilation_h: int,
) -> Lowered:
    _, kh, kw, depth = _rank_four(weight)
    groups, rest = divmod(_rank_four(x)[3], max(depth, 1))
    if rest:
        raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
    window = _window(x, (kh, kw), (stride_h, stride_w), padding, (dilation_h, dilation_w))
    return _convolved(g, x, weight, bias, window, groups, activation)


@lowers("DEPTHWISE_CONV_2D", **_CONV, activation="4b", dilation_w="5i=1", dilation_h="6i=1")
def depthwise_conv_2d(
    g: Emitter,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    padding: int,
    stride_w: int,
    stride_h: int,
    activation: int,
    dilation_w: int,
    dilation_h: int,
) -> Lowered:
    one, kh, kw, oc = _rank_four(weight)
    channels = _rank_four(x)[3]
    if one != 1 or not channels or oc % channels:
        raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
    window = _window(x, (kh, kw), (stride_h, stride_w), padding, (dilation_h, dilation_w))
    return _convolved(g, x, weight, bias, window, channels, activation, depthwise=True)


def _rank_four(value: Value) -> Shape:
    if len(value.shape) != 4:
        raise BadArg(f"{list(value.shape)}: four dimensions are expected")
    return value.shape


def _window(x: Value, kernel: Pair, stride: Pair, padding: int, dilation: Pair = (1, 1)) -> Window:
    """The windows that an operator's options say."""
    if min(*stride, *dilation) < 1:
        raise BadArg(f"stride {stride} and dilation {dilation} must be at least 1")
    window = Window(kernel, stride, Padding(), dilation)
    return window._replace(padding=margins(padding, _rank_four(x)[1:3], window.reach, stride))


def _convolved(
    g: Emitter,
    x: Value,
    weight: Value,
    bias: Value | None,
    window: Window,
    groups: int,
    activation: int,
    depthwise: bool = False,
) -> Maps | Value:
    if isinstance(x, Padded):
        top, left, bottom, right = (*x.before[1:3], *x.after[1:3])
        own = window.padding
        window = window._replace(
            padding=Padding(own.top + top, own.left + left, own.bottom + bottom, own.right + right)
        )
        x = x.source
    if isinstance(x, Blocks) and x.pending and window == Window(window.kernel):

        def convolved(x: Value, window: Window) -> Maps | Value:
            return _convolved(g, x, weight, bias, window, groups, activation, depthwise)

        (n, h, w, _), channels = x.shape, weight.shape[3 if depthwise else 0]
        shape = n, h - window.kernel[0] + 1, w - window.kernel[1] + 1, channels
        return Dilated(g, x.block, _cropped(x, convolved, window), shape)
    sizes = window.stride, window.padding, window.dilation, groups
    if on_int8(x):
        weights = _int8_weights(g, weight, depthwise)
        op = Conv2d(
            x.maps, weights, int32_bias(g, bias, g.type(weights).shape[0]), *sizes, bounds=bounds_of(g, activation)
        )
        return g.maps(op)
    low, high = float_bounds(activation)
    order = (3, 0, 1, 2) if depthwise else (0, 3, 1, 2)
    maps, weights = _float_maps(g, x, weight), _float_weights(g, weight, order, order[0])
    return g.maps(Convolution(maps, weights, bias.ref if bias else None, *sizes, low=low, high=high))


def _cropped(x: Blocks, convolved: Callable[[Value, Window], Maps | Value], window: Window) -> Cropped:
    """What makes the dilated convolution of the source of blocks, without rows and columns at its edges."""
    g, results = x.g, x.g.results

    def cropped(before: Pair, after: Pair) -> Ref | Maps:
        g.results, others = results, g.results
        edges = [a - b for a, b in zip((*x.before, *x.after), (*before, *after), strict=True)]
        around = Padding(*(max(edge, 0) for edge in edges))
        y = g.bound(results[0], convolved(x.source, window._replace(padding=around, dilation=x.block)))
        top, left, bottom, right = (max(-edge, 0) for edge in edges)
        n, h, w, c = y.shape
        y = sliced(g, y, (0, top, left, 0), (1, 1, 1, 1), (n, h - top - bottom, w - left - right, c))
        g.results = others
        return y.held

    return cropped


def on_int8(x: Value) -> bool:
    """Whether a product is of int8; raises BadArg where x lacks the one scale that it needs."""
    if x.dtype == "int8" and not x.is_int8:
        raise BadArg(f"x {list(x.shape)}: int8 has no scale, or one for each channel")
    return x.is_int8


def constant_of(weight: Value) -> tuple[Tensor, memoryview]:
    """A weight, which is to be constant: its type, and its bytes."""
    if (data := weight.data) is None:
        raise BadArg("weights that are computed in the run are not supported", Unsupported)
    return weight.type, data


def per_channel(tensor: Tensor, axis: int, to: int) -> PerChannel:
    """The quantization of int8 weights with a scale for each index along an axis; the axis is then `to`."""
    quantization, channels = tensor.quantization, tensor.shape[axis]
    if isinstance(quantization, PerTensor):
        zero_points = array("i", [quantization.zero_point] * channels).tobytes() if quantization.zero_point else b""
        return PerChannel(array("f", [quantization.scale] * channels).tobytes(), to, zero_points)
    if not isinstance(quantization, PerChannel) or quantization.axis != axis:
        raise BadArg("weights of int8 need one scale, or one for each output channel")
    return quantization.replace(axis=to)


def _int8_weights(g: Emitter, weight: Value, depthwise: bool) -> Ref:
    """Weights as [OC, Kh, Kw, IC/groups]."""
    tensor, data = constant_of(weight)
    if tensor.dtype != "int8":
        raise BadArg(f"weights of {tensor.dtype} on int8 are not supported", Unsupported)
    if depthwise:
        _, kh, kw, oc = tensor.shape
        quantization = per_channel(tensor, 3, 0)
        g.builder.budget.keep(len(data))
        data = memoryview(scattered(data, (kh * kw, oc, 1), (oc, 1, 1), (1, kh * kw, 1), len(data)))
        return g.builder.add(Tensor((oc, kh, kw, 1), "int8", data, quantization))
    return g.builder.add(tensor.replace(data=data, quantization=per_channel(tensor, 0, 0)))


def int32_bias(g: Emitter, bias: Value | None, channels: int) -> Ref:
    """The bias of an op on int8: int32, zeros where there is none."""
    if bias is None:
        return g.int32s([0] * channels)
    if bias.dtype != "int32" or bias.shape != (channels,):
        raise BadArg(f"a bias {bias.dtype} {list(bias.shape)}: int32 {[channels]} is expected", Unsupported)
    return bias.ref


def _float_maps(g: Emitter, x: Value, weight: Value) -> Ref:
    """float32 maps as a convolution with these weights has them."""
    return x.maps if weight.dtype == "float32" else on_own_scale(g, x.maps)


def _float_weights(g: Emitter, weight: Value, order: tuple[int, ...], channels: int) -> Ref:
    """Weights as float32 ops have them, with their axes in another order; `channels` is that of the results'."""
    if weight.dtype == "float32":
        return g.builder.emit(Permute(weight.ref, order))
    tensor, _ = constant_of(weight)
    moved = g.builder.emit(Permute(g.builder.quantized(weight.ref, None), order))
    return dequantized(g, moved, per_channel(tensor, channels, order.index(channels)))


def dequantized(g: Emitter, weights: Ref, quantization: PerChannel) -> Ref:
    """int8 weights as the float32 numbers that they stand for."""
    if g.type(weights).dtype != "int8":
        raise BadArg(f"weights of {g.type(weights).dtype} on float32 are not supported", Unsupported)
    return g.builder.emit(Dequantize(g.builder.quantized(weights, quantization)))


def on_own_scale(g: Emitter, x: Ref) -> Ref:
    """float32 x as XNNPACK has it beside int8 weights: quantized to int8 by a scale and a zero point that the run
    chooses for each index of the first axis."""
    shape = g.type(x).shape
    rows = shape[0], numel(shape[1:])
    several, flat = rows[0] > 1, x if rows == shape else g.builder.emit(Reshape(x, rows))
    chosen = ChooseQparams(flat, -128, 127, 2.0**-126, "float32", "int32", by_row=several, nearest=True)
    scale, zero_point = g.builder.emit_all(chosen)
    kind = Tensor(shape, "int8", None, Dynamic(scale, zero_point, 0 if several else None))
    (held,) = g.builder.node(Quantize(x, "int8", -128, 127, scale, zero_point), (kind,))
    return g.builder.emit(Dequantize(held, scale, zero_point))


@lowers("TRANSPOSE_CONV", **_CONV, activation="3b")
def transpose_conv(
    g: Emitter,
    output_shape: Value,
    weight: Value,
    x: Value,
    bias: Value | None = None,
    *,
    padding: int,
    stride_w: int,
    stride_h: int,
    activation: int,
) -> Lowered:
    oc, kh, kw, _ = _rank_four(weight)
    size = output_shape.ints("the output's shape")
    if len(size) != 4:
        raise BadArg(f"an output of shape {list(size)}")
    stride, before = (stride_h, stride_w), margins(padding, size[1:3], (kh, kw), (stride_h, stride_w))
    around = before.top + before.bottom, before.left + before.right
    # what the sizes of the output say beyond those of the input
    axes = zip(size[1:3], _rank_four(x)[1:3], stride, around, (kh, kw), strict=True)
    rows, columns = (out - ((n - 1) * s - pad + k) for out, n, s, pad, k in axes)
    if min(stride) < 1 or min(rows, columns) < 0 or size[0] != x.shape[0] or size[3] != oc:
        raise BadArg(f"an output {list(size)} does not fit x {list(x.shape)} and weight {list(weight.shape)}")
    sizes = stride, before, (1, 1), 1, True, (rows, columns)
    if on_int8(x):
        op = Conv2d(
            x.maps, _int8_weights(g, weight, False), int32_bias(g, bias, oc), *sizes, bounds=bounds_of(g, activation)
        )
        return g.maps(op)
    low, high = float_bounds(activation)
    maps, weights = _float_maps(g, x, weight), _float_weights(g, weight, (3, 0, 1, 2), 0)
    return g.maps(Convolution(maps, weights, bias.ref if bias else None, *sizes, low=low, high=high))


_POOL = {"padding": "0b", "stride_w": "1i", "stride_h": "2i", "width": "3i", "height": "4i", "activation": "5b"}


@lowers("MAX_POOL_2D", **_POOL)
def max_pool_2d(
    g: Emitter, x: Value, *, padding: int, stride_w: int, stride_h: int, width: int, height: int, activation: int
) -> Lowered:
    op = MaxPool2d(x.maps, _window(x, (height, width), (stride_h, stride_w), padding), False)
    y = g.builder.emit(op)
    if on_int8(x):
        return Maps(xnnpack.clamp(g.builder, y, bounds_of(g, activation)))
    return Maps(activated(g, y, activation))


@lowers("AVERAGE_POOL_2D", **_POOL)
def average_pool_2d(
    g: Emitter, x: Value, *, padding: int, stride_w: int, stride_h: int, width: int, height: int, activation: int
) -> Lowered:
    window = _window(x, (height, width), (stride_h, stride_w), padding)
    if on_int8(x):
        return Maps(xnnpack.average_pool(g.builder, x.maps, window, one_scale(g), bounds_of(g, activation)))
    return Maps(activated(g, g.emit(AvgPool2d(x.maps, window, False, False, None)), activation))
