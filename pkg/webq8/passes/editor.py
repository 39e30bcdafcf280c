"""A graph being changed: who computes a tensor, who reads it, and nodes put in, taken out and replaced."""

from collections.abc import Iterator

from webq8.ir.graph import Fixed, Graph, Node
from webq8.ir.types import Ref, Tensor

__all__ = ["Editor"]


class _Place:
    """Where a node stands among others; without one, where it stood."""

    __slots__ = ("after", "before", "node")

    def __init__(self, node: Node | None = None, before: "_Place | None" = None, after: "_Place | None" = None) -> None:
        self.node, self.before, self.after = node, before, after


class Editor:
    """Nodes are told apart by what they compute; a change costs the same however large the graph is."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.tensors = list(graph.tensors)
        self._outputs = list(graph.outputs)
        self._next = [state.next for state in graph.states]
        self._start = self._end = _Place()
        self._places: dict[Ref, _Place] = {}  # by what is computed there
        self._readers: dict[Ref, dict[Ref, int]] = {}  # by the first result of each reader: how often it reads
        for node in graph.nodes:
            self._end.after = _Place(None, self._end)
            self._end = self._end.after
            self._put(node, self._end)

    def each(self) -> Iterator[Node]:
        """Every node in order, as it is when its turn comes: earlier changes may have renamed what it reads."""
        place: _Place | None = self._start
        while place := place.after if place else None:
            if place.node:
                yield place.node

    def graph(self) -> Graph:
        states = tuple(s._replace(next=ref) for s, ref in zip(self._graph.states, self._next, strict=True))
        nodes, outputs = tuple(self.each()), tuple(self._outputs)
        return self._graph._replace(tensors=tuple(self.tensors), nodes=nodes, outputs=outputs, states=states)

    def producer(self, ref: Ref) -> Node | None:
        place = self._places.get(ref)
        return place.node if place else None

    def readers(self, ref: Ref) -> list[Node]:
        """The nodes that read a tensor."""
        return [node for first in self._readers.get(ref, ()) if (node := self.producer(first))]

    def uses(self, ref: Ref) -> int:
        """How often a tensor is read, or is a result."""
        return sum(self._readers.get(ref, {}).values()) + self._outputs.count(ref) + self._next.count(ref)

    def add(self, tensor: Tensor) -> Ref:
        self.tensors.append(tensor)
        return Ref(len(self.tensors) - 1)

    def _put(self, node: Node, place: _Place) -> None:
        place.node = node
        for ref in node.outputs:
            self._places[ref] = place
        first = node.outputs[0]
        for ref in node.op.reads():
            counts = self._readers.setdefault(ref, {})
            counts[first] = counts.get(first, 0) + 1

    def remove(self, node: Node) -> None:
        self._take(node)

    def _take(self, node: Node) -> _Place:
        place = self._places[node.outputs[0]]
        place.node = None
        for ref in node.outputs:
            del self._places[ref]
        for ref in {*node.op.reads()}:
            del self._readers[ref][node.outputs[0]]
        return place

    def insert(self, before: Node, new: Node) -> None:
        after = self._places[before.outputs[0]]
        assert after.before is not None, "there is a place before all nodes"
        place = _Place(None, after.before, after)
        after.before.after = after.before = place
        self._put(new, place)

    def replace(self, old: Node, new: Node) -> None:
        self._put(new, self._take(old))

    def rename(self, old: Ref, new: Ref) -> None:
        """Everyone who reads `old` reads `new`."""
        self._outputs = [new if not isinstance(o, Fixed) and o == old else o for o in self._outputs]
        self._next = [new if ref == old else ref for ref in self._next]
        for node in self.readers(old):
            self.replace(node, node._replace(op=node.op.reading(lambda ref: new if ref == old else ref)))
