"""What the scripts share that make TFLite files: TensorFlow's converter, and ai-edge-litert as its users have it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter

DATA = Path(__file__).resolve().parents[1] / "data"
Samples = Sequence[Sequence[np.ndarray]]


def quantizing(converter: Any, kind: str, samples: Samples) -> Any:
    """Sets how the converter quantizes: "float", "float16", "dynamic", "int8", "uint8" (at the edges) or "int16".

    `samples` are inputs of single runs, whose ranges are taken.
    """
    if kind == "float":
        return converter
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    elif kind != "dynamic":
        ops = tf.lite.OpsSet
        wide = ops.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.representative_dataset = lambda: iter([list(sample) for sample in samples])
        converter.target_spec.supported_ops = [wide if kind == "int16" else ops.TFLITE_BUILTINS_INT8]
        edge = {"int8": tf.int8, "uint8": tf.uint8, "int16": tf.int16}[kind]
        converter.inference_input_type = converter.inference_output_type = edge
    return converter


def converted(function: Callable[..., Any], shapes: Iterable[Sequence[int]], kind: str, samples: Samples) -> bytes:
    """The bytes of the TFLite file of a function of float32 tensors."""
    traced = tf.function(function, input_signature=[tf.TensorSpec(shape, tf.float32) for shape in shapes])
    converter = tf.lite.TFLiteConverter.from_concrete_functions([traced.get_concrete_function()], traced)
    return quantizing(converter, kind, samples).convert()


def random_inputs(file: bytes, rng: np.random.Generator) -> list[np.ndarray]:
    """Inputs of the file: floats near one, and any integers."""

    def values(shape: np.ndarray, dtype: type) -> np.ndarray:
        if dtype == np.float32:
            return rng.normal(size=shape).astype(dtype)
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)

    return [values(d["shape"], d["dtype"]) for d in Interpreter(model_content=file).get_input_details()]


def interpreted(file: bytes, runs: Samples) -> list[list[np.ndarray]]:
    """The outputs of consecutive runs."""
    interpreter = Interpreter(model_content=file, num_threads=1)
    interpreter.allocate_tensors()
    found = []
    for inputs in runs:
        for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        found.append([interpreter.get_tensor(d["index"]).copy() for d in interpreter.get_output_details()])
    return found
