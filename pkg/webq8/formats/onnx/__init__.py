"""Reads and lowers `.onnx` files. What does so is imported with the first such file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from webq8.budget import Budget
from webq8.errors import InputError, OpenShapes, Problem, plain, shown
from webq8.formats.base import Asked, File, FileOp, Names, Shapes
from webq8.formats.onnx.recognize import is_onnx
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import Shape, Tensor
from webq8.stages import Stage, Steps

if TYPE_CHECKING:
    from webq8.formats.onnx.model import OnnxGraph, OnnxModel, ValueInfo

__all__ = ["is_onnx", "read_onnx"]


class Method:
    """The graph of an `.onnx` file with inputs of certain shapes, as `formats.base.FileMethod` has it."""

    def __init__(self, graph: "OnnxGraph", shapes: Sequence[Shape], symbols: Mapping[str, int]) -> None:
        from webq8.formats.onnx.tensors import HELD

        def types(infos: "Sequence[ValueInfo]", shapes: Iterable[Shape]) -> tuple[Tensor, ...]:
            return tuple(Tensor(s, HELD.get(i.kind, "uint8")) for i, s in zip(infos, shapes, strict=True))

        self.graph = graph
        self._inputs = types(graph.inputs, shapes)
        # what the file says, until the graph is lowered; a size that it leaves open is 0
        sizes = ((symbols.get(d, 0) if isinstance(d, str) else d or 0 for d in o.shape or ()) for o in graph.outputs)
        self._outputs = types(graph.outputs, map(tuple, sizes))

    def inputs(self) -> tuple[Tensor, ...]:
        return self._inputs

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        return self._outputs

    def names(self) -> Names:
        return Names.of((i.name for i in self.graph.inputs), (o.name for o in self.graph.outputs))

    def operators(self) -> Iterable[FileOp]:
        from webq8.formats.onnx.lower import operator_name

        return [FileOp(node.where, operator_name(node)) for node in self.graph.nodes]

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        from webq8.formats.onnx.lower import lower_graph

        graph, problems, outputs = yield from lower_graph(self.graph, self._inputs, budget)
        if not problems:
            self._outputs = outputs
        return graph, problems


@Stage
def read_onnx(data: bytes | bytearray | memoryview, name: str = "program", asked: Asked | None = None) -> Steps[File]:
    """Reads an `.onnx` file; see `formats.read_file`. Raises OpenShapes, which names them, where sizes of its inputs
    are open and `asked.shapes` does not say them."""
    from webq8.formats.onnx.inline import inlined
    from webq8.formats.onnx.read import read_model

    asked = asked or Asked()
    model = yield from read_model.steps(memoryview(data).toreadonly().cast("B"), name, asked.beside)
    return _shaped(inlined(model, name), asked.shapes, name)


def _shaped(model: "OnnxModel", given: Shapes, name: str) -> File:
    shapes, symbols = _sizes(model.graph.inputs, given, name)
    methods = {"forward": Method(model.graph, shapes, symbols)}
    return File(methods, model.size, lambda others: _shaped(model, {**given, **others}, name))


def _sizes(inputs: "Sequence[ValueInfo]", given: Shapes, name: str) -> tuple[list[Shape], dict[str, int]]:
    """The shapes of the inputs, and the size of each symbol; a shape that is given for an input says what its symbols
    are."""
    symbols = {n: size for n, size in given.items() if isinstance(size, int)}
    whole = {n: tuple(shape) for n, shape in given.items() if not isinstance(shape, int)}
    for info in inputs:
        for own, size in zip(info.shape or (), whole.get(info.name, ()), strict=False):
            if isinstance(own, str):
                symbols.setdefault(own, size)
    known = _symbols(inputs) | {info.name for info in inputs}
    if unknown := sorted(given.keys() - known):
        there = ", ".join(map(plain, sorted(known))) or "none"
        raise InputError(f"shapes: {name} has no symbol or input {shown(unknown[0])}; it has {there}")
    shapes, missing = list[Shape](), dict[str, None]()
    for info in inputs:
        if info.name in whole:
            shape: Sequence[int | str | None] | None = whole[info.name]
            _check_shape(info, whole[info.name], symbols, name)
        else:
            shape = info.shape
        if shape is None:
            missing[info.name] = None
            continue
        sizes = [symbols.get(d, d) if isinstance(d, str) else d for d in shape]
        missing |= dict.fromkeys(d if isinstance(d, str) else info.name for d in sizes if not isinstance(d, int))
        shapes.append(tuple(d for d in sizes if isinstance(d, int)))
    if bad := [n for n, size in symbols.items() if size < 0]:
        raise InputError(f"shapes: {shown(bad[0])} = {symbols[bad[0]]} is negative")
    if missing:
        open_inputs = "; ".join(f"{plain(i.name)}: {_text(i)}" for i in inputs)
        example = ", ".join(f'"{plain(n)}": {"[…]" if n not in _symbols(inputs) else "1"}' for n in missing)
        raise OpenShapes(
            f"{name}: the sizes {', '.join(map(plain, missing))} are open ({open_inputs}): "
            f"say them, load(…, shapes={{{example}}}); a size for each symbol, a whole shape for an input",
            [n for n in missing if n in _symbols(inputs)],
            [n for n in missing if n not in _symbols(inputs)],
        )
    return shapes, symbols


def _symbols(inputs: "Sequence[ValueInfo]") -> set[str]:
    return {d for info in inputs for d in info.shape or () if isinstance(d, str)}


def _text(info: "ValueInfo") -> str:
    sizes = ("?" if d is None else plain(str(d)) for d in info.shape or ())
    return "of any shape" if info.shape is None else f"[{', '.join(sizes)}]"


def _check_shape(info: "ValueInfo", shape: Shape, symbols: Mapping[str, int], name: str) -> None:
    own = info.shape
    if own is None:
        return
    fits = len(own) == len(shape) and all(
        size >= 0 and (d is None or (symbols[d] if isinstance(d, str) else d) == size)
        for d, size in zip(own, shape, strict=True)
    )
    if not fits:
        raise InputError(f"shapes: {name}: {list(shape)} does not fit {plain(info.name)}, which is {_text(info)}")
