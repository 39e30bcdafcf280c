"""What the tables of op cases are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

FLT_MAX = float(np.finfo(np.float32).max)
ZERO_POINTS = (-128, -7, 0, 5, 127)


@dataclass(frozen=True)
class Case:
    """`rtol` and `atol` are for float32 results of functions whose last bits WGSL leaves open; the rest is exact."""

    op: str
    name: str
    build: Callable[[np.random.Generator], tuple[Any, ...]]
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def id(self) -> str:
        return f"{self.op}-{self.name}"

    def args(self) -> tuple[Any, ...]:
        return self.build(np.random.default_rng(sum(map(ord, self.id))))


def int8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape, np.int8)


def float32(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def scales(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(0.001, 0.01, n).astype(np.float32)
