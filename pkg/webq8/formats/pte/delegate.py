"""The blob of ExecuTorch's Vulkan/WebGPU delegate: header `VH00`, a `VK00` flatbuffer (a VkGraph), raw constant bytes.

Field numbers follow `backends/vulkan/serialization/schema.fbs` of the `executorch` package. Memory layouts, storage
types and `mem_obj_id` describe textures of another runtime; the planner decides for itself.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import FormatError, Problem
from webq8.formats.flatbuf import Table, root
from webq8.formats.pte.model import EValue, ListRef
from webq8.formats.pte.tensors import DYNAMIC, FLOAT16, checked_shape
from webq8.ir.types import Tensor
from webq8.stages import Steps

__all__ = ["VkGraph", "read_vkgraph"]

_DTYPES = {0: "bool", 1: "uint8", 2: "int8", 3: "int32", 4: "float16", 5: "float32", 6: "float64", 7: "int64"}
_NOWHERE = 2**64 - 1  # the offset of constants that lie in the program's named data
_HEADER = struct.Struct("<4x4sHIIIQ")


class VkGraph(NamedTuple):
    """EValue ids are those of this graph; `calls` are (node id, op, argument ids)."""

    values: tuple[EValue, ...]
    calls: tuple[tuple[int, str, tuple[int, ...]], ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    problems: tuple[Problem, ...]


def read_vkgraph(blob: memoryview, what: str, named: Callable[[str], memoryview], budget: Budget) -> Steps[VkGraph]:
    """Reads a delegate's blob; `named` looks up named data of the program.

    Raises FormatError where the blob is damaged; what is sound but not supported is returned as `problems`.
    """
    if len(blob) < _HEADER.size or bytes(blob[4:8]) != b"VH00":
        raise FormatError(f"{what}: the delegate's data does not start with a VH00 header")
    _, _, fb_offset, fb_size, raw_offset, raw_size = _HEADER.unpack_from(blob)
    if fb_offset + fb_size > len(blob) or raw_offset + raw_size > len(blob):
        raise FormatError(f"{what}: its header points past the end of its {len(blob)} bytes")
    raw = blob[raw_offset : raw_offset + raw_size]
    graph = root(blob[fb_offset : fb_offset + fb_size], b"VK00", what, budget)

    constants = [_constant(c, raw, f"{what}, constant {i}", named) for i, c in enumerate(graph.tables(5, what))]
    problems: list[Problem] = []
    values: list[EValue] = []
    tables = graph.tables(2, f"{what}, value")
    for i, table in enumerate(tables):
        values.append(_value(table, what, f"value {i}", len(tables), constants, problems))
        yield

    calls = []
    for i, call in enumerate(graph.tables(1, f"{what}, call")):
        args = call.vector(2, "i")
        _check_ids(args, len(values), f"{what}, call {i}")
        calls.append((call.integer(0, "I"), call.string(1), args))
        yield
    inputs, outputs = graph.vector(3, "I"), graph.vector(4, "I")
    _check_ids(inputs + outputs, len(values), f"{what}, inputs and outputs")
    return VkGraph(tuple(values), tuple(calls), inputs, outputs, tuple(problems))


def _check_ids(ids: tuple[int, ...], count: int, what: str) -> None:
    for i in ids:
        if not 0 <= i < count:
            raise FormatError(f"{what}: value {i} does not exist (there are {count})")


def _constant(table: Table, raw: memoryview, what: str, named: Callable[[str], memoryview]) -> memoryview:
    offset, length = table.integer(0, "Q"), table.integer(1, "Q")
    if offset == _NOWHERE:
        return named(table.string(2))
    if offset + length > len(raw):
        raise FormatError(f"{what}: bytes {offset}…{offset + length} of {len(raw)} do not exist")
    return raw[offset : offset + length]


def _value(
    table: Table, graph: str, node: str, count: int, constants: list[memoryview], problems: list[Problem]
) -> EValue:
    what = f"{graph}, {node}"
    kind, inner = table.union(0, what)
    if kind in (0, 1):
        return None
    if inner is None:
        raise FormatError(f"{what}: type {kind} without a value")
    match kind:
        case 2:
            return inner.integer(0, "q")
        case 3:
            return float(inner.scalar(0, "d"))
        case 4:
            return bool(inner.scalar(0, "?"))
        case 5:
            return _tensor(inner, what, node, constants, problems)
        case 6:
            return inner.vector(0, "q")
        case 7:
            return inner.doubles(0)
        case 8:
            return tuple(bool(b) for b in inner.vector(0, "?"))
        case 9:
            ids = inner.vector(0, "i")
            _check_ids(ids, count, what)
            return ListRef(ids)
        case 10:
            return inner.string(0)
        case 11:
            problems.append(DYNAMIC)
            return None
    raise FormatError(f"{what}: unknown type {kind}")


def _tensor(table: Table, what: str, node: str, constants: list[memoryview], problems: list[Problem]) -> Tensor | None:
    code, constant = table.integer(0, "b"), table.integer(2, "i")
    if code not in _DTYPES:
        problems.append(Problem(node, "", f"unknown data type {code}"))
        return None
    dtype = _DTYPES[code]
    shape = checked_shape(table.vector(1, "I"), dtype, what)
    if dtype == "float16":
        problems.append(FLOAT16)
    if constant < 0:
        return Tensor(shape, dtype)
    if constant >= len(constants):
        raise FormatError(f"{what}: constant {constant} does not exist (there are {len(constants)})")
    data, need = constants[constant], numel(shape) * ITEMSIZE[dtype]
    if len(data) < need:
        raise FormatError(f"{what}: {need} bytes are needed for {dtype} {list(shape)}, its constant has {len(data)}")
    return Tensor(shape, dtype, data[:need])
