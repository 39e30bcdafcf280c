"""What a program's methods take and give."""

from dataclasses import dataclass

from webq8.ir import Method, Tensor, Value

__all__ = ["MethodSpec", "TensorSpec", "ValueSpec", "spec_of"]


@dataclass(frozen=True)
class TensorSpec:
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


@dataclass(frozen=True)
class ValueSpec:
    """A result that is no tensor: the file has it, and each call returns it."""

    value: Value

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class MethodSpec:
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec | ValueSpec, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}"


def spec_of(method: Method) -> MethodSpec:
    graph = method.graph
    inputs = (graph.values[i] for i in graph.inputs)
    outputs = (graph.values[i] for i in graph.outputs)
    return MethodSpec(
        tuple(TensorSpec(t.shape, t.dtype) for t in inputs if isinstance(t, Tensor)),
        tuple(TensorSpec(v.shape, v.dtype) if isinstance(v, Tensor) else ValueSpec(v) for v in outputs),
    )
