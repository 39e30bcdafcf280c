"""Makes tests/data/onnx_ops.npz.xz: ONNX files of an op or a quantized group, and their results.

    pip install -r tests/export/requirements_onnx.txt
    python tests/export/onnx_ops.py

The results are onnxruntime's, with nothing optimized. Nodes are written in ONNX's own text; `q(x)` and `dq(x)` stand
for QuantizeLinear and DequantizeLinear with x's own scale and zero point. Inputs are random, every integer as likely.
For a row NAME the file holds NAME.onnx (bytes), NAME.in0, … and NAME.out0, ….
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from onnx import ModelProto, helper, numpy_helper, parser
from packed import add_row, pack

TARGET = Path(__file__).parents[1] / "data" / "onnx_ops.npz.xz"
RNG = np.random.default_rng(0)
OPSETS = {"": 21, "com.microsoft": 1}


class Row(NamedTuple):
    """Nodes, inputs as "dtype[shape] name", constants, and an opset of its own."""

    nodes: str
    inputs: str
    constants: Mapping[str, Any] = {}
    opset: int = 21


def f32(*shape: int, of: float = 1.0) -> np.ndarray:
    return np.asarray(RNG.normal(size=shape) * of, np.float32)


def of(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)


def scales(count: int, near: float = 0.01) -> np.ndarray:
    return (near * RNG.uniform(0.5, 1.5, count)).astype(np.float32)


def quantum(name: str, scale: float, zero_point: int, dtype: str = "uint8") -> dict[str, Any]:
    """The scale and zero point of a tensor."""
    return {f"{name}_s": np.float32(scale), f"{name}_z": np.asarray(zero_point, dtype)}


def quanta(dtype: str = "uint8", **scaled: float) -> dict[str, Any]:
    """Scales by tensor; zero points that differ."""
    middle = 128 if dtype == "uint8" else 0
    return {
        k: v for i, (n, s) in enumerate(scaled.items()) for k, v in quantum(n, s, middle + 7 * i - 10, dtype).items()
    }


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int8)


X, W3 = "uint8[1, 5, 7, 9] x", (8, 5, 3, 3)
S = "int8[1, 5, 7, 9] x"
F, G = "float[1, 5, 7, 9] x", "float[1, 5, 7, 9] x, float[1, 5, 7, 9] y"
AB = quanta(a=0.02, b=0.03, y=0.04)
CONV = quanta(x=0.02, y=0.05)
S_CONV = quanta("int8", x=0.02, y=0.05)
BIAS = of("int16", 8).astype(np.int32)
QCONV = "y = QLinearConv{0}(x, x_s, x_z, w, w_s, w_z, y_s, y_z{1})"
PER_CHANNEL = {"w": of("int8", *W3), "w_s": scales(8), "w_z": zeros(8)}
U8 = {"w": of("uint8", *W3), "w_s": np.float32(0.01), "w_z": np.uint8(117)}
FOR_CONV = "{0} v = dq(w) y = q({1}) "


def qdq(nodes: str) -> str:
    """Writes out `q(…)` and `dq(…)`."""
    nodes = re.sub(r"(\w+) = q\((\w+)\)", r"\1 = QuantizeLinear(\2, \1_s, \1_z)", nodes)
    return re.sub(r"= dq\((\w+)\)", r"= DequantizeLinear(\1, \1_s, \1_z)", nodes)


def unary(op: str) -> Row:
    """A function of float32 between dequantize and quantize."""
    return Row(f"a = dq(x) b = {op} y = q(b)", "uint8[2, 3, 64] x", quanta(x=0.04, y=0.03))


def binary(op: str, dtype: str = "uint8", shape: str = "1, 5, 7, 9") -> Row:
    inputs = f"{dtype}[1, 5, 7, 9] a, {dtype}[{shape}] b"
    return Row(f"c = dq(a) d = dq(b) e = {op}(c, d) y = q(e)", inputs, quanta(dtype, a=0.02, b=0.03, y=0.04))


ROWS: dict[str, Row] = {
    # --- QOperator
    "qlinear_conv": Row(QCONV.format("<pads = [1, 1, 1, 1]>", ", c"), X, CONV | PER_CHANNEL | {"c": BIAS}),
    "qlinear_conv_no_bias": Row(QCONV.format("", ""), X, CONV | PER_CHANNEL),
    "qlinear_conv_u8u8": Row(
        QCONV.format("<pads = [0, 1, 2, 1], strides = [2, 1]>", ", c"), X, CONV | U8 | {"c": BIAS}
    ),
    "qlinear_conv_s8s8": Row(QCONV.format('<auto_pad = "SAME_UPPER", strides = [2, 2]>', ""), S, S_CONV | PER_CHANNEL),
    "qlinear_conv_dilated": Row(QCONV.format("<dilations = [2, 3], pads = [2, 3, 2, 3]>", ""), X, CONV | PER_CHANNEL),
    "qlinear_conv_depthwise": Row(
        QCONV.format("<group = 5, pads = [1, 1, 1, 1]>", ", c"),
        X,
        CONV | {"w": of("int8", 5, 1, 3, 3), "w_s": scales(5, 0.03), "w_z": zeros(5), "c": BIAS[:5]},
    ),
    "qlinear_conv_grouped": Row(
        QCONV.format("<group = 2>", ""),
        "uint8[1, 6, 7, 9] x",
        CONV | {"w": of("int8", 8, 3, 3, 3), "w_s": scales(8), "w_z": zeros(8)},
    ),
    "qlinear_conv_1d": Row(
        QCONV.format("<pads = [1, 1]>", ""),
        "uint8[1, 6, 11] x",
        CONV | {"w": of("int8", 8, 6, 3), "w_s": scales(8), "w_z": zeros(8)},
    ),
    "qlinear_matmul": Row(
        "y = QLinearMatMul(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "uint8[3, 24] a",
        AB | {"b": of("uint8", 24, 10), **quantum("y", 0.2, 99)},
    ),
    "qlinear_matmul_per_column": Row(
        "y = QLinearMatMul(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "uint8[2, 3, 24] a",
        AB | {"b": of("int8", 24, 10), "b_s": scales(10), "b_z": of("int8", 10) // 8, **quantum("y", 0.2, 99)},
    ),
    "qlinear_matmul_of_two": Row(
        "y = QLinearMatMul(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "uint8[2, 3, 24] a, uint8[2, 24, 5] b",
        AB | quantum("y", 0.2, 99),
    ),
    "conv_integer": Row(
        "y = ConvInteger<pads = [1, 0, 1, 2]>(x, w, x_z, w_z)",
        X,
        {"w": of("uint8", *W3), "x_z": np.uint8(130), "w_z": np.uint8(120)},
    ),
    "matmul_integer": Row(
        "y = MatMulInteger(a, b, a_z, b_z)",
        "uint8[3, 24] a",
        {"b": of("int8", 24, 10), "a_z": np.uint8(130), "b_z": of("int8", 10) // 8},
    ),
    "matmul_integer_plain": Row("y = MatMulInteger(a, b)", "int8[2, 3, 24] a", {"b": of("int8", 24, 10)}),
    "dynamic_quantize_linear": Row("y, s, z = DynamicQuantizeLinear(x)", F),
    "dynamic_matmul": Row(
        "a, s, z = DynamicQuantizeLinear(x) p = MatMulInteger(a, b, z, b_z) c = Cast<to = 1>(p) "
        "t = Mul(s, b_s) m = Mul(c, t) y = Add(m, bias)",
        "float[2, 3, 24] x",
        {"b": of("uint8", 24, 10), "b_s": np.float32(0.01), "b_z": np.uint8(124), "bias": f32(10)},
    ),
    "dynamic_matmul_per_column": Row(
        "a, s, z = DynamicQuantizeLinear(x) p = MatMulInteger(a, b, z, b_z) c = Cast<to = 1>(p) "
        "t = Mul(s, b_s) y = Mul(c, t)",
        "float[3, 24] x",
        {"b": of("int8", 24, 10), "b_s": scales(10), "b_z": zeros(10)},
    ),
    "dynamic_conv": Row(
        "a, s, z = DynamicQuantizeLinear(x) p = ConvInteger<pads = [1, 1, 1, 1]>(a, w, z, w_z) "
        "c = Cast<to = 1>(p) t = Mul(s, w_s) m = Mul(c, t) y = Add(m, bias)",
        F,
        {"w": of("uint8", *W3), "w_s": np.float32(0.01), "w_z": np.uint8(124), "bias": f32(8, 1, 1)},
    ),
    # --- com.microsoft
    "qlinear_add": Row(
        "y = com.microsoft.QLinearAdd(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "uint8[1, 5, 7, 9] a, uint8[1, 5, 7, 9] b",
        AB,
    ),
    "qlinear_add_s8": Row(
        "y = com.microsoft.QLinearAdd(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "int8[1, 5, 7, 9] a, int8[5, 1, 9] b",
        quanta("int8", a=0.02, b=0.03, y=0.04),
    ),
    "qlinear_mul": Row(
        "y = com.microsoft.QLinearMul(a, a_s, a_z, b, b_s, b_z, y_s, y_z)",
        "uint8[1, 5, 7, 9] a, uint8[1, 5, 1, 1] b",
        AB,
    ),
    "qlinear_concat": Row(
        "y = com.microsoft.QLinearConcat<axis = 1>(y_s, y_z, a, a_s, a_z, b, b_s, b_z)",
        "uint8[1, 5, 7, 9] a, uint8[1, 3, 7, 9] b",
        AB,
    ),
    "qlinear_global_average_pool": Row(
        "y = com.microsoft.QLinearGlobalAveragePool(x, x_s, x_z, y_s, y_z)", X, quanta(x=0.02, y=0.006)
    ),
    "qlinear_average_pool": Row(
        "y = com.microsoft.QLinearAveragePool<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]>"
        "(x, x_s, x_z, y_s, y_z)",
        X,
        quanta(x=0.02, y=0.015),
    ),
    "qlinear_leaky_relu": Row(
        "y = com.microsoft.QLinearLeakyRelu<alpha = 0.2>(x, x_s, x_z, y_s, y_z)", X, quanta(x=0.02, y=0.015)
    ),
    "qlinear_sigmoid": Row(
        "y = com.microsoft.QLinearSigmoid(x, x_s, x_z, y_s, y_z)", X, quanta(x=0.04) | quantum("y", 1 / 256, 0)
    ),
    "qlinear_softmax": Row(
        "y = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(x, x_s, x_z, y_s, y_z)",
        X,
        quanta(x=0.04) | quantum("y", 1 / 256, 0),
    ),
    "qgemm": Row(
        "y = com.microsoft.QGemm<transB = 1>(a, a_s, a_z, b, b_s, b_z, c, y_s, y_z)",
        "uint8[3, 24] a",
        AB
        | {
            "b": of("int8", 10, 24),
            "b_s": scales(10),
            "b_z": zeros(10),
            "c": BIAS[:1].repeat(10),
            **quantum("y", 0.2, 99),
        },
    ),
    "dynamic_quantize_matmul": Row(
        "y = com.microsoft.DynamicQuantizeMatMul(x, b, b_s, b_z, bias)",
        "float[3, 24] x",
        {"b": of("uint8", 24, 10), "b_s": np.float32([0.01]), "b_z": np.uint8([124]), "bias": f32(10)},
    ),
    "matmul_integer_to_float": Row(
        "y = com.microsoft.MatMulIntegerToFloat(a, b, a_s, b_s, a_z, b_z)",
        "uint8[3, 24] a",
        quanta(a=0.02) | {"b": of("int8", 24, 10), "b_s": scales(10), "b_z": zeros(10)},
    ),
    "matmul_nbits": Row(
        "y = com.microsoft.MatMulNBits<K = 64, N = 10, bits = 4, block_size = 16>(x, w, s)",
        "float[2, 3, 64] x",
        {"w": of("uint8", 10, 4, 8), "s": scales(40, 0.05)},
    ),
    "matmul_nbits_zero_points": Row(
        "y = com.microsoft.MatMulNBits<K = 48, N = 10, bits = 4, block_size = 16>(x, w, s, z)",
        "float[3, 48] x",
        {"w": of("uint8", 10, 3, 8), "s": scales(30, 0.05), "z": of("uint8", 20)},
    ),
    "gelu_of_microsoft": Row("y = com.microsoft.Gelu(x)", F),
    "fused_matmul": Row(
        "y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>(x, y0)", "float[2, 3, 5] x, float[2, 7, 5] y0"
    ),
    "skip_layer_normalization": Row(
        "y = com.microsoft.SkipLayerNormalization<epsilon = 0.00001>(a, b, g, c)",
        "float[2, 3, 16] a, float[2, 3, 16] b",
        {"g": f32(16), "c": f32(16)},
    ),
    # --- groups of QuantizeLinear and DequantizeLinear
    "qdq_conv": Row(
        "a = dq(x) v = DequantizeLinear<axis = 0>(w, w_s, w_z) c = DequantizeLinear<axis = 0>(d, d_s) "
        "b = Conv<pads = [1, 1, 1, 1]>(a, v, c) y = q(b)",
        X,
        CONV | PER_CHANNEL | {"d": BIAS, "d_s": (np.float32(0.02) * PER_CHANNEL["w_s"])},
    ),
    "qdq_conv_relu": Row("a = dq(x) v = dq(w) b = Conv<strides = [2, 1]>(a, v) c = Relu(b) y = q(c)", X, CONV | U8),
    "qdq_conv_clip": Row(
        "a = dq(x) v = dq(w) b = Conv(a, v, bias) c = Clip(b, low, high) y = q(c)",
        S,
        S_CONV
        | PER_CHANNEL
        | {"w_s": np.float32(0.01), "w_z": np.int8(0), "bias": f32(8), "low": np.float32(0), "high": np.float32(6)},
    ),
    "qdq_conv_transpose": Row(
        "a = dq(x) v = DequantizeLinear<axis = 1>(w, w_s, w_z) "
        "b = ConvTranspose<strides = [2, 2], pads = [1, 0, 1, 1], output_padding = [1, 0]>(a, v) y = q(b)",
        X,
        CONV | {"w": of("int8", 5, 8, 3, 4), "w_s": scales(8), "w_z": zeros(8)},
    ),
    "qdq_gemm": Row(
        "a = dq(x) v = DequantizeLinear<axis = 0>(w, w_s, w_z) c = DequantizeLinear<axis = 0>(d, d_s) "
        "b = Gemm<transB = 1>(a, v, c) y = q(b)",
        "uint8[3, 24] x",
        CONV
        | {
            "w": of("int8", 10, 24),
            "w_s": scales(10),
            "w_z": zeros(10),
            "d": BIAS[:1].repeat(10),
            "d_s": scales(10, 2e-4),
        },
    ),
    "qdq_matmul": Row(
        "a = dq(x) v = DequantizeLinear<axis = 1>(w, w_s, w_z) b = MatMul(a, v) y = q(b)",
        "uint8[2, 3, 24] x",
        CONV | {"w": of("int8", 24, 10), "w_s": scales(10), "w_z": zeros(10)},
    ),
    "qdq_matmul_of_two": Row(
        "c = dq(a) d = dq(b) e = MatMul(c, d) y = q(e)",
        "uint8[2, 3, 24] a, uint8[2, 24, 5] b",
        AB | quantum("y", 0.2, 99),
    ),
    "qdq_matmul_float_out": Row(
        "a = dq(x) v = dq(w) y = MatMul(a, v)",
        "uint8[3, 24] x",
        CONV | {"w": of("int8", 24, 10), **quantum("w", 0.01, 3, "int8")},
    ),
    "qdq_add": binary("Add"),
    "qdq_add_s8": binary("Add", "int8", "5, 1, 9"),
    "qdq_sub": binary("Sub"),
    "qdq_mul": binary("Mul", shape="1, 5, 1, 1"),
    "qdq_max": binary("Max"),
    "qdq_concat": binary("Concat<axis = 1>"),
    "qdq_max_pool": Row(
        "a = dq(x) b = MaxPool<kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]>(a) y = q(b)",
        X,
        quanta(x=0.02) | quantum("y", 0.02, 118),
    ),
    "qdq_average_pool": Row(
        "a = dq(x) b = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(a) y = q(b)", X, quanta(x=0.02, y=0.015)
    ),
    "qdq_global_average_pool": Row("a = dq(x) b = GlobalAveragePool(a) y = q(b)", X, quanta(x=0.02, y=0.006)),
    "qdq_reduce_mean": Row(
        "a = dq(x) b = ReduceMean<keepdims = 0>(a, axes) y = q(b)",
        X,
        quanta(x=0.02, y=0.006) | {"axes": np.int64([2, 3])},
    ),
    "qdq_resize_nearest": Row(
        "a = dq(x) "
        'b = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">'
        "(a, , s) y = q(b)",
        X,
        quanta(x=0.02) | quantum("y", 0.02, 118) | {"s": np.float32([1, 1, 2, 2])},
    ),
    "qdq_resize_linear": Row(
        'a = dq(x) b = Resize<mode = "linear">(a, , s) y = q(b)',
        X,
        quanta(x=0.02) | quantum("y", 0.02, 118) | {"s": np.float32([1, 1, 2, 2])},
    ),
    "qdq_pad": Row(
        "a = dq(x) b = Pad(a, p) y = q(b)",
        X,
        quanta(x=0.02) | quantum("y", 0.02, 118) | {"p": np.int64([0, 0, 1, 2, 0, 1, 0, 3])},
    ),
    "qdq_transpose": Row(
        "a = dq(x) b = Transpose<perm = [0, 2, 3, 1]>(a) y = q(b)", X, quanta(x=0.02) | quantum("y", 0.02, 118)
    ),
    "qdq_softmax": unary("Softmax<axis = -1>(a)")._replace(constants=quanta(x=0.04) | quantum("y", 1 / 256, 0)),
    "qdq_sigmoid": unary("Sigmoid(a)"),
    "qdq_tanh": unary("Tanh(a)"),
    "qdq_leaky_relu": unary("LeakyRelu<alpha = 0.2>(a)"),
    "qdq_hard_swish": unary("HardSwish(a)"),
    "qdq_hard_sigmoid": unary("HardSigmoid<alpha = 0.16666667, beta = 0.5>(a)"),
    "qdq_gelu": unary("Gelu(a)"),
    "qdq_elu": unary("Elu(a)"),
    "qdq_sqrt": unary("Exp(a)"),
    # --- quantize and dequantize by themselves
    "quantize_axis": Row("y = QuantizeLinear<axis = 1>(x, s, z)", F, {"s": scales(5), "z": of("uint8", 5)}),
    "quantize_blocked": Row(
        "y = QuantizeLinear<axis = 1, block_size = 2>(x, s, z)",
        "float[2, 4, 3] x",
        {"s": scales(12).reshape(2, 2, 3), "z": of("int8", 2, 2, 3)},
    ),
    "dequantize_axis": Row("y = DequantizeLinear<axis = 2>(x, s, z)", X, {"s": scales(7), "z": of("uint8", 7)}),
    "dequantize_blocked": Row(
        "y = DequantizeLinear<axis = 1, block_size = 2>(x, s)", "int8[2, 4, 3] x", {"s": scales(12).reshape(2, 2, 3)}
    ),
    "dequantize_int32": Row("y = DequantizeLinear(x, s)", "int32[3, 5] x", {"s": np.float32(0.01)}),
    # --- float32
    "conv": Row("y = Conv<pads = [1, 0, 2, 1], strides = [2, 1]>(x, w, b)", F, {"w": f32(*W3), "b": f32(8)}),
    "conv_1d": Row("y = Conv<pads = [1, 1]>(x, w)", "float[1, 6, 11] x", {"w": f32(8, 6, 3)}),
    "conv_transpose": Row(
        "y = ConvTranspose<strides = [2, 3], output_padding = [1, 1]>(x, w)", F, {"w": f32(5, 4, 3, 3)}
    ),
    "gemm": Row(
        "y = Gemm<transA = 1, alpha = 0.5, beta = 2.0>(x, w, b)", "float[24, 3] x", {"w": f32(24, 10), "b": f32(10)}
    ),
    "matmul_broadcast": Row("y = MatMul(x, w)", "float[2, 1, 3, 5] x, float[4, 5, 6] w"),
    "layer_normalization": Row(
        "y = LayerNormalization<axis = -1>(x, g, b)", "float[2, 3, 16] x", {"g": f32(16), "b": f32(16)}
    ),
    "batch_normalization": Row(
        "y = BatchNormalization(x, g, b, m, v)", F, {"g": f32(5), "b": f32(5), "m": f32(5), "v": np.abs(f32(5)) + 0.5}
    ),
    "instance_normalization": Row("y = InstanceNormalization(x, g, b)", F, {"g": f32(5), "b": f32(5)}),
    "group_normalization": Row(
        "y = GroupNormalization<num_groups = 2>(x, g, b)", "float[1, 6, 5, 3] x", {"g": f32(6), "b": f32(6)}
    ),
    "gelu": Row('y = Gelu<approximate = "tanh">(x)', F),
    "erf": Row("y = Erf(x)", F),
    "functions": Row(
        "a = Softplus(x) b = Softsign(x) c = Mish(x) d = Selu(x) e = Celu(x) f = Add(a, b) g = Add(c, d) "
        "h = Add(f, g) y = Add(h, e)",
        F,
    ),
    "where": Row("c = Greater(x, y) z = Where(c, x, h)", G, {"h": np.float32(0.5)}),
    "pow": Row("a = Abs(x) y = Pow(a, p)", F, {"p": np.float32(1.7)}),
    "mod": Row("y = Mod<fmod = 1>(x, d)", F, {"d": np.float32(0.7)}),
    "prelu": Row("y = PRelu(x, s)", F, {"s": f32(5, 1, 1)}),
    "clip": Row("y = Clip(x, low, high)", F, {"low": np.float32(-0.5), "high": np.float32(0.7)}),
    "reduce_sum": Row("y = ReduceSum<keepdims = 0>(x, axes)", F, {"axes": np.int64([1, -1])}),
    "reduce_l2": Row("y = ReduceL2(x, axes)", F, {"axes": np.int64([2])}, 18),
    "reduce_log_sum_exp": Row("y = ReduceLogSumExp(x, axes)", F, {"axes": np.int64([2])}, 18),
    "reduce_max": Row("y = ReduceMax<keepdims = 0>(x, axes)", F, {"axes": np.int64([1, 3])}),
    "arg_max": Row("y = ArgMax<axis = 2, keepdims = 0>(x)", F),
    "softmax": Row("y = Softmax<axis = 1>(x)", F),
    "log_softmax": Row("y = LogSoftmax<axis = -1>(x)", F),
    "slice": Row(
        "y = Slice(x, s, e, a, t)",
        F,
        {"s": np.int64([6, 1]), "e": np.int64([0, 100]), "a": np.int64([2, 3]), "t": np.int64([-2, 3])},
    ),
    "gather": Row("y = Gather<axis = 1>(x, i)", F, {"i": np.int64([[4, 0], [-1, 2]])}),
    "gather_by_input": Row("y = Gather<axis = 0>(w, i)", "int64[2, 3] i", {"w": f32(256, 6)}),
    "gather_elements": Row("y = GatherElements<axis = 2>(x, i)", F, {"i": RNG.integers(0, 7, (1, 5, 3, 9))}),
    "gather_nd": Row("y = GatherND(x, i)", F, {"i": np.int64([[0, 4], [0, 1], [0, -2]])}),
    "scatter_nd": Row("y = ScatterND(x, i, u)", F, {"i": np.int64([[0, 4], [0, 1]]), "u": f32(2, 7, 9)}),
    "concat_split": Row("a, b = Split<axis = 1>(x, s) y = Concat<axis = 2>(b, b, b)", F, {"s": np.int64([2, 3])}),
    "expand": Row("y = Expand(x, s)", "float[5, 1, 9] x", {"s": np.int64([2, 1, 7, 1])}),
    "tile": Row("y = Tile(x, r)", F, {"r": np.int64([1, 2, 1, 3])}),
    "pad_reflect": Row('y = Pad<mode = "reflect">(x, p)', F, {"p": np.int64([0, 0, 2, 1, 0, 0, 1, 3])}),
    "pad_edge": Row('y = Pad<mode = "edge">(x, p)', F, {"p": np.int64([0, 1, 2, 1, 0, 0, 1, 3])}),
    "depth_to_space": Row('y = DepthToSpace<blocksize = 2, mode = "CRD">(x)', "float[1, 12, 3, 5] x"),
    "depth_to_space_dcr": Row("y = DepthToSpace<blocksize = 2>(x)", "float[1, 12, 3, 5] x"),
    "space_to_depth": Row("y = SpaceToDepth<blocksize = 2>(x)", "float[1, 3, 4, 6] x"),
    "resize_cubic": Row('y = Resize<mode = "cubic">(x, , , s)', F, {"s": np.int64([1, 5, 14, 13])}),
    "resize_linear_corners": Row(
        'y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , , s)',
        F,
        {"s": np.int64([1, 5, 11, 5])},
    ),
    "average_pool_ceil": Row(
        "y = AveragePool<kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1], ceil_mode = 1>(x)", F
    ),
    "einsum_heads": Row('y = Einsum<equation = "bqhd,bkhd->bhqk">(a, b)', "float[2, 3, 2, 5] a, float[2, 4, 2, 5] b"),
    "einsum_sum": Row('y = Einsum<equation = "bij,jk->bi">(a, b)', "float[2, 3, 5] a, float[5, 4] b"),
    "topk": Row("v, i = TopK<axis = -1>(x, k)", F, {"k": np.int64([3])}),
    "non_max_suppression": Row(
        "y = NonMaxSuppression(b, s, most, iou, least)",
        "float[1, 2, 12] s",
        {
            "b": np.sort(RNG.uniform(0, 1, (1, 12, 2, 2)), 2).reshape(1, 12, 4).astype(np.float32),
            "most": np.int64([4]),
            "iou": np.float32([0.4]),
            "least": np.float32([0.1]),
        },
    ),
    "cum_sum": Row("y = CumSum<reverse = 1>(x, a)", F, {"a": np.int64(2)}),
    "trilu": Row("y = Trilu<upper = 0>(x)", F),
    "one_hot": Row(
        "i = ArgMax<axis = 1, keepdims = 0>(x) y = OneHot<axis = -1>(i, d, v)", F, {"d": np.int64(5), "v": f32(2)}
    ),
    "shape_arithmetic": Row(
        "s = Shape(x) b = Gather(s, i) c = Unsqueeze(b, i) d = Reshape(c, one) t = Concat<axis = 0>(d, rest) "
        "y = Reshape(x, t)",
        F,
        {"i": np.int64([0]), "one": np.int64([1]), "rest": np.int64([9, -1])},
    ),
    "cast_round": Row(
        "a = Mul(x, t) b = Cast<to = 6>(a) c = Cast<to = 1>(b) d = Round(a) y = Sub(d, c)", F, {"t": np.float32(10)}
    ),
    "logical": Row(
        "a = Less(x, y) b = GreaterOrEqual(x, h) c = And(a, b) d = Not(c) z = Or(d, a)", G, {"h": np.float32(0.1)}
    ),
    "lstm": Row(
        "y, h, c = LSTM<hidden_size = 4>(x, w, r, b)",
        "float[5, 1, 6] x",
        {"w": f32(1, 16, 6, of=0.5), "r": f32(1, 16, 4, of=0.5), "b": f32(1, 32)},
    ),
    "gru": Row(
        "y, h = GRU<hidden_size = 4, linear_before_reset = 1>(x, w, r, b)",
        "float[5, 1, 6] x",
        {"w": f32(1, 12, 6, of=0.5), "r": f32(1, 12, 4, of=0.5), "b": f32(1, 24)},
    ),
}


def model(row: Row) -> ModelProto:
    """The file of a row; all that its nodes give and do not take is its output."""
    nodes = qdq(row.nodes)
    opsets = ", ".join(f'"{d}": {row.opset if not d else v}' for d, v in OPSETS.items())
    head = f"<ir_version: 10, opset_import: [{opsets}]> row ({row.inputs}) => (float y__)"
    made = parser.parse_model(f"{head} {{ {nodes} }}")
    graph = made.graph
    taken = {name for node in graph.node for name in node.input}
    del graph.output[:]
    graph.output.extend(
        helper.make_empty_tensor_value_info(n) for node in graph.node for n in node.output if n not in taken
    )
    graph.initializer.extend(numpy_helper.from_array(np.asarray(v), n) for n, v in row.constants.items() if n in taken)
    return made


def inputs_of(made: ModelProto, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for info in made.graph.input:
        kind = info.type.tensor_type
        shape, dtype = [d.dim_value for d in kind.shape.dim], helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if dtype.kind == "f":
            yield rng.normal(size=shape).astype(dtype)
        else:
            info = np.iinfo(np.uint8 if dtype == np.int64 else dtype)
            yield rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def results(made: ModelProto, inputs: list[np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    run = onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])
    return run.run(None, {i.name: x for i, x in zip(made.graph.input, inputs, strict=True)})


def main() -> None:
    arrays: dict[str, np.ndarray] = {}
    for i, (name, row) in enumerate(ROWS.items()):
        made = model(row)
        inputs = list(inputs_of(made, np.random.default_rng(i)))
        add_row(arrays, name, "onnx", made.SerializeToString(), inputs, results(made, inputs))
    pack(TARGET, arrays)


if __name__ == "__main__":
    main()
