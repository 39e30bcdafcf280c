"""Makes tests/data/tflite_arithmetic.npz.xz: TFLite files of one op on quantized tensors, and their results.

    pip install -r tests/export/requirements_tflite.txt
    python tests/export/tflite_arithmetic.py

No converter chooses the scales and zero points here: the files are written with the classes of ai-edge-litert's schema,
so that scales are far apart, zero points anywhere, and functions get every int8, or every pair of two. The results are
those of ai-edge-litert as its users have it, by XNNPACK. For a row NAME the file holds NAME.tflite (bytes), NAME.in0, …
and NAME.out0, …; and NAME.runs where these
hold several runs, one after another on a new first axis.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from packed import add_row, pack

FILE = Path(__file__).resolve().parents[1] / "data" / "tflite_arithmetic.npz.xz"
RNG = np.random.default_rng(0)
RELU = 1


class T(NamedTuple):
    """A tensor of a file: constant where it has data."""

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float | None = None
    zero_point: int = 0
    data: np.ndarray | None = None
    variable: bool = False


Inputs = list[T | None]


class Row(NamedTuple):
    """A file of one op, and its inputs; with `runs` those of as many runs, one after another on a new first axis."""

    name: str
    file: bytes
    inputs: tuple[np.ndarray, ...]
    runs: int = 0


def file(
    code: str, inputs: Inputs, outputs: list[T], options: str = "", intermediates: tuple[T, ...] = (), **fields: Any
) -> bytes:
    """A TFLite file of one op. Inputs that are not constant are the model's; None leaves an optional one out."""
    model, subgraph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description = 3, b"one op"
    model.buffers, subgraph.tensors = [schema.BufferT()], []
    ids = []
    for tensor in [*inputs, *outputs, *intermediates]:
        if tensor is None:
            ids.append(-1)
            continue
        t = schema.TensorT()
        t.shape, t.type, t.buffer, t.name = (
            list(tensor.shape),
            getattr(schema.TensorType, tensor.dtype.upper()),
            0,
            f"t{len(ids)}".encode(),
        )
        t.isVariable = tensor.variable
        if tensor.data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(tensor.data).tobytes(), np.uint8)
            t.buffer = len(model.buffers)
            model.buffers.append(buffer)
        if tensor.scale is not None:
            t.quantization = schema.QuantizationParametersT()
            t.quantization.scale, t.quantization.zeroPoint = [tensor.scale], [tensor.zero_point]
        ids.append(len(subgraph.tensors))
        subgraph.tensors.append(t)
    op, kind = schema.OperatorT(), schema.OperatorCodeT()
    kind.builtinCode = getattr(schema.BuiltinOperator, code)
    kind.deprecatedBuiltinCode, kind.version = min(kind.builtinCode, 127), 1
    op.opcodeIndex, op.inputs, op.outputs = 0, ids[: len(inputs)], ids[len(inputs) :][: len(outputs)]
    op.intermediates = ids[len(inputs) + len(outputs) :]
    if options:
        op.builtinOptionsType = getattr(schema.BuiltinOptions, options)
        op.builtinOptions = getattr(schema, options + "T")()
        for name, value in fields.items():
            assert hasattr(op.builtinOptions, name), name
            setattr(op.builtinOptions, name, value)
    subgraph.inputs = [i for i, t in zip(ids, inputs, strict=False) if t and t.data is None and not t.variable]
    subgraph.outputs, subgraph.operators = list(op.outputs), [op]
    model.operatorCodes, model.subgraphs = [kind], [subgraph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def scale(low: float = 0.002, high: float = 0.2) -> float:
    return float(np.float32(RNG.uniform(low, high)))


def zero_point(dtype: str = "int8") -> int:
    info = np.iinfo(dtype)
    return int(RNG.integers(info.min, info.max + 1)) if info.bits == 8 else 0


def tensor(*shape: int, dtype: str = "int8", by: float = 0.0) -> T:
    """A tensor of any quantization."""
    return T(shape, dtype, by or scale(), zero_point(dtype))


def integers(t: T) -> np.ndarray:
    info = np.iinfo(t.dtype)
    return RNG.integers(info.min, info.max + 1, t.shape, t.dtype)


def constant(*values: Any, dtype: str = "int32") -> T:
    data = np.array(values, dtype)
    return T(data.shape, dtype, data=data)


def row(name: str, code: str, inputs: Inputs, output: T, options: str = "", **fields: Any) -> Row:
    """A row whose inputs hold any integers."""
    arrays = tuple(integers(t) for t in inputs if t and t.data is None)
    return Row(name, file(code, inputs, [output], options, **fields), arrays)


EVERY = np.arange(-128, 128, dtype=np.int8)
PAIRS = np.repeat(EVERY, 256).reshape(256, 256), np.tile(EVERY, 256).reshape(256, 256)


def pairs(name: str, code: str, options: str, y: T | None = None, alike: bool = False, **fields: Any) -> Row:
    """All pairs of int8."""
    a = tensor(256, 256)
    b, y = (a, a) if alike else (tensor(256, 256), y or tensor(256, 256))
    return Row(name, file(code, [a, b], [y], options, **fields), PAIRS)


def binary() -> Iterator[Row]:
    for code in ("Add", "Sub", "Mul"):
        options = f"{code}Options"
        for n in range(2):
            yield pairs(f"all-{code.lower()}-{n}", code.upper(), options)
        yield pairs(f"all-{code.lower()}-relu", code.upper(), options, fusedActivationFunction=RELU)
        for a, b in (((2, 3, 5, 7), (7,)), ((3, 1, 5), (2, 3, 4, 1)), ((2, 4, 5, 16), (2, 4, 5, 16)), ((1,), (6, 5))):
            name = f"{code.lower()}-{'x'.join(map(str, a))}-{'x'.join(map(str, b))}"
            yield row(name, code.upper(), [tensor(*a), tensor(*b)], tensor(*np.broadcast_shapes(a, b)), options)
    for code in ("Maximum", "Minimum"):
        yield pairs(f"all-{code.lower()}", code.upper(), "MaximumMinimumOptions", alike=True)
    yield pairs("all-squared-difference", "SQUARED_DIFFERENCE", "SquaredDifferenceOptions")
    yield pairs("all-prelu", "PRELU", "")
    # no divisor is 0, and y is so fine that the runtime does not shift by more than 31 bits
    positive = T((255, 256), "int8", 0.13, -128), T((255, 256), "int8", 0.07, -128)
    content = file("DIV", [*positive], [tensor(255, 256, by=0.005)], "DivOptions")
    yield Row("all-div", content, (PAIRS[1][1:].copy(), PAIRS[0][1:].copy()))
    truth = T((256, 256), "bool")
    for code in ("Less", "LessEqual", "Equal", "NotEqual", "Greater", "GreaterEqual"):
        name = "".join(f"_{c}" if c.isupper() else c for c in code)[1:].upper()
        yield pairs(f"all-{name.lower()}", name, f"{code}Options", truth)


def unary() -> Iterator[Row]:
    def table(name: str, code: str, options: str = "", x: T | None = None, y: T | None = None, **fields: Any) -> Row:
        content = file(code, [x or tensor(1, 256)], [y or tensor(1, 256)], options, **fields)
        return Row(name, content, (EVERY[None],))

    for n in range(3):
        yield table(f"logistic-{n}", "LOGISTIC", y=T((1, 256), "int8", 1 / 256, -128))
        yield table(f"tanh-{n}", "TANH", y=T((1, 256), "int8", 1 / 128, 0))
        for code in ("ELU", "EXP", "LOG", "ABS", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"):
            yield table(f"{code.lower().replace('_', '-')}-{n}", code)
        positive = T((1, 256), "int8", scale(), -128)
        yield table(f"rsqrt-{n}", "RSQRT", x=positive)
        yield table(f"sqrt-{n}", "SQRT", x=positive)
        for approximate in (False, True):
            yield table(f"gelu-{n}{approximate:d}", "GELU", "GeluOptions", approximate=approximate)
    for slope in (0.3, -0.4, 1e-4):
        yield table(f"leaky-relu-{slope}", "LEAKY_RELU", "LeakyReluOptions", alpha=slope)
    yield table("all-neg", "NEG")


def quantize() -> Iterator[Row]:
    values = {
        "int8": EVERY,
        "uint8": np.arange(256, dtype=np.uint8),
        "int16": np.arange(-(2**15), 2**15, 7, np.int16),
        "int32": np.arange(-(2**17), 2**17, 61, np.int32),
    }
    for source in values:
        for target in ("int8", "uint8", "int16"):
            if (source, target) in (("int16", "uint8"), ("int32", "uint8"), ("int16", "int16"), ("int32", "int16")):
                continue
            for n in range(2):
                x = values[source][None]
                by = scale() * 2.0 ** -{"int16": 8, "int32": 10}.get(source, 0)
                content = file(
                    "QUANTIZE",
                    [tensor(*x.shape, dtype=source, by=by)],
                    [tensor(*x.shape, dtype=target)],
                    "QuantizeOptions",
                )
                yield Row(f"quantize-{source}-{target}-{n}", content, (x,))
    near = T((1, 256), "int8", 0.001, 9)
    yield Row(
        "quantize-far", file("QUANTIZE", [near], [T((1, 256), "int8", 0.5, 3)], "QuantizeOptions"), (EVERY[None],)
    )


def windows() -> Iterator[Row]:
    for padding, name in ((0, "same"), (1, "valid")):
        for activation in (0, RELU):
            for kernel, stride in (((2, 3), (2, 1)), ((3, 3), (2, 2)), ((3, 2), (1, 2))):
                x = tensor(2, 9, 8, 5)
                height, width = (
                    -(-size // s) if padding == 0 else (size - k) // s + 1
                    for size, k, s in zip((9, 8), kernel, stride, strict=True)
                )
                for code in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
                    yield row(
                        f"{code[:3].lower()}-pool-{name}-{kernel[0]}{kernel[1]}{stride[0]}{stride[1]}-{activation}",
                        code,
                        [x],
                        x._replace(shape=(2, height, width, 5)),
                        "Pool2DOptions",
                        padding=padding,
                        filterHeight=kernel[0],
                        filterWidth=kernel[1],
                        strideH=stride[0],
                        strideW=stride[1],
                        fusedActivationFunction=activation,
                    )
    for height, width in ((13, 11), (3, 4), (14, 10), (1, 1), (21, 25)):
        for corners, half in ((False, False), (True, False), (False, True)):
            for code, options in (("BILINEAR", "ResizeBilinear"), ("NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
                x = tensor(2, 7, 5, 6)
                yield row(
                    f"resize-{code[0].lower()}-{height}x{width}-{corners:d}{half:d}",
                    f"RESIZE_{code}",
                    [x, constant(height, width)],
                    x._replace(shape=(2, height, width, 6)),
                    f"{options}Options",
                    alignCorners=corners,
                    halfPixelCenters=half,
                )


def reductions() -> Iterator[Row]:
    for axes in ((1, 2), (3,), (1, 2, 3), (0,), (0, 2)):
        for code in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
            for keep in (False, True):
                x = tensor(3, 7, 6, 5)
                shape = [1 if i in axes else s for i, s in enumerate(x.shape) if keep or i not in axes]
                y = x._replace(shape=tuple(shape)) if "_" in code else tensor(*shape, by=scale(0.1, 0.5))
                name = f"{code.lower().replace('_', '-')}-{''.join(map(str, axes))}-{keep:d}"
                yield row(name, code, [x, constant(*axes)], y, "ReducerOptions", keepDims=keep)
    for shape, beta in (((7, 10), 1.0), ((3, 1001), 1.0), ((2, 5, 129), 0.5), ((64, 2), 1.7), ((2, 3, 5, 21), 1.0)):
        x, name = tensor(*shape, by=scale(0.01, 0.2)), "x".join(map(str, shape))
        y = T(shape, "int8", 1 / 256, -128)
        yield row(f"softmax-{name}", "SOFTMAX", [x], y, "SoftmaxOptions", beta=beta)


def sequences() -> Iterator[Row]:
    def weights(*shape: int, by: float = 0.0, dtype: str = "int8") -> T:
        data = RNG.integers(-127, 128, shape, np.int8).astype(dtype) * (20 if dtype == "int16" else 1)
        return T(shape, dtype, by or scale(0.002, 0.02), data=data.astype(dtype))

    for name, batch, steps, inputs, cells, clip, major in (
        ("", 1, 9, 6, 5, 0.0, False),
        ("-batch", 3, 4, 17, 20, 0.0, False),
        ("-major", 2, 5, 8, 66, 0.75, True),
    ):
        shape = (steps, batch) if major else (batch, steps)
        x, hidden = tensor(*shape, inputs, by=0.02), (0.008, 3)
        biases = [T((cells,), "int32", 0.0001, 0, RNG.integers(-3000, 3000, cells, np.int32)) for _ in range(4)]
        given: Inputs = [x, *(weights(cells, inputs) for _ in range(4)), *(weights(cells, cells) for _ in range(4))]
        given += [None, None, None, *biases, None, None, T((batch, cells), "int8", *hidden, variable=True)]
        given += [T((batch, cells), "int16", 2.0**-11, variable=True), None, None, None, None]
        y = T((*shape, cells), "int8", *hidden)
        between = (*(T((1,), "int16", 2.0**-12) for _ in range(4)), T((1,), "int8", *hidden))
        content = file(
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            given,
            [y],
            "UnidirectionalSequenceLSTMOptions",
            between,
            fusedActivationFunction=4,
            cellClip=clip,
            timeMajor=major,
        )
        yield Row(f"lstm{name}", content, (np.stack([integers(x) for _ in range(2)]),), runs=2)
    for name, batch, inputs, filters, memory, rank in (("", 1, 11, 6, 3, 1), ("-rank", 3, 8, 24, 10, 2)):
        x = tensor(batch, inputs, by=0.03)
        bias = T((filters // rank,), "int32", 0.0001, 0, RNG.integers(-300000, 300000, filters // rank, np.int32))
        state = T((batch, memory * filters), "int16", 0.0002, variable=True)
        given = [x, weights(filters, inputs), weights(filters, memory, by=1e-4, dtype="int16"), bias, state]
        y = tensor(batch, filters // rank, by=0.02)
        content = file("SVDF", given, [y], "SVDFOptions", rank=rank, fusedActivationFunction=RELU)
        yield Row(f"svdf{name}", content, (np.stack([integers(x) for _ in range(5)]),), runs=5)


def results(row: Row) -> list[np.ndarray]:
    interpreter = Interpreter(model_content=row.file, num_threads=1)
    interpreter.allocate_tensors()

    def run(inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]

    if not row.runs:
        return run(row.inputs)
    return [np.stack(y) for y in zip(*map(run, zip(*row.inputs, strict=True)), strict=True)]


def main() -> None:
    arrays = dict[str, np.ndarray]()
    for row in (*binary(), *unary(), *quantize(), *windows(), *reductions(), *sequences()):
        add_row(arrays, row.name, "tflite", row.file, row.inputs, results(row))
        if row.runs:
            arrays[f"{row.name}.runs"] = np.array(row.runs)
    pack(FILE, arrays)


if __name__ == "__main__":
    main()
