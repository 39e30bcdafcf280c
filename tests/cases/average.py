"""Cases of means of int8 tensors."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, int8

# scales that make many means ties, the same, apart, and far apart
_SCALES = {"ties": (0.5, 0, 0.25, 0), "same": (0.02, 3, 0.02, 3), "apart": (0.037, -128, 0.011, 17)}


def _table(rng: np.random.Generator) -> tuple[int, ...]:
    """Whole numbers far beyond int8, whose sums float32 rounds."""
    return tuple(rng.integers(-(2**24), 2**24, 256).tolist())


def _mean() -> Iterator[Case]:
    def case(name: str, shape: tuple[int, ...], dim: Any = None, keepdim: bool = False, scales: str = "apart") -> Case:
        x_scale, x_zp, y_scale, y_zp = _SCALES[scales]
        return Case(
            "mean_int8",
            name,
            lambda rng: (int8(rng, *shape), x_scale, x_zp, dim, keepdim, y_scale, y_zp),
        )

    for scales in _SCALES:
        yield case(f"map-{scales}", (2, 12, 8, 8), [2, 3], True, scales)
        yield case(f"map-dropped-{scales}", (1, 30, 4, 4), [-1, -2], False, scales)
        yield case(f"last-{scales}", (5, 24), [1], False, scales)
    for name, shape, dim in (("map", (2, 12, 8, 8), [2, 3]), ("last", (5, 23), [1]), ("channels", (1, 18, 5, 3), [1])):
        yield Case(
            "mean_int8",
            f"table-{name}",
            lambda rng, s=shape, d=dim: (int8(rng, *s), 1e-6, 0, d, False, 0.003, 5, _table(rng)),
        )
    yield case("map-large", (1, 5, 112, 111), [2, 3], True)
    yield case("many-channels", (2, 1280, 7, 7), [2, 3])
    yield case("few-channels", (1, 3, 9, 7), [2, 3], True)
    yield case("channels", (2, 18, 5, 3), [1], True)
    yield case("rows", (2, 18, 5, 3), [2])
    yield case("columns", (2, 18, 5, 3), [3], True)
    yield case("batch-and-columns", (3, 5, 4, 7), [0, 3], True)
    yield case("tokens", (2, 50, 24), [1])
    yield case("tokens-uneven", (2, 5, 7), [1], True)
    yield case("tokens-many", (1, 197, 2052), [1])
    yield case("last-uneven", (3, 7, 5), [-1])
    yield case("last-long", (2, 3001), [1])
    yield case("all", (3, 4, 5))
    yield case("all-kept", (2, 3, 4, 5), [], True)
    yield case("scalar", ())
    yield case("none", (3, 0, 4), [1])
    yield case("empty", (0, 4), [1])
    yield case("axes-1-3-5", (2, 3, 2, 5, 2, 3, 2), [1, 3, 5])
    yield case("eight-axes", (2, 3, 2, 1, 2, 3, 2, 2), [0, 2, 4, 6], True)


def _avg_pool() -> Iterator[Case]:
    def case(name: str, shape: tuple[int, ...], *args: Any, scales: str = "apart") -> Case:
        x_scale, x_zp, y_scale, y_zp = _SCALES[scales]
        rest = (*args, *((), (), [0, 0], False, True, None)[len(args) :])
        return Case(
            "avg_pool2d_int8",
            name,
            lambda rng: (int8(rng, *shape), x_scale, x_zp, *rest, y_scale, y_zp),
        )

    for scales in _SCALES:
        yield case(f"k2-{scales}", (2, 12, 8, 10), [2, 2], scales=scales)
        yield case(f"k4-{scales}", (1, 5, 8, 8), [4, 4], scales=scales)
        yield case(f"k8-{scales}", (1, 20, 8, 8), [8, 8], scales=scales)
    yield Case(
        "avg_pool2d_int8",
        "table",
        lambda rng: (int8(rng, 1, 18, 9, 9), 1e-6, 3, [3, 3], [2, 2], [1, 1], True, True, None, 0.01, 5, _table(rng)),
    )
    yield case("k2-stride-empty", (2, 3, 7, 9), [2, 2], [])
    yield case("k3-s2-p1", (1, 5, 13, 11), [3, 3], [2, 2], [1, 1])
    yield case("one-integer", (1, 3, 11, 17), [3], [2], [1])
    yield case("uneven", (1, 18, 11, 17), [3, 2], [1, 3], [1, 0])
    yield case("not-counting-pad", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], False, False)
    yield case("ceil", (1, 2, 7, 8), [3, 3], [2, 2], [0, 0], True)
    yield case("ceil-p1", (1, 2, 6, 9), [3, 3], [2, 2], [1, 1], True)
    yield case("ceil-p1-not-counting", (1, 17, 6, 9), [3, 3], [2, 2], [1, 1], True, False)
    yield case("divisor", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], False, True, 7)
    yield case("divisor-negative", (1, 2, 7, 9), [3, 3], [2, 2], [1, 1], True, False, -2)
    yield case("whole-map", (2, 3, 7, 7), [7, 7])
    yield case("empty-batch", (0, 3, 8, 8), [2, 2])


def _adaptive() -> Iterator[Case]:
    def case(name: str, shape: tuple[int, ...], size: list[int], scales: str = "apart") -> Case:
        x_scale, x_zp, y_scale, y_zp = _SCALES[scales]
        return Case(
            "adaptive_avg_pool2d_int8",
            name,
            lambda rng: (int8(rng, *shape), x_scale, x_zp, size, y_scale, y_zp),
        )

    for scales in _SCALES:
        yield case(f"one-{scales}", (2, 12, 8, 8), [1, 1], scales)
        yield case(f"equal-{scales}", (2, 20, 8, 8), [2, 2], scales)
    yield case("one-integer", (2, 5, 7, 7), [1])
    yield case("uneven", (2, 3, 7, 11), [3, 4])
    yield case("same", (1, 3, 5, 7), [5, 7])
    yield case("larger", (1, 18, 5, 7), [11, 13])
    yield case("row", (1, 3, 5, 7), [1, 7])
    yield case("one-pixel", (1, 1, 1, 1), [3, 2])
    yield case("empty-output", (2, 3, 5, 7), [0, 2])
    yield case("empty-batch", (0, 3, 5, 7), [2, 2])


AVERAGE_CASES = [*_mean(), *_avg_pool(), *_adaptive()]
