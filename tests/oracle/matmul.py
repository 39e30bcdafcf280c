"""Products of float32 matrices."""

import numpy as np

from oracle.core import oracle, single, wide


@oracle("linear")
def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    y = np.tensordot(*wide(x, weight), (-1, 1))
    return single(y if bias is None else y + bias)


@oracle("mm")
def mm(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return single(np.tensordot(*wide(x, y), 1))


@oracle("bmm")
def bmm(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = np.empty((len(x), x.shape[1], y.shape[2]), np.float32)
    for i in range(len(x)):
        result[i] = mm(x[i], y[i])
    return result


@oracle("addmm")
def addmm(addend: np.ndarray, x: np.ndarray, y: np.ndarray, beta: float = 1, alpha: float = 1) -> np.ndarray:
    product = alpha * np.tensordot(*wide(x, y), 1)
    return single(product if beta == 0 else beta * addend.astype(np.float64) + product)
