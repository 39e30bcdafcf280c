"""Products of matrices, with sums in float64, which holds those of int8 exactly."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.backends.reference.numbers import to_integers
from webq8.ir.ops.matmul import MatMul


@reference(MatMul)
def matmul(op: MatMul, arrays: Arrays) -> Array:
    a, b = arrays[op.a].astype(np.float64), arrays[op.b].astype(np.float64)
    if arrays.type(op.a).dtype == "int8":
        return _of_int8(op, arrays, a, b)
    y = op.alpha * _product(op, a, b)
    if op.addend is not None and op.beta != 0:
        y = y + op.beta * arrays[op.addend].astype(np.float64)
    return y.astype(np.float32)


def _product(op: MatMul, a: Array, b: Array) -> Array:
    y: Array = a @ (b.swapaxes(-1, -2) if op.transposed else b)
    return y


def _of_int8(op: MatMul, arrays: Arrays, a: Array, b: Array) -> Array:
    of_a, of_b = arrays.quantization(op.a), arrays.quantization(op.b)
    whole = _product(op, a - of_a.zero_point, b - of_b.zero_point).astype(np.int32)
    if op.whole:
        return whole
    sums = whole.astype(np.float32)
    factor = np.float32(of_a.scale) * np.float32(of_b.scale)
    if arrays.out.dtype != "int8":
        return sums * factor
    of_y = arrays.out_quantization
    return to_integers(sums * (factor / np.float32(of_y.scale)), of_y.zero_point)
