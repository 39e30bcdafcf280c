"""Quantizing to integers, and dequantizing them."""

from typing import NamedTuple

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.numbers import to_integers
from webq8.dtypes import numel
from webq8.ir.ops.quantize import RANGES, ChooseQparams, Dequantize, Quantize, Requantize
from webq8.ir.types import Dynamic, MaybeRef, PerChannel, PerTensor, Tensor

__all__ = ["Numbers", "numbers_of"]


class Numbers(NamedTuple):
    """Scales, as float64, and zero points, to be broadcast over the integers that have them."""

    scales: Array
    zero_points: Array
    by_channel: bool


def numbers_of(integers: Tensor, scale: MaybeRef, zero_point: MaybeRef, arrays: Arrays) -> Numbers:
    quantization, axis = integers.quantization, None
    if scale is not None and zero_point is not None:
        scales, zeros = arrays[scale], arrays[zero_point]
    elif isinstance(quantization, PerChannel):
        scales = np.frombuffer(quantization.scales, np.float32)
        zeros = np.frombuffer(quantization.zero_points or bytes(len(quantization.scales)), np.int32)
    else:
        assert isinstance(quantization, PerTensor)
        scales, zeros = np.array(quantization.scale), np.array(quantization.zero_point)
    shape = [1] * len(integers.shape)
    if isinstance(quantization, PerChannel | Dynamic):
        axis = quantization.axis
    if axis is not None:
        channels = shape[axis] = integers.shape[axis]
        scales, zeros = scales[:channels], zeros[:channels]
    return Numbers(scales.astype(np.float64).reshape(shape), zeros.astype(np.int64).reshape(shape), axis is not None)


@reference(Quantize)
def quantize(op: Quantize, arrays: Arrays) -> Array:
    numbers = numbers_of(arrays.out, op.scale, op.zero_point, arrays)
    if op.divides:
        scaled = arrays[op.x] / numbers.scales.astype(np.float32)
    else:
        scaled = arrays[op.x] * (1.0 / numbers.scales).astype(np.float32)
    return to_integers(scaled, numbers.zero_points, op.low, op.high, op.dtype)


@reference(Dequantize)
def dequantize(op: Dequantize, arrays: Arrays) -> Array:
    x, numbers = arrays[op.x], numbers_of(arrays.type(op.x), op.scale, op.zero_point, arrays)
    if numbers.by_channel:
        shifted = (x.astype(np.int64) - numbers.zero_points).astype(np.float32)
    else:  # both become floats first
        shifted = x.astype(np.float32) - numbers.zero_points.astype(np.float32)
    result: Array = shifted * numbers.scales.astype(np.float32)
    return result


@reference(ChooseQparams)
def choose_qparams(op: ChooseQparams, arrays: Arrays) -> tuple[Array, ...]:
    scales, zero_points = arrays.outs
    x = arrays[op.x].reshape(numel(scales.shape), -1)
    low, high = np.minimum(x.min(1), np.float32(0)), np.maximum(x.max(1), np.float32(0))
    scale = np.maximum((high - low) / np.float32(op.high - op.low), np.float32(op.eps))
    bottom, top = np.float32(op.low), np.float32(op.high)
    first = bottom - np.rint(low / scale)
    if op.nearest:
        by_low = (bottom + low / scale) + (top + high / scale) > 0
        first = np.rint(np.where(by_low, bottom - low / scale, top - high / scale))
    zero_point = np.where(np.isfinite(first), np.clip(first, op.low, op.high), op.low)
    return scale.reshape(scales.shape).astype(scales.dtype), zero_point.reshape(scales.shape).astype(zero_points.dtype)


@reference(Requantize)
def requantize(op: Requantize, arrays: Arrays) -> Array:
    x, numbers = arrays[op.x].astype(np.int64), np.array(op.numbers)
    if len(numbers) == 256:
        return np.asarray(numbers[x - RANGES[arrays.type(op.x).dtype][0]]).astype(op.dtype)
    return np.asarray(np.searchsorted(numbers, x, side="right") + RANGES[op.dtype][0]).astype(op.dtype)
