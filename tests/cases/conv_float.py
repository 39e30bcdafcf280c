"""Cases of float32 convolutions."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cases.common import Case, float32


def _conv() -> Iterator[Case]:
    def case(
        name: str,
        x: tuple[int, ...],
        oc: int,
        kernel: list[int],
        stride: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        transposed: bool = False,
        output_padding: Any = (0, 0),
        groups: int = 1,
        bias: bool = True,
        op: str = "convolution",
        rest: tuple[Any, ...] = (),
    ) -> Case:
        def build(rng: np.random.Generator) -> tuple[Any, ...]:
            channels = (x[1], oc // groups) if transposed else (oc, x[1] // groups)
            weight, b = float32(rng, *channels, *kernel), float32(rng, oc) if bias else None
            geometry = (stride, padding, dilation, transposed, output_padding, groups)
            return float32(rng, *x), weight, b, *([*v] if isinstance(v, tuple) else v for v in geometry), *rest

        return Case(op, name, build, 1e-5, 2e-5)

    yield case("one-element", (1, 1, 1, 1), 1, [1, 1])
    yield case("k3-p1", (1, 3, 11, 13), 8, [3, 3], padding=(1, 1))
    yield case("primes", (2, 5, 11, 7), 7, [3, 2], (2, 3), (1, 1))
    yield case("pointwise", (1, 17, 7, 5), 13, [1, 1])
    yield case("one-integer", (1, 3, 11, 7), 5, [3, 3], (2,), (1,), (1,))
    yield case("dilation", (1, 3, 13, 11), 5, [3, 2], (1, 2), (2, 1), (2, 3))
    yield case("padding-over-kernel", (1, 2, 3, 4), 3, [2, 2], padding=(3, 5))
    yield case("groups", (2, 6, 7, 5), 9, [3, 3], padding=(1, 1), groups=3)
    yield case("depthwise", (1, 7, 9, 5), 7, [3, 3], (2, 1), (1, 1), groups=7)
    yield case("depthwise-multiplier", (1, 3, 9, 5), 6, [3, 3], groups=3)
    yield case("no-bias", (1, 3, 7, 5), 5, [3, 3], bias=False)
    yield case("conv1d", (2, 3, 17), 5, [3], (2,), (1,), (2,), output_padding=(0,))
    yield case("conv1d-depthwise", (1, 5, 17), 5, [4], (1,), (3,), (1,), output_padding=(0,), groups=5)
    yield case("conv1d-transposed", (1, 3, 7), 5, [4], (2,), (1,), (1,), True, (1,))
    yield case("transposed-k2-s2", (1, 5, 4, 7), 3, [2, 2], (2, 2), transposed=True)
    yield case("transposed-k3-s2-p1-op1", (2, 3, 5, 4), 7, [3, 3], (2, 2), (1, 1), (1, 1), True, (1, 1))
    yield case("transposed-dilation", (1, 3, 5, 4), 5, [3, 2], (2, 1), (2, 1), (2, 3), True)
    yield case("transposed-groups", (1, 6, 5, 4), 15, [3, 3], (2, 3), (1, 0), (1, 1), True, (1, 2), 3)
    yield case("transposed-depthwise", (1, 5, 5, 4), 5, [3, 3], (2, 2), (1, 1), (1, 1), True, (0, 1), 5, False)
    yield case("transposed-stride-over-kernel", (1, 2, 4, 5), 3, [2, 1], (5, 4), transposed=True)
    yield case("empty-batch", (0, 3, 4, 4), 5, [3, 3])
    yield case("empty-output", (1, 3, 1, 4), 5, [2, 2], padding=(1, 0), transposed=True)
    for name, limits in (("relu", (0, None)), ("relu6", (0.0, 6.0)), ("upper", (None, 0.5)), ("none", (None, None))):
        clamped = {"op": "conv_with_clamp", "rest": limits}
        yield case(name, (1, 3, 11, 7), 5, [3, 3], padding=(1, 1), **clamped)
        yield case(name + "-transposed", (1, 3, 5, 4), 5, [3, 3], (2, 2), transposed=True, **clamped)
        yield case(name + "-depthwise", (2, 5, 7, 7), 5, [3, 3], padding=(1, 1), groups=5, **clamped)

    def nans(rng: np.random.Generator) -> tuple[Any, ...]:
        x = float32(rng, 1, 1, 1, 4)
        x[..., 1] = np.nan
        return x, np.ones((1, 1, 1, 1), np.float32), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, 0, 6

    yield Case("conv_with_clamp", "nan", nans)
    crossed = {"op": "conv_with_clamp", "rest": (2.0, 1.0)}
    yield case("limits-crossed", (1, 3, 5, 7), 5, [3, 3], **crossed)


CONV_FLOAT_CASES = [*_conv()]
