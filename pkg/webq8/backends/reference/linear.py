"""Products with constant weights."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.numbers import inverse, to_integers
from webq8.backends.reference.quantize import numbers_of
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.linear import Linear
from webq8.ir.types import PerChannel, PerTensor, Ref, Tensor

__all__ = ["centered", "channel_scales", "requantize"]


def centered(arrays: Arrays, weight: Ref) -> Array:
    """Weights, whose channels come first, less their zero points; in float64."""
    data, by = arrays[weight].astype(np.float64), arrays.type(weight).quantization
    assert isinstance(by, PerChannel)
    if not by.zero_points:
        return data
    return data - np.frombuffer(by.zero_points, np.int32).reshape(-1, *[1] * (data.ndim - 1))


def channel_scales(weight: Tensor) -> Array:
    assert isinstance(weight.quantization, PerChannel)
    return np.frombuffer(weight.quantization.scales, np.float32)


def requantize(
    acc: Array,
    x: PerTensor,
    w_scales: Array,
    bias: Array | None,
    op: Linear | Conv2d,
    y: PerTensor,
    axis: int,
) -> Array:
    """Requantizes int32 accumulators to int8, with the op's epilogue; `axis` is that of the output channels."""
    shape = [1] * acc.ndim
    shape[axis] = -1
    scales = w_scales.reshape(shape)
    if bias is not None:
        bias = bias[: acc.shape[axis]].reshape(shape)
    if bias is not None and bias.dtype == np.int32:
        quanta = (acc + bias).astype(np.float32) * (np.float32(x.scale) * scales / np.float32(y.scale))
    else:
        v = acc.astype(np.float32) * np.float32(x.scale) * scales
        if bias is not None:
            v = v + bias
        if op.activation == "relu":
            v = np.maximum(v, np.float32(0))
        quanta = v * inverse(y.scale)
    return to_integers(quanta, y.zero_point, *op.bounds)


@reference(Linear)
def linear(op: Linear, arrays: Arrays) -> Array:
    x, weight = arrays[op.x], centered(arrays, op.weight)
    scales, bias = channel_scales(arrays.type(op.weight)), None if op.bias is None else arrays[op.bias]
    if x.dtype == np.int8:
        of_x = numbers_of(arrays.type(op.x), op.x_scale, op.x_zero_point, arrays)
        # float64 holds these sums exactly, and its matrix product is far faster than numpy's integer one
        acc = ((x.astype(np.float64) - of_x.zero_points) @ weight.T).astype(np.int64)
        if arrays.out.dtype == "int8":
            return requantize(acc, arrays.quantization(op.x), scales, bias, op, arrays.out_quantization, -1)
        v = acc.astype(np.float32) * of_x.scales.astype(np.float32)
    else:
        v = (x.astype(np.float64) @ weight.T).astype(np.float32)
    v = v * scales
    result: Array = v if bias is None else v + bias[: len(scales)]
    return result
