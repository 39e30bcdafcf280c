"""Cases of elementwise functions of one operand, and of two that are broadcast."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cases.common import FLT_MAX, Case, float32

_SHAPES = ((), (1,), (17,), (7, 5), (2, 3, 5), (2, 3, 5, 7), (1, 2, 1, 3, 2, 1, 2, 3), (0,), (2, 0, 3))
_NAN, _INF = float("nan"), float("inf")
_SPECIAL = np.array(
    [_NAN, -_NAN, _INF, -_INF, 0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 6, 1e-20, -1e-20, 1e9, -1e9, FLT_MAX],
    np.float32,
)
# from the fine to the coarse, dense around 0 and 1, where functions cancel
_SWEEP = np.concatenate(
    [np.linspace(-3, 3, 1201), np.linspace(-30, 30, 601), 1 + np.linspace(-1e-3, 1e-3, 41), np.logspace(-8, 1, 91)]
).astype(np.float32)
_INTS = np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 12345, -98765, 2**20, 100, -100], np.int32)

Build = Callable[[np.random.Generator], np.ndarray]


def int32(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.integers(-(2**31), 2**31, shape, np.int32))


def _shape_text(*shapes: tuple[int, ...]) -> str:
    kind = "empty" if any(0 in s for s in shapes) else "shape"
    return "-".join([kind, *("x".join(map(str, s)) for s in shapes)])


# --- one element

# rtol and atol; WGSL's exp is allowed (3 + 2|x|) ULP, division 2.5. What is not here is exact.
_TOLERANCE: dict[str, tuple[float, float]] = {
    "sigmoid": (4e-6, 0),
    "hardswish": (4e-7, 0),
    "hardsigmoid": (4e-7, 0),
    "tanh": (5e-7, 0),
    "silu": (4e-6, 0),
    "gelu": (2e-6, 1e-7),
    "elu": (1e-6, 0),
    "erf": (5e-7, 0),
    "exp": (4e-6, 0),
    "expm1": (4e-6, 0),
    "log": (1e-6, 0),
    "log2": (1e-6, 0),
    "log10": (1e-6, 0),
    "log1p": (1e-6, 0),
    "sqrt": (4e-7, 0),
    "rsqrt": (6e-7, 0),
    "reciprocal": (4e-7, 0),
    "sin": (1e-6, 1.5e-7),
    "cos": (1e-6, 1.5e-7),
    "sinh": (4e-6, 0),
}
_UNARY = (
    *_TOLERANCE,
    "relu",
    "abs",
    "neg",
    "round",
    "floor",
    "ceil",
    "trunc",
    "sign",
    "clamp",
    "hardtanh",
    "leaky_relu",
    "hardshrink",
)
# FLT_MAX overflows on the way, or its result is subnormal, which a GPU may take for 0
_NOT_THE_LAST = ("hardswish", "reciprocal")
_PRECISE = ("sin", "cos")


def _unary() -> Iterator[Case]:
    def case(op: str, name: str, x: Build | np.ndarray, *args: Any) -> Case:
        return Case(op, name, lambda rng: (x(rng) if callable(x) else x, *args), *_TOLERANCE.get(op, ()))

    for op in _UNARY:
        for shape in _SHAPES:
            yield case(op, _shape_text(shape), lambda rng, s=shape: float32(rng, *s))
        yield case(op, "sweep", _SWEEP)
        yield case(op, "wide", lambda rng: rng.normal(0, 20, 1009).astype(np.float32))
        yield case(
            op, "special", _SPECIAL[:18] if op in _PRECISE else _SPECIAL[:-1] if op in _NOT_THE_LAST else _SPECIAL
        )
    for op in ("sin", "cos"):
        yield Case(op, "large", lambda rng: (rng.uniform(-50_000, 50_000, 4001).astype(np.float32),), 0, 6e-7)
    for op in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"):
        yield case(op, "exponents", (2.0 ** np.arange(-126, 125) * 1.1).astype(np.float32))
    for op in ("round", "floor", "ceil", "trunc"):
        yield case(op, "halves", np.arange(-9, 9, 0.5).astype(np.float32))
        yield case(op, "whole", np.array([2.0**23, 2.0**24 + 2, -(2.0**23) + 0.5, 0.49999997, 8388607.5], np.float32))
    for op in ("relu", "abs", "neg", "sign"):
        yield case(op, "int32", _INTS)
        yield case(op, "int32-random", lambda rng: int32(rng, 7, 5))
    for low, high in ((-1.5, None), (None, 0.5), (0, 6), (2, -2), (-_INF, _INF), (None, None), (0.1, 1e300)):
        yield case("clamp", f"{low}-to-{high}", _SPECIAL, low, high)
    yield case("clamp", "int32", _INTS, -100, 12345)
    yield case("clamp", "int32-no-max", _INTS, 5, None)
    yield case("hardtanh", "relu6", _SPECIAL, 0, 6)
    yield case("hardtanh", "int32", _INTS, 0, 6)
    yield case("gelu", "tanh-sweep", _SWEEP, "tanh")
    yield case("gelu", "tanh-special", _SPECIAL, "tanh")
    yield case("gelu", "tails", np.linspace(-13, 13, 2003).astype(np.float32))
    yield case("gelu", "tanh-tails", np.linspace(-13, 13, 2003).astype(np.float32), "tanh")
    yield case("leaky_relu", "slope", _SPECIAL, 0.3)
    yield case("leaky_relu", "negative-slope", _SWEEP, -2)
    yield case("elu", "scaled", _SWEEP, 1.7, 0.5, 2)
    yield case("hardshrink", "zero", _SPECIAL, 0)
    yield case("hardshrink", "one-and-a-half", _SPECIAL, 1.5)
    yield case("relu", "two-grid-rows", lambda rng: float32(rng, 7, 600_011))


# --- two elements

_PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()),
    ((17,), ()),
    ((), (7, 5)),
    ((7, 5), (7, 5)),
    ((7, 5), (5,)),
    ((7, 1), (1, 5)),
    ((2, 3, 5, 7), (3, 1, 1)),
    ((2, 3, 5, 7), (1, 3, 1, 7)),
    ((5, 1, 7), (2, 1, 3, 1)),
    ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1, 2, 1)),
    ((0,), (1,)),
    ((2, 0, 3), (2, 1, 1)),
    ((1,), (0, 5)),
)


def _any_bits(rng: np.random.Generator, count: int) -> np.ndarray:
    """float32 of every exponent, subnormal ones among them."""
    return rng.integers(0, 2**32, count, np.uint32).view(np.float32)


def _near_whole(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Numerators within two units in the last place of multiples: what an inexact division rounds to another number."""
    denominators = np.concatenate([float32(rng, 2003), rng.uniform(1e-41, 1e-37, 199)]).astype(np.float32)
    near = denominators * rng.integers(-(2**14), 2**14, denominators.size).astype(np.float32)
    steps = np.arange(-2, 3, dtype=np.int32)[:, None]
    return (near.view(np.int32) + steps).view(np.float32), denominators


