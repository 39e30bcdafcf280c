"""Convolutions that no operator of ExecuTorch has: padding that differs on opposite edges. And their kernels."""

import numpy as np
import pytest
from webq8.backends.reference import run_graph
from webq8.budget import Budget
from webq8.errors import Unsupported
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.conv import Conv2d, Convolution
from webq8.ir.types import BadArg, PerChannel, PerTensor, Ref, Tensor
from webq8.kernels import select
from webq8.target import GPU, MATRIX_GPU, SOFTWARE, Target

RNG = np.random.default_rng(1)
SIDES = 0, 2, 2, 3  # top, left, bottom, right
AROUND = (0, 0), (0, 0), (0, 2), (2, 3)
X, WEIGHT = RNG.integers(-128, 128, (2, 6, 7, 9), np.int8), RNG.integers(-128, 128, (4, 3, 2, 3), np.int8)
ZERO_POINT = -7


def int8_convolution(x: np.ndarray, padding: tuple[int, int, int, int]) -> np.ndarray:
    g = Builder(Budget(None, ""))
    scales = PerChannel(np.float32([0.01, 0.02, 0.005, 0.03]).tobytes(), axis=0)
    x_ref = g.add(Tensor(x.shape, "int8", None, PerTensor(0.02, ZERO_POINT)))
    weight = g.add(Tensor(WEIGHT.shape, "int8", memoryview(WEIGHT.tobytes()), scales))
    op = Conv2d(x_ref, weight, None, (2, 1), padding, (1, 2), 2)
    return run(g, g.emit(op, PerTensor(0.5, 3)), x_ref, x)


def run(g: Builder, y: Ref, x: Ref, data: np.ndarray) -> np.ndarray:
    return run_graph(Graph(tuple(g.tensors), tuple(g.nodes), (x,), (y,)), [data])[0]


def test_sides_of_int8_maps() -> None:
    padded = np.pad(X, AROUND, constant_values=ZERO_POINT)
    y = int8_convolution(X, SIDES)
    assert y.shape == (2, 4, 4, 12)
    np.testing.assert_array_equal(y, int8_convolution(padded, (0, 0, 0, 0)))


def float_convolution(x: np.ndarray, padding: tuple[int, int, int, int], transposed: bool) -> np.ndarray:
    g = Builder(Budget(None, ""))
    x_ref, weight = g.add(Tensor(x.shape, "float32")), WEIGHT.astype(np.float32).transpose(0, 3, 1, 2)
    if transposed:
        weight = np.concatenate([weight, weight[:2]])
    w_ref = g.add(Tensor(weight.shape, "float32", memoryview(weight.tobytes())))
    return run(g, g.emit(Convolution(x_ref, w_ref, None, (2, 1), padding, (1, 2), 2, transposed)), x_ref, x)


def test_sides_of_float32_maps() -> None:
    x = X.astype(np.float32)
    y = float_convolution(x, SIDES, False)
    np.testing.assert_array_equal(y, float_convolution(np.pad(x, AROUND), (0, 0, 0, 0), False))


def test_sides_that_a_transposed_one_leaves_out() -> None:
    x = X.astype(np.float32)
    whole, y = (float_convolution(x, sides, True) for sides in ((0, 0, 0, 0), SIDES))
    np.testing.assert_array_equal(y, whole[:, :, :-2, 2:-3])


@pytest.mark.parametrize(
    ("x", "weight", "options", "message"),
    [
        ((1, 6, 7), (4, 3, 2, 3), {}, "four dimensions each expected"),
        ((1, 6, 7, 9), (4, 2, 3, 5), {}, "does not fit 6 input channels in 1 groups"),
        ((1, 6, 7, 9), (4, 2, 3, 3), {"groups": 4}, "groups = 4 does not divide 6 input and 4 output channels"),
        ((1, 6, 2, 9), (4, 4, 3, 6), {"padding": (1, 0, 0, 0)}, r"reaches \(4, 3\) .* leaves an output of \(0, 7\)"),
        ((1, 6, 7, 9), (4, 0, 3, 6), {}, "no taps"),
        ((1, 8000, 9, 9), (4, 3, 3, 8000), {}, "72000 terms an output could overflow"),
    ],
)
def test_shapes_that_do_not_fit(x: tuple[int, ...], weight: tuple[int, ...], options: dict, message: str) -> None:
    with pytest.raises(BadArg, match=message):
        Conv2d(Ref(0), Ref(1), None, **options).infer([Tensor(x, "int8"), Tensor(weight, "int8")])


