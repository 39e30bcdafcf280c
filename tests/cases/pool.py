"""Cases of pooling."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32

_NAN, _INF = np.float32(np.nan), np.float32(np.inf)


def _max_pool() -> Iterator[Case]:
    for op in ("max_pool2d", "max_pool2d_with_indices"):

        def case(name: str, x: Any, *args: Any, op: str = op) -> Case:
            return Case(op, name, lambda rng: (x(rng) if callable(x) else float32(rng, *x), *args))

        yield case("k2", (2, 3, 8, 10), [2, 2])
        yield case("k2-stride-empty", (2, 3, 7, 9), [2, 2], [])
        yield case("k3-s2-p1", (1, 5, 13, 11), [3, 3], [2, 2], [1, 1])
        yield case("uneven", (1, 3, 11, 17), [3, 2], [1, 3], [1, 0])
        yield case("one-integer", (1, 3, 11, 17), [3], [2], [1], [1])
        yield case("map", (3, 11, 7), [3, 3], [2, 2], [1, 1])
        yield case("dilation", (1, 2, 17, 13), [3, 3], [2, 1], [1, 1], [2, 3])
        yield case("ceil", (1, 2, 7, 8), [3, 3], [2, 2], [0, 0], [1, 1], True)
        yield case("ceil-p1", (1, 2, 7, 10), [2, 2], [3, 3], [1, 1], [1, 1], True)
        yield case("stride-over-kernel", (1, 2, 13, 13), [2, 2], [5, 4])
        yield case("whole-map", (2, 3, 7, 5), [7, 5])
        yield case("one", (1, 1, 1, 1), [1, 1])
        yield case("ties", lambda rng: rng.integers(-2, 2, (1, 3, 13, 13)).astype(np.float32), [3, 3], [2, 2], [1, 1])
        yield case("negative", lambda rng: -abs(float32(rng, 1, 2, 5, 5)), [3, 3], [2, 2], [1, 1])
        yield case("lowest", lambda rng: np.full((1, 2, 5, 5), -_INF), [3, 3], [2, 2], [1, 1])
        nans = np.array([[1, _NAN, 3, 4], [_NAN, 2, -_INF, _INF], [1, 2, 3, -_NAN]], np.float32)[None]
        yield case("nan", lambda rng, x=nans: x, [2, 2], [1, 1])
        yield case("no-tap-in-map", (1, 2, 7, 1), [4, 2], [2, 1], [0, 1], [2, 2], True)
        yield case("empty-batch", (0, 3, 8, 8), [2, 2])


def _avg_pool() -> Iterator[Case]:
    def case(name: str, shape: tuple[int, ...], *args: Any) -> Case:
        return Case("avg_pool2d", name, lambda rng: (float32(rng, *shape), *args), 1e-6, 1e-6)

    yield case("k2", (2, 3, 8, 10), [2, 2])
    yield case("k2-stride-empty", (2, 3, 7, 9), [2, 2], [])
    yield case("k3-s2-p1", (1, 5, 13, 11), [3, 3], [2, 2], [1, 1])
    yield case("one-integer", (1, 3, 11, 17), [3], [2], [1])
    yield case("uneven", (1, 3, 11, 17), [3, 2], [1, 3], [1, 0])
    yield case("map", (3, 11, 7), [3, 3], [2, 2], [1, 1])
    yield case("not-counting-pad", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], False, False)
    yield case("ceil", (1, 2, 7, 8), [3, 3], [2, 2], [0, 0], True)
    yield case("ceil-p1", (1, 2, 6, 9), [3, 3], [2, 2], [1, 1], True)
    yield case("ceil-p1-not-counting", (1, 2, 6, 9), [3, 3], [2, 2], [1, 1], True, False)
    yield case("divisor", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], False, True, 7)
    yield case("divisor-negative", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], True, False, -2)
    yield case("whole-map", (2, 3, 7, 7), [7, 7])
    yield case("empty-batch", (0, 3, 8, 8), [2, 2])


def _adaptive() -> Iterator[Case]:
    for op in ("_adaptive_avg_pool2d", "adaptive_avg_pool2d"):

        def case(name: str, shape: tuple[int, ...], size: list[int], op: str = op) -> Case:
            return Case(op, name, lambda rng: (float32(rng, *shape), size), 1e-6, 1e-6)

        yield case("one", (2, 5, 7, 7), [1, 1])
        yield case("one-integer", (2, 5, 7, 7), [1])
        yield case("one-map", (5, 7, 11), [1, 1])
        yield case("one-large", (1, 3, 112, 112), [1, 1])
        yield case("equal", (2, 3, 12, 10), [3, 5])
        yield case("uneven", (2, 3, 7, 11), [3, 4])
        yield case("same", (1, 3, 5, 7), [5, 7])
        yield case("larger", (1, 3, 5, 7), [11, 13])
        yield case("row", (1, 3, 5, 7), [1, 7])
        yield case("column", (3, 5, 7), [5, 1])
        yield case("one-pixel", (1, 1, 1, 1), [3, 2])
        yield case("empty-output", (2, 3, 5, 7), [0, 2])
        yield case("empty-batch", (0, 3, 5, 7), [2, 2])


POOL_CASES = [*_max_pool(), *_avg_pool(), *_adaptive()]