def _binary() -> Iterator[Case]:
    tolerance = {"div": (4e-7, 0.0), "pow": (2e-5, 0.0), "atan2": (1e-6, 0.0)}

    def case(op: str, name: str, x: Build | np.ndarray, other: Any, *args: Any) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            return (*(v(rng) if callable(v) else v for v in (x, other)), *args)

        return Case(op, name, build, *tolerance.get(op, ()))

    special = np.array([_NAN, _INF, -_INF, 0, -0.0, 1, -1, 2.5, -3, 1e-10, 1e10, 1e25], np.float32)
    for op in ("add", "sub", "rsub", "mul", "div", "maximum", "minimum", "pow", "atan2"):
        for a, b in _PAIRS:
            positive = np.abs if op == "pow" else np.asarray
            yield case(
                op,
                _shape_text(a, b),
                lambda rng, s=a, f=positive: np.asarray(f(float32(rng, *s))),
                lambda rng, s=b: float32(rng, *s),
            )
        if op != "pow":
            yield case(op, "special", special[:, None], special)
        if op not in ("pow", "atan2"):
            yield case(op, "int32", lambda rng: int32(rng, 7, 1), lambda rng: int32(rng, 5))
            yield case(op, "int32-extremes", _INTS[:, None], _INTS if op != "div" else _INTS[1:])
    for op in ("add", "sub", "rsub"):
        # a fused multiply and add has another last bit
        for alpha in (2, 0.1, -1.5, 0):
            small = lambda rng: float32(rng, 7, 5)  # noqa: E731
            yield Case(op, f"alpha{alpha}", lambda rng, a=alpha, x=small: (x(rng), x(rng), a), 1e-6, 1e-6)
        yield case(op, "int32-alpha", _INTS[:, None], _INTS, -3)
    for mode in ("trunc", "floor"):
        # nothing is inexact here, and quotients near whole numbers abound
        tenths = (np.arange(-60, 61) * np.float32(0.1)).astype(np.float32)
        yield Case("div", f"{mode}-tenths", lambda _, m=mode, x=tenths: (x[:, None], x[x != 0], m))
        yield Case("div", f"{mode}-random", lambda rng, m=mode: (float32(rng, 7, 503) * 9, float32(rng, 503), m))
        far = (2.0 ** np.arange(-60, 60, 7) * 1.3).astype(np.float32)
        yield Case("div", f"{mode}-far", lambda _, m=mode, x=far: (x[:, None], np.concatenate([x, -x]), m))
        yield Case("div", f"{mode}-near-whole", lambda rng, m=mode: (*_near_whole(rng), m))
        yield Case("div", f"{mode}-bits", lambda rng, m=mode: (_any_bits(rng, 997)[:, None], _any_bits(rng, 31), m))
        yield Case("div", f"{mode}-special", lambda _, m=mode: (special[:, None], special, m))
        yield Case("div", f"{mode}-int32", lambda _, m=mode: (_INTS[:, None], _INTS[1:], m))
    for op in ("fmod", "remainder"):
        # nothing is inexact here either
        for a, b in _PAIRS:
            yield Case(op, _shape_text(a, b), lambda rng, a=a, b=b: (float32(rng, *a) * 9, float32(rng, *b)))
        yield Case(op, "bits", lambda rng: (_any_bits(rng, 997)[:, None], _any_bits(rng, 31)))
        yield Case(op, "near-whole", _near_whole)
        yield Case(op, "special", lambda _: (special[:, None], special))
        yield Case(op, "int32", lambda _: (_INTS[:, None], _INTS[1:]))
        yield Case(op, "int32-by-zero", lambda _: (_INTS, np.zeros(1, np.int32)))
    powers = np.array([0, 1, 2, 3, -1, -2, 7, 0.5, -0.5, 2.5, 0.3, -1.7, 63, 101], np.float32)
    bases = np.array([0, 1, -1, 2, -2, 0.5, -0.3, 1.01, -1.01, 9.7, 1e-10], np.float32)
    yield case("pow", "table", bases[:, None], powers)
    yield case("pow", "special", special[:, None], np.array([0, 1, 2, -1, 3, 0.5, 2.5], np.float32))
    yield case("pow", "squares", _SWEEP, np.float32(2))
    yield case("pow", "roots", np.abs(_SWEEP), np.float32(0.5))
    yield case("pow", "fractions", np.abs(_SWEEP), np.float32(1.7))
    circle = np.linspace(-7, 7, 2003)
    yield case("atan2", "circle", np.sin(circle).astype(np.float32), np.cos(circle).astype(np.float32))
    sizes = np.array([*(2.0 ** np.arange(-126, 127, 7) * 1.3), 3e38, FLT_MAX], np.float32)
    # what no float32 but a subnormal one is near to, a GPU may take for 0
    yield Case("atan2", "sizes", lambda _: (np.concatenate([sizes, -sizes])[:, None], -sizes), 1e-6)
    yield Case("atan2", "small-angles", lambda _: (sizes[:, None], np.concatenate([sizes, -sizes])), 1e-6, 2e-38)


