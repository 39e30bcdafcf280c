"""Cases of resizing."""

from collections.abc import Iterator
from typing import Any

from cases.common import Case, float32


def _upsample(op: str, tolerance: float, variants: tuple[tuple[str, list[Any]], ...]) -> Iterator[Case]:
    for prefix, middle in variants:

        def case(
            name: str, shape: tuple[int, ...], size: Any, scales: Any = None, prefix: str = prefix, middle: Any = middle
        ) -> Case:
            arguments = (size, *middle, scales)
            return Case(op, prefix + name, lambda rng: (float32(rng, *shape), *arguments), tolerance, tolerance)

        yield case("twice", (2, 3, 5, 7), [10, 14])
        yield case("same", (1, 3, 5, 7), [5, 7])
        yield case("primes", (1, 2, 5, 7), [13, 11])
        yield case("smaller", (1, 2, 13, 17), [5, 7])
        yield case("one-pixel", (1, 2, 1, 1), [3, 5])
        yield case("to-one", (1, 2, 5, 7), [1, 1])
        yield case("row", (1, 2, 5, 1), [10, 1])
        yield case("scales-2", (1, 2, 5, 7), None, [2.0, 2.0])
        yield case("scales-uneven", (1, 2, 5, 7), None, [2.5, 1.3])
        yield case("scales-down", (1, 2, 13, 17), None, [0.3, 0.7])
        yield case("scales-third", (1, 1, 3, 3), None, [10 / 3, 7 / 3])
        yield case("many", (1, 1, 3, 3), [331, 173])
        yield case("empty-batch", (0, 2, 5, 7), [3, 3])


UPSAMPLE_CASES = [
    *_upsample("upsample_nearest2d", 0, (("", []),)),
    *_upsample("upsample_bilinear2d", 2e-6, (("", [False]), ("align-", [True]))),
]
