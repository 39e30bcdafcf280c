"""Cases of grid sampling."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32


def _grid(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Places within the map and around it."""
    return rng.uniform(-1.7, 1.7, (*shape, 2)).astype(np.float32)


def _sample() -> Iterator[Case]:
    for interpolation, name in enumerate(("bilinear", "nearest", "bicubic")):
        tolerance = (0.0, 0.0) if name == "nearest" else (1e-5, 1e-5)

        def case(text: str, x: Any, grid: Any, *rest: Any, name: str = name, t: Any = tolerance) -> Case:
            def build(rng: np.random.Generator) -> tuple[Any, ...]:
                return float32(rng, *x), grid(rng) if callable(grid) else grid, *rest

            return Case("grid_sampler_2d", f"{name}-{text}", build, *t)

        for padding, beyond in enumerate(("zeros", "border", "reflection")):
            for aligned in (False, True):
                rest = (interpolation, padding, aligned)
                text = f"{beyond}-{'aligned' if aligned else 'edges'}"
                yield case(text, (2, 3, 5, 7), lambda rng: _grid(rng, 2, 11, 6), *rest)
                yield case(f"{text}-one", (1, 2, 1, 3), lambda rng: _grid(rng, 1, 5, 4), *rest)
                far = np.array([[-9, 30], [1e3, -1e3], [1e9, 0.1], [-1, 1], [0, 0]], np.float32).reshape(1, 1, 5, 2)
                yield case(f"{text}-far", (1, 2, 4, 6), far, *rest)
        # every centre and every middle between two: whole numbers and halves of rows and columns
        columns, rows = np.meshgrid(np.arange(-2, 10, 0.5), np.arange(-2, 6, 0.5))
        places = np.stack([(columns + 0.5) / 4 - 1, (rows + 0.5) / 2 - 1], -1).astype(np.float32)[None]
        yield case("halves", (1, 2, 4, 8), places, interpolation, 0, False)
        yield case("large", (1, 3, 37, 53), lambda rng: _grid(rng, 1, 61, 67), interpolation, 0, False)
        yield case("empty-batch", (0, 3, 5, 7), np.zeros((0, 2, 3, 2), np.float32), interpolation)
        yield case("no-places", (1, 3, 5, 7), np.zeros((1, 0, 3, 2), np.float32), interpolation)


SAMPLE_CASES = [*_sample()]