# --- truth values


def bools(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.integers(0, 2, shape)).astype(bool)


def _truth() -> Iterator[Case]:
    special = np.array([_NAN, _INF, -_INF, 0, -0.0, 1, -1, 1e-20, 3], np.float32)

    def few(rng: np.random.Generator, *shape: int) -> np.ndarray:
        return np.asarray(rng.integers(-2, 3, shape)).astype(np.float32)

    def pairs(op: str, values: Callable[..., np.ndarray]) -> Iterator[Case]:
        for a, b in _PAIRS:
            yield Case(op, _shape_text(a, b), lambda rng, a=a, b=b: (values(rng, *a), values(rng, *b)))

    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield from pairs(op, few)
        yield Case(op, "special", lambda _: (special[:, None], special))
        yield Case(op, "int32", lambda _: (_INTS[:, None], _INTS))
        yield Case(op, "bool", lambda rng: (bools(rng, 7, 1), bools(rng, 5)))
    for op in ("logical_and", "logical_or", "bitwise_and", "bitwise_or"):
        yield from pairs(op, bools)
    for op in ("logical_not", "bitwise_not"):
        for shape in (*_SHAPES, (2, 17), (3, 8), (5, 1, 3)):
            yield Case(op, _shape_text(shape), lambda rng, s=shape: (bools(rng, *s),))
    yield Case("logical_not", "special", lambda _: (special,))
    yield Case("logical_not", "int32", lambda _: (_INTS,))
    for a, b in _PAIRS:
        yield Case(
            "where", _shape_text(a, b), lambda rng, a=a, b=b: (bools(rng, *a), float32(rng, *b), float32(rng, *a))
        )
    yield Case("where", "three-shapes", lambda rng: (bools(rng, 7, 1, 1), int32(rng, 5, 1), int32(rng, 3)))
    yield Case("where", "special", lambda rng: (bools(rng, 9, 9), special[:, None], special))


