"""Makes tests/data/torch_goldens.npz: each op by torch itself, with arguments that are unlike in every axis.

Heights differ from widths, kernels, strides, paddings and dilations from axis to axis, scales from each other; axes are
not the last ones. ExecuTorch's own ops are computed by the implementations that come with it, and ops that passes make
by what they stand for. `cases/goldens.py` reads the file, so that every row runs on the GPU as well.

python tests/export/torch_goldens.py
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import executorch.backends.vulkan.custom_ops_lib
import executorch.exir.passes.dim_order_ops_registry  # noqa: F401 - both register ops
import numpy as np
import torch
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F  # noqa: N812 - as everyone does

TARGET = Path(__file__).parents[1] / "data" / "torch_goldens.npz"
aten, et_vk, decomposed, dim_order = (
    getattr(torch.ops, name) for name in ("aten", "et_vk", "quantized_decomposed", "dim_order_ops")
)
DTYPES = {name: getattr(torch, name) for name in ("uint8", "int8", "int16", "int32", "int64", "float32", "bool")}
NUMBERED = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 6: "float32", 11: "bool"}
NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Row:
    """`torch` takes the arguments with tensors in place of arrays; `None` is aten's op of that name."""

    op: str
    name: str
    args: tuple[Any, ...]
    torch: Callable[..., Any] | None = None
    rtol: float = 0.0
    atol: float = 0.0


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return np.asarray(rng.normal(size=shape), np.float32)


