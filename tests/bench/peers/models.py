"""Write MobileNetV2 (width 1, 224x224, batch 1) as ONNX: mobilenet_v2_float32.onnx and mobilenet_v2_int8.onnx (QDQ).

    python tests/bench/peers/models.py OUT_DIR

The same layers as tests/export/imagenet.py builds, normalizations folded into their convolutions. Speed does not depend
on the weights: they are random, of a few levels only, so that the files pack small.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

SIZE, CLASSES, OPSET, IR_VERSION = 224, 1000, 17, 10
STAGES = (
    # expansion, channels, repeats, first stride
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
LEVELS = 8  # of a weight, on either side of zero


class Network:
    """ONNX nodes and weights; each method adds a layer and returns the name of its output."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.constant("low", np.float32(0))
        self.constant("high", np.float32(6))

    def constant(self, name: str, value: np.ndarray | np.float32) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, *inputs: str, output: str = "", **attributes: int | list[int]) -> str:
        output = output or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def drawn(self, *shape: int) -> np.ndarray:
        """Random weights for outputs about as large as the inputs; the scale is a power of two."""
        levels = np.clip(np.round(self.rng.normal(size=shape) * LEVELS / 3), -LEVELS, LEVELS)
        scale = 2.0 ** np.round(np.log2(3 / LEVELS * np.sqrt(2 / np.prod(shape[1:]))))
        return (levels * scale).astype(np.float32)

    def conv(self, x: str, inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> str:
        n = len(self.nodes)
        weight = self.constant(f"weight{n}", self.drawn(outputs, inputs // groups, kernel, kernel))
        bias = self.constant(f"bias{n}", np.full(outputs, 0.25, np.float32))
        geometry = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4, "group": groups}
        return self.node("Conv", x, weight, bias, **geometry)

    def relu6(self, x: str) -> str:
        return self.node("Clip", x, "low", "high")

    def inverted_residual(self, x: str, inputs: int, outputs: int, stride: int, expansion: int) -> str:
        hidden = inputs * expansion
        y = x if expansion == 1 else self.relu6(self.conv(x, inputs, hidden))
        y = self.relu6(self.conv(y, hidden, hidden, kernel=3, stride=stride, groups=hidden))
        y = self.conv(y, hidden, outputs)
        return self.node("Add", x, y) if stride == 1 and inputs == outputs else y

    def mobilenet_v2(self) -> onnx.ModelProto:
        y, channels = self.relu6(self.conv("x", 3, 32, kernel=3, stride=2)), 32
        for expansion, width, repeats, first_stride in STAGES:
            for i in range(repeats):
                y = self.inverted_residual(y, channels, width, first_stride if i == 0 else 1, expansion)
                channels = width
        y = self.relu6(self.conv(y, channels, 1280))
        y = self.node("Flatten", self.node("GlobalAveragePool", y))
        weight = self.constant("classes", self.drawn(CLASSES, 1280))
        bias = self.constant("class_bias", np.zeros(CLASSES, np.float32))
        self.node("Gemm", y, weight, bias, output="y", transB=1)
        graph = helper.make_graph(
            self.nodes,
            "mobilenet_v2",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, CLASSES])],
            self.weights,
        )
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)])


class RandomInputs(CalibrationDataReader):
    """Inputs that look like normalized images."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(1)
        self.inputs = iter([{"x": rng.normal(size=(1, 3, SIZE, SIZE)).astype(np.float32)} for _ in range(count)])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.inputs, None)


def main(folder: Path) -> None:
    plain, quantized = (folder / f"mobilenet_v2_{kind}.onnx" for kind in ("float32", "int8"))
    model = Network().mobilenet_v2()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, plain)
    kinds = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
    quantize_static(plain, quantized, RandomInputs(4), quant_format=QuantFormat.QDQ, per_channel=True, **kinds)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/bench/peers/models.py OUT_DIR")
    main(Path(sys.argv[1]))
