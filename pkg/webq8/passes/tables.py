"""Fuses lookup tables of 256 entries: with each other, and into the op before them."""

from functools import cache

from webq8.ir.graph import Graph
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.elementwise import Lookup
from webq8.ir.ops.linear import Linear, Through
from webq8.ir.types import PerTensor
from webq8.passes.editor import Editor
from webq8.stages import Stage, Steps

__all__ = ["IDENTITY", "clamp_table", "fuse_bounds", "fuse_into_sums", "fuse_tables", "signed"]

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
        before = editor.producer(node.op.x) if isinstance(node.op, Lookup) else None
        if before is None or not isinstance(before.op, Lookup) or editor.uses(before.outputs[0]) != 1:
            continue
        assert isinstance(node.op, Lookup)
        first, second = before.op.table, node.op.table
        both = Lookup(before.op.x, bytes(second[v ^ 128] for v in first))
        editor.remove(before)
        if both.table == IDENTITY and editor.tensors[both.x] == editor.tensors[node.outputs[0]]:
            editor.rename(node.outputs[0], both.x)
            editor.remove(node)
        else:
            editor.replace(node, node._replace(op=both))
    return editor.graph()


@Stage
def fuse_into_sums(graph: Graph) -> Steps[Graph]:
    """Fuses a lookup table into the linear layer or convolution before it, where nothing else reads that."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        before = editor.producer(node.op.x) if isinstance(node.op, Lookup) else None
        if before is None or not isinstance(before.op, Linear | Conv2d) or editor.uses(before.outputs[0]) != 1:
            continue
        grid = editor.tensors[before.outputs[0]].quantization
        if isinstance(node.op, Lookup) and before.op.through is None and isinstance(grid, PerTensor):
            op = before.op.replace(through=Through(grid, node.op.table))
            editor.remove(before)
            editor.replace(node, before._replace(op=op, outputs=node.outputs))
    return editor.graph()


@Stage
def fuse_bounds(graph: Graph) -> Steps[Graph]:
    """Fuses a lookup table that only clamps into the bounds of the op before it, where nothing else reads that."""
    editor = Editor(graph)
    for node in editor.each():
        yield
        if not isinstance(node.op, Lookup):
            continue
        before = editor.producer(node.op.x)
        if before is None or not before.op.FUSES_BOUNDS or editor.uses(node.op.x) != 1:
            continue
        if editor.tensors[node.op.x].quantization != editor.tensors[node.outputs[0]].quantization:
            continue
        low, high = signed(node.op.table[0]), signed(node.op.table[-1])
        if node.op.table == clamp_table(low, high):
            bounds = before.op.bounded(low, high)
            editor.remove(before)
            editor.replace(node, before._replace(op=bounds, outputs=node.outputs))
    return editor.graph()
