"""Reads and lowers TensorFlow Lite's `.tflite` files. What does so is imported with the first such file."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from webq8.budget import Budget
from webq8.errors import InputError, OpenShapes, Problem, shown
from webq8.formats.base import Asked, File, FileOp, Names, Shapes
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import Shape, Tensor
from webq8.stages import Stage, Steps

if TYPE_CHECKING:
    from webq8.formats.tflite.model import TfliteModel

__all__ = ["Method", "is_tflite", "read_tflite"]


def is_tflite(data: memoryview) -> bool:
    """Whether bytes say that they are a `.tflite` file."""
    return bytes(data[4:8]) == b"TFL3"


class Method:
    """A method of a `.tflite` file with inputs of certain shapes, as `formats.base.FileMethod` has it."""

    def __init__(self, model: "TfliteModel", name: str, shapes: Mapping[int, Shape]) -> None:
        self.model, self.name, self.shapes = model, name, shapes
        self.subgraph = model.subgraphs[model.methods[name].subgraph]
        tensors = self.subgraph.tensors
        self._inputs = tuple(Tensor(shapes.get(i, tensors[i].shape), tensors[i].dtype) for i in self.subgraph.inputs)
        # what the file says, until the graph is lowered
        self._outputs = tuple(Tensor(tensors[i].shape, tensors[i].dtype) for i in self.subgraph.outputs)

    def inputs(self) -> tuple[Tensor, ...]:
        return self._inputs

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        return self._outputs

    def names(self) -> Names:
        return self.model.methods[self.name].names

    def operators(self) -> Iterable[FileOp]:
        return (FileOp(call.where, call.name) for call in self.subgraph.operators)

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        from webq8.formats.tflite.lower import lower_method

        graph, problems = yield from lower_method.steps(self.model, self.name, self.shapes, budget)
        if not problems:
            self._inputs = tuple(graph.tensors[ref] for ref in graph.inputs)  # which are quantized
            self._outputs = tuple(graph.tensors[ref].type() for ref in graph.results)
        return graph, problems


@Stage
def read_tflite(data: memoryview, name: str = "program", asked: Asked | None = None) -> Steps[File]:
    """Reads a `.tflite` file; see `formats.read_file`. Raises OpenShapes, which names them, where sizes of its inputs
    are open and `asked.shapes` does not say them."""
    from webq8.formats.tflite.read import read_model

    model = yield from read_model.steps(data, name)
    given = dict((asked or Asked()).shapes)
    known = {i for method in model.methods.values() for i in method.names.inputs}
    if strange := sorted(given.keys() - known):
        raise InputError(f"{name}: shapes: there is no input {shown(strange[0])}; inputs are {shown(sorted(known))}")
    return File({n: Method(model, n, _shapes(model, n, given, name)) for n in model.methods}, model.size)


def _shapes(model: "TfliteModel", method: str, given: Shapes, name: str) -> dict[int, Shape]:
    """The shapes that are given for inputs of a method, by their tensors. The first size may stay open: it is 1."""
    graph, shapes, missing = model.subgraphs[model.methods[method].subgraph], dict[int, Shape](), list[str]()
    for i, text in zip(graph.inputs, model.methods[method].names.inputs, strict=True):
        tensor, shape = graph.tensors[i], given.get(text)
        if shape is None:
            missing += [text] * any(tensor.open)
            continue
        if isinstance(shape, int) or len(shape) != len(tensor.shape) or min(shape, default=0) < 0:
            raise InputError(f"{name}: shapes: {shown(text)} has the shape {shown(tensor.shape)}, got {shown(shape)}")
        shapes[i] = tuple(shape)
    if missing:
        example = f"shapes={{{missing[0]!r}: (…)}}"
        text = f"{name}: sizes of the inputs {shown(missing)} are open; give their shapes, as in {example}"
        raise OpenShapes(text, inputs=missing)
    return shapes
