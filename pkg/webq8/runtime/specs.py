"""Specs of the inputs and outputs of a program's methods."""

from collections.abc import Iterable
from typing import Any

from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import Tensor
from webq8.records import Record

__all__ = ["MethodSpec", "TensorSpec", "ValueSpec", "graph_spec", "spec_of"]


class TensorSpec(Record):
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


class ValueSpec(Record):
    """A result that is no tensor but a value in the file, which each run returns."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


class MethodSpec(Record):
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec | ValueSpec, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}"


def spec_of(inputs: Iterable[Tensor], outputs: Iterable[Tensor | Fixed]) -> MethodSpec:
    return MethodSpec(
        tuple(TensorSpec(t.shape, t.dtype) for t in inputs),
        tuple(ValueSpec(v.value) if isinstance(v, Fixed) else TensorSpec(v.shape, v.dtype) for v in outputs),
    )


def graph_spec(graph: Graph) -> MethodSpec:
    tensors = graph.tensors
    outputs = (o if isinstance(o, Fixed) else tensors[o] for o in graph.outputs)
    return spec_of((tensors[i] for i in graph.inputs), outputs)
