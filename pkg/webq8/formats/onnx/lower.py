"""Lowers the graph of an `.onnx` file to typed ops, node by node, and finds all that keeps it from running."""

from collections.abc import Sequence
from typing import NamedTuple

from webq8.budget import Budget
from webq8.errors import FormatError, Problem, Unsupported, shown
from webq8.formats.base import fitting
from webq8.formats.folding import FoldingBuilder
from webq8.formats.onnx.call import Call, Result, Value
from webq8.formats.onnx.model import OnnxGraph, OnnxNode, Unreadable, ValueInfo
from webq8.formats.onnx.operators import find
from webq8.formats.onnx.tensors import HELD
from webq8.ir.graph import Graph
from webq8.ir.types import BadArg, Ref, Rows, Tensor
from webq8.stages import Steps

__all__ = ["Lowered", "lower_graph", "operator_name"]


def operator_name(node: OnnxNode) -> str:
    return f"{node.domain}.{node.operator}" if node.domain else node.operator


class Lowered(NamedTuple):
    """A graph of typed ops, all problems that keep it from running, and the types of its outputs."""

    graph: Graph
    problems: list[Problem]
    outputs: tuple[Tensor, ...]


def lower_graph(graph: OnnxGraph, inputs: Sequence[Tensor], budget: Budget) -> Steps[Lowered]:
    """The graph of typed ops for inputs of these types."""
    lowering = Lowering(FoldingBuilder(budget))
    refs = lowering.inputs(graph.inputs, inputs)
    yield from lowering.nodes(graph)
    outputs = tuple(lowering.output(info) for info in graph.outputs)
    g = lowering.g
    partial = (value is not None and value.partial for value in map(lowering.find, (o.name for o in graph.outputs)))
    tensors = zip(map(g.type, outputs), partial, strict=True) if g.tensors else ()
    types = (Rows(t.shape, t.dtype) if is_partial else t.type() for t, is_partial in tensors)
    return Lowered(Graph(tuple(g.tensors), tuple(g.nodes), refs, outputs), lowering.problems, tuple(types))


class Lowering:
    """Values by name. `lost` are those that come of what could not be lowered: nothing new is said of them."""

    def __init__(self, g: FoldingBuilder, outer: "Lowering | None" = None) -> None:
        self.g, self.outer = g, outer
        self.values: dict[str, Value] = {}
        self.lost: set[str] = set()
        self.problems: list[Problem] = outer.problems if outer else []

    def inputs(self, infos: Sequence[ValueInfo], types: Sequence[Tensor]) -> tuple[Ref, ...]:
        for info, tensor in zip(infos, types, strict=True):
            if info.name in self.values:
                self.problem("inputs", "", f"{shown(info.name)} is there twice", FormatError)
            self.values[info.name] = Value(self.g.add(tensor), False, info.kind)
        return tuple(value.ref for value in self.values.values())

    def problem(self, where: str, name: str, reason: str, kind: type[Exception] = Unsupported) -> None:
        self.problems.append(Problem(where, name, reason, kind))  # type: ignore[arg-type]

    def nodes(self, graph: OnnxGraph) -> Steps[None]:
        for name, initial in graph.initializers.items():
            if isinstance(initial, Unreadable):
                self.problem("initializer", name, initial.reason)
                self.lost.add(name)
            else:
                self.values[name] = Value(self.g.add(initial.tensor), False, initial.kind)
        for node in graph.nodes:
            yield
            self.node(node)

    def node(self, node: OnnxNode) -> None:
        name, outputs = operator_name(node), [o for o in node.outputs if o]
        if twice := [o for o in outputs if o in self.values]:
            self.problem(node.where, name, f"writes {shown(twice[0])} a second time", FormatError)
        if any(self.find(i) is None and self.is_lost(i) for i in node.inputs if i):
            self.lost.update(outputs)
            return
        missing = [i for i in node.inputs if i and self.find(i) is None]
        if missing:
            self.problem(node.where, name, f"reads {shown(missing[0])}, which nothing before it computes", FormatError)
            self.lost.update(outputs)
            return
        self.g.where = node.where
        try:
            made = self.lowered(node)
        except BadArg as e:
            self.problem(node.where, name, str(e), e.kind)
            self.lost.update(outputs)
            return
        for output, value in zip(node.outputs, made, strict=False):
            if output:
                self.values[output] = value
        if absent := [o for o in node.outputs[len(made) :] if o]:
            self.problem(node.where, name, f"the result {shown(absent[0])} is not supported")
            self.lost.update(absent)

    def lowered(self, node: OnnxNode) -> tuple[Value, ...]:
        handler = find(node.domain, node.operator)
        if handler is None:
            raise BadArg("no such operator in webq8", Unsupported)
        call = Call(node, tuple(self.find(i) for i in node.inputs), self.g, self)
        if any(value and value.partial for value in call.inputs):
            raise BadArg("how many rows x has is known in the run only; let the model end before", Unsupported)
        with fitting():
            made = results(handler(call))
        if call.unread:
            raise BadArg(f"the attribute {sorted(call.unread)[0]} is not supported", Unsupported)
        return made

    def find(self, name: str) -> Value | None:
        """The value of a name, here or in a graph around this one."""
        return self.values.get(name) or (self.outer.find(name) if self.outer else None)

    def is_lost(self, name: str) -> bool:
        return name in self.lost or (self.outer is not None and self.outer.is_lost(name))

    def branch(self, graph: OnnxGraph) -> tuple[Value, ...]:
        """The outputs of a graph within this one, whose nodes are lowered in place of it."""
        inner = Lowering(self.g, self)
        before = len(self.problems)
        for _ in inner.nodes(graph):
            pass
        found = [inner.find(info.name) for info in graph.outputs]
        if len(self.problems) > before:
            raise BadArg("its branch cannot run", Unsupported)
        if None in found:
            raise BadArg("its branch has an output that nothing computes")
        return tuple(value for value in found if value is not None)

    def output(self, info: ValueInfo) -> Ref:
        """An output as plain numbers; a problem where nothing computes it."""
        value = self.find(info.name)
        if value is None:
            if not self.problems:
                self.problem("outputs", "", f"nothing computes {shown(info.name)}", FormatError)
            return Ref(0)
        self.g.where = "outputs"
        try:
            ref = Call(_OUTPUT, (), self.g).plain(value)
        except BadArg as e:
            self.problem("outputs", "", f"{shown(info.name)}: {e}", e.kind)
            return value.ref
        dtype = self.g.type(ref).dtype
        if HELD.get(info.kind, dtype) != dtype:
            text = f"{shown(info.name)} is {dtype}, where the file says {info.kind}"
            self.problem("outputs", "", text, FormatError)
        return ref


_OUTPUT = OnnxNode("", "", (), (), {}, "outputs")


def results(made: Result) -> tuple[Value, ...]:
    """What an operator gives, as values."""
    several = (made,) if isinstance(made, Value | int) else made
    return tuple(v if isinstance(v, Value) else Value(v) for v in several)
