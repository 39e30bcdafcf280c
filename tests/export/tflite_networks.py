"""Trains small Keras networks on digits and writes them as TFLite files with goldens, in tests/data/tflite.

    pip install -r tests/export/requirements_tflite.txt
    python tests/export/tflite_networks.py [NAME…]

``cnn``          convolutions of every kind, a residual add, pools: int8, uint8 at the edges, dynamic, float, float16
``mobilenet``    MobileNetV3-like blocks: hard-swish, squeeze-and-excitation, kernels of 5
``unet``         ink on noisy scenes: transposed convolutions, bilinear resize, concatenation
``keyword``      a 1-D network that is given a digit row by row, and keeps its frames in resource variables
``transformer``  an encoder whose tokens are a digit's rows: int8, and dynamic range

NAME.npz has `in0` (test inputs, one to a row; for ``keyword`` the rows of each digit in turn), `out0` (what
ai-edge-litert makes of each by XNNPACK), labels or targets, and the accuracy of the float network.
"""

import sys
import tempfile
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter
from converter import DATA, converted, interpreted, quantizing
from datasets import SCENES, SEED, SHOWN, digits, scenes, unit
from keras import layers

FOLDER = DATA / "tflite"
EPOCHS, CALIBRATION = 40, 100
ROWS = 8
(TRAIN, TRAIN_LABELS), (TEST, LABELS) = digits()
LABELS = LABELS[:SHOWN]


def normalized(y: Any, activation: Any = None) -> Any:
    y = layers.BatchNormalization()(y)
    return layers.Activation(activation)(y) if activation else y


def conv(x: Any, channels: int, kernel: int, activation: Any = None, strides: int = 1, dilation: int = 1) -> Any:
    y = layers.Conv2D(channels, kernel, strides, "same", dilation_rate=dilation, use_bias=False)(x)
    return normalized(y, activation)


def depthwise(x: Any, kernel: int, activation: Any, strides: int = 1) -> Any:
    return normalized(layers.DepthwiseConv2D(kernel, strides, "same", use_bias=False)(x), activation)


def cnn() -> keras.Model:
    x = keras.Input((8, 8, 1))
    y = conv(x, 16, 3, "relu")
    y = depthwise(y, 3, "relu6")
    y = conv(y, 32, 1, "relu")
    y = layers.MaxPooling2D()(y)
    y = layers.Activation("relu")(y + conv(depthwise(y, 3, "relu"), 32, 1))
    y = conv(y, 24, 3, "relu", dilation=2)
    y = layers.AveragePooling2D(2, 1)(y)
    return keras.Model(x, layers.Dense(10, "softmax")(layers.GlobalAveragePooling2D()(y)))


