"""Runs graphs, and folds constants, by a function for each op.

    @reference(Linear)
    def linear(op: Linear, arrays: Arrays) -> Array: …

Written independently of the kernels (scatter where they gather, 64-bit accumulators), so that each checks the other.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from webq8.backends.reference.numbers import Array, dequantized, inverse, to_integers
from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.core import Op
from webq8.ir.ops.edges import Edges, Quantized, Through, edges_of
from webq8.ir.types import BadArg, PerTensor, Ref, Tensor

__all__ = ["Array", "Arrays", "Result", "fold_constants", "initial_states", "reference", "run_graph"]

Result = Array | tuple[Array, ...]  # a tuple for several results
AnyOp = TypeVar("AnyOp", bound=Op)
_RUN: dict[type[Op], Callable[..., Result]] = {}


class Arrays:
    """The operands of an op as arrays, `arrays[op.x]`, and the types of its operands and results."""

    def __init__(
        self, tensors: Sequence[Tensor] | Mapping[Ref, Tensor], found: dict[Ref, Array], outs: Sequence[Tensor]
    ) -> None:
        self._tensors, self._found, self.outs = tensors, found, outs

    def __getitem__(self, ref: Ref) -> Array:
        if ref not in self._found:
            tensor = self._tensors[ref]
            assert tensor.data is not None, "nodes come after what they read"
            self._found[ref] = np.frombuffer(tensor.data, tensor.dtype).reshape(tensor.shape)
        return self._found[ref]

    def type(self, ref: Ref) -> Tensor:
        return self._tensors[ref]

    def quantization(self, ref: Ref) -> PerTensor:
        """The quantization of a tensor with one scale."""
        return per_tensor(self._tensors[ref])

    @property
    def out(self) -> Tensor:
        """The type of the only result."""
        (out,) = self.outs
        return out

    @property
    def out_quantization(self) -> PerTensor:
        return per_tensor(self.out)


def per_tensor(tensor: Tensor) -> PerTensor:
    assert isinstance(tensor.quantization, PerTensor)
    return tensor.quantization


def reference(kind: type[AnyOp]) -> Callable[[Callable[[AnyOp, Arrays], Result]], Callable[[AnyOp, Arrays], Result]]:
    def register(function: Callable[[AnyOp, Arrays], Result]) -> Callable[[AnyOp, Arrays], Result]:
        _RUN[kind] = function
        return function

    return register


def run_graph(graph: Graph, inputs: Sequence[Array], states: list[Array] | None = None) -> list[Array]:
    """Runs a graph, and returns its results that are tensors. `states` are the values of its states, `initial_states`
    for the first run; the run replaces them by those for the next one."""
    states = initial_states(graph) if states is None else states
    found: dict[Ref, Array] = dict(zip(graph.inputs, inputs, strict=True))
    found |= {state.value: array for state, array in zip(graph.states, states, strict=True)}
    for node in graph.nodes:
        _run(graph.tensors, node, found)
    arrays = Arrays(graph.tensors, found, ())
    results = [arrays[ref] for ref in graph.results]
    states[:] = [arrays[state.next] for state in graph.states]
    return results


def initial_states(graph: Graph) -> list[Array]:
    """The values of the graph's states for the first run."""

    def array(t: Tensor) -> Array:
        return np.zeros(t.shape, t.dtype) if t.data is None else np.frombuffer(t.data, t.dtype).reshape(t.shape)

    return [array(state.initial) for state in graph.states]


def _run(tensors: Sequence[Tensor], node: Node, found: dict[Ref, Array]) -> None:
    """Adds the results of a node to the arrays that are there."""
    outs = [tensors[ref] for ref in node.outputs]
    with np.errstate(all="ignore"):
        result = _result(node.op, tensors, found, outs)
    results = result if isinstance(result, tuple) else (result,)
    for ref, out, array in zip(node.outputs, outs, results, strict=True):
        assert (array.shape, array.dtype) == (out.shape, np.dtype(out.dtype)), node
        found[ref] = array


def _result(op: Op, tensors: Sequence[Tensor], found: dict[Ref, Array], outs: list[Tensor]) -> Result:
    edges: Edges = edges_of(op)
    through: Through | None = op.__dict__.get("through")
    if edges == Edges() and through is None:
        return _RUN[type(op)](op, Arrays(tensors, found, outs))
    types, operands = dict[Ref, Tensor](), dict[Ref, Array]()
    for place, ref in enumerate(op.reads()):
        types[ref], operands[ref] = edges.read(place, tensors[ref]), Arrays(tensors, found, outs)[ref]
        if by := edges.quantized(place):
            operands[ref] = _quantized(operands[ref], by)
    out = edges.made(outs[0])
    y = _RUN[type(op)](op, Arrays(types, operands, [out.replace(quantization=through.grid) if through else out]))
    assert not isinstance(y, tuple), "ops on int8 have one result"
    if through:
        y = np.frombuffer(through.table, np.int8)[y.astype(np.int32) + 128]
    return dequantized(y, edges.dequantizes) if edges.dequantizes else y


def _quantized(x: Array, by: Quantized) -> Array:
    scaled = x / np.float32(by.grid.scale) if by.divides else x * inverse(by.grid.scale)
    return to_integers(scaled, by.grid.zero_point, by.low, by.high)


def fold_constants(graph: Graph, budget: Budget | None = None) -> Graph:
    """Computes nodes that read only constants, once, where that is exact and the budget affords the result.

    Raises what an op finds wrong with the constants that have been computed for it, as indices out of range.
    """
    budget = budget or Budget(None, "")
    tensors, nodes, computed = list(graph.tensors), list[Node](), set[Ref]()
    for node in graph.nodes:
        if not computed.isdisjoint(node.op.reads()):
            try:
                node.op.infer(tensors)
            except BadArg as e:
                raise e.kind(f"{node.where}: {type(node.op).__name__}: {e}") from None
        size = sum(numel(tensors[ref].shape) * ITEMSIZE[tensors[ref].dtype] for ref in node.outputs)
        constant = all(tensors[ref].data is not None for ref in node.op.reads())
        if not (constant and node.op.exact(tensors) and budget.affords(size)):
            nodes.append(node)
            continue
        budget.keep(size)
        found: dict[Ref, Array] = {}
        _run(tensors, node, found)
        computed.update(node.outputs)
        for ref in node.outputs:
            tensor = tensors[ref]
            data = memoryview(np.ascontiguousarray(found[ref]).tobytes())
            tensors[ref] = Tensor(tensor.shape, tensor.dtype, data, tensor.quantization)
    return graph._replace(tensors=tuple(tensors), nodes=tuple(nodes))
