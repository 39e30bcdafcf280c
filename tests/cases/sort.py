"""Cases of sorting, and of the largest elements."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32

_NAN, _INF = np.float32(np.nan), np.float32(np.inf)
_SPECIAL = np.array([[1, _NAN, -_INF, _NAN, 0, -0.0, _INF, 1e-45, -1e-45], [3, 3, 3, -3, -3, 0, 0, 0, 3]], np.float32)
_SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((7, 13), 1),
    ((13, 7), 0),
    ((3, 11, 5), 1),
    ((2, 3, 5, 7), -3),
    ((1031,), 0),
    ((67, 3), -2),
    ((5, 1), -1),
    ((), -1),
    ((0, 3), 1),
)


def _ties(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.integers(-2, 3, shape)).astype(np.float32)


def _whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.integers(-(2**31), 2**31, shape, np.int32))


def _sort() -> Iterator[Case]:
    for shape, dim in _SHAPES:
        name = f"{'x'.join(map(str, shape))}-{dim}"
        size = shape[dim] if shape else 1
        for largest in (True, False):
            rest: tuple[Any, ...] = (dim, largest)
            for k in {1, min(3, size), size}:
                case = f"{name}-{k}-{largest}"
                yield Case("topk", case, lambda rng, s=shape, k=k, r=rest: (float32(rng, *s), k, *r))
            yield Case("sort", f"{name}-{largest}", lambda rng, s=shape, r=rest: (float32(rng, *s), *r))
    for largest in (True, False):
        yield Case("topk", f"none-{largest}", lambda rng, w=largest: (float32(rng, 3, 5), 0, 1, w))
        yield Case("topk", f"ties-{largest}", lambda rng, w=largest: (_ties(rng, 11, 131), 9, 1, w))
        yield Case("topk", f"special-{largest}", lambda _, w=largest: (_SPECIAL, 4, 1, w, False))
        yield Case("topk", f"int32-{largest}", lambda rng, w=largest: (_whole(rng, 7, 13), 4, 0, w))
        yield Case("sort", f"ties-{largest}", lambda rng, w=largest: (_ties(rng, 131, 11), 0, w))
        yield Case("sort", f"special-{largest}", lambda _, w=largest: (_SPECIAL, 1, w))
        yield Case("sort", f"int32-{largest}", lambda rng, w=largest: (_whole(rng, 7, 13), 1, w))
        yield Case("aten.sort.stable", f"{largest}", lambda rng, w=largest: (_ties(rng, 7, 13), True, 1, w))


SORT_CASES = [*_sort()]
