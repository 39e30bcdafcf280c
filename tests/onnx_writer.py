"""Writes `.onnx` files for tests: protobuf by hand, so that what is wrong can be written as well."""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

KINDS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10}
Sizes = Sequence[int | str | None] | None


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: "int | float | bytes | str") -> bytes:
    """A field: an integer, a float32, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor(name: str, x: Any, kind: int | None = None) -> bytes:
    """A TensorProto with raw bytes."""
    x = np.asarray(x)
    dims = b"".join(field(1, size) for size in x.shape)
    return dims + field(2, kind or KINDS[x.dtype.name]) + field(8, name) + field(9, x.tobytes())


def external(name: str, x: Any, location: str, offset: int = 0) -> bytes:
    """A TensorProto whose bytes lie in another file."""
    x = np.asarray(x)
    pairs = {"location": location, "offset": str(offset), "length": str(x.nbytes)}
    where = b"".join(field(13, field(1, k) + field(2, v)) for k, v in pairs.items())
    dims = b"".join(field(1, size) for size in x.shape)
    return dims + field(2, KINDS[x.dtype.name]) + field(8, name) + where + field(14, 1)


def attribute(name: str, value: Any) -> bytes:
    """An AttributeProto, of the type that the value has in Python; bytes are those of a graph."""
    match value:
        case bool() | int():
            return field(1, name) + field(3, int(value)) + field(20, 2)
        case float():
            return field(1, name) + field(2, value) + field(20, 1)
        case str():
            return field(1, name) + field(4, value) + field(20, 3)
        case np.ndarray():
            return field(1, name) + field(5, tensor("", value)) + field(20, 4)
        case bytes():
            return field(1, name) + field(6, value) + field(20, 5)
        case [float(), *_]:
            return field(1, name) + b"".join(field(7, v) for v in value) + field(20, 6)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any) -> bytes:
    """A NodeProto."""
    names = b"".join(field(1, n) for n in inputs) + b"".join(field(2, n) for n in outputs)
    about = b"".join(field(5, attribute(n, v)) for n, v in attributes.items())
    return names + field(4, op) + about + (field(7, domain) if domain else b"")


def value(name: str, dtype: str, shape: Sizes) -> bytes:
    """A ValueInfoProto; sizes are numbers, symbols or None."""

    def dim(size: int | str | None) -> bytes:
        return b"" if size is None else field(1, size) if isinstance(size, int) else field(2, size)

    sizes = b"" if shape is None else field(2, b"".join(field(1, dim(size)) for size in shape))
    return field(1, name) + field(2, field(1, field(1, KINDS[dtype]) + sizes))


def graph(
    nodes: Sequence[bytes],
    inputs: dict[str, tuple[str, Sizes]],
    outputs: dict[str, tuple[str, Sizes]],
    constants: "dict[str, Any] | None" = None,
) -> bytes:
    """A GraphProto; constants are arrays by name, or the bytes of a TensorProto."""
    tensors = (x if isinstance(x, bytes) else tensor(name, x) for name, x in (constants or {}).items())
    return (
        b"".join(field(1, n) for n in nodes)
        + b"".join(field(5, t) for t in tensors)
        + b"".join(field(11, value(name, *of)) for name, of in inputs.items())
        + b"".join(field(12, value(name, *of)) for name, of in outputs.items())
    )


def model(graph: bytes, opset: int = 17, functions: Sequence[bytes] = ()) -> bytes:
    """A ModelProto."""
    versions = field(8, field(2, opset)) + field(8, field(1, "com.microsoft") + field(2, 1))
    return field(1, 8) + versions + field(7, graph) + b"".join(field(25, f) for f in functions)


def one_node(
    op: str,
    inputs: "dict[str, Any]",
    outputs: dict[str, str],
    constants: "dict[str, Any] | None" = None,
    opset: int = 17,
    domain: str = "",
    order: Sequence[str] | None = None,
    **attributes: Any,
) -> bytes:
    """A model of one node. Inputs are arrays, whose shapes and dtypes count; outputs are dtypes; `order` names what the
    node reads, where it is not the inputs and then the constants."""
    reads = order or [*inputs, *(constants or {})]
    takes = {name: (np.asarray(x).dtype.name, np.asarray(x).shape) for name, x in inputs.items()}
    gives: dict[str, tuple[str, Sizes]] = {name: (dtype, None) for name, dtype in outputs.items()}
    made = node(op, reads, list(outputs), domain, **attributes)
    return model(graph([made], takes, gives, constants), opset)
