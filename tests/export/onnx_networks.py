"""Trains small torch networks on digits and writes them as quantized ONNX files with goldens, in tests/data/onnx.

    pip install -r tests/export/requirements_onnx.txt
    python tests/export/onnx_networks.py [NAME…]

The networks are alike those of tflite_networks.py; onnxruntime.quantization writes them:

``cnn``          QDQ (u8s8 per channel; s8s8 per tensor), QOperator (u8u8; s8s8 per channel), dynamic with any batch
``mobilenet``    QDQ, QOperator
``unet``         QDQ
``keyword``      QDQ, its frames are inputs and outputs
``transformer``  dynamic with uint8 and with int8 weights, QDQ, weights of four bits

NAME.npz has `in0` (test inputs, one to a row), `out0` (what onnxruntime's CPU makes of each, nothing optimized),
labels or targets, and the accuracy of the float network. ``keyword`` is given the rows of one digit after the other;
its frames begin with zeros and are then what the run before gave, so they are left out.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from datasets import SCENES, SEED, SHOWN, digits, scenes, unit
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import Tensor, nn
from torch.nn import functional

FOLDER = Path(__file__).resolve().parents[1] / "data" / "onnx"
EPOCHS, CALIBRATION, OPSET = 40, 100, 18
ROWS = 8
(TRAIN, TRAIN_LABELS), (TEST, LABELS) = digits()
LABELS = LABELS[:SHOWN]
U8, S8 = QuantType.QUInt8, QuantType.QInt8


def conv(inputs: int, outputs: int, kernel: int, act: nn.Module | None = None, **more: int) -> nn.Sequential:
    pad = kernel // 2 * more.get("dilation", 1)
    layers = [nn.Conv2d(inputs, outputs, kernel, padding=pad, bias=False, **more), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([act] if act else []))


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            conv(1, 16, 3, nn.ReLU()),
            conv(16, 16, 3, nn.ReLU6(), groups=16),
            conv(16, 32, 1, nn.ReLU()),
            nn.MaxPool2d(2),
        )
        self.body = nn.Sequential(conv(32, 32, 3, nn.ReLU(), groups=32), conv(32, 32, 1))
        self.top = nn.Sequential(conv(32, 24, 3, nn.ReLU(), dilation=2), nn.AvgPool2d(2, 1))
        self.head = nn.Linear(24, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        return self.head(functional.adaptive_avg_pool2d(self.top(functional.relu(y + self.body(y))), 1).flatten(1))


class Squeezed(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, channels // 4, 1),
            nn.ReLU(),
            nn.Conv2d(channels // 4, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


def inverted(inputs: int, hidden: int, outputs: int, kernel: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        conv(inputs, hidden, 1, nn.Hardswish()),
        conv(hidden, hidden, kernel, nn.Hardswish(), stride=stride, groups=hidden),
        Squeezed(hidden),
        conv(hidden, outputs, 1),
    )


class Mobilenet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(1, 16, 3, nn.Hardswish()), inverted(16, 32, 24, 3, 2))
        self.body = inverted(24, 48, 24, 5, 1)
        self.top = nn.Sequential(conv(24, 48, 1, nn.Hardswish()), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(48, 48), nn.Hardswish(), nn.Linear(48, 10))

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        return self.head(self.top(y + self.body(y)))


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fine, self.coarse = conv(1, 8, 3, nn.ReLU()), conv(8, 16, 3, nn.ReLU())
        self.bottom = conv(16, 24, 3, nn.ReLU())
        self.grow = nn.ConvTranspose2d(24, 16, 3, 2, padding=1, output_padding=1)
        self.up, self.last = conv(32, 16, 3, nn.LeakyReLU(0.1)), conv(24, 8, 3, nn.ReLU())
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        fine = self.fine(x)
        coarse = self.coarse(functional.max_pool2d(fine, 2))
        y = functional.relu(self.grow(self.bottom(functional.max_pool2d(coarse, 2))))
        y = self.up(torch.cat([y, coarse], 1))
        y = functional.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.head(self.last(torch.cat([y, fine], 1))))


class Keyword(nn.Module):
    """Rows (N, 8, rows) of pixels; with `kept`, one row, and what the kernels need of those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.head = nn.Conv1d(8, 24, 3), nn.Conv1d(24, 32, 3), nn.Linear(32 * (ROWS - 4), 10)

    def forward(self, x: Tensor, *kept: Tensor) -> Any:
        def joined(i: int, x: Tensor) -> Tensor:
            return torch.cat([kept[i], x], 2) if kept else x

        a = joined(0, x)
        b = joined(1, functional.relu(self.first(a)))
        c = joined(2, functional.relu(self.second(b)))
        y = functional.softmax(self.head(c.flatten(1)), 1)
        return (y, *(v[:, :, 1:] for v in (a, b, c))) if kept else y


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        n, rows, width = x.shape
        y = self.before(x)
        q, k, v = (f(y).reshape(n, rows, 2, width // 2).transpose(1, 2) for f in (self.query, self.key, self.value))
        weights = functional.softmax(q @ k.transpose(2, 3) / (width // 2) ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(n, rows, width))
        return x + self.feed(self.after(x))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.places = nn.Linear(8, 32), nn.Parameter(torch.randn(ROWS, 32) / 8)
        self.layers, self.norm = nn.Sequential(Encoder(32), Encoder(32)), nn.LayerNorm(32)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.norm(self.layers(self.embed(x) + self.places)).mean(1))


def trained(make: Callable[[], nn.Module], inputs: np.ndarray, targets: np.ndarray) -> nn.Module:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    model, x = make(), torch.from_numpy(inputs)
    y = torch.from_numpy(targets.astype(np.float32 if targets.ndim > 1 else np.int64))
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            got = model(x[chosen])
            if targets.ndim > 1:
                loss = functional.binary_cross_entropy(got, y[chosen])
            elif isinstance(model, Keyword):
                loss = functional.nll_loss((got + 1e-9).log(), y[chosen])
            else:
                loss = functional.cross_entropy(got, y[chosen])
            loss.backward()
            optimizer.step()
        schedule.step()
    return model.eval()


class Reader(CalibrationDataReader):
    """Inputs of calibration, one run after the other."""

    def __init__(self, runs: list[dict[str, np.ndarray]]) -> None:
        self.runs: Iterator[dict[str, np.ndarray]] = iter(runs)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.runs, None)


def session(path: Path) -> onnxruntime.InferenceSession:
    """onnxruntime's CPU as it is without optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])


def quantized(source: Path, target: Path, kind: str, runs: list[dict[str, np.ndarray]]) -> None:
    """Writes what the quantizer makes of a float file: "qdq_u8s8", "qop_u8u8", "dynamic_u8", "q4", …"""
    form, _, types = kind.partition("_")
    if form == "dynamic":
        quantize_dynamic(source, target, weight_type={"u8": U8, "s8": S8}[types])
    elif form == "q4":
        quantizer = MatMulNBitsQuantizer(onnx.load(source), block_size=16, is_symmetric=False)
        quantizer.process()
        onnx.save(quantizer.model.model, target)
    else:
        activations, weights = ({"u8": U8, "s8": S8}[types[i : i + 2]] for i in (0, 2))
        quantize_static(
            source,
            target,
            Reader(runs),
            quant_format={"qdq": QuantFormat.QDQ, "qop": QuantFormat.QOperator}[form],
            activation_type=activations,
            weight_type=weights,
            per_channel=types.endswith("pc"),
            # onnxruntime's own rule for int8 activations
            extra_options={"ActivationSymmetric": types.startswith("s8")},
        )


KINDS = {
    "cnn": ("qdq_u8s8_pc", "qdq_s8s8", "qop_u8u8", "qop_s8s8_pc", "dynamic_u8"),
    "mobilenet": ("qdq_u8s8_pc", "qop_u8u8"),
    "unet": ("qdq_s8s8_pc",),
    "keyword": ("qdq_u8u8",),
    "transformer": ("dynamic_u8", "dynamic_s8", "qdq_u8s8_pc", "q4"),
}
KEPT = ((1, 8, 2), (1, 24, 2), (1, 32, ROWS - 5))


def consecutive(run: onnxruntime.InferenceSession, rows: np.ndarray) -> list[dict[str, np.ndarray]]:
    """The inputs of runs that go on with what the run before them kept."""
    kept, runs = [np.zeros(shape, np.float32) for shape in KEPT], []
    for row in rows:
        runs.append({"x": row, **{f"kept{i}": x for i, x in enumerate(kept)}})
        kept = run.run(None, runs[-1])[1:]
    return runs


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    makers = {"cnn": Cnn, "mobilenet": Mobilenet, "unet": Unet, "keyword": Keyword, "transformer": Transformer}
    for name in sys.argv[1:] or makers:
        images = {"cnn": lambda x: unit(x)[:, None], "keyword": lambda x: unit(x).transpose(0, 2, 1).copy()}
        images["mobilenet"] = images["cnn"]
        if name == "unet":
            (inputs, targets), (tests, right) = (
                (x[:, None], y[:, None]) for x, y in (scenes(TRAIN, 1), scenes(TEST[:SCENES], 2))
            )
        else:
            inputs, tests = (images.get(name, unit)(x) for x in (TRAIN, TEST[:SHOWN]))
            targets, right = TRAIN_LABELS, LABELS
        model = trained(makers[name], inputs, targets)
        with torch.no_grad():
            found = accuracy(name, model(torch.from_numpy(tests)).numpy(), right)
        with tempfile.TemporaryDirectory() as folder:
            plain, source = Path(folder) / "plain.onnx", Path(folder) / "float.onnx"
            export(name, model, torch.from_numpy(tests[:1]), plain)
            # a transformer's products stay MatMul, as exporters write them
            quant_pre_process(plain, source, skip_optimization=name == "transformer", skip_symbolic_shape=True)
            for kind in KINDS[name]:
                write(name, kind, source, inputs, tests, right, found)


def export(name: str, model: nn.Module, example: Tensor, path: Path) -> None:
    names = {"input_names": ["x"], "output_names": ["y"]}
    examples: tuple[Tensor, ...] = (example,)
    if name == "keyword":
        examples = example[:, :, :1], *(torch.zeros(shape) for shape in KEPT)
        names = {"input_names": ["x", "kept0", "kept1", "kept2"], "output_names": ["y", "next0", "next1", "next2"]}
    shapes = ({0: torch.export.Dim("batch")},) if name == "cnn" else None
    torch.onnx.export(
        model, examples, path, opset_version=OPSET, dynamic_shapes=shapes, external_data=False, verbose=False, **names
    )


def without_notes(path: Path) -> None:
    """Drops the exporter's notes about its sources, which are most of a small file."""
    model = onnx.load(path)
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.initializer, *graph.input, *graph.output):
        part.doc_string = ""
        del part.metadata_props[:]
    onnx.save(model, path)


def accuracy(name: str, y: np.ndarray, right: np.ndarray) -> float:
    return float(((y > 0.5 if name == "unet" else y.argmax(1)) == right).mean())


def write(
    name: str, kind: str, source: Path, inputs: np.ndarray, tests: np.ndarray, right: np.ndarray, found: float
) -> None:
    target = FOLDER / f"{name}_{kind}.onnx"
    calibration = [{"x": x} for x in inputs[:CALIBRATION, None]]
    if name == "keyword":
        rows = inputs[: CALIBRATION // 4].transpose(0, 2, 1).reshape(-1, 1, 8, 1)
        calibration = consecutive(session(source), rows)
    quantized(source, target, kind, calibration)
    without_notes(target)
    run = session(target)
    runs = [{"x": x} for x in tests[:, None]]
    if name == "keyword":
        runs = consecutive(run, tests.transpose(0, 2, 1).reshape(-1, 1, 8, 1))
    outputs = [np.concatenate(y) for y in zip(*(run.run(None, x) for x in runs), strict=True)]
    answers = outputs[0][ROWS - 1 :: ROWS] if name == "keyword" else outputs[0]
    measured = accuracy(name, answers, right)
    kept = outputs[:1] if name == "keyword" else outputs
    np.savez_compressed(
        target.with_suffix(".npz"),
        in0=np.concatenate([x["x"] for x in runs]),
        **{f"out{i}": y for i, y in enumerate(kept)},
        right=right,
        accuracy=measured,
        float_accuracy=found,
    )
    print(f"{target.stem}: {target.stat().st_size} bytes, accuracy {measured:.4f}, of the float network {found:.4f}")


if __name__ == "__main__":
    main()
