"""TFLite files of one op, written with the classes of ai-edge-litert's schema, and run by its interpreter."""

from typing import Any, NamedTuple

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {
    "float32": schema.TensorType.FLOAT32,
    "int8": schema.TensorType.INT8,
    "uint8": schema.TensorType.UINT8,
    "int16": schema.TensorType.INT16,
    "int32": schema.TensorType.INT32,
    "int64": schema.TensorType.INT64,
    "bool": schema.TensorType.BOOL,
}


class T(NamedTuple):
    """A tensor of a file: constant where it has data."""

    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float | None = None
    zero_point: int = 0
    data: np.ndarray | None = None
    variable: bool = False


def file(code: str, inputs: list[T | None], outputs: list[T], options: str = "", **fields: Any) -> bytes:
    """A TFLite file of one op. Inputs that are not constant are the model's; None leaves an optional one out."""
    model, subgraph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description = 3, b"one op"
    model.buffers, subgraph.tensors = [schema.BufferT()], []
    ids = []
    for tensor in [*inputs, *outputs]:
        if tensor is None:
            ids.append(-1)
            continue
        t = schema.TensorT()
        t.shape, t.type, t.buffer, t.name = list(tensor.shape), TYPES[tensor.dtype], 0, f"t{len(ids)}".encode()
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
    op.opcodeIndex, op.inputs, op.outputs = 0, ids[: len(inputs)], ids[len(inputs) :]
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


def run(content: bytes, *arrays: np.ndarray, xnnpack: bool = True) -> list[np.ndarray]:
    """What the interpreter makes of the inputs, with XNNPACK where it takes the op."""
    kind = OpResolverType.AUTO if xnnpack else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kind, num_threads=1)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