def of(dtype: str, rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Every value of the dtype is as likely."""
    if dtype == "float32":
        return floats(rng, *shape)
    if dtype == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    info = np.iinfo(dtype)
    return np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))


def int8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return of("int8", rng, *shape)


def scales(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.uniform(0.002, 0.02, count).astype(np.float32)


# --- the int8 ops


def dequantize(x: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    return decomposed.dequantize_per_tensor(x, scale, zero_point, -128, 127, torch.int8)


def quantize(x: torch.Tensor, scale: float, zero_point: int) -> torch.Tensor:
    return decomposed.quantize_per_tensor(x, scale, zero_point, -128, 127, torch.int8)


def kernels(weight: torch.Tensor, kernel: list[int], inputs: int) -> torch.Tensor:
    """Rows of a file, [OC, (kh · Kw + kw) · IC + ic, …], in torch's order, [OC, IC, Kh, Kw]."""
    taps = weight[:, : kernel[0] * kernel[1] * inputs].reshape(len(weight), *kernel, inputs)
    return taps.permute(0, 3, 1, 2).contiguous()


def conv2d(op: Callable[..., Any]) -> Callable[..., Any]:
    """ExecuTorch's implementation, which takes kernels in torch's order, flattened."""

    def run(x: Any, x_scale: float, x_zp: int, w: Any, sums: Any, *rest: Any) -> Any:
        kernel, groups = rest[4], rest[-2]
        flat = kernels(w, kernel, x.shape[1] // groups).flatten(1)
        return op(x, x_scale, x_zp, flat, torch.zeros(len(w), dtype=torch.int32), *rest)

    return run


def transposed(
    x: Any, x_scale: float, x_zp: int, w: Any, sums: Any, w_scales: Any, y_scale: float, y_zp: int, bias: Any,
    kernel: list[int], stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: int, activation: str,
) -> Any:  # fmt: skip
    """By torch: ExecuTorch's own takes the scales of the first group for all of them."""
    real = kernels(w, kernel, x.shape[1] // groups) * w_scales.reshape(-1, 1, 1, 1)
    outputs, inputs = len(w) // groups, real.shape[1]
    real = real.reshape(groups, outputs, inputs, *kernel).transpose(1, 2).reshape(groups * inputs, outputs, *kernel)
    geometry = (stride, padding, output_padding, groups, dilation)
    y = F.conv_transpose2d(dequantize(x, x_scale, x_zp), real, bias, *geometry)
    return quantize(y.relu() if activation == "relu" else y, y_scale, y_zp)


def with_sums(op: Callable[..., Any]) -> Callable[..., Any]:
    """ExecuTorch's implementations want a tensor of weight sums, and do not read it."""
    return lambda x, scale, zp, w, _, *rest: op(x, scale, zp, w, torch.zeros(len(w), dtype=torch.int32), *rest)


def through_float(op: Callable[..., Any]) -> Callable[..., Any]:
    """What a pass made one op of: dequantize → op → quantize, in float64, where sums are exact.

    The scales of the rows are such that no result is nearly a tie, where the last bit of a factor would decide.
    """

    def run(x: Any, x_scale: float, x_zp: int, *rest: Any) -> Any:
        *args, y_scale, y_zp = rest
        y = op((x.double() - x_zp) * x_scale, *args)
        return torch.clamp(torch.round(y / y_scale) + y_zp, -128, 127).to(torch.int8)

    return run


def int8_rows(rng: np.random.Generator) -> Iterator[Row]:
    def linear(op: str, name: str, lead: tuple[int, ...], n: int, k: int, *tail: Any) -> Row:
        args = (int8(rng, *lead, k), 0.021, 5, int8(rng, n, k), None, scales(rng, n), 0.37, -9, *tail)
        return Row(op, name, args, with_sums(getattr(et_vk, op)))

    yield linear("q8ta_linear", "bias", (3, 2), 7, 13, floats(rng, 7), "none")
    yield linear("q8ta_linear", "relu", (5,), 6, 11, None, "relu")
    yield linear("q8ta_linear_gemv", "bias", (1,), 7, 13, floats(rng, 7), "none")
    yield linear("q8ta_linear_gemv", "relu", (1,), 9, 5, floats(rng, 9) * 9, "relu")

    def conv(
        op: str, name: str, x: tuple[int, ...], oc: int, *geometry: Any, bias: bool = True, activation: str = "none"
    ) -> Row:
        kernel, groups = geometry[0], geometry[-1]
        depthwise = op == "q8ta_conv2d_dw"
        weight = int8(rng, *kernel, oc) if depthwise else int8(rng, oc, kernel[0] * kernel[1] * x[1] // groups)
        biases = floats(rng, oc) * np.float32(5) if bias else None
        args = (int8(rng, *x), 0.021, -11, weight, None, scales(rng, oc), 0.47, 7, biases, *geometry, activation)
        of_op = getattr(et_vk, op)
        way = transposed if op == "q8ta_conv2d_transposed" else with_sums(of_op) if depthwise else conv2d(of_op)
        return Row(op, name, args, way)

    yield conv("q8ta_conv2d", "uneven", (2, 5, 9, 7), 6, [3, 2], [2, 1], [1, 2], [1, 3], 1)
    yield conv("q8ta_conv2d", "groups", (1, 6, 5, 8), 9, [2, 3], [1, 2], [2, 0], [2, 1], 3, activation="relu")
    yield conv("q8ta_conv2d_pw", "uneven", (2, 11, 3, 5), 7, [1, 1], [1, 1], [0, 0], [1, 1], 1)
    yield conv(
        "q8ta_conv2d_pw", "relu", (1, 8, 5, 2), 5, [1, 1], [1, 1], [0, 0], [1, 1], 1, bias=False, activation="relu"
    )
    yield conv("q8ta_conv2d_dw", "uneven", (2, 5, 9, 7), 5, [3, 2], [2, 1], [1, 2], [1, 3], 5)
    yield conv("q8ta_conv2d_dw", "k3", (1, 7, 8, 5), 7, [3, 3], [1, 2], [1, 0], [1, 1], 7, activation="relu")
    yield conv("q8ta_conv2d_transposed", "uneven", (2, 5, 4, 3), 6, [3, 2], [2, 3], [1, 0], [1, 2], [2, 1], 1)
    yield conv("q8ta_conv2d_transposed", "groups", (1, 6, 3, 5), 4, [2, 3], [3, 1], [0, 1], [1, 0], [1, 2], 2)
    yield conv("q8ta_conv2d_transposed", "wide", (1, 16, 3, 5), 7, [3, 2], [2, 1], [1, 0], [1, 0], [1, 1], 1)

    yield Row("q8ta_relu", "scales", (int8(rng, 3, 5, 7), 0.05, -11, 0.031, 9), et_vk.q8ta_relu)
    args = (int8(rng, 2, 3, 5, 7), int8(rng, 3, 1, 7), 0.05, -11, 0.083, 9, 0.061, 4, -1.7)
    yield Row("q8ta_add", "alpha", args, et_vk.q8ta_add)
    args = (int8(rng, 2, 12, 3, 5), 0.05, -3, 12.5, 5, 2)
    yield Row("q8ta_pixel_shuffle", "requantized", args, et_vk.q8ta_pixel_shuffle)
    yield Row("q8ta_pixel_shuffle", "by-3", (int8(rng, 1, 18, 2, 3), 0.05, -3, 20.0, -3, 3), et_vk.q8ta_pixel_shuffle)

    yield Row(
        "table",
        "random",
        (int8(rng, 3, 5, 7), int8(rng, 256).tolist()),
        lambda x, t: torch.tensor(t, dtype=torch.int8)[x.long() + 128],
    )
    geometry = ([3, 2], [2, 3], [1, 1], [1, 2], True)
    largest = lambda x, *rest: aten.max_pool2d(x.float(), *rest).to(torch.int8)  # noqa: E731
    yield Row("max_pool2d_int8", "ceil", (int8(rng, 2, 5, 10, 9), *geometry), largest)
    yield Row("max_pool2d_int8", "uneven", (int8(rng, 1, 17, 9, 6), [2, 3], [3, 1], [0, 1], [2, 1]), largest)
    yield Row("cat_channels_int8", "three", ([int8(rng, 2, c, 3, 5) for c in (8, 4, 3)],), lambda t: torch.cat(t, 1))

    mean = through_float(lambda x, dim, keepdim: aten.mean.dim(x, dim, keepdim))
    yield Row("mean_int8", "middle", (int8(rng, 2, 5, 7, 3), 0.037, -11, [1, 3], True, 0.011, 17), mean)
    yield Row("mean_int8", "map", (int8(rng, 2, 12, 5, 7), 0.037, -11, [2, 3], False, 0.011, 17), mean)
    average = through_float(lambda x, kernel, *rest: aten.avg_pool2d(x, kernel, *rest))
    for name, rest in (
        ("ceil", ([3, 2], [2, 3], [1, 0], True, True, None)),
        ("ceil-not-counting", ([3, 4], [2, 3], [1, 2], True, False, None)),
        ("divisor", ([2, 3], [3, 1], [1, 0], False, True, 7)),
    ):
        yield Row("avg_pool2d_int8", name, (int8(rng, 2, 5, 10, 9), 0.037, -11, *rest, 0.0231, 17), average)
    args = (int8(rng, 2, 5, 7, 11), 0.037, -11, [3, 4], 0.019, 17)
    yield Row("adaptive_avg_pool2d_int8", "uneven", args, through_float(aten._adaptive_avg_pool2d))

    x, weight = floats(rng, 3, 2, 13), int8(rng, 7, 13)
    yield Row(
        "linear_q8ta_q8csw",
        "float",
        (x, 0.02, 3, weight, None, scales(rng, 7), floats(rng, 7)),
        with_sums(et_vk.linear_q8ta_q8csw),
        1e-5,
        1e-5,
    )

    def of_int8(x: Any, scale: float, zp: int, *rest: Any) -> Any:
        return with_sums(et_vk.linear_q8ta_q8csw)(dequantize(x, scale, zp), scale, zp, *rest)

    yield Row(
        "linear_q8ta_q8csw",
        "int8",
        (int8(rng, 5, 13), 0.02, -7, weight, None, scales(rng, 7), floats(rng, 7)),
        of_int8,
        1e-5,
        1e-5,
    )

    def nibbles(x: Any, w: Any, s: Any) -> Any:
        """The earlier of two in the upper half, 8 for zero, as the delegate has them; ExecuTorch's own has no 8."""
        whole = torch.stack([w >> 4, w & 15], -1).flatten(1).float() - 8
        return F.linear(x, whole * s[:, None])

    yield Row(
        "linear_qcs4w", "uneven", (floats(rng, 3, 2, 14), of("uint8", rng, 8, 7), scales(rng, 8)), nibbles, 1e-5, 1e-5
    )
    yield Row("_weight_int8pack_mm", "uneven", (floats(rng, 5, 32), int8(rng, 7, 32), scales(rng, 7)), None, 1e-5, 1e-5)


def tie_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Scales that are powers of two, by which half of the results lie between two integers."""

    def few(*shape: int, most: int = 9) -> np.ndarray:
        return rng.integers(-most, most + 1, shape, np.int8)

    def weighted(op: str, x: tuple[int, ...], w: tuple[int, ...], n: int, way: Any, *geometry: Any) -> Row:
        bias = np.full(n, 2.0, np.float32) if geometry else None
        args = (few(*x), 0.5, -3, few(*w, most=2), None, np.ones(n, np.float32), 1.0, 7, bias, *geometry, "none")
        return Row(op, f"ties-{x[1]}", args, way)

    for op in ("q8ta_linear", "q8ta_linear_gemv"):
        lead = 1 if op.endswith("gemv") else 5
        yield weighted(op, (lead, 13), (7, 13), 7, with_sums(getattr(et_vk, op)))
    yield weighted(
        "q8ta_conv2d", (2, 5, 6, 7), (9, 30), 9, conv2d(et_vk.q8ta_conv2d), [3, 2], [2, 1], [1, 0], [1, 2], 1
    )
    yield weighted(
        "q8ta_conv2d", (1, 16, 6, 7), (9, 96), 9, conv2d(et_vk.q8ta_conv2d), [3, 2], [1, 2], [1, 0], [1, 1], 1
    )
    yield weighted(
        "q8ta_conv2d_pw", (2, 11, 3, 5), (7, 11), 7, conv2d(et_vk.q8ta_conv2d_pw), [1, 1], [1, 1], [0, 0], [1, 1], 1
    )
    depthwise = with_sums(et_vk.q8ta_conv2d_dw)
    yield weighted("q8ta_conv2d_dw", (2, 5, 6, 7), (3, 2, 5), 5, depthwise, [3, 2], [2, 1], [1, 0], [1, 2], 5)
    yield weighted("q8ta_conv2d_dw", (1, 17, 6, 7), (3, 3, 17), 17, depthwise, [3, 3], [1, 1], [1, 0], [1, 1], 17)
    for channels in (5, 16):
        x, w = (1, channels, 3, 4), (7, 6 * channels)
        yield weighted("q8ta_conv2d_transposed", x, w, 7, transposed, [3, 2], [2, 1], [1, 0], [1, 0], [1, 1], 1)
    yield Row("q8ta_relu", "ties", (int8(rng, 3, 5, 7), 0.5, -11, 1.0, 9), et_vk.q8ta_relu)
    yield Row("q8ta_add", "ties", (int8(rng, 3, 5, 7), int8(rng, 5, 1), 0.5, -11, 0.25, 9, 1.0, 4, 2.0), et_vk.q8ta_add)
    yield Row("q8ta_pixel_shuffle", "ties", (int8(rng, 2, 12, 3, 5), 0.5, -3, 1.0, 5, 2), et_vk.q8ta_pixel_shuffle)


def reciprocal_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Numbers that are quantized to others by a reciprocal that is divided in float32."""
    y_scale = 0.013
    near = (np.arange(-120, 120) + 0.5) * y_scale
    x = (near.astype(np.float32).view(np.int32)[:, None] + np.arange(-3, 4, dtype=np.int32)).view(np.float32).ravel()
    exact, rough = np.float32(1 / y_scale), np.float32(1) / np.float32(y_scale)
    x = x[np.rint(x * exact) != np.rint(x * rough)]
    assert len(x) > 9
    way = lambda x, scale, zp: quantize(x, scale, zp)  # noqa: E731
    yield Row("quantize_per_tensor", "reciprocal", (x, y_scale, -7), way)


def quant_rows(rng: np.random.Generator) -> Iterator[Row]:
    def bounds(dtype: str) -> tuple[int, int]:
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def by_number(op: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: op(*args[:-1], DTYPES[NUMBERED[args[-1]]])

    ties = np.arange(-40, 40, dtype=np.float32).reshape(5, 16) * np.float32(0.125)
    for dtype, number, zp in (("int8", 1, -7), ("uint8", 0, 99), ("int16", 2, -3001)):
        rest = (*bounds(dtype), number)
        way = by_number(decomposed.quantize_per_tensor)
        yield Row("quantize_per_tensor", f"ties-{dtype}", (ties, 0.25, zp, *rest), way)
        yield Row("quantize_per_tensor", f"{dtype}", (floats(rng, 3, 5, 7) * np.float32(9), 0.07, zp, *rest), way)
        far = np.array([3e38, -3e38, INF, -INF, 1e6, -1e6], np.float32)
        yield Row("quantize_per_tensor", f"far-{dtype}", (far, 0.07, zp, *rest), way)
        way = by_number(decomposed.dequantize_per_tensor)
        yield Row("dequantize_per_tensor", f"{dtype}", (of(dtype, rng, 3, 5, 7), 0.07, zp, *rest), way)
    yield Row(
        "quantize_per_tensor",
        "narrow",
        (floats(rng, 7, 5) * np.float32(9), 0.07, 3, -100, 90, 1),
        by_number(decomposed.quantize_per_tensor),
    )
    yield Row(
        "dequantize_per_tensor",
        "int32",
        (of("int32", rng, 3, 5), 0.07, 12345, *bounds("int32"), 3),
        by_number(decomposed.dequantize_per_tensor),
    )
    both = np.array([0.07], np.float64).astype(np.float32), np.array([-7], np.int64)
    rest = (-128, 127, 1)
    for name, x in (("quantize", floats(rng, 3, 5, 7) * np.float32(9)), ("dequantize", int8(rng, 3, 5, 7))):
        op = f"{name}_per_tensor"
        yield Row(
            f"quantized_decomposed.{op}.tensor", "one", (x, *both, *rest), by_number(getattr(decomposed, op).tensor)
        )
        for axis in (1, 0):
            numbers = scales(rng, x.shape[axis]) * np.float32(9), int8(rng, x.shape[axis]).astype(np.int64)
            way = by_number(getattr(decomposed, f"{name}_per_channel"))
            yield Row(f"{name}_per_channel", f"axis{axis}", (x, *numbers, axis, *rest), way)
    choose = by_number(decomposed.choose_qparams.tensor)
    yield Row("choose_qparams", "int8", (floats(rng, 3, 5) + np.float32(1), -128, 127, 1e-5, 1), choose)
    yield Row("choose_qparams", "uint8", (floats(rng, 3, 5) - np.float32(9), 0, 255, 1e-5, 0), choose)
    tokens = floats(rng, 2, 3, 7) + floats(rng, 2, 3, 1)
    choose = decomposed._choose_qparams_per_token_asymmetric_impl
    yield Row("choose_qparams_per_token_asymmetric", "int8", (tokens, 1), by_number(choose))
    # float64, as they are chosen: float32 holds them
    numbers = (
        rng.uniform(0.01, 0.1, (2, 3, 1)).astype(np.float32).astype(np.float64),
        rng.integers(-128, 128, (2, 3, 1)),
    )
    rest = *numbers, -128, 127, 1
    yield Row("quantize_per_token", "int8", (tokens, *rest), by_number(decomposed.quantize_per_token))
    by_token = by_number(lambda *args: decomposed.dequantize_per_token(*args, torch.float32))
    yield Row("dequantize_per_token", "int8", (int8(rng, 2, 3, 7), *rest), by_token)


# --- sums, windows, orders of float32


def conv_rows(rng: np.random.Generator) -> Iterator[Row]:
    def conv(op: str, name: str, x: tuple[int, ...], w: tuple[int, ...], oc: int, *rest: Any, torch: Any = None) -> Row:
        return Row(op, name, (floats(rng, *x), floats(rng, *w), floats(rng, oc), *rest), torch, 1e-5, 2e-5)

    none = [0, 0]
    yield conv("convolution", "uneven", (2, 5, 9, 7), (6, 5, 3, 2), 6, [2, 1], [1, 2], [1, 3], False, none, 1)
    yield conv("convolution", "groups", (1, 6, 5, 8), (9, 2, 2, 3), 9, [1, 2], [2, 0], [2, 1], False, none, 3)
    yield conv("convolution", "depthwise", (1, 5, 8, 6), (5, 1, 3, 2), 5, [2, 1], [0, 1], [1, 2], False, none, 5)
    yield conv("convolution", "transposed", (2, 5, 4, 3), (5, 6, 3, 2), 6, [2, 3], [1, 0], [2, 1], True, [1, 2], 1)
    yield conv(
        "convolution", "transposed-groups", (1, 6, 3, 5), (6, 2, 2, 3), 4, [3, 1], [0, 1], [1, 2], True, [2, 0], 2
    )
    yield conv("convolution", "1d", (2, 6, 17), (4, 3, 4), 4, [2], [3], [2], False, [0], 2)
    yield conv("convolution", "1d-transposed", (2, 6, 7), (6, 2, 4), 4, [3], [1], [2], True, [2], 2)
    clamped = et_vk.conv_with_clamp
    for name, low, high in (("limits", -0.7, 1.3), ("above", None, 0.4)):
        rest = ([2, 1], [1, 2], [1, 3], False, none, 1, low, high)
        yield conv("conv_with_clamp", name, (2, 5, 9, 7), (6, 5, 3, 2), 6, *rest, torch=clamped)


def matmul_rows(rng: np.random.Generator) -> Iterator[Row]:
    close = (None, 1e-5, 2e-5)
    yield Row("linear", "bias", (floats(rng, 3, 2, 7), floats(rng, 5, 7), floats(rng, 5)), *close)
    yield Row("mm", "uneven", (floats(rng, 5, 7), floats(rng, 7, 3)), *close)
    yield Row("bmm", "uneven", (floats(rng, 2, 5, 7), floats(rng, 2, 7, 3)), *close)
    scaled = lambda a, x, y, beta, alpha: aten.addmm(a, x, y, beta=beta, alpha=alpha)  # noqa: E731
    for name, addend in (("row", (3,)), ("column", (5, 1))):
        args = (floats(rng, *addend), floats(rng, 5, 7), floats(rng, 7, 3), 0.5, -2.5)
        yield Row("addmm", name, args, scaled, 1e-5, 2e-5)


def norm_rows(rng: np.random.Generator) -> Iterator[Row]:
    def norm(op: str, name: str, x: tuple[int, ...], *rest: Any, torch: Any = None) -> Row:
        return Row(op, name, (floats(rng, *x) * np.float32(2) + np.float32(1), *rest), torch, 2e-5, 2e-5)

    yield norm("native_layer_norm", "two", (3, 5, 7), [5, 7], floats(rng, 5, 7), floats(rng, 5, 7), 0.01)
    yield norm("native_layer_norm", "no-bias", (2, 3, 5), [5], floats(rng, 5), None, 0.3)
    yield norm("native_group_norm", "uneven", (2, 6, 5, 7), floats(rng, 6), floats(rng, 6), 2, 6, 35, 3, 0.01)
    some = (floats(rng, 5), rng.uniform(0.2, 3, 5).astype(np.float32))
    yield norm(
        "_native_batch_norm_legit_no_training", "uneven", (2, 5, 7, 3), floats(rng, 5), floats(rng, 5), *some, 0.1, 0.01
    )
    itself = aten._native_batch_norm_legit.no_stats
    yield norm(
        "_native_batch_norm_legit",
        "uneven",
        (2, 5, 7, 3),
        floats(rng, 5),
        floats(rng, 5),
        True,
        0.1,
        0.01,
        torch=itself,
    )
    yield norm("rms_norm", "two", (3, 5, 7), [5, 7], floats(rng, 5, 7), 0.01)
    yield norm("rms_norm", "no-eps", (2, 3, 5), [5], floats(rng, 5), None)
    yield norm("_fused_rms_norm", "two", (3, 5, 7), [5, 7], floats(rng, 5, 7), 0.01)
    yield norm("et_vk.rms_norm.default", "rows", (3, 2, 7), floats(rng, 7), 0.01, torch=et_vk.rms_norm)


def pool_rows(rng: np.random.Generator) -> Iterator[Row]:
    for op in ("max_pool2d", "max_pool2d_with_indices"):
        yield Row(op, "ceil", (floats(rng, 2, 3, 10, 9), [3, 2], [2, 3], [1, 1], [1, 2], True))
        yield Row(op, "uneven", (floats(rng, 3, 9, 6), [2, 3], [3, 1], [0, 1], [2, 1]))
        yield Row(op, "ceil-drops", (floats(rng, 1, 2, 7, 10), [2, 3], [3, 2], [1, 1], [1, 1], True))
    for name, rest in (
        ("ceil", ([3, 2], [2, 3], [1, 0], True)),
        ("ceil-not-counting", ([3, 4], [2, 3], [1, 2], True, False)),
        ("ceil-drops", ([2, 3], [3, 2], [1, 1], True)),
        ("divisor", ([2, 3], [3, 1], [1, 0], False, True, 7)),
        ("stride-empty", ([3, 2], [])),
    ):
        yield Row("avg_pool2d", name, (floats(rng, 2, 3, 10, 9), *rest), None, 1e-6, 1e-6)
    for op in ("_adaptive_avg_pool2d", "adaptive_avg_pool2d"):
        yield Row(op, "uneven", (floats(rng, 2, 3, 7, 11), [3, 4]), None, 1e-6, 1e-6)
        yield Row(op, "larger", (floats(rng, 3, 5, 4), [7, 9]), None, 1e-6, 1e-6)


def reduce_rows(rng: np.random.Generator) -> Iterator[Row]:
    def close(op: str, name: str, *rest: Any, torch: Any = None) -> Row:
        return Row(op, name, (floats(rng, 2, 5, 7, 3) + np.float32(0.5), *rest), torch, 3e-6, 3e-6)

    for op in ("sum", "mean"):
        yield close(op, "two", [0, 2], False)
        yield close(op, "one-kept", [-3], True)
    spread = lambda x, dim, c, keep: aten.var.correction(x, dim, correction=c, keepdim=keep)  # noqa: E731
    yield close("var", "correction", [0, 2], 0.5, True, torch=spread)
    yield close("aten.var.dim", "biased", [1, 3], False, True)
    yield close("prod", "middle", 1, True)
    yield Row("aten.prod.default", "all", (rng.uniform(0.8, 1.2, (3, 5, 7)).astype(np.float32),), None, 1e-5)
    yield close("cumsum", "middle", 1)
    yield Row("cumsum", "int8", (int8(rng, 5, 7, 3), 1))
    yield Row(
        "cumsum",
        "int32-of-bool",
        (of("bool", rng, 5, 7, 3), -2, 3),
        lambda x, d, t: aten.cumsum(x, d, dtype=torch.int32),
    )
    special = floats(rng, 4, 5, 3)
    special[1, 2, 0], special[3, 4, 2], special[0, 0, 0] = NAN, INF, -INF
    for op in ("amax", "amin"):
        yield Row(op, "two", (special, [0, 2], True))
    for op in ("argmax", "argmin"):
        yield Row(op, "middle", (special, 1, True))
        yield Row(op, "all", (special[:1],))
    for op in ("max", "min"):
        yield Row(op, "middle", (special, 1, True), getattr(aten, op).dim)
        yield Row(f"aten.{op}.default", "int32", (of("int32", rng, 3, 5),))
        yield Row(f"aten.{op}.default", "all", (floats(rng, 3, 5, 7),))
    few = np.asarray(rng.random((2, 5, 7, 3)) < 0.1)
    for dtype in ("bool", "uint8", "float32"):
        yield Row("any", f"two-{dtype}", (few.astype(dtype), [0, 2], True), aten.any.dims)
    for op in ("_softmax", "_log_softmax"):
        yield Row(op, "middle", (floats(rng, 3, 11, 5) * np.float32(3), 1, False), None, 5e-6, 5e-6)


def order_rows(rng: np.random.Generator) -> Iterator[Row]:
    x = rng.permutation(3 * 11 * 5).reshape(3, 11, 5).astype(np.float32)
    x[1, 4, 2] = NAN
    for largest in (True, False):
        yield Row("topk", f"middle-{largest}", (x, 4, 1, largest))
        yield Row("sort", f"middle-{largest}", (x, 1, largest))
        ties = np.asarray(rng.integers(-2, 3, (7, 13, 2))).astype(np.float32)
        stable = lambda x, stable, dim, falling: aten.sort.stable(x, stable=stable, dim=dim, descending=falling)  # noqa: E731
        yield Row("aten.sort.stable", f"ties-{largest}", (ties, True, 1, largest), stable)


def resize_rows(rng: np.random.Generator) -> Iterator[Row]:
    nearest, bilinear = aten.upsample_nearest2d.vec, aten.upsample_bilinear2d.vec
    for name, size, factors in (
        ("larger", [13, 11], None),
        ("smaller", [3, 2], None),
        ("uneven", [3, 16], None),
        ("factors", None, [2.5, 1.3]),
        ("factors-down", None, [0.7, 0.4]),
        ("factors-thirds", None, [7 / 3, 10 / 3]),
        # maps that keep their size, or double it, whatever the factor says
        ("factors-of-no-effect", None, [1.1, 2.1]),
    ):
        yield Row("upsample_nearest2d", name, (floats(rng, 2, 3, 5, 7), size, factors), nearest)
        for aligned in (False, True):
            args = (floats(rng, 2, 3, 5, 7), size, aligned, factors)
            yield Row("upsample_bilinear2d", f"{name}{'-aligned' * aligned}", args, bilinear, 2e-6, 2e-6)
    for interpolation, kind in enumerate(("bilinear", "nearest", "bicubic")):
        for padding, beyond in enumerate(("zeros", "border", "reflection")):
            for aligned in (False, True):
                grid = rng.uniform(-1.6, 1.6, (2, 4, 6, 2)).astype(np.float32)
                args = (floats(rng, 2, 3, 5, 7), grid, interpolation, padding, aligned)
                close = (0.0, 0.0) if kind == "nearest" else (1e-5, 1e-5)
                yield Row("grid_sampler_2d", f"{kind}-{beyond}{'-aligned' * aligned}", args, None, *close)


# --- functions of elements

CLOSE = {
    "sigmoid": 4e-6, "hardswish": 4e-7, "hardsigmoid": 4e-7, "tanh": 1e-6, "silu": 4e-6, "elu": 2e-6, "erf": 1e-6,
    "exp": 4e-6, "expm1": 4e-6, "log": 1e-6, "log2": 1e-6, "log10": 1e-6, "log1p": 1e-6, "sqrt": 4e-7, "rsqrt": 6e-7,
    "reciprocal": 4e-7, "sin": 1e-6, "cos": 1e-6, "sinh": 4e-6, "pow": 2e-5, "atan2": 1e-6, "div": 4e-7,
}  # fmt: skip


def element_rows(rng: np.random.Generator) -> Iterator[Row]:
    halves = np.arange(-3, 3.5, 0.5, np.float32)
    x = np.concatenate([halves, floats(rng, 92) * np.float32(2)]).reshape(3, 5, 7)

    def one(op: str, name: str, x: np.ndarray, *rest: Any, torch: Any = None) -> Row:
        return Row(op, name, (x, *rest), torch, CLOSE.get(op, 0.0), 1e-7 if op in CLOSE else 0.0)

    for op in (
        "sigmoid",
        "hardswish",
        "hardsigmoid",
        "tanh",
        "silu",
        "erf",
        "exp",
        "expm1",
        "reciprocal",
        "sin",
        "cos",
        "sinh",
    ):
        yield one(op, "values", x[x != 0])
    for op in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt"):
        yield one(op, "values", np.abs(x) + np.float32(0.01))
    for op in ("relu", "abs", "neg", "round", "floor", "ceil", "trunc", "sign"):
        yield one(op, "values", x)
    for op, dtype in (("relu", "int8"), ("abs", "int32"), ("neg", "int64"), ("sign", "int32")):
        yield one(op, dtype, of(dtype, rng, 5, 7))
    for approximate in ("none", "tanh"):
        # torch's own in float32 loses digits where x < −2
        way = lambda x, a: F.gelu(x.double(), approximate=a).float()  # noqa: E731
        yield Row("gelu", approximate, (x, approximate), way, 2e-6, 2e-7)
    yield one("elu", "three-numbers", x, 1.7, 0.6, 2.3)
    yield one("elu", "alpha", x, 0.4)
    yield one("leaky_relu", "slope", x, 0.3)
    yield one("hardshrink", "limit", x, 1.5)
    yield one("clamp", "both", x, -0.7, 1.3)
    yield one("clamp", "int32", of("int32", rng, 5, 7), -(2**30), 2**29)
    yield one("hardtanh", "both", x, -0.7, 1.3)
    yield Row("aten.clamp.Tensor", "broadcast", (x, floats(rng, 5, 1) - np.float32(1), floats(rng, 3, 1, 7)))


def pair_rows(rng: np.random.Generator) -> Iterator[Row]:
    a, b = floats(rng, 2, 3, 5, 7) * np.float32(4), floats(rng, 3, 1, 7)
    whole_a, whole_b = of("int32", rng, 3, 5, 7), np.asarray(rng.integers(-9, 9, (5, 1)) * 2 + 1, np.int32)
    alpha = lambda op: lambda x, y, n: op(x, y, alpha=n)  # noqa: E731
    for op in ("add", "sub", "rsub"):
        yield Row(op, "alpha", (a, b, -1.7), alpha(getattr(aten, op)), 1e-6, 1e-6)
        yield Row(op, "int32-alpha", (whole_a, whole_b, 3), alpha(getattr(aten, op)))
        yield Row(op, "plain", (a, b))
    for op in ("mul", "maximum", "minimum"):
        yield Row(op, "broadcast", (a, b))
        yield Row(op, "int32", (whole_a, whole_b))
    special = np.array([NAN, INF, -INF, 0, 1, -2.5], np.float32)
    for op in ("maximum", "minimum"):
        yield Row(op, "special", (special[:, None], special))
    yield Row("div", "plain", (a, b), None, CLOSE["div"])
    tenths = (np.arange(-12, 13) * np.float32(0.1)).astype(np.float32)
    mode = lambda x, y, m: aten.div(x, y, rounding_mode=m)  # noqa: E731
    for rounding in ("floor", "trunc"):
        yield Row("div", f"{rounding}-tenths", (tenths[:, None], tenths[tenths != 0], rounding), mode)
        yield Row("div", f"{rounding}-int32", (whole_a, whole_b, rounding), mode)
    for op in ("fmod", "remainder"):
        yield Row(op, "tenths", (tenths[:, None], tenths[tenths != 0]))
        yield Row(op, "int32", (whole_a, whole_b))
        yield Row(f"aten.{op}.Scalar", "negative", (tenths, -0.3))
        yield Row(f"aten.{op}.Scalar", "int32", (whole_a, -7))
    yield Row("pow", "broadcast", (np.abs(a), b), None, CLOSE["pow"])
    yield Row("aten.pow.Scalar", "base", (1.7, a), None, CLOSE["pow"])
    yield Row("atan2", "broadcast", (a, b), None, CLOSE["atan2"])
    few = np.asarray(rng.integers(-2, 3, (3, 5, 7))).astype(np.float32)
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield Row(op, "broadcast", (few, few[0, :, :1]))
        yield Row(op, "special", (special[:, None], special))
    truth, other = of("bool", rng, 3, 5, 7), of("bool", rng, 5, 1)
    for op in ("logical_and", "logical_or", "bitwise_and", "bitwise_or"):
        yield Row(op, "broadcast", (truth, other))
    yield Row("logical_not", "floats", (few,))
    yield Row("bitwise_not", "bool", (truth,))
    yield Row("where", "three-shapes", (other, a[0, :, :1], floats(rng, 3, 1, 7)))


# --- moves, constants, conversions


def move_rows(rng: np.random.Generator) -> Iterator[Row]:
    x = floats(rng, 2, 3, 5, 7)
    for op in ("view", "view_copy", "_unsafe_view", "reshape"):
        yield Row(op, "uneven", (x, [5, -1, 3]))
    yield Row("flatten", "middle", (x, 1, -2))
    for suffix in ("", "_copy"):
        yield Row(f"unsqueeze{suffix}", "middle", (x, -3))
        ones = floats(rng, 3, 1, 5, 1)
        yield Row(f"squeeze{suffix}", "some", (ones, [1, 2]))
        yield Row(f"permute{suffix}", "turned", (x, [2, 0, 3, 1]))
        yield Row(f"transpose{suffix}", "apart", (x, -4, 2))
        yield Row(f"t{suffix}", "uneven", (x[0, 0],))
        yield Row(f"slice{suffix}", "steps", (x, 2, -4, 2**63 - 1, 3))
        yield Row(f"select{suffix}", "middle", (x, -3, -2))
        yield Row(f"expand{suffix}", "leading", (floats(rng, 3, 1, 7), [2, -1, 5, 7]))
        yield Row(f"as_strided{suffix}", "overlapping", (x, [3, 2, 4], [7, 35, 2], 5))
    yield Row("unfold_copy", "middle", (x, 2, 3, 2))
    yield Row("unfold", "middle", (x, 1, 2, 1))
    yield Row("flip", "two", (x, [1, -1]))
    yield Row("split_with_sizes_copy", "middle", (x, [1, 3, 1], 2))
    yield Row("repeat", "leading", (x[0], [2, 1, 3, 2]))
    yield Row("cat", "middle", ([floats(rng, 2, n, 3) for n in (2, 5, 1)], 1))
    yield Row("constant_pad_nd", "each", (x, [1, 0, 2, 3, -1, 1], 0.7))
    yield Row("pixel_shuffle", "by-3", (floats(rng, 2, 18, 2, 5), 3))
    yield Row("pixel_unshuffle", "by-3", (floats(rng, 2, 2, 6, 15), 3))
    for op in ("clone", "alias_copy", "detach_copy", "lift_fresh_copy"):
        yield Row(op, "uneven", (x,))
    yield Row("_clone_dim_order", "uneven", (x,), lambda x: dim_order._clone_dim_order(x, dim_order=[0, 1, 2, 3]))
    yield Row("prepack", "uneven", (x,), et_vk.prepack)
    yield Row("copy", "narrower", (int8(rng, 3, 5, 7), floats(rng, 5, 1) * np.float32(50)))

    def named(op: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: op(*args[:-1], dtype=DTYPES[args[-1]])

    for op in ("zeros", "ones"):
        yield Row(op, "int8", ([2, 3, 5], "int8"), named(getattr(aten, op)))
        yield Row(f"{op}_like", "int64", (of("int64", rng, 3, 5),))
    # torch leaves open what these hold, so only shape and dtype are its own
    yield Row("empty", "int8", ([2, 3, 5], "int8"), lambda *a: torch.zeros_like(named(aten.empty.memory_format)(*a)))
    yield Row("empty_like", "int64", (of("int64", rng, 3, 5),), lambda x: torch.zeros_like(aten.empty_like(x)))
    yield Row(
        "_empty_dim_order",
        "int8",
        ([2, 3, 5], "int8"),
        lambda size, d: torch.zeros_like(dim_order._empty_dim_order(size, dtype=DTYPES[d], dim_order=[0, 1, 2])),
    )
    yield Row("full", "uint8", ([2, 3, 5], 200, "uint8"), named(aten.full))
    yield Row("full", "float32", ([3, 2], 0.3, "float32"), named(aten.full))
    yield Row("full_like", "int64", (of("int64", rng, 3, 5), -(2**40) - 1))
    yield Row("scalar_tensor", "int32", (-77, "int32"), named(aten.scalar_tensor))
    yield Row("arange", "down", (10, -3, -2), aten.arange.start_step)
    yield Row("arange", "fractions", (0.5, 4.3, 0.37), aten.arange.start_step)
    yield Row("arange", "int32", (-5, 20, 3, "int32"), named(aten.arange.start_step))
    numbers = np.array([-300.7, -128.5, -1.5, -0.5, 0.0, 0.9, 1.5, 100.5, 127.9], np.float32)
    for dtype in ("int8", "int32", "int64", "bool"):
        source = numbers[2:] if dtype == "int8" else numbers
        yield Row("_to_copy", f"float32-to-{dtype}", (source, dtype), named(aten._to_copy))
    wide = np.array([2**40 + 3, -(2**40) - 200, 2**24 + 1, -(2**24) - 3, 129, -129, 0], np.int64)
    for dtype in ("int8", "uint8", "int32", "float32", "bool"):
        yield Row("_to_copy", f"int64-to-{dtype}", (wide, dtype), named(aten._to_copy))
        yield Row("_to_dim_order_copy", f"int64-to-{dtype}", (wide, dtype), named(dim_order._to_dim_order_copy))


def index_rows(rng: np.random.Generator) -> Iterator[Row]:
    x = floats(rng, 2, 3, 5, 7)
    rows, columns = np.array([[1], [-1]]), np.array([4, 0, -7])
    mask = of("bool", rng, 3, 5)
    yield Row("index", "apart", (x, [rows, None, None, columns]))
    yield Row("index", "together", (x, [None, rows, columns % 5]))
    yield Row("index", "mask", (x, [None, mask]))
    yield Row("index_select", "middle", (x, 2, np.array([3, 0, 3, 4])))
    near = np.asarray(rng.integers(0, 5, (2, 3, 4, 6)))
    yield Row("gather", "middle", (x, 2, near))
    yield Row("embedding", "uneven", (floats(rng, 11, 6), np.asarray(rng.integers(0, 11, (3, 5)))))
    yield Row("index_put", "apart", (x, [rows, None, None, columns], floats(rng, 3, 1, 5), False))
    twice = [np.array([1, 0, 1]), None, np.array([2, 2, 2])]
    yield Row("index_put", "accumulates", (int8(rng, 2, 3, 5), twice, int8(rng, 3, 3), True))
    yield Row("index_put", "mask", (x, [None, mask], floats(rng, 1, 7), False))
    distinct = np.argsort(rng.random((2, 3, 5, 7)), 2)[:, :, :4, :6]
    yield Row("scatter", "middle", (x, 2, distinct, floats(rng, 2, 3, 4, 7)), aten.scatter.src)
    yield Row("scatter_add", "middle", (int8(rng, 2, 3, 5, 7), 2, near, int8(rng, 2, 3, 4, 7)))
    yield Row("slice_scatter", "steps", (x, floats(rng, 2, 3, 2, 7), 2, 1, 5, 2))
    yield Row("select_scatter", "middle", (x, floats(rng, 2, 3, 7), 2, -2))


FAMILIES = (
    int8_rows, quant_rows, conv_rows, matmul_rows, norm_rows, pool_rows, reduce_rows, order_rows, resize_rows,
    element_rows, pair_rows, move_rows, index_rows, tie_rows, reciprocal_rows,
)  # fmt: skip


def to_torch(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value.copy())
    return [to_torch(v) for v in value] if isinstance(value, list | tuple) else value


def result(row: Row) -> list[np.ndarray]:
    function = row.torch
    if function is None:
        function = aten
        for name in row.op.removeprefix("aten.").split("."):
            function = getattr(function, name)
    y = function(*map(to_torch, row.args))
    return [t.numpy() for t in (y if isinstance(y, list | tuple) else (y,))]


def main() -> None:
    arrays: dict[str, np.ndarray] = {}

    def stored(value: Any) -> Any:
        """As JSON holds it; an array as the name of its entry."""
        if isinstance(value, np.ndarray):
            for name, known in arrays.items():
                if known.dtype == value.dtype and known.shape == value.shape and known.tobytes() == value.tobytes():
                    return {"array": name}
            arrays[f"a{len(arrays)}"] = np.ascontiguousarray(value).reshape(value.shape)
            return {"array": f"a{len(arrays) - 1}"}
        return [stored(v) for v in value] if isinstance(value, list | tuple) else value

    table = []
    for n, family in enumerate(FAMILIES):
        for row in family(np.random.default_rng(n)):
            try:
                found = result(row)
            except Exception as e:
                e.add_note(f"{row.op} {row.name}")
                raise
            entry = {"op": row.op, "name": row.name, "args": stored(row.args), "results": stored(found)}
            table.append(entry | {"rtol": row.rtol, "atol": row.atol})
    np.savez_compressed(TARGET, rows=np.array(json.dumps(table)), **arrays)
    print(f"{len(table)} rows of {len({entry['op'] for entry in table})} ops, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