def squeezed(x: Any, channels: int) -> Any:
    y = layers.GlobalAveragePooling2D(keepdims=True)(x)
    y = layers.Conv2D(channels // 4, 1, activation="relu")(y)
    return x * layers.Conv2D(channels, 1, activation="hard_sigmoid")(y)


def inverted(x: Any, hidden: int, channels: int, kernel: int, strides: int) -> Any:
    y = conv(x, hidden, 1, "hard_swish")
    y = squeezed(depthwise(y, kernel, "hard_swish", strides), hidden)
    y = conv(y, channels, 1)
    return x + y if strides == 1 else y


def mobilenet() -> keras.Model:
    x = keras.Input((8, 8, 1))
    y = conv(x, 16, 3, "hard_swish")
    y = inverted(y, 32, 24, 3, 2)
    y = inverted(y, 48, 24, 5, 1)
    y = conv(y, 48, 1, "hard_swish")
    y = layers.GlobalAveragePooling2D(keepdims=True)(y)
    y = layers.Flatten()(layers.Conv2D(48, 1, activation="hard_swish")(y))
    return keras.Model(x, layers.Dense(10)(y))


def unet() -> keras.Model:
    x = keras.Input((16, 16, 1))
    fine = conv(x, 8, 3, "relu")
    coarse = conv(layers.MaxPooling2D()(fine), 16, 3, "relu")
    y = conv(layers.MaxPooling2D()(coarse), 24, 3, "relu")
    y = layers.Conv2DTranspose(16, 3, 2, "same", activation="relu")(y)
    y = conv(layers.Concatenate()([y, coarse]), 16, 3, layers.LeakyReLU(0.1))
    y = layers.UpSampling2D(interpolation="bilinear")(y)
    y = conv(layers.Concatenate()([y, fine]), 8, 3, "relu")
    return keras.Model(x, layers.Conv2D(1, 1, activation="sigmoid")(y))


def keyword() -> keras.Model:
    x = keras.Input((ROWS, 8))
    y = layers.Conv1D(24, 3, activation="relu")(x)
    y = layers.Conv1D(32, 3, activation="relu")(y)
    return keras.Model(x, layers.Dense(10, "softmax")(layers.Flatten()(y)))


def encoded(x: Any, width: int) -> Any:
    y = layers.LayerNormalization(epsilon=1e-5)(x)
    x = x + layers.MultiHeadAttention(2, width // 2)(y, y)
    y = layers.Dense(2 * width, "gelu")(layers.LayerNormalization(epsilon=1e-5)(x))
    return x + layers.Dense(width)(y)


class Positions(layers.Layer):
    """Adds what is learned of each place."""

    def build(self, shape: tuple[int, ...]) -> None:
        self.places = self.add_weight(shape=shape[1:], initializer="glorot_uniform")

    def call(self, x: Any) -> Any:
        return x + self.places


def transformer() -> keras.Model:
    x = keras.Input((ROWS, 8))
    y = Positions()(layers.Dense(32)(x))
    y = layers.LayerNormalization(epsilon=1e-5)(encoded(encoded(y, 32), 32))
    return keras.Model(x, layers.Dense(10)(layers.GlobalAveragePooling1D()(y)))


class Streaming(tf.Module):
    """The keyword network, given one row a call: the rows and features that its kernels still need are variables."""

    def __init__(self, model: keras.Model) -> None:
        super().__init__()
        first, second, head = (tf.constant(w) for w in model.get_weights()[::2])
        self.convolutions = tuple(zip((first, second), map(tf.constant, model.get_weights()[1:4:2]), strict=True))
        self.head = head, tf.constant(model.get_weights()[5])
        sizes = (2, 8), (2, 24), (ROWS - 5, 32)
        self.kept = [
            tf.Variable(tf.zeros((1, *size)), trainable=False, name=f"kept{i}") for i, size in enumerate(sizes)
        ]

    def joined(self, i: int, x: tf.Tensor) -> tf.Tensor:
        """What came before, and x; all but the first frame are kept."""
        frames = tf.concat([self.kept[i], x], 1)
        self.kept[i].assign(frames[:, 1:])
        return frames

    @tf.function(input_signature=[tf.TensorSpec((1, 1, 8), tf.float32, name="row")])
    def __call__(self, row: tf.Tensor) -> tf.Tensor:
        y = row
        for i, (kernel, bias) in enumerate(self.convolutions):
            y = tf.nn.relu(tf.nn.conv1d(self.joined(i, y), kernel, 1, "VALID") + bias)
        kernel, bias = self.head
        return tf.nn.softmax(tf.matmul(tf.reshape(self.joined(2, y), (1, -1)), kernel) + bias)


def trained(make: Callable[[], keras.Model], inputs: np.ndarray, targets: np.ndarray) -> keras.Model:
    keras.utils.set_random_seed(SEED)
    model = make()
    of_pixels = targets.ndim > 1
    probabilities = model.layers[-1].activation is not keras.activations.linear
    loss = (
        keras.losses.BinaryCrossentropy()
        if of_pixels
        else keras.losses.SparseCategoricalCrossentropy(from_logits=not probabilities)
    )
    steps = EPOCHS * -(-len(inputs) // 64)
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(5e-3, steps)), loss)
    model.fit(inputs, targets, 64, EPOCHS, verbose=0)
    return model


def files(name: str) -> tuple[dict[str, bytes], np.ndarray, np.ndarray, float]:
    """The files of a network by kind, test inputs, what is right, and the accuracy of the float network."""
    if name == "unet":
        (inputs, targets), (tests, right) = scenes(TRAIN, 1), scenes(TEST[:SCENES], 2)
        model = trained(unet, inputs[..., None], targets[..., None])
        tests = tests[..., None]
        found = float(((model.predict(tests, verbose=0)[..., 0] > 0.5) == right).mean())
    else:
        image = name in ("cnn", "mobilenet")
        inputs, tests = ((unit(x)[..., None] if image else unit(x)) for x in (TRAIN, TEST[:SHOWN]))
        model, right = trained(globals()[name], inputs, TRAIN_LABELS), LABELS
        found = float((model.predict(tests, verbose=0).argmax(1) == right).mean())
    samples = [[x] for x in (inputs if inputs.ndim == tests.ndim else inputs[..., None])[:CALIBRATION, None]]
    if name == "keyword":
        return {"int8": streamed(model)}, tests.reshape(-1, 1, 8), right, found
    kinds = {"cnn": ("int8", "uint8", "dynamic", "float", "float16"), "transformer": ("int8", "dynamic")}
    call = lambda x: model(x, training=False)  # noqa: E731 - what the converter traces
    return (
        {kind: converted(call, [(1, *tests.shape[1:])], kind, samples) for kind in kinds.get(name, ("int8",))},
        tests,
        right,
        found,
    )


def streamed(model: keras.Model) -> bytes:
    module = Streaming(model)
    rows = [[row[None, None]] for row in unit(TRAIN[:CALIBRATION]).reshape(-1, 8)]
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, module.__call__.get_concrete_function())
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter._experimental_variable_quantization = True
        return quantizing(converter, "int8", rows).convert()


def as_taken(file: bytes, x: np.ndarray) -> np.ndarray:
    """Floats as the file's input has them."""
    detail = Interpreter(model_content=file).get_input_details()[0]
    if detail["dtype"] == np.float32:
        return x
    (scale, zero_point), info = detail["quantization"], np.iinfo(detail["dtype"])
    return np.clip(np.round(x / scale) + zero_point, info.min, info.max).astype(detail["dtype"])


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or ("cnn", "mobilenet", "unet", "keyword", "transformer"):
        made, tests, right, found = files(name)
        for kind, file in made.items():
            inputs = as_taken(file, tests)
            outputs = np.concatenate([y[0] for y in interpreted(file, [[x[None]] for x in inputs])])
            if name == "keyword":  # a digit after another: the state goes on
                answers = outputs.reshape(SHOWN, ROWS, -1)[:, -1].argmax(1)
            elif name == "unet":
                answers = outputs[..., 0] > np.float64(0.0 if outputs.dtype == np.int8 else 0.5)
            else:
                answers = outputs.argmax(1)
            accuracy = float((answers == right).mean())
            (FOLDER / f"{name}_{kind}.tflite").write_bytes(file)
            np.savez_compressed(
                FOLDER / f"{name}_{kind}.npz",
                in0=inputs,
                out0=outputs,
                right=right,
                accuracy=accuracy,
                float_accuracy=found,
            )
            print(
                f"{name}_{kind}: {len(file)} bytes, accuracy {accuracy:.4f}, of the float network {found:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
