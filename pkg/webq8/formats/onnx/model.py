"""The content of an `.onnx` file, as ONNX has it: nodes that read and write values by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from webq8.ir.types import Tensor

__all__ = ["Attribute", "Constant", "Function", "OnnxGraph", "OnnxModel", "OnnxNode", "Unreadable", "ValueInfo"]


class Unreadable(NamedTuple):
    """What a file holds and webq8 does not take, with the reason; it matters where something needs it."""

    reason: str


class Constant(NamedTuple):
    """A tensor of the file. `kind` is ONNX's dtype: what the package lacks is held by a wider dtype, float16 and
    bfloat16 as float32, integers of four bits as bytes."""

    tensor: Tensor
    kind: str


Attribute: TypeAlias = (
    "int | float | str | Constant | Unreadable | OnnxGraph | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]"
)


class OnnxNode(NamedTuple):
    """A call of an operator. An empty name is an input that is left out. `where` is its place in the file."""

    domain: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    where: str
    overload: str = ""
    version: int = 1  # of the domain's operators
    references: Mapping[str, str] = MappingProxyType({})  # attributes of a function's node -> those of its call


class ValueInfo(NamedTuple):
    """An input or output, and its ONNX dtype, or what else it is. Sizes are numbers, names of symbols, or None where it
    says nothing of them, and so for a shape."""

    name: str
    kind: str
    shape: tuple[int | str | None, ...] | None


class OnnxGraph(NamedTuple):
    nodes: tuple[OnnxNode, ...]
    initializers: Mapping[str, Constant | Unreadable]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]


class Function(NamedTuple):
    """A function of the model: nodes that take the place of a call. `attributes` are those that a call may have, with
    the values of those that have a default."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    nodes: tuple[OnnxNode, ...]
    opsets: Mapping[str, int]


class OnnxModel(NamedTuple):
    graph: OnnxGraph
    opsets: Mapping[str, int]  # domain -> version
    functions: Mapping[tuple[str, str, str], Function]  # by domain, name and overload
    size: int
