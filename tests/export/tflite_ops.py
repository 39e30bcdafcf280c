"""Makes tests/data/tflite_ops.npz.xz: TFLite files of an op or two, by TensorFlow's converter, and their results.

    pip install -r tests/export/requirements_tflite.txt
    python tests/export/tflite_ops.py

Sizes differ from axis to axis, and so do strides and scales. The results are those of ai-edge-litert as its users have
it, by XNNPACK; inputs are random, every int8 as likely. For a row NAME the file holds NAME.tflite (bytes), NAME.in0, …
and NAME.out0, ….
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from converter import DATA, converted, interpreted, random_inputs
from packed import add_row, pack

nn, math, image = tf.nn, tf.math, tf.image
RNG = np.random.default_rng(0)


class Row(NamedTuple):
    """A function of tensors of these shapes, and how the converter quantizes it."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    kind: str = "int8"


def weights(*shape: int) -> tf.Tensor:
    """Weights that leave the size of activations about as it is."""
    return tf.constant(RNG.normal(size=shape) / np.sqrt(np.prod(shape[:-1])), tf.float32)


def biases(count: int) -> tf.Tensor:
    return tf.constant(RNG.normal(size=count), tf.float32)


def conv(shape: tuple[int, ...], strides: Any = 1, padding: str = "SAME", scale: float = 1, **more: Any) -> Callable:
    w, b = weights(*shape) * scale, biases(shape[-1])
    return lambda x: nn.conv2d(x, w, strides, padding, **more) + b


def depthwise(shape: tuple[int, ...], stride: int = 1, padding: str = "SAME", dilations: Any = None) -> Callable:
    w, b = weights(*shape) * 2, biases(shape[2] * shape[3])
    return lambda x: nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding, dilations=dilations) + b


def transposed(shape: tuple[int, ...], output: tuple[int, ...], strides: tuple[int, int], padding: str) -> Callable:
    w = weights(*shape) * 2
    b = biases(shape[2])
    return lambda x: nn.conv2d_transpose(x, w, output, strides, padding) + b


def dense(inputs: int, outputs: int, bias: bool = True) -> Callable:
    w, b = weights(inputs, outputs), biases(outputs)
    return lambda x: tf.matmul(x, w) + b if bias else tf.matmul(x, w)


def after(first: Callable, then: Callable) -> Callable:
    return lambda x: then(first(x))


def recurrent() -> Callable:
    layer = tf.keras.layers.LSTM(12, return_sequences=True)
    layer.build((1, 6, 8))
    layer.set_weights([weights(8, 48).numpy() * 2, weights(12, 48).numpy() * 2, biases(48).numpy() / 4])
    return lambda x: layer(x)


def mirrored(x: tf.Tensor, mode: str) -> tf.Tensor:
    return tf.pad(x, [[0, 0], [2, 1], [0, 3], [0, 0]], mode)


MAP = ((1, 7, 9, 5),)
PAIR = ((1, 7, 9, 5), (1, 7, 9, 5))
WIDE = ((1, 7, 9, 16),)
FLAT = ((3, 24),)
A, B = tf.constant(RNG.normal(size=(9, 1)), tf.float32), tf.constant(RNG.normal(size=5) * 3, tf.float32)
W1, W2, W3, W4 = weights(3, 5, 7), weights(2, 40, 16), weights(1, 1, 16, 20), weights(11, 6)
SLOPES = tf.constant(RNG.uniform(0, 0.5, size=5), tf.float32)

