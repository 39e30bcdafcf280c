"""Build MobileNetV2 at 224x224, batch 1, as TFLite, quantized to int8, with what ai-edge-litert makes of two images.

    pip install -r tests/export/requirements_tflite.txt
    python tests/export/mobilenet.py OUT_DIR

Writes mobilenet_v2.tflite (4 MB) and mobilenet_v2.npz: too large to commit, so tests build them on demand and keep them
in a cache. The weights are random (seeded); the statistics of normalizations are those of random images, so that
signals neither die nor explode on their way.
"""

import sys
from pathlib import Path

import keras
import numpy as np
from converter import converted, interpreted, random_inputs

SIZE = 224


def main(folder: Path) -> None:
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    model = keras.applications.MobileNetV2((SIZE, SIZE, 3), weights=None, classifier_activation=None)
    images = rng.normal(size=(12, SIZE, SIZE, 3)).astype(np.float32)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0  # the statistics of the last batch
    model(images, training=True)
    file = converted(lambda x: model(x, training=False), [(1, SIZE, SIZE, 3)], "int8", [[x] for x in images[:6, None]])
    runs = [random_inputs(file, rng) for _ in range(2)]
    (folder / "mobilenet_v2.tflite").write_bytes(file)
    inputs, outputs = (np.concatenate([x[0] for x in arrays]) for arrays in (runs, interpreted(file, runs)))
    np.savez_compressed(folder / "mobilenet_v2.npz", in0=inputs, out0=outputs)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
