"""Fuses lookup tables of 256 entries: with each other, and into the op before them."""

from functools import cache
from typing import Any, NamedTuple

from webq8.ir.graph import Graph, Node
from webq8.ir.ops.edges import Through
from webq8.ir.ops.elementwise import Lookup
from webq8.ir.types import PerTensor
from webq8.passes.editor import Editor
from webq8.stages import Stage, Steps

__all__ = ["IDENTITY", "clamp_table", "fuse_bounds", "fuse_tables", "fuse_through", "signed"]

IDENTITY = bytes(v & 255 for v in range(-128, 128))


def signed(byte: int) -> int:
    """The int8 that a byte holds."""
    return byte - 256 if byte > 127 else byte


@cache
def clamp_table(low: int, high: int) -> bytes:
    """The lookup table of min(max(v, low), high)."""
    return bytes(min(max(v, low), high) & 255 for v in range(-128, 128))


@Stage
def fuse_tables(graph: Graph) -> Steps[Graph]:
    """Joins two lookup tables in a row to one, where nothing else reads what lies between them."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        found = _looked_up_alone(editor, node)
        if not found or not isinstance(found.before.op, Lookup):
            continue
        first, second = found.before.op, found.op
        both = Lookup(first.x, bytes(second.table[v ^ 128] for v in first.table))
        editor.remove(found.before)
        if both.table == IDENTITY and editor.tensors[both.x] == editor.tensors[node.outputs[0]]:
            editor.rename(node.outputs[0], both.x)
            editor.remove(node)
        else:
            editor.replace(node, node._replace(op=both, also=(*found.before.places, *node.also)))
    return editor.graph()


@Stage
def fuse_through(graph: Graph) -> Steps[Graph]:
    """Fuses a lookup table into the op before it, where nothing else reads that, and its kernel looks results up."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        found = _looked_up_alone(editor, node)
        if not found or "through" not in found.before.op.FIELDS:
            continue
        op, grid = found.before.op, editor.tensors[found.op.x].quantization
        if op.__dict__["through"] is None and isinstance(grid, PerTensor):
            through = Through(grid, found.op.table)
            _fuse(editor, node, found.before, op=op.replace(through=through), tables=node.places)
    return editor.graph()


@Stage
def fuse_bounds(graph: Graph) -> Steps[Graph]:
    """Fuses a lookup table that only clamps into the bounds of the op before it, where nothing else reads that."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        found = _looked_up_alone(editor, node)
        if not found or not found.before.op.FUSES_BOUNDS:
            continue
        table = found.op.table
        if editor.tensors[found.op.x].quantization != editor.tensors[node.outputs[0]].quantization:
            continue
        low, high = signed(table[0]), signed(table[-1])
        if table == clamp_table(low, high):
            also = (*found.before.also, *node.places)
            _fuse(editor, node, found.before, op=found.before.op.bounded(low, high), also=also)
    return editor.graph()


class _Lookup(NamedTuple):
    op: Lookup
    before: Node  # computes what is looked up


def _looked_up_alone(editor: Editor, node: Node) -> _Lookup | None:
    """A lookup of what nothing else reads, with the node before it; None for other nodes."""
    if not isinstance(node.op, Lookup) or editor.uses(node.op.x) != 1:
        return None
    before = editor.producer(node.op.x)
    return _Lookup(node.op, before) if before else None


def _fuse(editor: Editor, node: Node, before: Node, **changes: Any) -> None:
    """Replaces a node and the one before it by one node: that one, with these changes."""
    editor.remove(before)
    editor.replace(node, before._replace(outputs=node.outputs, **changes))
