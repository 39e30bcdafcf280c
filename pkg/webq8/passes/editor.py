"""A graph that passes edit: finds the producer and readers of a tensor; inserts, removes and replaces nodes."""

from collections import Counter
from collections.abc import Iterator

from webq8.ir.graph import Fixed, Graph, Node
from webq8.ir.types import Ref, Tensor

__all__ = ["Editor"]


class _Link:
    """A link of the list of nodes; it stays, without a node, when its node is removed."""

    __slots__ = ("after", "before", "node")

    def __init__(self, node: Node | None = None, before: "_Link | None" = None, after: "_Link | None" = None) -> None:
        self.node, self.before, self.after = node, before, after


class Editor:
    """Nodes in a linked list, found by the tensors that they compute: a change costs the same in any graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.tensors = list(graph.tensors)
        self._outputs = list(graph.outputs)
        self._next = [state.next for state in graph.states]
        self._uses = Counter((*graph.results, *self._next))  # and how often nodes read each tensor
        self._start = self._end = _Link()
        self._links: dict[Ref, _Link] = {}  # by each tensor that the node there computes
        self._readers: dict[Ref, dict[Ref, None]] = {}  # tensor -> the first results of its readers, in order
        for node in graph.nodes:
            self._end.after = _Link(None, self._end)
            self._end = self._end.after
            self._put(node, self._end)

    def each(self) -> Iterator[Node]:
        """Every node in order, as it is when its turn comes: earlier changes may have renamed what it reads."""
        link: _Link | None = self._start
        while link := link.after if link else None:
            if link.node:
                yield link.node

    def graph(self) -> Graph:
        states = tuple(s._replace(next=ref) for s, ref in zip(self._graph.states, self._next, strict=True))
        nodes, outputs = tuple(self.each()), tuple(self._outputs)
        return self._graph._replace(tensors=tuple(self.tensors), nodes=nodes, outputs=outputs, states=states)

    def producer(self, ref: Ref) -> Node | None:
        link = self._links.get(ref)
        return link.node if link else None

    def readers(self, ref: Ref) -> list[Node]:
        """The nodes that read a tensor."""
        return [node for first in self._readers.get(ref, ()) if (node := self.producer(first))]

    def uses(self, ref: Ref) -> int:
        """How often nodes read a tensor, plus how often it is an output or the next value of a state."""
        return self._uses[ref]

    def add(self, tensor: Tensor) -> Ref:
        self.tensors.append(tensor)
        return Ref(len(self.tensors) - 1)

    def _put(self, node: Node, link: _Link) -> None:
        link.node = node
        for ref in node.outputs:
            self._links[ref] = link
        for ref in node.op.reads():
            self._uses[ref] += 1
            self._readers.setdefault(ref, {})[node.outputs[0]] = None

    def remove(self, node: Node) -> None:
        self._take(node)

    def _take(self, node: Node) -> _Link:
        link = self._links[node.outputs[0]]
        link.node = None
        for ref in node.outputs:
            del self._links[ref]
        for ref in node.op.reads():
            self._uses[ref] -= 1
            self._readers[ref].pop(node.outputs[0], None)  # it may read a tensor twice
        return link

    def insert(self, before: Node, new: Node) -> None:
        after = self._links[before.outputs[0]]
        assert after.before is not None, "there is a link before all nodes"
        link = _Link(None, after.before, after)
        after.before.after = after.before = link
        self._put(new, link)

    def replace(self, old: Node, new: Node) -> None:
        self._put(new, self._take(old))

    def rename(self, old: Ref, new: Ref) -> None:
        """Makes all that reads tensor `old` read tensor `new`, the outputs and states of the graph included."""
        kept = self._outputs.count(old) + self._next.count(old)
        self._uses[old] -= kept
        self._uses[new] += kept
        self._outputs = [new if not isinstance(o, Fixed) and o == old else o for o in self._outputs]
        self._next = [new if ref == old else ref for ref in self._next]
        for node in self.readers(old):
            self.replace(node, node._replace(op=node.op.reading(lambda ref: new if ref == old else ref)))
