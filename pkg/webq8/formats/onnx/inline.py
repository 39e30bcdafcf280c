"""Puts the nodes of functions in the place of their calls."""

from collections.abc import Iterator, Mapping

from webq8.errors import FormatError
from webq8.formats.onnx.model import Attribute, OnnxGraph, OnnxModel, OnnxNode

__all__ = ["inlined"]

_DEEPEST = 32  # functions within functions
_MOST = 2**17  # nodes that come of it


def inlined(model: OnnxModel, name: str) -> OnnxModel:
    """The model without calls of its functions, each node with the version of its operators.

    Raises FormatError where functions call each other without end.
    """
    return model._replace(graph=_Inlining(model, name).graph(model.graph, model.opsets, "", 0), functions={})


class _Inlining:
    def __init__(self, model: OnnxModel, name: str) -> None:
        self.functions, self.name, self.count = model.functions, name, 0

    def graph(self, graph: OnnxGraph, opsets: Mapping[str, int], prefix: str, depth: int) -> OnnxGraph:
        nodes = [n for node in graph.nodes for n in self.node(node, opsets, {}, prefix, depth)]
        return graph._replace(nodes=tuple(nodes))

    def node(
        self, node: OnnxNode, opsets: Mapping[str, int], names: dict[str, str], prefix: str, depth: int
    ) -> Iterator[OnnxNode]:
        """The nodes in place of one; `names` are the values of the call that have others in its function."""
        self.count += 1
        if depth > _DEEPEST or self.count > _MOST:
            raise FormatError(f"{self.name}: its functions call each other without end")
        where = f"{prefix}{node.where}"

        def renamed(value: str) -> str:
            return names.get(value, f"{prefix}{value}" if value and names else value)

        node = node._replace(
            inputs=tuple(map(renamed, node.inputs)),
            outputs=tuple(map(renamed, node.outputs)),
            attributes={n: self.attribute(a, opsets, f"{where}, {n}, ", depth) for n, a in node.attributes.items()},
            where=where,
            version=opsets.get(node.domain, 1),
        )
        function = self.functions.get((node.domain, node.operator, node.overload))
        if function is None:
            yield node
            return
        given, attributes = (
            dict(zip(function.inputs, node.inputs, strict=False)),
            {**function.attributes, **node.attributes},
        )
        inner = dict.fromkeys(function.inputs, "") | given | dict(zip(function.outputs, node.outputs, strict=False))
        for part in function.nodes:
            passed = {n: attributes[outer] for n, outer in part.references.items() if outer in attributes}
            part = part._replace(attributes={**part.attributes, **passed}, references={})
            yield from self.node(part, {**opsets, **function.opsets}, inner, f"{where}, {node.operator}, ", depth + 1)

    def attribute(self, value: Attribute, opsets: Mapping[str, int], prefix: str, depth: int) -> Attribute:
        return self.graph(value, opsets, prefix, depth + 1) if isinstance(value, OnnxGraph) else value
