"""Products with constant weights."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.numbers import inverse, to_integers
from webq8.ir.ops.linear import Activation, Linear
from webq8.ir.types import PerChannel, PerTensor, Tensor

__all__ = ["channel_scales", "requantize"]


def channel_scales(weight: Tensor) -> Array:
    assert isinstance(weight.quantization, PerChannel)
    return np.frombuffer(weight.quantization.scales, np.float32)


def requantize(
    acc: Array,
    x: PerTensor,
    w_scales: Array,
    bias: Array | None,
    activation: Activation,
    y: PerTensor,
    bounds: tuple[int, int],
    axis: int,
) -> Array:
    """Accumulators to int8; `axis` is the output channels'."""
    shape = [1] * acc.ndim
    shape[axis] = -1
    v = acc.astype(np.float32) * np.float32(x.scale)
    v = v * w_scales.reshape(shape)
    if bias is not None:
        v = v + bias[: acc.shape[axis]].reshape(shape)
    if activation == "relu":
        v = np.maximum(v, np.float32(0))
    return to_integers(v * inverse(y.scale), y.zero_point, *bounds)


@reference(Linear)
def linear(op: Linear, arrays: Arrays) -> Array:
    x, weight = arrays[op.x], arrays[op.weight].astype(np.float64)
    scales, bias = channel_scales(arrays.type(op.weight)), None if op.bias is None else arrays[op.bias]
    if x.dtype == np.int8:
        of_x = arrays.quantization(op.x)
        # float64 holds these sums exactly, and its matrix product is far faster than numpy's integer one
        acc = ((x.astype(np.float64) - of_x.zero_point) @ weight.T).astype(np.int64)
        if arrays.out.dtype == "int8":
            return requantize(acc, of_x, scales, bias, op.activation, arrays.out_quantization, op.bounds, -1)
        v = acc.astype(np.float32) * np.float32(of_x.scale)
    else:
        v = (x.astype(np.float64) @ weight.T).astype(np.float32)
    v = v * scales
    result: Array = v if bias is None else v + bias[: len(scales)]
    return result
