"""Cases of the int8 ops. Sizes are primes where nothing else asks for them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cases.common import ZERO_POINTS, Case, float32, int8, scales

# --- linear


def _near_low(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, -125, shape, np.int8)


def _two_halves(rng: np.random.Generator, n: int, k: int) -> np.ndarray:
    """Weights whose sums with such x need 25 bits on the way, and end small."""
    half = rng.integers(-127, -120, (n, k // 2), np.int8)
    return np.concatenate([half, -half], axis=1)


def _linear() -> Iterator[Case]:
    def case(
        name: str,
        lead: tuple[int, ...],
        n: int,
        k: int,
        *,
        bias: bool = True,
        activation: str = "none",
        x_zp: int = 3,
        y_zp: int = -4,
        y_scale: float = 0.05,
        pad: tuple[int, int] = (0, 0),
        op: str = "q8ta_linear",
        x: Callable[[np.random.Generator], np.ndarray] | None = None,
        weight: Callable[[np.random.Generator], np.ndarray] | None = None,
    ) -> Case:
        """`pad`: extra columns of the weight, extra scales and biases."""

        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            w = weight(rng) if weight else int8(rng, n, k + pad[0])
            b = float32(rng, n + pad[1]) if bias else None
            data = x(rng) if x else int8(rng, *lead, k)
            return data, 0.02, x_zp, w, None, scales(rng, n + pad[1]), y_scale, y_zp, b, activation

        return Case(op, name, build)

    for m, n, k in (
        (7, 5, 11),
        (1, 1, 1),
        (2, 3, 4),
        (31, 37, 41),
        (33, 32, 64),
        (65, 1, 129),
        (3, 130, 17),
        (64, 64, 64),
    ):
        yield case(f"{m}x{n}x{k}", (m,), n, k)
        yield case(f"{m}x{n}x{k}-relu-no-bias", (m,), n, k, bias=False, activation="relu")
    # several tiles of a large kernel, and sums long enough to be cut in slices
    yield case("tiles", (131,), 70, 33)
    yield case("tiles-relu", (131,), 70, 100, activation="relu")
    yield case("slices", (67,), 35, 2049)
    yield case("many-tiles", (2051,), 1030, 17)
    for n, k in ((1, 1), (5, 11), (4, 16), (37, 257), (130, 1031), (10, 64)):
        yield case(f"gemv-{n}x{k}", (1,), n, k, op="q8ta_linear_gemv")
        yield case(f"gemv-{n}x{k}-relu", (1,), n, k, op="q8ta_linear_gemv", activation="relu")
    yield case("gemv-many-rows", (5,), 7, 13, op="q8ta_linear_gemv")
    yield case("gemv-no-bias", (1,), 7, 13, bias=False, op="q8ta_linear_gemv")
    yield case("gemv-padded-weight", (1,), 7, 13, pad=(3, 1), op="q8ta_linear_gemv")
    yield case("gemv-empty-sum", (1,), 7, 0, op="q8ta_linear_gemv")
    for zero_point in (-128, 127):
        yield case(f"gemv-x-zp{zero_point}", (1,), 7, 37, x_zp=zero_point, op="q8ta_linear_gemv")
        far = {"y_zp": zero_point, "y_scale": 1e-12}
        yield case(f"gemv-saturating-zp{zero_point}", (1,), 7, 501, op="q8ta_linear_gemv", **far)
    for lead in ((), (2, 3), (2, 3, 5), (1, 2, 1, 3)):
        yield case(f"batch-{'x'.join(map(str, lead))}", lead, 7, 13)
    yield case("empty-rows", (0,), 7, 13)
    yield case("empty-batch", (2, 0), 7, 13)
    yield case("empty-columns", (3,), 0, 13)
    yield case("empty-sum", (3,), 7, 0)
    yield case("padded-weight", (5,), 7, 13, pad=(3, 1))
    for zero_point in (-128, 0, 127):
        yield case(f"x-zp{zero_point}", (5,), 7, 13, x_zp=zero_point)
        yield case(f"y-zp{zero_point}", (5,), 7, 13, y_zp=zero_point)
        yield case(f"y-zp{zero_point}-relu", (5,), 7, 13, y_zp=zero_point, activation="relu")
        # results far outside of int8, on both sides
        yield case(f"saturating-zp{zero_point}", (5,), 7, 501, y_zp=zero_point, y_scale=1e-12)
    halves = {"weight": lambda rng: _two_halves(rng, 37, 4096), "x": lambda rng: _near_low(rng, 33, 4096)}
    yield case("25-bit-sums", (33,), 37, 4096, y_scale=0.01, **halves)
    # the largest sum that int32 must hold: 65,793 · 255 · 128
    low = lambda rng: np.full((2, 65793), -128, np.int8)  # noqa: E731
    yield case("largest-sum", (2,), 2, 65793, x_zp=127, y_scale=3e4, x=low, weight=low)


# --- transposed convolution


def _conv2d_transposed() -> Iterator[Case]:
    def case(
        name: str,
        ic: int,
        oc: int,
        size: tuple[int, int],
        kernel: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        output_padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1),
        groups: int = 1,
        *,
        n: int = 1,
        bias: bool = True,
        activation: str = "none",
        x_zp: int = 3,
        y_zp: int = -4,
        y_scale: float = 0.05,
        pad: tuple[int, int] = (0, 0),
    ) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            w = int8(rng, oc, kernel[0] * kernel[1] * (ic // groups) + pad[0])
            b = float32(rng, oc + pad[1]) if bias else None
            geometry = (kernel, stride, padding, output_padding, dilation, groups)
            x = int8(rng, n, ic, *size)
            return x, 0.02, x_zp, w, None, scales(rng, oc + pad[1]), y_scale, y_zp, b, *geometry, activation

        return Case("q8ta_conv2d_transposed", name, build)

    yield case("one-element", 1, 1, (1, 1), (1, 1))
    yield case("primes", 5, 7, (3, 11), (3, 2), (2, 3))
    yield case("k2-s2", 8, 4, (5, 7), (2, 2), (2, 2))
    yield case("k3-s2-p1-op1", 3, 8, (7, 7), (3, 3), (2, 2), (1, 1), (1, 1))
    yield case("k4-s2-p1-relu", 16, 5, (7, 5), (4, 4), (2, 2), (1, 1), activation="relu")
    yield case("width-not-of-4", 4, 4, (2, 3), (3, 3))
    yield case("stride-over-kernel", 5, 3, (4, 5), (2, 1), (5, 4))
    yield case("stride-over-map", 5, 3, (1, 1), (2, 3), (7, 9))
    yield case("output-padding", 2, 3, (3, 4), (3, 3), (4, 3), (1, 0), (3, 1))
    yield case("dilation", 3, 5, (5, 4), (3, 2), (2, 1), (2, 1), (0, 0), (2, 3))
    yield case("dilation-over-stride", 4, 4, (5, 5), (3, 3), (2, 2), (0, 0), (1, 1), (4, 4))
    yield case("groups2", 8, 12, (3, 5), (3, 3), (2, 2), (1, 1), groups=2)
    yield case("groups-within-words", 6, 9, (3, 5), (2, 2), (2, 2), groups=3)
    yield case("groups-across-words", 10, 10, (4, 3), (3, 1), (1, 2), groups=2)
    yield case("groups-one-output", 12, 4, (4, 3), (2, 2), groups=4)
    yield case("depthwise", 7, 7, (5, 6), (3, 3), (2, 2), (1, 1), (1, 1), groups=7)
    yield case("depthwise-multiplier", 5, 10, (5, 6), (3, 3), groups=5)
    yield case("batch3", 5, 6, (4, 3), (3, 3), (2, 2), n=3)
    yield case("no-bias-relu", 5, 6, (4, 3), (3, 3), (2, 2), bias=False, activation="relu")
    yield case("padded-weight", 3, 5, (4, 3), (3, 3), pad=(1, 3))
    yield case("padding-over-kernel", 3, 4, (9, 9), (2, 2), (1, 1), (3, 3))
    yield case("empty-batch", 3, 4, (4, 4), (2, 2), n=0)
    yield case("empty-output", 3, 4, (1, 4), (2, 2), (1, 1), (1, 0))
    # wide enough for phases of matrix products
    yield case("wide", 17, 19, (5, 7), (3, 2), n=2)
    yield case("wide-k2-s2", 33, 40, (5, 7), (2, 2), (2, 2), n=3)
    yield case("wide-k3-s2-p1-op1-relu", 16, 9, (7, 6), (3, 3), (2, 2), (1, 1), (1, 1), activation="relu")
    yield case("wide-k5-s3", 20, 5, (4, 3), (5, 4), (3, 2), (2, 0), (1, 1))
    yield case("wide-stride-of-one-axis", 12, 7, (4, 6), (3, 3), (1, 3), (0, 2), (0, 2))
    yield case("wide-stride-over-kernel", 9, 3, (4, 5), (2, 1), (5, 4))
    yield case("wide-stride-over-map", 9, 3, (1, 1), (2, 3), (7, 9))
    yield case("wide-output-padding", 12, 3, (3, 4), (3, 3), (4, 3), (1, 0), (3, 1))
    yield case("wide-padding-over-kernel", 16, 4, (9, 9), (2, 2), (1, 1), (3, 3))
    yield case("wide-padding-over-stride", 16, 4, (9, 7), (4, 5), (2, 3), (3, 4), n=2)
    yield case("wide-dilation", 16, 5, (5, 4), (3, 2), (2, 1), (2, 1), (0, 0), (2, 3))
    yield case("wide-padded-weight", 17, 5, (4, 3), (3, 3), (2, 2), pad=(1, 3))
    yield case("wide-no-bias-many-tiles", 16, 70, (17, 9), (2, 2), (2, 2), bias=False)
    yield case("wide-empty-output", 16, 4, (1, 4), (2, 2), (1, 1), (1, 0))
    yield case("wide-empty-batch", 16, 4, (4, 4), (2, 2), (2, 2), n=0)
    for zero_point in (-128, 0, 127):
        yield case(f"x-zp{zero_point}", 5, 3, (4, 3), (3, 3), (2, 2), (1, 1), x_zp=zero_point)
        yield case(f"saturating-zp{zero_point}", 5, 3, (4, 3), (3, 3), y_zp=zero_point, y_scale=1e-12)
        yield case(f"wide-x-zp{zero_point}", 12, 3, (4, 3), (3, 3), (2, 2), (1, 1), x_zp=zero_point)
        yield case(f"wide-saturating-zp{zero_point}", 12, 3, (4, 3), (3, 3), (2, 2), y_zp=zero_point, y_scale=1e-12)


# --- convolution


def _conv2d() -> Iterator[Case]:
    def case(
        name: str,
        ic: int,
        oc: int,
        size: tuple[int, int],
        kernel: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        dilation: tuple[int, int] = (1, 1),
        groups: int = 1,
        *,
        n: int = 1,
        bias: bool = True,
        activation: str = "none",
        x_zp: int = 3,
        y_zp: int = -4,
        y_scale: float = 0.05,
        pad: tuple[int, int] = (0, 0),
        op: str = "q8ta_conv2d",
        weight: Callable[[np.random.Generator], np.ndarray] | None = None,
        x: Callable[[np.random.Generator], np.ndarray] | None = None,
    ) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            if weight:
                w = weight(rng)
            elif op == "q8ta_conv2d_dw":
                w = int8(rng, *kernel, oc)
            else:
                w = int8(rng, oc, kernel[0] * kernel[1] * (ic // groups) + pad[0])
            b = float32(rng, oc + pad[1]) if bias else None
            data, geometry = x(rng) if x else int8(rng, n, ic, *size), (kernel, stride, padding, dilation, groups)
            return data, 0.02, x_zp, w, None, scales(rng, oc + pad[1]), y_scale, y_zp, b, *geometry, activation

        return Case(op, name, build)

    yield case("one-element", 1, 1, (1, 1), (1, 1))
    yield case("primes", 5, 7, (11, 13), (3, 2), (2, 3))
    yield case("wide", 17, 19, (7, 5), (3, 3), (1, 1), (1, 1))
    yield case("wide-s2-relu", 32, 33, (7, 7), (3, 3), (2, 2), (1, 1), activation="relu")
    yield case("first-layer", 3, 16, (15, 17), (3, 3), (2, 2), (1, 1))
    yield case("k5-p2", 16, 4, (5, 9), (5, 5), (1, 1), (2, 2))
    yield case("k7-s2-p3", 3, 8, (14, 14), (7, 7), (2, 2), (3, 3))
    yield case("map-7x7", 64, 32, (7, 7), (3, 3), (1, 1), (1, 1))
    yield case("slices", 130, 20, (5, 7), (3, 3), (1, 1), (1, 1), n=2)
    yield case("many-tiles", 17, 70, (19, 17), (3, 3), (2, 1), (1, 1), n=2)
    yield case("stride-over-kernel", 20, 3, (9, 8), (2, 1), (3, 4))
    yield case("dilation", 18, 5, (9, 11), (3, 2), (1, 2), (2, 1), (2, 3))
    yield case("one-by-one-stride2", 24, 10, (7, 7), (1, 1), (2, 2))
    yield case("one-by-one-padded", 24, 10, (3, 3), (1, 1), (1, 1), (1, 2))
    yield case("groups2", 8, 12, (5, 5), (3, 3), (1, 1), (1, 1), groups=2)
    yield case("groups2-wide", 64, 32, (5, 5), (3, 3), (1, 1), (1, 1), groups=2)
    yield case("groups-within-words", 6, 9, (5, 5), (2, 2), groups=3)
    yield case("groups-across-words", 10, 10, (5, 4), (3, 1), groups=2)
    yield case("depthwise-as-groups", 7, 14, (5, 6), (3, 3), (2, 2), (1, 1), groups=7)
    yield case("batch3", 17, 6, (4, 3), (3, 3), (1, 1), (1, 1), n=3)
    yield case("batch3-narrow", 5, 6, (4, 3), (3, 3), (1, 1), (1, 1), n=3)
    yield case("no-bias", 17, 6, (4, 3), (3, 3), bias=False)
    yield case("padded-weight", 3, 5, (4, 3), (3, 3), pad=(1, 3))
    yield case("padded-weight-wide", 17, 5, (4, 3), (3, 3), pad=(3, 3))
    yield case("kernel-larger-than-map", 17, 5, (1, 2), (3, 3), (1, 1), (1, 1))
    yield case("empty-batch", 17, 4, (4, 4), (2, 2), n=0)
    halves = {"weight": lambda rng: _two_halves(rng, 19, 4096), "x": lambda rng: _near_low(rng, 1, 1024, 7, 7)}
    yield case("25-bit-sums", 1024, 19, (7, 7), (2, 2), y_scale=0.01, **halves)
    halves = {"weight": lambda rng: _two_halves(rng, 7, 4096), "x": lambda _: np.full((1, 4096, 3, 3), -127, np.int8)}
    yield case("25-bit-sums-of-a-tap", 4096, 7, (3, 3), (1, 1), (2, 2), y_scale=1e-4, bias=False, **halves)
    yield case("many-channels", 1040, 5, (3, 3), (2, 2))
    halves = {"weight": lambda rng: _two_halves(rng, 10, 4096), "x": lambda rng: _near_low(rng, 1, 1024, 7, 9)}
    yield case("groups2-25-bit-sums", 1024, 10, (7, 9), (2, 4), groups=2, x_zp=127, y_scale=0.01, **halves)
    yield case("groups2-many-channels", 1040, 6, (3, 3), (2, 2), groups=2)
    for zero_point in (-128, 0, 127):
        yield case(f"x-zp{zero_point}", 17, 3, (4, 3), (3, 3), (2, 2), (1, 1), x_zp=zero_point)
        yield case(f"x-zp{zero_point}-narrow", 5, 3, (4, 3), (3, 3), (2, 2), (1, 1), x_zp=zero_point)
        yield case(f"saturating-zp{zero_point}", 17, 3, (4, 3), (3, 3), y_zp=zero_point, y_scale=1e-12)

    for ic, oc, size in (
        (5, 7, (3, 11)),
        (16, 24, (7, 7)),
        (24, 16, (5, 3)),
        (32, 8, (1, 1)),
        (9, 33, (2, 2)),
        (1, 1, (1, 1)),
    ):
        name = f"{ic}-{oc}-{size[0]}x{size[1]}"
        yield case(name, ic, oc, size, (1, 1), op="q8ta_conv2d_pw")
        yield case(f"{name}-relu", ic, oc, size, (1, 1), op="q8ta_conv2d_pw", activation="relu", bias=False, n=2)
    for zero_point in (-128, 0, 127):
        yield case(f"x-zp{zero_point}", 17, 9, (3, 5), (1, 1), x_zp=zero_point, op="q8ta_conv2d_pw")
        yield case(f"y-zp{zero_point}", 17, 9, (3, 5), (1, 1), y_zp=zero_point, op="q8ta_conv2d_pw")
        yield case(
            f"saturating-zp{zero_point}", 17, 9, (3, 5), (1, 1), y_zp=zero_point, y_scale=1e-12, op="q8ta_conv2d_pw"
        )
    yield case("padded-weight", 5, 7, (3, 5), (1, 1), pad=(3, 1), op="q8ta_conv2d_pw")
    yield case("empty-batch", 17, 7, (3, 5), (1, 1), n=0, op="q8ta_conv2d_pw")

    def depthwise(name: str, c: int, *args: Any, **options: Any) -> Case:
        return case(name, c, c, *args, groups=c, op="q8ta_conv2d_dw", **options)

    for c in (1, 3, 4, 7, 16, 33):
        yield depthwise(f"{c}-k3-p1", c, (7, 5), (3, 3), (1, 1), (1, 1))
        yield depthwise(f"{c}-k3-s2-p1-relu", c, (7, 5), (3, 3), (2, 2), (1, 1), activation="relu")
    yield depthwise("k3-padding-of-one-side", 5, (6, 9), (3, 3), (1, 1), (0, 2))
    yield depthwise("k3-s2-no-padding", 9, (9, 8), (3, 3), (2, 2))
    yield depthwise("k3-larger-than-map", 5, (1, 2), (3, 3), (1, 1), (2, 1))
    yield depthwise("k3-s2-larger-than-map", 5, (2, 1), (3, 3), (2, 2), (1, 1))
    yield depthwise("k3-s2-of-one-axis", 5, (6, 7), (3, 3), (2, 1), (1, 1))
    # so many threads that each takes several rows
    yield depthwise("k3-long-bands", 64, (67, 63), (3, 3), (1, 1), (1, 1), n=8, x_zp=-7)
    yield depthwise("k3-s2-long-bands", 64, (67, 63), (3, 3), (2, 2), (1, 1), n=16, x_zp=-7)
    yield depthwise("primes", 5, (11, 13), (5, 2), (3, 2))
    yield depthwise("dilation", 12, (9, 11), (3, 2), (1, 2), (2, 1), (2, 3))
    lowest = {"weight": lambda rng: _near_low(rng, 23, 22, 5), "x": lambda rng: _near_low(rng, 1, 5, 29, 31)}
    yield depthwise("largest-float-sum", 5, (29, 31), (23, 22), x_zp=127, y_scale=20.0, **lowest)
    yield depthwise("more-taps", 5, (29, 31), (23, 23), (1, 1), (2, 3))
    halves = {
        "weight": lambda rng: _two_halves(rng, 5, 28 * 41).T.reshape(28, 41, 5),
        "x": lambda rng: _near_low(rng, 1, 5, 34, 47),
    }
    yield depthwise("25-bit-sums", 5, (34, 47), (28, 41), x_zp=127, y_scale=0.05, bias=False, **halves)
    yield depthwise("batch3", 5, (4, 3), (3, 3), (1, 1), (1, 1), n=3)
    yield depthwise("no-bias", 20, (4, 3), (3, 3), bias=False)
    yield depthwise("empty-batch", 5, (4, 3), (3, 3), n=0)
    for zero_point in (-128, 0, 127):
        yield depthwise(f"x-zp{zero_point}", 9, (4, 3), (3, 3), (1, 1), (1, 1), x_zp=zero_point)
        yield depthwise(f"saturating-zp{zero_point}", 9, (4, 3), (3, 3), (1, 1), (1, 1), y_zp=zero_point, y_scale=1e-12)


# --- int8 to int8


def _elementwise() -> Iterator[Case]:
    every = np.arange(-128, 128, dtype=np.int8)
    for zero_point in ZERO_POINTS:
        for y_zero_point in (-128, 3, 127):
            name = f"every-value-zp{zero_point}-to-zp{y_zero_point}"
            args = (every, 0.05, zero_point, 0.031, y_zero_point)
            yield Case("q8ta_relu", name, lambda rng, args=args: args)
    for shape in ((3,), (7, 5), (2, 3, 5, 7), (2, 17, 3, 3), (2, 3, 5, 7, 2), (0, 3), ()):
        name = ("empty-" if 0 in shape else "shape-") + "x".join(map(str, shape))
        yield Case("q8ta_relu", name, lambda rng, shape=shape: (int8(rng, *shape), 0.05, 3, 0.08, -5))
    yield Case("q8ta_relu", "saturating", lambda rng: (every, 1e30, 0, 1e-30, 0))

    shapes = [
        ((16,), (16,)),
        ((7, 5), (7, 5)),
        ((2, 3, 5, 7), (2, 3, 5, 7)),
        ((2, 17, 3, 3), (2, 17, 3, 3)),
        ((7, 5), (5,)),
        ((7, 5), (7, 1)),
        ((7, 1), (1, 5)),
        ((2, 3, 5, 7), (3, 1, 1)),
        ((1, 3, 1, 7), (2, 1, 5, 1)),
        ((2, 3, 5, 7), ()),
        ((), ()),
        ((5, 1, 3), (2, 1)),
        ((2, 3, 2, 3, 2), (3, 2, 3, 1)),
        ((0, 5), (5,)),
        ((1, 17, 2, 2), (1, 17, 1, 1)),
    ]
    for a, b in shapes:
        name = ("empty-" if 0 in a else "") + "-plus-".join("x".join(map(str, s)) or "scalar" for s in (a, b))
        args = (0.05, 0, 0.1, 3, 0.08, -2)
        yield Case("q8ta_add", name, lambda rng, a=a, b=b, args=args: (int8(rng, *a), int8(rng, *b), *args))
    # a scale that float32 does not hold: the reciprocal of its neighbour is another one, and 13 no tie
    args = (1.0, 0, 1.0, 0, 26 / 3, 0)
    yield Case("q8ta_add", "reciprocal-in-double", lambda rng, args=args: (every, np.zeros(256, np.int8), *args))
    for alpha in (2.0, -1.0, 0.5, 0.0):
        args = (0.05, 0, 0.1, 3, 0.08, -2, alpha)
        yield Case("q8ta_add", f"alpha-{alpha}", lambda rng, args=args: (int8(rng, 101), int8(rng, 101), *args))
    for zero_point in ZERO_POINTS:
        args = (0.05, zero_point, 0.1, -zero_point - 1, 0.08, zero_point)
        yield Case("q8ta_add", f"zp{zero_point}", lambda rng, args=args: (int8(rng, 101), int8(rng, 101), *args))
        args = (1e30, zero_point, 1e30, 0, 1e-30, zero_point)
        yield Case(
            "q8ta_add", f"saturating-zp{zero_point}", lambda rng, args=args: (int8(rng, 101), int8(rng, 101), *args)
        )

    for n, c, h, w, r in (
        (1, 4, 3, 3, 2),
        (1, 9, 2, 2, 3),
        (2, 12, 3, 5, 2),
        (1, 20, 1, 7, 2),
        (1, 75, 2, 3, 5),
        (3, 5, 4, 3, 1),
    ):
        name = f"{n}x{c}x{h}x{w}-by-{r}"
        for extra, args in (("", (20.0, -3)), ("-requantized", (12.5, 5))):
            shape = (n, c, h, w)
            yield Case(
                "q8ta_pixel_shuffle", name + extra, lambda rng, s=shape, a=args, r=r: (int8(rng, *s), 0.05, -3, *a, r)
            )
    for zero_point in (-128, 0, 127):
        args = (0.05, zero_point, 25.0, zero_point, 2)
        yield Case("q8ta_pixel_shuffle", f"zp{zero_point}", lambda rng, args=args: (int8(rng, 1, 8, 3, 5), *args))
        args = (1e30, zero_point, 1e30, zero_point, 2)
        yield Case(
            "q8ta_pixel_shuffle", f"saturating-zp{zero_point}", lambda rng, args=args: (int8(rng, 1, 8, 3, 5), *args)
        )
    yield Case("q8ta_pixel_shuffle", "empty-batch", lambda rng: (int8(rng, 0, 8, 3, 5), 0.05, 0, 25.0, 0, 2))
    yield Case("q8ta_pixel_shuffle", "batch3", lambda rng: (int8(rng, 3, 8, 3, 5), 0.05, 0, 25.0, 1, 2))


# --- what passes make


def _from_passes() -> Iterator[Case]:
    every = np.arange(-128, 128, dtype=np.int8)
    random_table = [int(v) for v in np.random.default_rng(8).integers(-128, 128, 256)]
    tables = {"random": random_table, "falling": list(range(127, -129, -1)), "constant": [7] * 256}
    for name, table in tables.items():
        yield Case("table", f"every-value-{name}", lambda rng, table=table: (every, table))
    for shape in (
        (1,),
        (3,),
        (7, 5),
        (2, 3, 5),
        (2, 3, 5, 7),
        (1, 17, 3, 3),
        (2, 16, 1, 1),
        (2, 3, 5, 7, 2),
        (0, 3),
        (),
    ):
        name = ("empty-" if 0 in shape else "shape-") + "x".join(map(str, shape))
        yield Case("table", name, lambda rng, shape=shape: (int8(rng, *shape), random_table))

    def pool(name: str, shape: tuple[int, ...], *geometry: Any) -> Case:
        return Case("max_pool2d_int8", name, lambda rng: (int8(rng, *shape), *geometry))

    yield pool("one-element", (1, 1, 1, 1), (1, 1))
    yield pool("k2", (1, 3, 4, 6), (2, 2))
    yield pool("k2-odd", (2, 5, 5, 7), (2, 2))
    yield pool("k2-odd-ceil", (2, 5, 5, 7), (2, 2), (2, 2), (0, 0), (1, 1), True)
    yield pool("k3-s2-p1", (1, 17, 7, 9), (3, 3), (2, 2), (1, 1))
    yield pool("k3-s2-p1-ceil", (1, 17, 8, 10), (3, 3), (2, 2), (1, 1), (1, 1), True)
    yield pool("k3-s1-p1", (1, 4, 5, 5), (3, 3), (1, 1), (1, 1))
    yield pool("asymmetric", (1, 7, 9, 5), (3, 2), (2, 3), (1, 1))
    yield pool("dilation", (1, 6, 11, 9), (2, 3), (1, 2), (0, 1), (3, 2))
    yield pool("stride-over-kernel", (1, 3, 9, 9), (2, 2), (4, 3))
    yield pool("whole-map", (2, 20, 5, 3), (5, 3))
    yield pool("last-window-in-padding", (1, 2, 5, 5), (2, 2), (3, 3), (1, 1), (1, 1), True)
    yield pool("empty-batch", (0, 3, 4, 4), (2, 2))
    yield Case(
        "max_pool2d_int8", "all-lowest", lambda rng: (np.full((1, 3, 4, 4), -128, np.int8), (3, 3), (1, 1), (1, 1))
    )


def _cat_channels() -> Iterator[Case]:
    def case(name: str, channels: tuple[int, ...], n: int = 1, h: int = 3, w: int = 5) -> Case:
        return Case("cat_channels_int8", name, lambda rng: ([int8(rng, n, c, h, w) for c in channels],))

    for channels in ((4,), (4, 4), (8, 3), (16, 16), (12, 20), (4, 1), (24, 40, 7), (4, 4, 4, 4, 4), (32, 5), (20, 4)):
        yield case("-".join(map(str, channels)), channels)
    yield case("batch3", (8, 12), 3)
    yield case("one-pixel", (16, 4), 1, 1, 1)
    yield case("empty-batch", (4, 8), 0)
    yield case("empty-last", (4, 0))


# --- linear layers with float32 on one side


def _float_linear() -> Iterator[Case]:
    sizes = (
        ((5,), 7, 13),
        ((1,), 3, 4),
        ((4,), 16, 32),
        ((2, 3), 5, 17),
        ((), 9, 31),
        ((3,), 1, 1),
        ((0,), 4, 5),
        ((2,), 3, 0),
    )
    for lead, n, k in sizes:
        name = ("empty-" if 0 in (*lead, k) else "") + f"{'x'.join(map(str, lead)) or 'vector'}-{n}x{k}"
        for bias in (True, False):

            def build(rng: np.random.Generator, lead=lead, n=n, k=k, bias=bias, dtype=int8) -> tuple[Any, ...]:
                b = float32(rng, n) if bias else None
                return dtype(rng, *lead, k), 0.02, 3, int8(rng, n, k), None, scales(rng, n), b

            suffix = "" if bias else "-no-bias"
            yield Case("linear_q8ta_q8csw", f"{name}{suffix}", build, rtol=1e-6)

            def build_float(rng: np.random.Generator, build=build) -> tuple[Any, ...]:
                return build(rng, dtype=float32)

            yield Case("linear_q8ta_q8csw", f"{name}-float{suffix}", build_float, rtol=1e-5, atol=1e-5)
    sizes = (
        ((4,), 16, 32),
        ((1,), 16, 32),
        ((2,), 8, 64),
        ((5,), 7, 14),
        ((2, 3), 5, 18),
        ((), 3, 2),
        ((1,), 1, 2),
        ((0,), 4, 6),
        ((3,), 130, 34),
        ((2, 1, 2), 5, 100),
    )
    for lead, n, k in sizes:
        for scale in (1.0, 100.0):
            name = ("empty-" if 0 in lead else "") + f"{'x'.join(map(str, lead)) or 'vector'}-{n}x{k}-{scale:g}"

            def build_int4(rng: np.random.Generator, lead=lead, n=n, k=k, scale=scale) -> tuple[Any, ...]:
                weight = rng.integers(0, 256, (n, k // 2), np.uint8)
                return float32(rng, *lead, k) * np.float32(scale), weight, scales(rng, n + n % 4)

            yield Case("linear_qcs4w", name, build_int4, rtol=1e-5, atol=1e-5 * scale)

            def build_int8(rng: np.random.Generator, lead=lead, n=n, k=k, scale=scale) -> tuple[Any, ...]:
                return float32(rng, *lead, k) * np.float32(scale), int8(rng, n, k), scales(rng, n)

            yield Case("_weight_int8pack_mm", name, build_int8, rtol=1e-5, atol=1e-4 * scale)


INT8_CASES = [
    *_linear(),
    *_conv2d_transposed(),
    *_conv2d(),
    *_elementwise(),
    *_from_passes(),
    *_cat_channels(),
    *_float_linear(),
]
