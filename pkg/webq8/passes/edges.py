"""Fuses quantizing and dequantizing into the ops on int8 beside them, which then read and write float32."""

from webq8.ir.graph import Graph, Node
from webq8.ir.ops.edges import Quantized, edges_of
from webq8.ir.ops.quantize import Dequantize, Quantize
from webq8.ir.types import Ref
from webq8.passes.editor import Editor
from webq8.stages import Stage, Steps

__all__ = ["fuse_dequantize", "fuse_quantize"]


@Stage
def fuse_dequantize(graph: Graph) -> Steps[Graph]:
    """Fuses a Dequantize into the op that computes what it reads, where nothing else reads that."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        if not isinstance(node.op, Dequantize) or editor.uses(node.op.x) != 1:
            continue
        before, grid = editor.producer(node.op.x), editor.tensors[node.op.x].grid
        if before and grid and "edges" in before.op.FIELDS:
            edges = edges_of(before.op)._replace(dequantizes=grid)
            editor.remove(before)
            also = (*before.also, *node.places)
            editor.replace(node, before._replace(op=before.op.replace(edges=edges), outputs=node.outputs, also=also))
    return editor.graph()


@Stage
def fuse_quantize(graph: Graph) -> Steps[Graph]:
    """Fuses a Quantize into the only op that reads its result, whatever the device: plans take it apart again where the
    kernel of the op is not to do it."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        # kernels with other results than int8 read int8 alone
        if "edges" in node.op.FIELDS and (edges_of(node.op).dequantizes or editor.tensors[node.outputs[0]].grid):
            for ref in [*node.op.reads()]:
                node = _quantizing(editor, node, ref)
    return editor.graph()


def _quantizing(editor: Editor, node: Node, ref: Ref) -> Node:
    """A node that quantizes one of its operands itself, where it can."""
    before, op, grid = editor.producer(ref), node.op, editor.tensors[ref].grid
    if before is None or not isinstance(before.op, Quantize) or grid is None or editor.uses(ref) != 1:
        return node
    by, edges, reads = Quantized(grid, before.op.low, before.op.high, before.op.divides), edges_of(op), op.reads()
    divides = {other.divides for other in edges.quantizes if other} | {op.__dict__.get("divides", by.divides)}
    if before.op.x in reads or divides != {by.divides} or editor.tensors[before.op.x].data is not None:
        return node
    last = max(reads.index(ref) + 1, len(edges.quantizes))
    quantizes = tuple(by if other == ref else edges.quantized(place) for place, other in enumerate(reads[:last]))
    x = before.op.x
    renamed = op.reading(lambda other: x if other == ref else other)
    new = node._replace(
        op=renamed.replace(edges=edges._replace(quantizes=quantizes)), also=(*node.also, *before.places)
    )
    editor.replace(node, new)
    editor.remove(before)
    return new