def _integers() -> Iterator[Case]:
    """Functions of integers that are not int32: on all of a dtype's range, wrapping around, and broadcast."""
    for dtype in ("int64", "int8", "uint8"):
        info = np.iinfo(dtype)
        ends = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 5, 7, 100], dtype)

        def any_of(rng: np.random.Generator, *shape: int, d: str = dtype, i: Any = info) -> np.ndarray:
            return np.asarray(rng.integers(i.min, i.max, shape, d, endpoint=True))

        for op in ("abs", "neg", "relu"):
            yield Case(op, dtype, lambda rng, x=ends, f=any_of: (np.concatenate([x, f(rng, 33)]),))
        yield Case("clamp", dtype, lambda rng, f=any_of: (f(rng, 5, 7), 3, 90))
        yield Case("clamp", f"{dtype}-no-max", lambda rng, f=any_of: (f(rng, 5, 7), 3, None))
        yield Case("hardtanh", dtype, lambda rng, f=any_of: (f(rng, 13), 0, 6))
        for op in ("add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"):
            yield Case(op, f"{dtype}-ends", lambda _, x=ends: (x[:, None], x))
            yield Case(op, f"{dtype}-broadcast", lambda rng, f=any_of: (f(rng, 2, 1, 5), f(rng, 3, 1)))
        yield Case("rsub", f"{dtype}-alpha", lambda rng, f=any_of: (f(rng, 2, 1, 5), f(rng, 3, 1), 3))
        yield Case("add", f"{dtype}-alpha", lambda rng, f=any_of: (f(rng, 2, 1, 5), f(rng, 3, 1), -3))
        nonzero = ends[ends != 0]
        for mode in ("trunc", "floor"):
            yield Case("div", f"{dtype}-{mode}", lambda _, x=ends, w=nonzero, m=mode: (x[:, None], w, m))
            yield Case(
                "div",
                f"{dtype}-{mode}-any",
                lambda rng, f=any_of, m=mode: (f(rng, 9, 1), f(rng, 11) | f(rng, 11) | 1, m),
            )
        yield Case("div", dtype, lambda rng, f=any_of: (f(rng, 9, 1), f(rng, 11) | 1, None), 4e-7)
        for op in ("fmod", "remainder"):
            yield Case(op, dtype, lambda _, x=ends, w=nonzero: (x[:, None], w))
            yield Case(op, f"{dtype}-any", lambda rng, f=any_of: (f(rng, 9, 1), f(rng, 11) | f(rng, 11) | 1))
        yield Case("where", dtype, lambda rng, f=any_of: (bools(rng, 7, 1, 1), f(rng, 5, 1), f(rng, 3)))
    yield Case("where", "bool", lambda rng: (bools(rng, 7, 1, 1), bools(rng, 5, 1), bools(rng, 3)))


