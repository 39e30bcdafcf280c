"""Gives weights zero points of zero, the only ones that the kernels of int8 products know.

w − zero_point lies within −255…255. Where all weights of a layer are int8 even so, they become those. Else they are
sums of two int8, w − zero_point = first + second (three, for 255), and the layer takes x twice, Σ x · (first + second).
"""

from functools import cache

from webq8.dtypes import cast
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.linear import Linear
from webq8.ir.ops.move import Concat, Reshape
from webq8.ir.types import PerChannel, Ref, Tensor
from webq8.passes.editor import Editor
from webq8.stages import Stage, Steps

__all__ = ["center_weights"]


@Stage
def center_weights(graph: Graph) -> Steps[Graph]:
    """Replaces weights of int8 products that have other zero points than zero."""
    if not any(_zero_points(graph.tensors, node) for node in graph.nodes):
        return graph
    editor = Editor(graph)
    for node in editor.each():
        yield
        if _zero_points(editor.tensors, node):
            _center(editor, node)
    return editor.graph()


def _zero_points(tensors: "list[Tensor] | tuple[Tensor, ...]", node: Node) -> "memoryview[int] | None":
    """The zero points of a node's weights, where it is a product of int8 and any of them is not zero."""
    if not isinstance(node.op, Linear | Conv2d) or tensors[node.op.x].dtype != "int8":
        return None
    by = tensors[node.op.weight].quantization
    assert isinstance(by, PerChannel), "weights have a scale a channel"
    return cast(memoryview(by.zero_points), "int32") if any(by.zero_points) else None


@cache
def _parts(zero_point: int) -> tuple[bytes, ...]:
    """Tables of what the bytes of w become: w − zero_point as the nearest int8, then what is left of it."""
    rest, parts = [(byte ^ 128) - 128 - zero_point for byte in range(256)], []
    for _ in range(3):
        nearest = [min(max(v, -128), 127) for v in rest]
        rest = [v - near for v, near in zip(rest, nearest, strict=True)]
        parts.append(bytes(v & 255 for v in nearest))
    return tuple(parts)


def _center(editor: Editor, node: Node) -> None:
    op, zero_points = node.op, _zero_points(editor.tensors, node)
    assert isinstance(op, Linear | Conv2d), "there are zero points"
    assert zero_points is not None, "there are zero points"
    weight = editor.tensors[op.weight]
    by, (channels, *_, depth) = weight.quantization, weight.shape
    assert isinstance(by, PerChannel), "there are zero points"
    assert weight.data is not None, "weights are constants"
    row = len(weight.data) // max(channels, 1)
    parts = [bytearray() for _ in range(3)]
    for channel, zero_point in enumerate(zero_points):
        data = bytes(weight.data[channel * row : (channel + 1) * row])
        for part, table in zip(parts, _parts(zero_point), strict=True):
            part += data.translate(table)
    parts = [part for n, part in enumerate(parts) if not n or any(part)]
    # the parts of a tap's weights, one after the other
    taps = range(0, len(parts[0]), max(depth, 1))
    packed = b"".join(part[at : at + depth] for at in taps for part in parts)
    shape = (*weight.shape[:-1], len(parts) * depth)
    centered = editor.add(Tensor(shape, "int8", memoryview(packed), by.replace(zero_points=b"")))
    x = _repeated(editor, node, op, len(parts))
    editor.replace(node, node._replace(op=op.replace(x=x, weight=centered)))


def _repeated(editor: Editor, node: Node, op: Linear | Conv2d, times: int) -> Ref:
    """x with the channels of each group, or the terms of each row, several times over."""

    def joined(x: Ref, axis: int) -> Ref:
        return _inserted(editor, node, Concat((x,) * times, axis))

    x = editor.tensors[op.x]
    if times == 1:
        return op.x
    if isinstance(op, Linear) or op.groups == 1:
        return joined(op.x, len(x.shape) - 1 if isinstance(op, Linear) else 1)
    n, channels, *size = x.shape
    by_group = _inserted(editor, node, Reshape(op.x, (n, op.groups, channels // op.groups, *size)))
    return _inserted(editor, node, Reshape(joined(by_group, 2), (n, times * channels, *size)))


def _inserted(editor: Editor, before: Node, op: Concat | Reshape) -> Ref:
    by = editor.tensors[op.reads()[0]].quantization  # which repeating rows does not change, whoever computes it
    ref = editor.add(op.infer(editor.tensors)[0].replace(quantization=by))
    editor.insert(before, Node(op, (ref,), before.where))
    return ref
