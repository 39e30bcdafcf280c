"""Products of float32 matrices, with sums in float64."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.matmul import MatMul


@reference(MatMul)
def matmul(op: MatMul, arrays: Arrays) -> Array:
    b = arrays[op.b].astype(np.float64)
    y = op.alpha * (arrays[op.a].astype(np.float64) @ (b.swapaxes(-1, -2) if op.transposed else b))
    if op.addend is not None and op.beta != 0:
        y = y + op.beta * arrays[op.addend].astype(np.float64)
    return y.astype(np.float32)
