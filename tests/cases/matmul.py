"""Cases of products of float32 matrices."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32

_RTOL, _ATOL = 1e-5, 2e-5  # sums of up to some hundred products of order one

# m, n, k
_SIZES = (
    (1, 1, 1),
    (1, 7, 13),
    (1, 67, 130),
    (1, 1000, 5),
    (3, 5, 7),
    (4, 33, 17),
    (5, 3, 2),
    (32, 32, 16),
    (33, 31, 17),
    (37, 71, 129),
    (67, 5, 300),
    (5, 131, 3),
)


def _matmul() -> Iterator[Case]:
    def case(op: str, name: str, *shapes: tuple[int, ...] | None, rest: tuple[Any, ...] = ()) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            return (*(None if s is None else float32(rng, *s) for s in shapes), *rest)

        return Case(op, name, build, _RTOL, _ATOL)

    for m, n, k in _SIZES:
        name = f"{m}x{n}x{k}"
        yield case("linear", name, (m, k), (n, k), (n,))
        yield case("mm", name, (m, k), (k, n))
        yield case("bmm", name, (3, m, k), (3, k, n))
        yield case("addmm", name, (n,), (m, k), (k, n))
    yield case("linear", "no-bias", (5, 7), (3, 7), None)
    yield case("linear", "no-bias-row", (1, 7), (3, 7), None)
    yield case("linear", "vector", (7,), (3, 7), (3,))
    yield case("linear", "rank5", (2, 1, 3, 5, 7), (11, 7), (11,))
    yield case("linear", "k-empty", (5, 0), (3, 0), (3,))
    yield case("linear", "rows-empty", (0, 7), (3, 7), (3,))
    yield case("mm", "k-empty", (5, 0), (0, 3))
    yield case("mm", "n-empty", (5, 3), (3, 0))
    yield case("bmm", "batch-empty", (0, 5, 3), (0, 3, 2))
    yield case("bmm", "many", (131, 5, 3), (131, 3, 2))
    for name, shape in (("full", (5, 7)), ("row", (1, 7)), ("column", (5, 1)), ("one", (1, 1)), ("scalar", ())):
        yield case("addmm", "addend-" + name, shape, (5, 3), (3, 7), rest=(0.5, -2.5))
        yield case("addmm", "addend-tile-" + name, shape, (5, 3), (3, 7), rest=(2, 3))
    yield Case(
        "addmm",
        "beta-0-ignores-nan",
        lambda rng: (np.full(7, np.nan, np.float32), float32(rng, 5, 3), float32(rng, 3, 7), 0, 1),
        _RTOL,
        _ATOL,
    )
    whole = lambda rng, *s: rng.integers(-9, 9, s).astype(np.float32)  # noqa: E731
    yield Case("linear", "whole-numbers", lambda rng: (whole(rng, 37, 65), whole(rng, 41, 65), whole(rng, 41)))
    yield Case("mm", "whole-numbers", lambda rng: (whole(rng, 37, 65), whole(rng, 65, 41)))


MATMUL_CASES = [*_matmul()]
