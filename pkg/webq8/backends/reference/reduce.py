"""Reductions, running sums and softmax. Sums are taken in float64, so that what differs is the kernels' rounding."""

import numpy as np

from webq8.backends.reference.average import mean_of_terms, stepped, terms
from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.reduce import (
    Any,
    ArgExtremum,
    CumulativeSum,
    Extremum,
    Mean,
    Product,
    Reduction,
    Softmax,
    SoftmaxInt8,
    Sum,
    Variance,
)

__all__: list[str] = []


def _count(op: Reduction, x: Array) -> int:
    """The number of elements that each result reduces."""
    return int(np.prod([x.shape[axis] for axis in op.axes]))


@reference(Mean)
def mean(op: Mean, arrays: Arrays) -> Array:
    x = arrays[op.x]
    if x.dtype == np.int8:
        total = np.sum(terms(op, arrays), axis=op.axes, keepdims=op.keepdims)
        return mean_of_terms(op, arrays, total, max(1, _count(op, x)))
    total = np.sum(x, axis=op.axes, dtype=np.float64, keepdims=op.keepdims)
    return np.asarray(total / np.float64(_count(op, x))).astype(np.float32)


@reference(Sum)
def sum_(op: Sum, arrays: Arrays) -> Array:
    if op.steps:
        return stepped(np.asarray(np.sum(arrays[op.x], axis=op.axes, dtype=np.int64, keepdims=op.keepdims)), op.steps)
    return np.asarray(np.sum(arrays[op.x], axis=op.axes, dtype=np.float64, keepdims=op.keepdims)).astype(np.float32)


@reference(Product)
def product(op: Product, arrays: Arrays) -> Array:
    return np.asarray(np.prod(arrays[op.x], axis=op.axes, dtype=np.float64, keepdims=op.keepdims)).astype(np.float32)


@reference(Variance)
def variance(op: Variance, arrays: Arrays) -> Array:
    x = np.asarray(arrays[op.x], np.float64)
    count = _count(op, x)
    mean = np.asarray(np.sum(x, axis=op.axes, keepdims=True) / np.float64(count))
    squares = np.sum((x - mean) ** 2, axis=op.axes, keepdims=op.keepdims)
    return np.asarray(np.asarray(squares) / np.float64(max(count - op.correction, 0))).astype(np.float32)


def _rows(op: Reduction, x: Array) -> Array:
    """The elements that each result reduces, as one row each."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in op.axes)
    rows = np.transpose(x, (*kept, *op.axes))
    return np.asarray(rows.reshape(*rows.shape[: len(kept)], _count(op, x)))


def _best(op: Extremum | ArgExtremum, rows: Array) -> Array:
    """The index of the best element of each row: the first of equals, and the first NaN before all."""
    if not rows.size:
        return np.zeros(rows.shape[:-1], np.int64)
    return np.asarray(np.argmax(rows, axis=-1) if op.largest else np.argmin(rows, axis=-1))


@reference(Extremum)
def extremum(op: Extremum, arrays: Arrays) -> Array:
    rows = _rows(op, arrays[op.x])
    if not rows.size:
        return np.empty(arrays.out.shape, rows.dtype)
    return np.take_along_axis(rows, _best(op, rows)[..., None], -1).reshape(arrays.out.shape)


@reference(ArgExtremum)
def arg_extremum(op: ArgExtremum, arrays: Arrays) -> Array:
    return _best(op, _rows(op, arrays[op.x])).astype(op.dtype).reshape(arrays.out.shape)


@reference(Any)
def any_(op: Any, arrays: Arrays) -> Array:
    return np.asarray(np.any(arrays[op.x] != 0, axis=op.axes, keepdims=op.keepdims)).astype(op.dtype)


@reference(CumulativeSum)
def cumulative_sum(op: CumulativeSum, arrays: Arrays) -> Array:
    x = np.atleast_1d(arrays[op.x]).astype(op.dtype)
    sums = np.cumsum(x, axis=op.axis, dtype=np.float64 if op.dtype == "float32" else np.int64)
    return np.asarray(sums.astype(op.dtype)).reshape(arrays.out.shape)


@reference(Softmax)
def softmax(op: Softmax, arrays: Arrays) -> Array:
    x = np.atleast_1d(arrays[op.x]).astype(np.float64)
    shifted = x - (np.max(x, axis=op.axis, keepdims=True) if x.size else 0)
    e = np.exp(shifted)
    total = e.sum(axis=op.axis, keepdims=True)
    return np.asarray(shifted - np.log(total) if op.log else e / total, np.float32).reshape(arrays.out.shape)


@reference(SoftmaxInt8)
def softmax_int8(op: SoftmaxInt8, arrays: Arrays) -> Array:
    x, y = np.moveaxis(arrays[op.x], op.axis, -1).astype(np.int64), arrays.out_quantization
    e = np.frombuffer(op.exponentials, np.float32)[x.max(-1, keepdims=True) - x] if x.size else x.astype(np.float32)
    total = np.cumsum(e, -1, np.float32)[..., -1:]  # one after the other
    scaled = e * (np.float32(1) / (total * np.float32(y.scale)))
    whole = np.floor(scaled.astype(np.float64) + 0.5) + y.zero_point
    return np.ascontiguousarray(np.moveaxis(np.clip(whole, -128, 127).astype(np.int8), -1, op.axis))