ROWS: dict[str, Row] = {
    "conv_2d": Row(conv((3, 3, 5, 8)), MAP),
    "conv_2d_valid_strided": Row(conv((2, 3, 5, 6), (2, 1), "VALID"), MAP),
    "conv_2d_same_strided": Row(conv((3, 4, 5, 6), 2), MAP),
    "conv_2d_dilated": Row(conv((3, 3, 5, 6), dilations=(2, 3)), MAP),
    "conv_2d_pointwise": Row(lambda x: nn.conv2d(x, W3, 1, "SAME"), WIDE),
    "conv_2d_relu": Row(after(conv((3, 3, 5, 8)), nn.relu), MAP),
    "conv_2d_relu6": Row(after(conv((1, 1, 5, 8), scale=4.0), nn.relu6), MAP),
    "conv_2d_relu_n1_to_1": Row(after(conv((1, 1, 5, 8)), lambda y: tf.minimum(tf.maximum(y, -1.0), 1.0)), MAP),
    "conv_2d_grouped": Row(conv((3, 3, 4, 8)), ((1, 6, 5, 16),)),
    "conv_2d_padded": Row(
        after(lambda x: tf.pad(x, [[0, 0], [0, 1], [0, 1], [0, 0]]), conv((3, 3, 5, 8), 2, "VALID")), MAP
    ),
    "conv_2d_batch": Row(conv((3, 3, 5, 8)), ((2, 6, 5, 5),)),
    "conv_1d": Row(lambda x: nn.conv1d(x, W1, 1, "SAME"), ((1, 11, 5),)),
    "depthwise_conv_2d": Row(depthwise((3, 3, 5, 1)), MAP),
    "depthwise_conv_2d_strided": Row(depthwise((3, 5, 16, 1), 2), WIDE),
    "depthwise_conv_2d_valid": Row(depthwise((2, 3, 5, 1), 1, "VALID"), MAP),
    "depthwise_conv_2d_multiplied": Row(depthwise((3, 3, 5, 3)), MAP),
    "depthwise_conv_2d_of_one": Row(depthwise((3, 3, 1, 8)), ((1, 7, 9, 1),)),
    "depthwise_conv_2d_dilated": Row(depthwise((3, 3, 5, 1), dilations=(2, 2)), MAP),
    "transpose_conv": Row(transposed((3, 3, 6, 5), (1, 14, 18, 6), (2, 2), "SAME"), MAP),
    "transpose_conv_valid": Row(transposed((2, 4, 6, 5), (1, 14, 20, 6), (2, 2), "VALID"), MAP),
    "transpose_conv_uneven": Row(transposed((4, 3, 6, 5), (1, 21, 18, 6), (3, 2), "SAME"), MAP),
    "fully_connected": Row(dense(24, 10), FLAT),
    "fully_connected_no_bias": Row(dense(24, 16, bias=False), FLAT),
    "fully_connected_3d": Row(after(dense(24, 10), nn.relu), ((2, 3, 24),)),
    "batch_matmul": Row(lambda x, y: tf.matmul(x, y), ((2, 3, 5), (2, 5, 7))),
    "batch_matmul_transposed": Row(lambda x, y: tf.matmul(x, y, transpose_b=True), ((2, 3, 5), (2, 7, 5))),
    "add": Row(lambda x, y: x + 3 * y, PAIR),
    "add_relu": Row(lambda x, y: nn.relu(x + y), PAIR),
    "add_constant": Row(lambda x: x + B, MAP),
    "add_broadcast": Row(lambda x, y: x + y, ((1, 7, 9, 5), (1, 1, 1, 5))),
    "sub": Row(lambda x, y: x - y, PAIR),
    "sub_broadcast": Row(lambda x: A - x, MAP),
    "mul": Row(lambda x, y: x * y, PAIR),
    "mul_constant": Row(lambda x: x * B, MAP),
    "mul_gate": Row(lambda x, y: x * y, ((1, 7, 9, 5), (1, 1, 1, 5))),
    "div": Row(lambda x, y: x / (tf.abs(y) + 1.0), PAIR),
    "maximum": Row(lambda x, y: tf.maximum(x, y), PAIR),
    "minimum": Row(lambda x: tf.minimum(x, B), MAP),
    "squared_difference": Row(lambda x, y: math.squared_difference(x, y), PAIR),
    "relu": Row(lambda x: nn.relu(x), MAP),
    "relu6": Row(lambda x: nn.relu6(4 * x), MAP),
    "leaky_relu": Row(lambda x: nn.leaky_relu(x, 0.3), MAP),
    "prelu": Row(lambda x: nn.relu(x) + -SLOPES * nn.relu(-x), MAP),
    "elu": Row(lambda x: nn.elu(x), MAP),
    "gelu": Row(lambda x: nn.gelu(x), MAP),
    "gelu_approximate": Row(lambda x: nn.gelu(x, approximate=True), MAP),
    "hard_swish": Row(lambda x: x * nn.relu6(x + 3.0) * (1 / 6), MAP),
    "logistic": Row(lambda x: tf.sigmoid(2 * x), MAP),
    "tanh": Row(lambda x: tf.tanh(x), MAP),
    "exp": Row(lambda x: tf.exp(x), MAP),
    "abs": Row(lambda x: tf.abs(x), MAP),
    "rsqrt": Row(lambda x: math.rsqrt(tf.square(x) + 0.5), MAP),
    "sqrt": Row(lambda x: tf.sqrt(tf.square(x) + 0.5), MAP),
    "log": Row(lambda x: math.log(tf.square(x) + 0.5), MAP),
    "square": Row(lambda x: tf.square(x), MAP),
    "neg": Row(lambda x: -x, MAP),
    "floor": Row(lambda x: tf.floor(x), MAP),
    "softmax": Row(lambda x: nn.softmax(x), FLAT),
    "softmax_4d": Row(lambda x: nn.softmax(x), MAP),
    "log_softmax": Row(lambda x: nn.log_softmax(x), FLAT),
    "l2_normalization": Row(lambda x: math.l2_normalize(x, -1), FLAT),
    "average_pool_2d": Row(lambda x: nn.avg_pool2d(x, 2, 2, "VALID"), MAP),
    "average_pool_2d_same": Row(lambda x: nn.avg_pool2d(x, (3, 2), (2, 1), "SAME"), MAP),
    "average_pool_2d_global": Row(lambda x: nn.avg_pool2d(x, (7, 9), 1, "VALID"), MAP),
    "max_pool_2d": Row(lambda x: nn.max_pool2d(x, 2, 2, "VALID"), MAP),
    "max_pool_2d_same": Row(lambda x: nn.max_pool2d(x, (3, 2), (2, 1), "SAME"), MAP),
    "mean": Row(lambda x: tf.reduce_mean(x, (1, 2)), MAP),
    "mean_keep": Row(lambda x: tf.reduce_mean(x, (1, 2), keepdims=True), MAP),
    "mean_last": Row(lambda x: tf.reduce_mean(x, -1), MAP),
    "sum": Row(lambda x: tf.reduce_sum(x, 1), MAP),
    "reduce_max": Row(lambda x: tf.reduce_max(x, (1, 2)), MAP),
    "reduce_min": Row(lambda x: tf.reduce_min(x, -1), MAP),
    "pad": Row(lambda x: tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 1]]), MAP),
    "padv2": Row(lambda x: tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 1]], constant_values=0.7), MAP),
    "mirror_pad_reflect": Row(lambda x: mirrored(x, "REFLECT"), MAP),
    "mirror_pad_symmetric": Row(lambda x: mirrored(x, "SYMMETRIC"), MAP),
    "concatenation": Row(lambda x, y: tf.concat([x, 3 * y], -1), ((1, 7, 9, 5), (1, 7, 9, 3))),
    "concatenation_rows": Row(lambda x, y: tf.concat([x, y, x], 1), ((1, 3, 9, 5), (1, 2, 9, 5))),
    "split": Row(lambda x: tf.split(x, 3, 2), MAP),
    "split_v": Row(lambda x: tf.split(x, [1, 4, 2], 1), MAP),
    "slice": Row(lambda x: x[:, 1:6, 2:, :4], MAP),
    "strided_slice": Row(lambda x: x[:, ::2, 7:1:-2, 1], MAP),
    "gather": Row(lambda x: tf.gather(x, [4, 0, 0, 3], axis=3), MAP),
    "gather_nd": Row(lambda x: tf.gather_nd(x, [[0, 1], [0, 6]]), MAP),
    "transpose": Row(lambda x: tf.transpose(x, (0, 3, 1, 2)), MAP),
    "reshape": Row(lambda x: tf.reshape(x, (1, 9, 35)), MAP),
    "reshape_of_shape": Row(lambda x: tf.reshape(x, (tf.shape(x)[0], 9, -1)), MAP),
    "expand_squeeze": Row(lambda x: tf.squeeze(x, 0)[:, None], MAP),
    "tile": Row(lambda x: tf.tile(x, (1, 2, 1, 3)), MAP),
    "broadcast_to": Row(lambda x: tf.broadcast_to(x, (2, 7, 9, 5)), ((7, 1, 5),)),
    "pack": Row(lambda x, y: tf.stack([x, y], 2), PAIR),
    "unpack": Row(lambda x: tf.unstack(x, axis=3)[:2], ((1, 7, 9, 2),)),
    "resize_bilinear": Row(lambda x: tf.compat.v1.image.resize_bilinear(x, (14, 18)), MAP),
    "resize_bilinear_half_pixel": Row(lambda x: image.resize(x, (14, 18)), MAP),
    "resize_bilinear_align_corners": Row(
        lambda x: tf.compat.v1.image.resize_bilinear(x, (11, 5), align_corners=True), MAP
    ),
    "resize_nearest_neighbor": Row(lambda x: tf.compat.v1.image.resize_nearest_neighbor(x, (14, 27)), MAP),
    "resize_nearest_neighbor_half_pixel": Row(lambda x: image.resize(x, (10, 13), "nearest"), MAP),
    "depth_to_space": Row(lambda x: nn.depth_to_space(x, 2), ((1, 3, 5, 12),)),
    "space_to_depth": Row(lambda x: nn.space_to_depth(x, 2), ((1, 4, 6, 3),)),
    "space_to_batch_nd": Row(lambda x: tf.space_to_batch(x, [2, 3], [[1, 0], [0, 0]]), MAP),
    "batch_to_space_nd": Row(lambda x: tf.batch_to_space(x, [2, 3], [[1, 0], [0, 2]]), ((6, 4, 3, 5),)),
    "arg_max": Row(lambda x: tf.argmax(x, -1, tf.int32), MAP),
    "arg_min": Row(lambda x: tf.argmin(x, 1, tf.int32), MAP),
    "topk_v2": Row(lambda x: nn.top_k(x, 3), FLAT),
    "select_v2": Row(lambda x, y: tf.where(x > y, x, y), PAIR),
    "less_equal": Row(lambda x, y: x <= y, PAIR),
    "equal": Row(lambda x, y: tf.equal(x, tf.maximum(x, y)), PAIR),
    "shape_chain": Row(
        lambda x: tf.reshape(x, (tf.shape(x)[0], tf.shape(x)[1] * tf.shape(x)[2], 5)), ((None, 7, 9, 5),)
    ),
    "fill": Row(lambda x: x + tf.fill(tf.shape(x)[1:3], 0.5)[:, :, None], ((None, 7, 9, 5),)),
    "embedding_lookup": Row(lambda x: nn.embedding_lookup(W4, tf.cast(x, tf.int32) % 11), ((4, 3),), "float"),
    "cast": Row(lambda x: tf.cast(tf.cast(x * 10, tf.int32), tf.float32), MAP, "float"),
    "range": Row(lambda x: x * tf.range(0.0, 5.0, 1.0), MAP, "float"),
    "float_functions": Row(
        lambda x: tf.sin(x) + tf.cos(x) * tf.math.ceil(x) - tf.round(3 * x) + nn.elu(x), MAP, "float"
    ),
    "float_pow": Row(lambda x: tf.pow(tf.abs(x) + 0.1, 1.7), MAP, "float"),
    "float_floor_div": Row(lambda x, y: math.floordiv(x, y) + math.floormod(x, y), PAIR, "float"),
    "float_reduce_prod": Row(lambda x: tf.reduce_prod(x, 3), MAP, "float"),
    "float_softmax": Row(lambda x: nn.softmax(x), MAP, "float"),
    "float_layer_norm": Row(
        lambda x: (x - tf.reduce_mean(x, -1, True)) * math.rsqrt(math.reduce_variance(x, -1, True) + 1e-3), MAP, "float"
    ),
    "float_resize_bilinear": Row(lambda x: image.resize(x, (14, 18)), MAP, "float"),
    "float_transpose_conv": Row(transposed((3, 3, 6, 5), (1, 14, 18, 6), (2, 2), "SAME"), MAP, "float"),
    "float_average_pool_2d_same": Row(lambda x: nn.avg_pool2d(x, (3, 2), (2, 1), "SAME"), MAP, "float"),
    "logical": Row(
        lambda x, y: tf.logical_or(tf.logical_and(x > y, x < 1.0), tf.logical_not(tf.not_equal(x, x))), PAIR, "float"
    ),
    "one_hot": Row(lambda x: tf.one_hot(tf.argmax(x, -1), 5), MAP, "float"),
    "reverse": Row(lambda x: tf.reverse(x, [2]), MAP),
    "cumsum": Row(lambda x: tf.cumsum(x, 1), MAP, "float"),
    "float_conv_2d": Row(conv((3, 3, 5, 8), 2), MAP, "float"),
    "float_depthwise_conv_2d": Row(depthwise((3, 3, 5, 1)), MAP, "float"),
    "float_fully_connected": Row(dense(24, 10), FLAT, "float"),
    "float16_fully_connected": Row(dense(24, 10), FLAT, "float16"),
    "dynamic_fully_connected": Row(dense(128, 10), ((3, 128),), "dynamic"),
    "dynamic_conv_2d": Row(conv((3, 3, 16, 12)), WIDE, "dynamic"),
    "dynamic_depthwise_conv_2d": Row(depthwise((5, 5, 48, 1)), ((1, 7, 9, 48),), "dynamic"),
    "dynamic_batch_matmul": Row(lambda x: tf.matmul(x, W2), ((2, 3, 40),), "dynamic"),
    "uint8_conv_2d": Row(conv((3, 3, 5, 8)), MAP, "uint8"),
    "uint8_add": Row(lambda x, y: x + y, PAIR, "uint8"),
    "int16_conv_2d": Row(conv((3, 3, 5, 8)), MAP, "int16"),
    "int16_fully_connected": Row(dense(24, 10), FLAT, "int16"),
}


def made(row: Row, seed: int) -> tuple[bytes, list[np.ndarray], list[np.ndarray]]:
    """The file, its inputs and what ai-edge-litert makes of them."""
    rng = np.random.default_rng(seed)
    samples = [[rng.normal(size=[n or 1 for n in shape]).astype(np.float32) for shape in row.shapes] for _ in range(24)]
    file = converted(row.function, row.shapes, row.kind, samples)
    inputs = random_inputs(file, rng)
    return file, inputs, interpreted(file, [inputs])[0]


def main() -> None:
    arrays: dict[str, np.ndarray] = {}
    for i, (name, row) in enumerate(ROWS.items()):
        file, inputs, outputs = made(row, i)
        add_row(arrays, name, "tflite", file, inputs, outputs)
    pack(DATA / "tflite_ops.npz.xz", arrays)


if __name__ == "__main__":
    main()