# --- overloads


def _overloads() -> Iterator[Case]:
    special = np.array([_NAN, _INF, -_INF, 0, -0.0, 1, -1, 1e-20, -1e-45, 3], np.float32)
    for op in ("fmod", "remainder"):
        for number in (0.3, -7, 0.0, 1e30, _INF, _NAN):
            yield Case(f"aten.{op}.Scalar", f"{number}", lambda _, n=number: (np.concatenate([_SWEEP, special]), n))
        yield Case(f"aten.{op}.Scalar", "int32", lambda _: (_INTS, -7))
        yield Case(f"aten.{op}.Scalar", "int64", lambda _: (_INTS.astype(np.int64) * 2**31 + _INTS, -7))

    for number in (2, 0.5, 1, 10_000, 0.3, 0, -0.0, -1, -2, _INF, -_INF, _NAN):
        exponents = np.concatenate([np.linspace(-8, 8, 129).astype(np.float32), special[:-3], [3]], dtype=np.float32)
        yield Case("aten.pow.Scalar", f"{number}", lambda _, n=number, x=exponents: (n, x), 2e-5)
    for shape in ((), (7, 5), (0, 3), (2, 3, 5, 7)):
        yield Case("aten.pow.Scalar", _shape_text(shape), lambda rng, s=shape: (1.7, float32(rng, *s)), 2e-5)

    def floats(rng: np.random.Generator, shape: tuple[int, ...] | None) -> np.ndarray | None:
        return None if shape is None else float32(rng, *shape)

    clamp = "aten.clamp.Tensor"
    for x, low, high in (
        ((7, 5), (7, 5), (7, 5)),
        ((2, 3, 5, 7), (3, 1, 1), (7,)),
        ((5,), (2, 1, 1), (3, 1)),
        ((17,), (), None),
        ((2, 3), None, (4, 1, 1)),
        ((), (), ()),
        ((0, 3), (3,), None),
    ):
        shapes = [s for s in (x, low, high) if s is not None]
        yield Case(clamp, _shape_text(*shapes), lambda rng, s=(x, low, high): tuple(floats(rng, t) for t in s))
    yield Case(clamp, "special", lambda _: (special[:, None, None], special[:, None], special))
    yield Case(clamp, "int32", lambda _: (_INTS[:, None, None], _INTS[:, None], _INTS))
    yield Case(clamp, "int32-no-min", lambda _: (_INTS[:, None], None, _INTS))
    yield Case(clamp, "int32-no-max", lambda _: (_INTS[:, None], _INTS, None))


ELEMENTWISE_CASES = [*_unary(), *_binary(), *_truth(), *_integers(), *_overloads()]
