"""Bytes of an `.onnx` file to its own structures. Numbers of fields are those of `onnx/onnx.proto`."""

from webq8.budget import Budget
from webq8.errors import FormatError
from webq8.formats.base import Beside
from webq8.formats.onnx.model import (
    Attribute,
    Constant,
    Function,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    Unreadable,
    ValueInfo,
)
from webq8.formats.onnx.protobuf import Message
from webq8.formats.onnx.tensors import KINDS, TENSOR, read_tensor
from webq8.stages import Stage, Steps, finish

__all__ = ["read_model"]

_MODEL = {1: "ir_version", 7: "graph", 8: "opset_import", 25: "functions"}
_OPSET = {1: "domain", 2: "version"}
_GRAPH = {1: "node", 5: "initializer", 11: "input", 12: "output", 15: "sparse_initializer"}
_NODE = {1: "input", 2: "output", 3: "name", 4: "op_type", 5: "attribute", 7: "domain", 8: "overload"}
_ATTRIBUTE = {
    1: "name",
    2: "f",
    3: "i",
    4: "s",
    5: "t",
    6: "g",
    7: "floats",
    8: "ints",
    9: "strings",
    20: "type",
    21: "ref_attr_name",
}
_FUNCTION = {
    1: "name",
    4: "input",
    5: "output",
    6: "attribute",
    7: "node",
    9: "opset_import",
    10: "domain",
    11: "attribute_proto",
    13: "overload",
}
_VALUE = {1: "name", 2: "type"}
_TYPE = {1: "tensor", 4: "sequence", 5: "map", 8: "sparse", 9: "optional"}
_TENSOR_TYPE = {1: "elem_type", 2: "shape"}
_SHAPE = {1: "dim"}
_DIM = {1: "dim_value", 2: "dim_param"}


@Stage
def read_model(data: memoryview, name: str, beside: Beside | None = None) -> Steps[OnnxModel]:
    """Reads a whole file; `name` stands for it in messages, `beside` reads other files of its folder.

    Raises FormatError where the file is damaged. What is sound but not supported is found when it is lowered.
    """
    yield
    budget = Budget(len(data) * 8, name)  # messages lie within each other
    model = Message(data, _MODEL, budget, name)
    if not model.has("graph"):
        raise FormatError(f"{name}: the model has no graph")
    functions = {}
    for message in model.messages("functions", _FUNCTION):
        key = message.text("domain"), message.text("name"), message.text("overload")
        functions[key] = _function(message, beside)
    graph = yield from _graph(model.message("graph", _GRAPH, f"{name}, graph"), beside)
    return OnnxModel(graph, _opsets(model), functions, len(data))


def _opsets(message: Message) -> dict[str, int]:
    return {_domain(m.text("domain")): m.integer("version") for m in message.messages("opset_import", _OPSET)}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _graph(message: Message, beside: Beside | None) -> Steps[OnnxGraph]:
    if message.has("sparse_initializer"):
        raise FormatError(f"{message.where}: sparse tensors are not supported; export them dense")
    initializers = dict[str, Constant | Unreadable]()
    for tensor in message.messages("initializer", TENSOR):
        yield
        initializers[tensor.text("name")] = read_tensor(tensor, beside)
    nodes = []
    for n, node in enumerate(message.messages("node", _NODE)):
        yield
        nodes.append((yield from _node(node, n, beside)))
    inputs, outputs = (tuple(map(_value, message.messages(name, _VALUE))) for name in ("input", "output"))
    inputs = tuple(i for i in inputs if i.name not in initializers)
    return OnnxGraph(tuple(nodes), initializers, inputs, outputs)


def _node(message: Message, number: int, beside: Beside | None) -> Steps[OnnxNode]:
    attributes, references = dict[str, Attribute](), dict[str, str]()
    for attribute in message.messages("attribute", _ATTRIBUTE):
        name = attribute.text("name")
        if attribute.has("ref_attr_name"):
            references[name] = attribute.text("ref_attr_name")
        else:
            attributes[name] = yield from _attribute(attribute, beside)
    reads, writes = (tuple(message.texts(field)) for field in ("input", "output"))
    where = f"node {number}" + (f" {message.text('name')!r}" if message.has("name") else "")
    domain, operator, overload = _domain(message.text("domain")), message.text("op_type"), message.text("overload")
    return OnnxNode(domain, operator, reads, writes, attributes, where, overload, references=references)


def _attribute(message: Message, beside: Beside | None) -> Steps[Attribute]:
    match message.integer("type"):
        case 1:
            return message.float32("f")
        case 2:
            return message.integer("i")
        case 3:
            return str(message.bytes("s"), "utf-8", "replace")
        case 4:
            return read_tensor(message.message("t", TENSOR), beside)
        case 5:
            return (yield from _graph(message.message("g", _GRAPH), beside))
        case 6:
            return tuple(message.numbers("floats", "f"))
        case 7:
            return tuple(message.integers("ints"))
        case 8:
            return tuple(message.texts("strings"))
    return Unreadable(f"attributes of type {message.integer('type')} are not supported")


def _value(message: Message) -> ValueInfo:
    name, kind = message.text("name"), message.message("type", _TYPE)
    if not kind.has("tensor"):
        other = next((what for what in _TYPE.values() if kind.has(what)), "value without a type")
        return ValueInfo(name, other, None)
    tensor = kind.message("tensor", _TENSOR_TYPE)
    elements = KINDS.get(tensor.integer("elem_type"), "unknown")
    if not tensor.has("shape"):
        return ValueInfo(name, elements, None)
    return ValueInfo(name, elements, tuple(map(_size, tensor.message("shape", _SHAPE).messages("dim", _DIM))))


def _size(dim: Message) -> int | str | None:
    if dim.has("dim_value"):
        size = dim.integer("dim_value")
        if size < 0:
            raise FormatError(f"{dim.where}: a size of {size}")
        return size
    return dim.text("dim_param") or None


def _function(message: Message, beside: Beside | None) -> Function:
    nodes = tuple(finish(_node(m, n, beside)) for n, m in enumerate(message.messages("node", _NODE)))
    defaults = {m.text("name"): finish(_attribute(m, beside)) for m in message.messages("attribute_proto", _ATTRIBUTE)}
    reads, writes = (tuple(message.texts(field)) for field in ("input", "output"))
    return Function(reads, writes, defaults, nodes, _opsets(message))
