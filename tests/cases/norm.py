"""Cases of normalizations."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32

_TOLERANCE = 2e-5


def _norm() -> Iterator[Case]:
    def case(op: str, name: str, x: tuple[int, ...], build: Any, offset: float = 0.0) -> Case:
        def args(rng: np.random.Generator) -> tuple[Any, ...]:
            return float32(rng, *x) + np.float32(offset), *build(rng)

        return Case(op, name, args, _TOLERANCE, _TOLERANCE)

    def layer(
        name: str, x: tuple[int, ...], shape: list[int], weight: bool = True, bias: bool = True, **at: Any
    ) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            return shape, float32(rng, *shape) if weight else None, float32(rng, *shape) if bias else None, 1e-5

        return case("native_layer_norm", name, x, build, **at)

    yield layer("last", (7, 13), [13])
    yield layer("two", (3, 5, 7), [5, 7])
    yield layer("all", (3, 5), [3, 5])
    yield layer("vector", (67,), [67])
    yield layer("wide", (3, 1031), [1031])
    yield layer("narrow-many", (2053, 3), [3])
    yield layer("one", (5, 1), [1])
    yield layer("no-weight", (5, 17), [17], weight=False)
    yield layer("no-bias", (5, 17), [17], bias=False)
    yield layer("neither", (2, 3, 17), [17], False, False)
    yield layer("offset", (5, 300), [300], offset=10)
    yield layer("empty", (0, 3), [3])
    yield layer("rank5", (2, 1, 3, 2, 5), [2, 5])

    def group(name: str, x: tuple[int, ...], groups: int, weight: bool = True, bias: bool = True, **at: Any) -> Case:
        n, c = x[:2]

        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            affine = float32(rng, c) if weight else None, float32(rng, c) if bias else None
            return *affine, n, c, int(np.prod(x[2:])), groups, 1e-5

        return case("native_group_norm", name, x, build, **at)

    yield group("c6-g3", (2, 6, 5, 7), 3)
    yield group("c6-g2", (1, 6, 5, 7), 2)
    yield group("one-group", (2, 5, 3, 7), 1)
    yield group("instance", (2, 5, 7, 7), 5)
    yield group("large", (1, 4, 37, 41), 2)
    yield group("1d", (2, 6, 17), 3)
    yield group("flat", (3, 8), 2)
    yield group("3d", (1, 4, 3, 2, 5), 2)
    yield group("no-weight", (1, 6, 5, 7), 2, weight=False)
    yield group("no-bias", (1, 6, 5, 7), 2, bias=False)
    yield group("offset", (1, 6, 5, 7), 2, offset=10)
    yield group("empty-batch", (0, 6, 5, 7), 2)

    def batch(name: str, x: tuple[int, ...], weight: bool = True, bias: bool = True, eps: float = 1e-5) -> Case:
        c = x[1]

        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            affine = float32(rng, c) if weight else None, float32(rng, c) if bias else None
            return *affine, float32(rng, c), rng.uniform(0.1, 3, c).astype(np.float32), 0.1, eps

        return case("_native_batch_norm_legit_no_training", name, x, build)

    yield batch("4d", (2, 5, 7, 3))
    yield batch("3d", (2, 5, 17))
    yield batch("2d", (7, 13))
    yield batch("5d", (1, 3, 2, 3, 5))
    yield batch("one-channel", (2, 1, 7, 7))
    yield batch("one-element", (1, 1, 1, 1))
    yield batch("no-weight", (2, 5, 7, 3), weight=False)
    yield batch("no-bias", (2, 5, 7, 3), bias=False)
    yield batch("neither", (2, 5, 7, 3), False, False)
    yield batch("large-eps", (2, 5, 7, 3), eps=0.7)
    yield batch("many-channels", (1, 131, 3, 3))
    yield batch("empty-batch", (0, 5, 7, 3))

    def itself(name: str, x: tuple[int, ...], weight: bool = True, bias: bool = True, offset: float = 0.0) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            return float32(rng, x[1]) if weight else None, float32(rng, x[1]) if bias else None, True, 0.1, 1e-5

        return case("_native_batch_norm_legit", name, x, build, offset)

    yield itself("4d", (2, 5, 7, 3))
    yield itself("instance", (1, 6, 7, 5))
    yield itself("3d", (3, 5, 17))
    yield itself("2d", (7, 13))
    yield itself("5d", (2, 3, 2, 3, 5))
    yield itself("one-channel", (2, 1, 7, 5))
    yield itself("large", (3, 2, 37, 41))
    yield itself("no-weight", (2, 5, 7, 3), weight=False)
    yield itself("no-bias", (2, 5, 7, 3), bias=False)
    yield itself("neither", (2, 5, 7, 3), False, False)
    yield itself("offset", (2, 5, 7, 3), offset=10)
    yield itself("many-channels", (2, 131, 3, 2))
    yield itself("no-channels", (2, 0, 3, 2))

    def rms(op: str, name: str, x: tuple[int, ...], shape: list[int], weight: bool = True, eps: Any = None) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            return shape, float32(rng, *shape) if weight else None, eps

        return case(op, name, x, build, offset=1.0)

    for op in ("rms_norm", "_fused_rms_norm"):
        yield rms(op, "last", (7, 13), [13])
        yield rms(op, "two", (3, 5, 7), [5, 7])
        yield rms(op, "all", (3, 5), [3, 5])
        yield rms(op, "vector", (67,), [67])
        yield rms(op, "wide", (3, 1031), [1031])
        yield rms(op, "narrow-many", (2053, 3), [3])
        yield rms(op, "one", (5, 1), [1])
        yield rms(op, "no-weight", (5, 17), [17], weight=False)
        yield rms(op, "eps", (5, 17), [17], eps=0.7)
        yield rms(op, "no-weight-eps", (2, 3, 17), [17], False, 1e-3)
        yield rms(op, "empty", (0, 3), [3])
        yield rms(op, "rank5", (2, 1, 3, 2, 5), [2, 5])


def _overloads() -> Iterator[Case]:
    for shape in ((7, 13), (2, 3, 5), (67,)):
        name = "x".join(map(str, shape))
        yield Case(
            "et_vk.rms_norm.default",
            name,
            lambda rng, s=shape: (float32(rng, *s), float32(rng, s[-1]), 1e-6),
            _TOLERANCE,
            _TOLERANCE,
        )


NORM_CASES = [*_norm(), *_overloads()]
