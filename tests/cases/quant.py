"""Cases of quantizing and dequantizing: to and from every dtype, by numbers, by tensors, by channels."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from cases.common import FLT_MAX, ZERO_POINTS, Case, float32, int8, scales

_RANGES = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}
_EXTREMES = np.array([3e9, -3e9, np.inf, -np.inf, FLT_MAX, -FLT_MAX, 0, -0.0, 1e-45, -1e-45], np.float32)
_NANS = np.array([np.nan, -np.nan, 1, np.nan], np.float32)
_NANS.view(np.uint32)[3] = 0x7F800001  # a signalling one
_TIES = np.arange(-300, 300, dtype=np.float32) + np.float32(0.5)
_SHAPES = ((1,), (3,), (17,), (7, 5), (2, 3, 5), (2, 3, 5, 7), (1, 1, 1, 1), (2, 4, 1, 3), (1, 2, 3, 5, 7), ())


def _name(kind: str, shape: tuple[int, ...]) -> str:
    return f"{kind}-" + "x".join(map(str, shape))


def integers(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Every value of a dtype is as likely."""
    low, high = _RANGES[dtype]
    return np.asarray(rng.integers(low, high, shape, dtype, endpoint=True))


def _quantize() -> Iterator[Case]:
    def case(name: str, x: Any, scale: float = 0.05, zero_point: int = 3, *rest: int | None) -> Case:
        return Case("quantize_per_tensor", name, lambda rng: (x(rng) if callable(x) else x, scale, zero_point, *rest))

    for shape in (*_SHAPES, (4,)):
        yield case(_name("shape", shape), lambda rng, shape=shape: float32(rng, *shape))
    for shape in ((0,), (3, 0), (2, 0, 5, 7)):
        yield case(_name("empty", shape), np.zeros(shape, np.float32))
    for zero_point in ZERO_POINTS:
        yield case(f"extremes-zp{zero_point}", _EXTREMES, 1.0, zero_point)
        yield case(f"nan-zp{zero_point}", _NANS, 0.5, zero_point)
        yield case(f"ties-zp{zero_point}", _TIES, 1.0, zero_point)
    yield case("ties-scale-third", _TIES * np.float32(1 / 3), 1 / 3, 0)
    yield case("small-scale", lambda rng: float32(rng, 101) * np.float32(1e-30), 1e-32, -1)
    yield case("large-scale", lambda rng: float32(rng, 101) * np.float32(1e30), 1e28, 1)
    yield case("narrow-range", lambda rng: float32(rng, 101) * np.float32(9), 0.05, 0, -127, 100)
    yield case("millions", lambda rng: float32(rng, 7, 600_011), 0.05, 0)
    for number, (dtype, (low, high)) in zip((0, 2, 3), [r for r in _RANGES.items() if r[0] != "int8"], strict=True):
        everything = np.concatenate([_EXTREMES, _NANS, _TIES])
        for zero_point in (low, 0, high // 2 + 1, high):
            yield case(f"{dtype}-zp{zero_point}", everything, 1 / 3, zero_point, None, None, number)
        yield case(f"{dtype}-narrow-range", lambda rng: float32(rng, 7, 13) * 90, 0.5, 100, 3, 101, number)
        yield case(f"{dtype}-odd", lambda rng: float32(rng, 3, 5, 7) * 9, 0.3, 7, low, high, number)
        yield case(f"{dtype}-empty", np.zeros((3, 0), np.float32), 0.3, 7, low, high, number)
    yield case("by-name", lambda rng: float32(rng, 5, 3), 0.1, 128, None, None, "uint8")


def _dequantize() -> Iterator[Case]:
    def case(name: str, x: Any, scale: float = 0.05, zero_point: int = 3) -> Case:
        return Case("dequantize_per_tensor", name, lambda rng: (x(rng) if callable(x) else x, scale, zero_point))

    for shape in _SHAPES:
        yield case(_name("shape", shape), lambda rng, shape=shape: int8(rng, *shape))
    for shape in ((0,), (2, 0, 5, 7)):
        yield case(_name("empty", shape), np.zeros(shape, np.int8))
    every = np.arange(-128, 128, dtype=np.int8)
    for zero_point in ZERO_POINTS:
        yield case(f"every-value-zp{zero_point}", every, 0.1, zero_point)
    for shape in ((16,), (3, 16), (4, 1)):  # without gaps, so by the flat kernel
        yield case(_name("flat", shape), lambda rng, shape=shape: int8(rng, *shape))
    yield case("small-scale", every, 2.0**-126)
    yield case("large-scale", every, 2.0**125)
    for dtype in ("uint8", "int16", "int32"):
        low, high = _RANGES[dtype]
        for zero_point in (low, 0, high):
            yield case(f"{dtype}-zp{zero_point}", lambda rng, d=dtype: integers(rng, d, 7, 131), 0.1, zero_point)
        yield case(f"{dtype}-bounds", np.array([low, low + 1, 0, 1, high - 1, high], dtype), 0.3, 77)
        yield case(f"{dtype}-empty", np.zeros((2, 0), dtype), 0.3, 77)


# a scale and a zero point of one element, of any shape; float64 as dynamic quantization makes them
_TENSORS: tuple[tuple[np.ndarray, np.ndarray], ...] = (
    (np.array([0.05], np.float32), np.array([3], np.int64)),
    (np.array(0.3, np.float32), np.array(-7, np.int32)),
    (np.array([[np.float32(1 / 3)]], np.float64), np.array([[5]], np.int64)),
    (np.array([np.float32(1 / 255)], np.float64), np.array([-128], np.int32)),
    (np.array([2e37], np.float32), np.array([0], np.int64)),
    (np.array([3e-38], np.float64).astype(np.float32).astype(np.float64), np.array([0], np.int64)),
)


def _scaled(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.clip(x.astype(np.float64) * scale.item(), -FLT_MAX, FLT_MAX).astype(np.float32)


def _by_tensors() -> Iterator[Case]:
    quantize, dequantize = (f"quantized_decomposed.{name}_per_tensor.tensor" for name in ("quantize", "dequantize"))
    for n, (scale, zero_point) in enumerate(_TENSORS):
        both = (scale, zero_point)
        for shape in ((17,), (2, 3, 5, 7), ()):
            name = _name(str(n), shape)
            yield Case(quantize, name, lambda rng, s=shape, b=both: (_scaled(float32(rng, *s) * 50, b[0]), *b))
            yield Case(dequantize, name, lambda rng, s=shape, b=both: (int8(rng, *s), *b))
        halves = _scaled(np.arange(-150, 150, 0.5), scale)
        yield Case(quantize, f"{n}-ties", lambda _, h=halves, b=both: (h, *b))
        yield Case(quantize, f"{n}-special", lambda _, b=both: (np.concatenate([_EXTREMES, _NANS]), *b))
        for number, dtype in ((0, "uint8"), (2, "int16"), (3, "int32")):
            args = (scale, np.abs(zero_point), None, None, number)
            name = f"{n}-{dtype}"
            yield Case(quantize, name, lambda rng, a=args: (_scaled(float32(rng, 7, 13) * 99, a[0]), *a))
            yield Case(dequantize, name, lambda rng, d=dtype, a=args: (integers(rng, d, 7, 13), *a))


def _per_channel() -> Iterator[Case]:
    special = np.stack([np.concatenate([_EXTREMES, _NANS, _TIES[::7]])] * 5)
    for dtype, number in (("int8", 1), ("uint8", 0), ("int16", 2), ("int32", 3)):

        def case(
            op: str, name: str, x: Any, channels: int, axis: int, kind: str, dtype: str = dtype, number: int = number
        ) -> Case:
            def build(rng: np.random.Generator) -> tuple[Any, ...]:
                numbers = scales(rng, channels) * np.float32(50), integers(rng, dtype, channels).astype(kind)
                return x(rng), *numbers, axis, None, None, number

            return Case(op, f"{dtype}-{name}", build)

        for shape, axis, kind in (
            ((7, 5), 0, "int64"),
            ((7, 5), -1, "int32"),
            ((2, 3, 5, 7), 1, "int64"),
            ((3, 5, 2), 2, "int32"),
            ((1, 4, 3), 0, "int64"),
            ((17,), 0, "int64"),
            ((0, 3), 1, "int64"),
        ):
            name, rest = f"{_name('axis', shape)}-{axis}", (shape[axis], axis, kind)
            yield case("quantize_per_channel", name, lambda rng, s=shape: float32(rng, *s) * 30, *rest)
            yield case("dequantize_per_channel", name, lambda rng, s=shape, d=dtype: integers(rng, d, *s), *rest)
        yield case("quantize_per_channel", "special", lambda _: special, 5, 0, "int64")
        yield Case(
            "dequantize_per_channel",
            f"{dtype}-no-zero-points",
            lambda rng, d=dtype, n=number: (integers(rng, d, 5, 7), scales(rng, 7), None, 1, None, None, n),
        )


def _choose() -> Iterator[Case]:
    for shape in ((1,), (17,), (7, 5), (2, 3, 5, 7), (), (3, 5000)):
        yield Case("choose_qparams", _name("shape", shape), lambda rng, s=shape: (float32(rng, *s), -128, 127, 1e-7, 1))
    for name, x in (
        ("above-zero", [3, 7.5, 2]),
        ("below-zero", [-3, -7.5, -2]),
        ("zeros", [0, -0.0]),
        ("small", [1e-12, -1e-13]),
        ("infinite", [3e38, -3e38]),
        ("ties", [-0.5, 254.5]),
    ):
        yield Case("choose_qparams", name, lambda _, x=x: (np.array(x, np.float32), -128, 127, 1e-7))
    for dtype, (low, high) in _RANGES.items():
        yield Case("choose_qparams", dtype, lambda rng, r=(low, high, 1e-5, dtype): (float32(rng, 7, 13) + 1, *r))
    yield Case("choose_qparams", "narrow", lambda rng: (float32(rng, 7, 13) * 9, -127, 127, 1e-5))


def _by_token() -> Iterator[Case]:
    for shape in ((5, 7), (1, 3, 17), (3, 1, 130), (2, 3, 5), (2, 3, 5, 7), (9,)):
        name, row = _name("shape", shape), (*shape[:-1], 1)
        choose = "choose_qparams_per_token_asymmetric"
        yield Case(choose, name, lambda rng, s=shape, r=row: (float32(rng, *s) + rng.normal(size=r).astype("f"),))
        yield Case(choose, f"{name}-positive", lambda rng, s=shape: (abs(float32(rng, *s)), 1))
        for kinds in product(("float64", "float32"), ("int64", "int32")):

            def numbers(rng: np.random.Generator, row: Any = row, kinds: Any = kinds) -> tuple[Any, ...]:
                scales, zero_points = rng.uniform(0.01, 0.1, row), rng.integers(-128, 128, row)
                return scales.astype(kinds[0]), zero_points.astype(kinds[1]), -128, 127, 1

            of = f"{name}-{kinds[0]}-{kinds[1]}"
            yield Case("quantize_per_token", of, lambda rng, s=shape, n=numbers: (float32(rng, *s) * 4, *n(rng)))
            yield Case("dequantize_per_token", of, lambda rng, s=shape, n=numbers: (int8(rng, *s), *n(rng)))


QUANT_CASES = [*_quantize(), *_dequantize(), *_per_channel(), *_choose(), *_by_tensors(), *_by_token()]
