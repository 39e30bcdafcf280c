"""Which float32 products are those of dequantized int8 tensors with dequantized constants, and the ops on int8 that
compute them.

    dequantize → Convolution or MatMul by dequantized weights → + bias → quantize     Conv2d or Linear
    dequantize → MatMul by dequantized weights → + bias                               Linear, with results of float32
"""

import math
from array import array
from typing import NamedTuple

from webq8.dtypes import cast, numel, row_major
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.conv import Conv2d, Convolution
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Binary
from webq8.ir.ops.linear import Linear
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import Reshape
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.types import Dynamic, PerChannel, PerTensor, Ref, Shape, Tensor, f32
from webq8.passes.editor import Editor
from webq8.stages import Stage, Steps

__all__ = ["Product", "Products", "float_results_of_int8"]

_LAST_BITS = 2.0**-22  # by which scales may differ that were multiplied by others than us
_LARGEST = 2**30  # of a bias; sums of products are below it, but for those that are refused


class Product(NamedTuple):
    """A float32 product of `x` with weights, and a bias. `op` is the op on int8 without the constants; `axis` is that
    of the output channels in the weights, whose axes are split as `split` says and then take another `order`."""

    x: Ref
    weight: Ref
    axis: int
    split: Shape
    order: tuple[int, ...]
    op: Conv2d | Linear
    bias: Ref | None = None
    places: tuple[str, ...] = ()  # of what else it is made of


