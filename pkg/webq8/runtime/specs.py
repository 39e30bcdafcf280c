"""Specs of the inputs and outputs of a program's methods."""

from collections.abc import Sequence
from typing import Any

from webq8.errors import plain
from webq8.formats.base import FileMethod, Names
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import PerTensor, Rows, Tensor
from webq8.records import Record

__all__ = ["MethodSpec", "TensorSpec", "ValueSpec", "graph_spec", "listed", "spec_of"]


class TensorSpec(Record):
    """A tensor of integers with a `scale` stands for (q − zero_point) · scale."""

    shape: tuple[int, ...]
    dtype: str
    name: str = ""
    partial: bool = False  # there may be fewer rows
    scale: float | None = None
    zero_point: int | None = None

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}" + ", or fewer rows" * self.partial


class ValueSpec(Record):
    """A result that is no tensor but a value in the file, which each run returns."""

    value: Any
    name: str = ""

    def __str__(self) -> str:
        return repr(self.value)


class MethodSpec(Record):
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec | ValueSpec, ...]

    def __str__(self) -> str:
        return f"({listed(self.inputs)}) -> {listed(self.outputs)}"


def listed(specs: Sequence[TensorSpec | ValueSpec]) -> str:
    """Specs with their names, for messages."""
    return ", ".join(f"{plain(spec.name)}: {spec}" for spec in specs)


def spec_of(method: FileMethod) -> MethodSpec:
    return _spec(method.inputs(), method.outputs(), method.names())


def graph_spec(graph: Graph) -> MethodSpec:
    """The spec of a graph that is of no file."""
    inputs = [graph.tensors[i] for i in graph.inputs]
    outputs = [o if isinstance(o, Fixed) else graph.tensors[o] for o in graph.outputs]
    return _spec(inputs, outputs, Names.of([""] * len(inputs), [""] * len(outputs)))


def _spec(inputs: Sequence[Tensor], outputs: Sequence[Tensor | Fixed], names: Names) -> MethodSpec:
    takes, gives = zip(inputs, names.inputs, strict=True), zip(outputs, names.outputs, strict=True)
    return MethodSpec(
        tuple(_tensor_spec(t, n) for t, n in takes),
        tuple(ValueSpec(v.value, n) if isinstance(v, Fixed) else _tensor_spec(v, n) for v, n in gives),
    )


def _tensor_spec(tensor: Tensor, name: str) -> TensorSpec:
    by = tensor.quantization if isinstance(tensor.quantization, PerTensor) else None
    quantized = (by.scale, by.zero_point) if by else (None, None)
    return TensorSpec(tensor.shape, tensor.dtype, name, isinstance(tensor, Rows), *quantized)