def test_maps_of_three_dimensions() -> None:
    volumes = [Tensor((1, 2, 3, 4, 5), "float32"), Tensor((2, 2, 1, 1, 1), "float32")]
    with pytest.raises(BadArg, match="one and two dimensions") as caught:
        Convolution(Ref(0), Ref(1), None).infer(volumes)
    assert caught.value.kind is Unsupported


PLAIN = Conv2d(Ref(0), Ref(1), None)
TRANSPOSED = PLAIN.replace(transposed=True, stride=(2, 2))


@pytest.mark.parametrize(
    ("op", "weight", "channels", "pixel_bytes", "software", "gpu"),
    [
        (PLAIN, (8, 1, 1, 16), 16, 16, "pointwise", "pointwise"),
        (PLAIN.replace(padding=(0, 0, 1, 0)), (8, 1, 1, 16), 16, 16, "direct", "gemm"),
        (PLAIN, (8, 1, 1, 5), 5, 8, "windowed", "gemm"),
        (PLAIN, (8, 3, 3, 16), 16, 16, "direct", "gemm"),
        (PLAIN.replace(groups=16), (16, 3, 3, 1), 16, 16, "depthwise", "depthwise"),
        (PLAIN.replace(groups=16), (32, 3, 3, 1), 16, 16, "windowed", "windowed"),
        (TRANSPOSED, (8, 2, 2, 16), 16, 16, "windowed", "phases"),
        (TRANSPOSED, (8, 1, 2, 16), 16, 16, "windowed", "windowed"),
        (TRANSPOSED, (8, 2, 2, 5), 5, 8, "windowed", "windowed"),
        (TRANSPOSED.replace(groups=16), (16, 2, 2, 1), 16, 16, "windowed", "windowed"),
        (TRANSPOSED.replace(dilation=(1, 2)), (8, 2, 2, 16), 16, 16, "windowed", "windowed"),
    ],
)
def test_ways(op: Conv2d, weight: tuple[int, ...], channels: int, pixel_bytes: int, software: str, gpu: str) -> None:
    for kind, way in ((SOFTWARE, software), (GPU, gpu), (MATRIX_GPU, gpu)):
        assert select.convolution(op, weight, channels, pixel_bytes, Target(kind=kind)) == way


def test_kernels_of_depthwise_ones() -> None:
    def chosen(
        kernel: tuple[int, int], words: int, pixel_bytes: int, target: Target, **options: tuple[int, int]
    ) -> str:
        return select.depthwise(PLAIN.replace(**options), kernel, words, pixel_bytes, target).removeprefix("conv2d_")

    gpu, software = Target(), Target(kind=SOFTWARE)
    assert chosen((3, 3), 48, 16, gpu, stride=(2, 2)) == "depthwise_3x3"
    assert chosen((3, 3), 48, 16, gpu, stride=(2, 1)) == "depthwise_wide"
    assert chosen((3, 3), 48, 8, gpu, dilation=(1, 2)) == "depthwise"
    assert chosen((3, 3), 48, 8, software) == "depthwise_floats"
    assert chosen((3, 3), 47, 16, software) == "depthwise_wide"
    assert chosen((515, 1), 48, 8, software) == "depthwise"  # more terms than a float32 sums exactly


def test_kernels_of_windowed_ones() -> None:
    gpu, software = Target(), Target(kind=SOFTWARE)
    assert select.windowed(512, 3, 48, software) == "conv2d_windowed_floats"
    assert {select.windowed(*sizes, software) for sizes in ((516, 3, 48), (512, 2, 48), (512, 3, 47))} == {
        select.windowed(512, 3, 48, gpu)
    }


def test_a_class_of_devices_is_a_row() -> None:
    """A row of figures decides; no rule asks for a class by its name."""
    row = SOFTWARE.replace(tiles=("large", "small", "narrow", "deep"), pixels=1)
    assert select.convolution(PLAIN, (8, 3, 3, 16), 16, 16, Target(kind=row)) == "gemm"
    assert select.product(7, Target(kind=row)) == "gemm"
    assert select.windowed(512, 3, 48, Target(kind=row)) == "conv2d_windowed"