class Products:
    """Products in a graph that an editor holds. Weights are packed once, when they are first needed."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self._packed: dict[tuple[Ref, Shape, tuple[int, ...]], Ref] = {}

    def at(self, ref: Ref) -> Product | None:
        """What a float32 tensor is the product of; None where it is none, or no op on int8 takes its constants."""
        node, y = self.editor.producer(ref), self._tensor(ref).shape
        if node is None:
            return None
        added, inner, op = None, node, node.op
        if isinstance(op, Binary) and op.function == "add" and op.alpha == 1.0:
            a, b = (op.b, op.a) if self._is_constant(op.a) else (op.a, op.b)
            before = self.editor.producer(a)
            if before is None or self.editor.uses(a) > 1 or self._tensor(a).shape != y:
                return None
            added, inner, op = b, before, before.op
        found = self._product(op)
        if found is None or not self._takes_weight(found):
            return None
        if added is None:
            own = found.bias is None or self._is_constant(found.bias)
            return found if own else None
        channel = 1 if isinstance(op, Convolution) else len(y) - 1
        if found.bias is not None or not self._is_bias(added, y, channel):
            return None
        return found._replace(bias=added, places=(inner.where,))

    def _tensor(self, ref: Ref) -> Tensor:
        return self.editor.tensors[ref]

    def _integers(self, ref: Ref) -> Tensor | None:
        """The constant of integers that a float32 tensor is dequantized from."""
        node = self.editor.producer(ref)
        if node is None or not isinstance(node.op, Dequantize):
            return None
        tensor = self._tensor(node.op.x)
        return tensor if tensor.data is not None and isinstance(tensor.quantization, PerTensor | PerChannel) else None

    def _is_constant(self, ref: Ref) -> bool:
        tensor = self._tensor(ref)
        return (tensor.data is not None and tensor.dtype == "float32") or self._integers(ref) is not None

    def _is_bias(self, ref: Ref, y: Shape, channel: int) -> bool:
        """Whether a tensor that is added to y is a constant with one number for each channel, or for all."""
        shape = self._tensor(ref).shape
        if len(shape) > len(y) or not self._is_constant(ref):
            return False
        sizes = (1,) * (len(y) - len(shape)) + shape
        return all(size in (1, y[n] if n == channel else 1) for n, size in enumerate(sizes))

    def _product(self, op: Op) -> Product | None:
        if isinstance(op, MatMul):
            shape, a = self._tensor(op.b).shape, self._tensor(op.a).shape
            if op.alpha != 1.0 or len(shape) != 2 or (op.addend is not None and op.beta != 1.0):
                return None
            y = (*a[:-1], shape[0] if op.transposed else shape[1])
            if op.addend is not None and not self._is_bias(op.addend, y, len(y) - 1):
                return None
            axis, order = (0, (0, 1)) if op.transposed else (1, (1, 0))
            return Product(op.a, op.b, axis, shape, order, Linear(op.a, op.b, None), op.addend)
        if not isinstance(op, Convolution) or op.low > -math.inf or op.high < math.inf:
            return None
        shape = self._tensor(op.weight).shape
        flat = (*shape[:2], 1, *shape[2:]) if len(shape) == 3 else shape
        sizes = op.stride, op.padding, op.dilation, op.groups, op.transposed, op.output_padding
        conv = Conv2d(op.x, op.weight, None, *sizes)
        if op.transposed:
            split = (op.groups, flat[0] // op.groups, *flat[1:])
            return Product(op.x, op.weight, 1, split, (0, 2, 3, 4, 1), conv, op.bias)
        return Product(op.x, op.weight, 0, flat, (0, 2, 3, 1), conv, op.bias)

    def _takes_weight(self, p: Product) -> bool:
        weight = self._integers(p.weight)
        if weight is None or weight.dtype != "int8":
            return False
        by = weight.quantization
        return isinstance(by, PerTensor) or (isinstance(by, PerChannel) and by.axis == p.axis)

    # --- packing

    def packed(self, p: Product, of_x: PerTensor | None) -> Conv2d | Linear:
        """The op on int8 with its constants, for an x of this quantization, and results of int8; or for results of
        float32, where there is none. Its x is the float32 one still.

        Biases of integers that stand for multiples of x's scale · the weights', and those that are none, stay integers.
        """
        key = p.weight, p.split, p.order
        if key not in self._packed:
            weight = self._integers(p.weight)
            assert weight is not None, "`at` has seen it"
            self._packed[key] = self.editor.add(_laid(weight, p))
        weights = self._packed[key]
        if p.bias is None and of_x is None:
            return p.op.replace(weight=weights)
        bias = self.editor.add(self._bias(p, _scales(self._tensor(weights)), of_x))
        return p.op.replace(weight=weights, bias=bias)

    def _bias(self, p: Product, scales: "array[float]", of_x: PerTensor | None) -> Tensor:
        shape = (len(scales),)
        if of_x and (whole := self._whole_bias(p, scales, of_x)) is not None:
            return Tensor(shape, "int32", memoryview(whole.tobytes()))
        assert p.bias is not None, "no bias is one of integers"
        numbers = _floats(self._integers(p.bias) or self._tensor(p.bias))
        numbers *= len(scales) // len(numbers)
        return Tensor(shape, "float32", memoryview(numbers.tobytes()))

    def _whole_bias(self, p: Product, scales: "array[float]", of_x: PerTensor) -> "array[int] | None":
        """The bias as integers that are added to the sums of products; None where it is something else."""
        if p.bias is None:
            return array("i", bytes(4 * len(scales)))
        bias = self._integers(p.bias)
        if bias is None or bias.dtype != "int32" or numel(bias.shape) != len(scales):
            return None
        units = array("f", [f32(of_x.scale) * s for s in scales])
        own = _scales(bias)
        own *= len(scales) // len(own)
        alike = all(abs(a - b) <= _LAST_BITS * b for a, b in zip(own, units, strict=True))
        values = array("i", bytes(bias.data or b""))
        return values if alike and not any(_zero_points(bias)) and max(map(abs, values), default=0) < _LARGEST else None


@Stage
def float_results_of_int8(graph: Graph) -> Steps[Graph]:
    """Products of dequantized matrices with dequantized weights, whose results are read as floats, sum integers too."""
    if not any(isinstance(node.op, MatMul) for node in graph.nodes):
        return graph
    editor = Editor(graph)
    products = Products(editor)
    for node in editor.each():
        yield
        (out,) = node.outputs[:1]
        found = products.at(out)
        if found is None or not isinstance(found.op, Linear) or editor.tensors[found.x].data is not None:
            continue
        x = _before_dequantize(editor, found.x, node)
        if x is None:
            continue
        op, by = products.packed(found, None).replace(x=x), editor.tensors[x].quantization
        if isinstance(by, Dynamic):
            op = op.replace(x_scale=by.scale, x_zero_point=by.zero_point)
        editor.replace(node, Node(op, (out,), node.where, found.places))
    return editor.graph()


def _before_dequantize(editor: Editor, ref: Ref, before: Node) -> Ref | None:
    """The int8 tensor that a float32 one is dequantized from, in the shape of this one."""
    node = editor.producer(ref)
    if node is None:
        return None
    if isinstance(node.op, Dequantize):
        tensor = editor.tensors[node.op.x]
        by, lead = tensor.quantization, len(tensor.shape) - 1
        whole = isinstance(by, PerTensor) or (isinstance(by, Dynamic) and (by.axis is None or by.axis == 0 == lead - 1))
        return node.op.x if tensor.dtype == "int8" and whole else None
    if not isinstance(node.op, Reshape):
        return None
    inner, shape = _before_dequantize(editor, node.op.x, before), node.op.shape
    if inner is None:
        return None
    by = editor.tensors[inner].quantization
    if isinstance(by, Dynamic) and by.axis is not None:  # rows may become others
        return None
    made = editor.add(editor.tensors[inner].replace(shape=shape))
    editor.insert(before, Node(Reshape(inner, shape), (made,), node.where))
    return made


def _laid(weight: Tensor, p: Product) -> Tensor:
    """Weights with the output channels first, each with a scale."""
    assert weight.data is not None, "weights are constants"
    shape = tuple(p.split[axis] for axis in p.order)
    data = row_major(weight.data, shape, [p.order.index(axis) for axis in range(len(p.order))], "int8")
    if len(shape) == 5:
        shape = (shape[0] * shape[1], *shape[2:])
    scales, zeros = _scales(weight), _zero_points(weight)
    scales *= shape[0] // len(scales)
    zeros *= shape[0] // len(zeros)
    quantization = PerChannel(scales.tobytes(), 0, zeros.tobytes() if any(zeros) else b"")
    return Tensor(shape, "int8", memoryview(data), quantization)


def _scales(weight: Tensor) -> "array[float]":
    """The scales of weights: one for all of them, or one for each channel, maybe of each group."""
    by = weight.quantization
    if isinstance(by, PerTensor):
        return array("f", [by.scale])
    assert isinstance(by, PerChannel), "weights have scales"
    return array("f", by.scales)


def _zero_points(tensor: Tensor) -> "array[int]":
    """The zero points of constants, as many as there are scales."""
    by = tensor.quantization
    if isinstance(by, PerTensor):
        return array("i", [by.zero_point])
    assert isinstance(by, PerChannel), "constants have scales"
    return array("i", by.zero_points or bytes(len(by.scales)))


def _floats(tensor: Tensor) -> "array[float]":
    """The float32 numbers of a constant, dequantized where it is of integers."""
    assert tensor.data is not None, "only constants are asked for"
    view, by = cast(tensor.data, tensor.dtype), tensor.quantization
    if by is None:
        return array("f", view)
    if isinstance(by, PerTensor):
        scale, zero = f32(by.scale), by.zero_point
        return array("f", [v * scale for v in array("f", [v - zero for v in view])])
    assert isinstance(by, PerChannel), "constants have no scales that a run computes"
    scales, zeros = _scales(tensor), _zero_points(tensor)
    inner, channels = max(numel(tensor.shape[by.axis + 1 :]), 1), len(scales)
    shifted = array("f", [v - zeros[n // inner % channels] for n, v in enumerate(view)])
    return array("f", [v * scales[n // inner % channels] for n, v in enumerate(shifted)])
