"""Cases of reductions, running sums and softmax."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32
from cases.shape import DTYPES

_NAN, _INF = np.float32(np.nan), np.float32(np.inf)
# name, shape, dim, keepdim
_SHAPES: tuple[tuple[str, tuple[int, ...], Any, bool], ...] = (
    ("last", (7, 13), [1], False),
    ("last-keep", (7, 13), [-1], True),
    ("first", (13, 7), [0], False),
    ("middle", (3, 11, 5), [1], False),
    ("spatial", (2, 5, 7, 7), [-1, -2], True),
    ("spatial-flat", (2, 5, 7, 3), [2, 3], False),
    ("outer-and-inner", (5, 7, 3), [0, 2], False),
    ("every-other", (2, 3, 2, 3, 2, 3, 2, 3), [0, 2, 4, 6], False),
    ("every-other-inner", (2, 3, 2, 3, 2, 3, 2, 3), [1, 3, -3, -1], True),
    ("all-named", (3, 5, 7), [0, 1, 2], False),
    ("all-empty-list", (3, 5, 7), [], False),
    ("ones", (1, 5, 1), [0, 2], False),
    ("long", (3, 10_007), [1], False),
    ("long-strided", (10_007, 3), [0], False),
    ("many-outputs", (17, 2503), [0], False),
    ("scalar", (), [0], True),
    ("empty-kept", (0, 3), [1], False),
    ("single", (1,), [0], False),
)


def _sums() -> Iterator[Case]:
    def case(op: str, name: str, x: Any, dim: Any, keepdim: bool) -> Case:
        return Case(op, name, lambda rng: (x(rng) if callable(x) else x, dim, keepdim), 2e-6, 2e-6)

    for op in ("mean", "sum"):
        for name, shape, dim, keepdim in _SHAPES:
            yield case(op, name, lambda rng, s=shape: float32(rng, *s) + np.float32(0.5), dim, keepdim)
        yield case(op, "all-null", lambda rng: float32(rng, 3, 5, 7), None, False)
        yield case(op, "all-null-keep", lambda rng: float32(rng, 3, 5, 7), None, True)
        yield case(op, "empty-reduced", np.zeros((2, 0), np.float32), [1], False)
        yield case(op, "nan-inf", np.array([[1, _NAN], [_INF, 1], [-_INF, _INF]], np.float32), [1], False)
        whole = Case(op, "whole-numbers", lambda rng: (rng.integers(-9, 9, (5, 64)).astype(np.float32), [1], False, 6))
        yield whole


def _variances() -> Iterator[Case]:
    def case(name: str, x: Any, *args: Any) -> Case:
        return Case("var", name, lambda rng: (x(rng) if callable(x) else x, *args), 3e-6, 0)

    for name, shape, dim, keepdim in _SHAPES:
        yield case(name, lambda rng, s=shape: float32(rng, *s) + np.float32(0.5), dim, None, keepdim)
    for correction in (0, 1, 2, 0.5, 13, 99):
        yield case(f"correction{correction}", lambda rng: float32(rng, 7, 13), [1], correction)
    yield case("all-null-keep", lambda rng: float32(rng, 3, 5, 7), None, 0, True)
    yield case("empty-reduced", np.zeros((2, 0), np.float32), [1], 0)
    # a difference of the sums of squares and of elements has no digit right
    yield case("far-from-zero", lambda rng: float32(rng, 3, 1031) + np.float32(4096), [1], 0)
    yield case("far-from-zero-strided", lambda rng: float32(rng, 1031, 3) + np.float32(4096), [0], 0)
    yield case("nan-inf", np.array([[1, _NAN], [_INF, 1], [-_INF, _INF], [3, 3]], np.float32), [1])


def _products() -> Iterator[Case]:
    def near_one(rng: np.random.Generator, *shape: int) -> np.ndarray:
        factors = 1 + float32(rng, *shape) / np.float32(128)
        return np.asarray(factors * np.sign(float32(rng, *shape)), np.float32)

    for name, shape, dim, keepdim in _SHAPES:
        if len(dim) == 1:
            build = lambda rng, s=shape, d=dim[0], k=keepdim: (near_one(rng, *s), d, k)  # noqa: E731
            yield Case("prod", name, build, 2e-4 if "long" in name else 2e-6)
    yield Case("prod", "empty-reduced", lambda _: (np.zeros((2, 0), np.float32), 1))
    yield Case("prod", "whole-numbers", lambda rng: (rng.integers(-3, 4, (5, 13)).astype(np.float32), 1, False, 6))
    special = np.array([[0, 3, _INF], [_NAN, 0, 1], [-_INF, 2, -3], [0, -0.0, 1], [1e30, 1e30, 1]], np.float32)
    yield Case("prod", "special", lambda _: (special, 1))
    yield Case("prod", "special-strided", lambda _: (special, 0, True))


def _running_sums() -> Iterator[Case]:
    for name, shape, dim, _ in _SHAPES:
        if len(dim) == 1:
            build = lambda rng, s=shape, d=dim[0]: (rng.uniform(0.5, 2, s).astype(np.float32), d)  # noqa: E731
            yield Case("cumsum", name, build, 2e-6)
            for dtype in DTYPES[1:]:

                def whole(
                    rng: np.random.Generator, d: str = dtype, s: Any = shape, dim: int = dim[0]
                ) -> tuple[Any, ...]:
                    ends = (0, 2) if d == "bool" else (np.iinfo(d).min, np.iinfo(d).max)
                    return np.asarray(rng.integers(*ends, s)).astype(d), dim

                yield Case("cumsum", f"{name}-{dtype}", whole)
    yield Case("cumsum", "negative-dim", lambda rng: (rng.integers(-9, 9, (3, 7, 5)), -2))
    yield Case("cumsum", "carries", lambda _: (np.full((3, 67), 2**32 - 1), 1))
    yield Case("cumsum", "int32-of-int64", lambda rng: (rng.integers(-(2**40), 2**40, (3, 131)), 1, 3))
    yield Case("cumsum", "int32-of-bool", lambda rng: (rng.random((131, 3)) < 0.5, 0, 3))
    yield Case("cumsum", "float32-of-bool", lambda rng: (rng.random((3, 131)) < 0.5, 1, 6))
    yield Case("cumsum", "float32-of-int8", lambda rng: (rng.integers(-128, 128, (3, 131), np.int8), 1, 6))
    yield Case("cumsum", "float32-of-int64", lambda _: (np.full((131, 3), 2**40 + 1), 0, 6), 2e-6)
    yield Case("cumsum", "float32-of-int32", lambda rng: (rng.integers(-(2**10), 2**10, (5, 7), np.int32), 0, 6))
    yield Case("cumsum", "whole-numbers", lambda rng: (rng.integers(-99, 99, (3, 1031)).astype(np.float32), 1, 6))
    special = np.array([[0, 1, _INF, 3, 4], [1, _NAN, 2, 3, 4], [-_INF, 1, _INF, 1, 2]], np.float32)
    yield Case("cumsum", "special", lambda _: (special, 1))
    yield Case("cumsum", "special-strided", lambda _: (special, 0))


def _whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.integers(-(2**31), 2**31, shape, np.int32))


_EXTREME = [np.full((3, 5), v, np.int32) for v in (-(2**31), 2**31 - 1)]


def _extrema() -> Iterator[Case]:
    for op in ("amax", "amin"):
        for name, shape, dim, keepdim in _SHAPES:
            yield Case(op, name, lambda rng, s=shape, d=dim, k=keepdim: (float32(rng, *s), d, k))
        special = np.array(
            [[1, _NAN, 3], [_INF, 1, -_INF], [-_INF, -_INF, -_INF], [0, -0.0, 0], [1e-45, -1e-45, 0], [-1, -3, -2]],
            np.float32,
        )
        yield Case(op, "special", lambda rng, x=special: (x, [1], False))
        yield Case(op, "negative-nan", lambda rng, x=-special: (x, [1], True))
        yield Case(op, "int32", lambda rng: (_whole(rng, 7, 13), [0]))
        yield Case(op, "int32-least", lambda rng, x=_EXTREME[op == "amin"]: (x, [0]))


def _indices() -> Iterator[Case]:
    for op in ("argmax", "argmin", "max", "min"):
        for name, shape, dim, keepdim in _SHAPES:
            if len(dim) == 1:
                yield Case(op, name, lambda rng, s=shape, d=dim[0], k=keepdim: (float32(rng, *s), d, k))
        if op.startswith("arg"):
            yield Case(op, "null", lambda rng: (float32(rng, 3, 5, 7), None, False))
            yield Case(op, "null-keep", lambda rng: (float32(rng, 3, 5, 7), None, True))
        yield Case(op, "ties", lambda rng: (rng.integers(-2, 3, (11, 131)).astype(np.float32), 1))
        yield Case(op, "ties-strided", lambda rng: (rng.integers(-2, 3, (131, 11)).astype(np.float32), 0))
        special = np.array([[1, _NAN, _NAN], [-_INF, _INF, _INF], [-0.0, 0, -0.0], [-_INF, -_INF, -_INF]], np.float32)
        yield Case(op, "special", lambda rng, x=special: (x, -1))
        yield Case(op, "int32", lambda rng: (_whole(rng, 7, 13), 1))
        least = _EXTREME[op.endswith("min")]
        yield Case(op, "int32-least", lambda rng, x=least: (x, 0))


def _truths() -> Iterator[Case]:
    for i, (name, shape, dim, keepdim) in enumerate(_SHAPES):
        for dtype in ("float32", DTYPES[1 + i % 5]):

            def build(
                rng: np.random.Generator, d: str = dtype, s: Any = shape, dim: Any = dim, keep: bool = keepdim
            ) -> tuple[Any, ...]:
                return np.asarray(rng.random(s) < 0.15).astype(d), dim, keep

            yield Case("any", f"{name}-{dtype}", build)
    yield Case("any", "null", lambda rng: (np.asarray(rng.random((3, 5)) < 0.02), None, True))
    yield Case("any", "empty-reduced", lambda _: (np.zeros((2, 0), np.int32), [1], False))
    special = np.array([[0, -0.0, 0], [0, _NAN, 0], [-0.0, 0, 1e-45], [0, 0, -_INF]], np.float32)
    yield Case("any", "special", lambda _: (special, [1], False))
    high = np.array([[0, 2**40], [0, 0], [-(2**63), 0]])
    yield Case("any", "high-words", lambda _: (high, [1], False))


def _softmax() -> Iterator[Case]:
    for op in ("_softmax", "_log_softmax"):

        def case(name: str, x: Any, dim: int, op: str = op) -> Case:
            return Case(op, name, lambda rng: (x(rng) if callable(x) else x, dim, False), 5e-6, 5e-6)

        for name, shape, dim in (
            ("last", (7, 13), -1),
            ("first", (13, 7), 0),
            ("middle", (3, 11, 5), 1),
            ("channels", (2, 5, 7, 3), 1),
            ("rank5", (2, 3, 2, 3, 5), -2),
            ("long", (3, 10_007), 1),
            ("many-strided", (17, 2503), 0),
            ("one", (5, 1), 1),
            ("scalar", (), -1),
            ("vector", (67,), 0),
            ("empty-row", (3, 0), 1),
            ("empty-rows", (0, 3), 1),
        ):
            yield case(name, lambda rng, s=shape: float32(rng, *s) * np.float32(3), dim)
        yield case("large", lambda rng: float32(rng, 5, 17) * np.float32(1000), 1)
        yield case("far-apart", np.array([[-1e30, 0, 1e30], [3e38, 3e38, -3e38]], np.float32), 1)
        infinite = np.array([[1, -_INF, 2], [-_INF, -_INF, -_INF], [_INF, 1, 0], [_NAN, 1, 2]], np.float32)
        yield case("infinite", infinite, 1)


def _overloads() -> Iterator[Case]:
    for op in ("aten.max.default", "aten.min.default"):
        for shape in ((3, 5, 7), (10_007,), (), (1, 1)):
            yield Case(op, "x".join(map(str, shape)), lambda rng, s=shape: (float32(rng, *s),))
        yield Case(op, "nan", lambda _: (np.array([1, _NAN, 3], np.float32),))
        yield Case(op, "int32", lambda rng: (_whole(rng, 7, 13),))
    for shape in ((3, 5, 7), (10_007,), (), (1, 1), (0, 3)):
        build = lambda rng, s=shape: (rng.uniform(0.99, 1.01, s).astype(np.float32),)  # noqa: E731
        yield Case("aten.prod.default", "x".join(map(str, shape)), build, 1e-4)
    for unbiased in (True, False):
        yield Case("aten.var.dim", f"{unbiased}", lambda rng, u=unbiased: (float32(rng, 7, 5, 3), [0, 2], u, u), 3e-6)


REDUCE_CASES = [
    *_sums(),
    *_variances(),
    *_products(),
    *_extrema(),
    *_indices(),
    *_truths(),
    *_running_sums(),
    *_softmax(),
    *_overloads(),
]
