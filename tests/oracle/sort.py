"""Orders, by Python's own sorting, which keeps equal elements as they were."""

import numpy as np

from oracle.core import oracle


def _ordered(x: np.ndarray, dim: int, descending: bool, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    lines = np.moveaxis(np.atleast_1d(x), dim, -1)
    flat = lines.reshape(-1, lines.shape[-1]).tolist()
    # NaN is above all
    ranks = [[(v != v, 0 if v != v else v) for v in line] for line in flat]
    orders = [sorted(range(len(rank)), key=rank.__getitem__, reverse=descending)[:count] for rank in ranks]
    length = lines.shape[-1] if count is None else count
    places = np.asarray(orders, np.int64).reshape(*lines.shape[:-1], length)
    elements = np.take_along_axis(lines, places, -1)
    shape = () if not x.ndim else tuple(np.moveaxis(places, -1, dim).shape)
    return np.moveaxis(elements, -1, dim).reshape(shape), np.moveaxis(places, -1, dim).reshape(shape)


@oracle("sort")
def sort(x: np.ndarray, dim: int = -1, descending: bool = False) -> tuple[np.ndarray, np.ndarray]:
    return _ordered(x, dim, descending)


@oracle("aten.sort.stable")
def stable_sort(
    x: np.ndarray, stable: bool = True, dim: int = -1, descending: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    return _ordered(x, dim, descending)


@oracle("topk")
def topk(
    x: np.ndarray, k: int, dim: int = -1, largest: bool = True, in_order: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    return _ordered(x, dim, largest, k)
