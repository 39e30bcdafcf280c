"""A builder that computes small constants at once: what a file works out of shapes, and what it does to weights.

All is done in plain Python, so that a page without numpy gets the same graph.
"""

import math
import operator
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import product
from typing import Any

from webq8 import numerics
from webq8.budget import Budget
from webq8.dtypes import FORMAT, ITEMSIZE, cast, cdiv, numel, row_major
from webq8.ir.builder import Builder
from webq8.ir.ops.core import Op
from webq8.ir.ops.create import Cast, Fill, element_bytes
from webq8.ir.ops.create import Sequence as Numbers
from webq8.ir.ops.elementwise import (
    Binary,
    Clamp,
    Compare,
    CompareFunction,
    Elementwise,
    Logical,
    LogicalFunction,
    Unary,
    Where,
)
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.move import Bitcast, Concat, Expand, Permute, Repeat, Reshape, Slice, Split
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.ops.reduce import Extremum, Mean, Product, Reduction, Sum
from webq8.ir.types import PerChannel, PerTensor, Ref, Shape, Tensor, f32

__all__ = ["COMPARES", "FoldingBuilder", "dequantized_blocks", "elements", "packed", "quantized_constant", "reduced"]

_MOST = 2**16  # elements that are computed here; more are left to the passes
Values = Sequence[Any]


class FoldingBuilder(Builder):
    """A Builder whose ops on constants are constants, where they are small or only lie otherwise. `dequantized` has the
    constants of integers that tensors are dequantized from."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget)
        self.dequantized: dict[Ref, Ref] = {}

    def node(self, op: Op, results: tuple[Tensor, ...]) -> tuple[Ref, ...]:
        operands = [self.tensors[ref] for ref in op.reads()]
        if all(t.data is not None for t in operands):
            folded = _folded(op, operands, results)
            if folded is not None:
                self.budget.keep(sum(map(len, folded)) if not isinstance(op, Reshape | Bitcast) else 0)
                typed = zip(results, folded, strict=True)
                return tuple(self.add(t.replace(data=memoryview(data).cast("B").toreadonly())) for t, data in typed)
        outputs = super().node(op, results)
        if isinstance(op, Dequantize) and operands[0].data is not None:
            self.dequantized[outputs[0]] = op.x
        return outputs

    def value(self, ref: Ref) -> list[Any] | None:
        """The elements of a constant; None for what is computed."""
        tensor = self.tensors[ref]
        return None if tensor.data is None else elements(tensor)


def elements(tensor: Tensor) -> list[Any]:
    """The elements of a constant in row-major order."""
    return list(_view(tensor))


def _view(tensor: Tensor) -> Values:
    data = tensor.data or memoryview(b"")
    return cast(data, tensor.dtype) if len(data) else ()


def packed(values: Iterable[Any], dtype: str) -> bytes:
    """Numbers as elements of a dtype; integers wrap around."""
    if dtype == "bool":
        return bytes(map(bool, values))
    if dtype == "float32":
        return array("f", values).tobytes()
    values = [*map(int, values)]
    try:
        return array(FORMAT[dtype], values).tobytes()
    except OverflowError:
        pass
    bits, signed = 8 * ITEMSIZE[dtype], dtype.startswith("int")
    wrapped = (v & (2**bits - 1) for v in values)
    return array(FORMAT[dtype], (v - 2**bits * (signed and v >> (bits - 1)) for v in wrapped)).tobytes()


def _folded(op: Op, operands: Sequence[Tensor], results: Sequence[Tensor]) -> list[bytes | memoryview] | None:
    """The bytes of the results of an op on constants; None where it is not computed here."""
    first = operands[0] if operands else None
    if first is not None and isinstance(op, Reshape | Bitcast):
        return [first.data or b""]
    if first is not None and isinstance(op, Permute):
        return [_permuted(first, op.order)]
    if sum(numel(t.shape) for t in (*operands, *results)) > _MOST:
        return None
    if isinstance(op, Split):
        return [bytes(part) for part in _cut(operands[0], op.sizes, op.axis)]
    found = _computed(op, operands, results[0])
    return None if found is None else [found if isinstance(found, bytes) else packed(found, results[0].dtype)]


def _permuted(x: Tensor, order: Sequence[int]) -> memoryview:
    """The elements of x with its axes in another order."""
    shape, inverse = tuple(x.shape[axis] for axis in order), [order.index(axis) for axis in range(len(order))]
    return row_major(x.data or memoryview(b""), shape, inverse, x.dtype)


def _computed(op: Op, operands: Sequence[Tensor], y: Tensor) -> Values | bytes | None:
    match op:
        case Slice():
            steps = zip(op.starts, op.steps, op.shape, _strides(operands[0].shape), strict=True)
            return _gathered(operands[0], ([(a + n * b) * s for n in range(count)] for a, b, count, s in steps))
        case Expand():
            return _broadcast(operands[0], op.shape)
        case Repeat():
            own = (1,) * (len(op.repeats) - len(operands[0].shape)) + operands[0].shape
            axes = zip(op.repeats, own, _strides(own), strict=True)
            return _gathered(operands[0], ([n % size * s for n in range(k * size)] for k, size, s in axes))
        case Concat():
            return _joined(operands, op.axis)
        case Index(axes=[axis]):
            x, index = operands
            places = [[n * s for n in range(size)] for size, s in zip(x.shape, _strides(x.shape), strict=True)]
            places[axis] = [n % x.shape[axis] * _strides(x.shape)[axis] for n in _view(index)]
            return _gathered(x, places)
        case Fill():
            return numel(op.shape) * element_bytes(op.value, op.dtype, "value")[: ITEMSIZE[op.dtype]]
        case Numbers():
            return [op.start + n * op.step for n in range(op.count)]
        case Cast():
            return _cast(_broadcast(operands[0], op.shape), operands[0].dtype, op.dtype)
        case Reduction():
            return _reduced(op, operands[0], y)
    return _elementwise(op, operands, y)


def _strides(shape: Shape) -> list[int]:
    return [numel(shape[n + 1 :]) for n in range(len(shape))]


def _gathered(x: Tensor, places: Iterable[Sequence[int]]) -> list[Any]:
    """Elements whose places are sums of one number of each list."""
    view = _view(x)
    return [view[n] for n in reduce(lambda a, b: [i + j for i in a for j in b], places, [0])]


def _broadcast(x: Tensor, shape: Shape) -> list[Any]:
    own = (1,) * (len(shape) - len(x.shape)) + x.shape
    axes = zip(shape, own, _strides(own), strict=True)
    return _gathered(x, ([n * s if size > 1 else 0 for n in range(to)] for to, size, s in axes))


def _cut(x: Tensor, sizes: Sequence[int], axis: int) -> list[bytearray]:
    """Pieces of the given sizes along an axis."""
    inner = numel(x.shape[axis + 1 :]) * ITEMSIZE[x.dtype]
    parts, data, at = [bytearray() for _ in sizes], x.data or memoryview(b""), 0
    for _ in range(numel(x.shape[:axis])):
        for part, size in zip(parts, sizes, strict=True):
            part += data[at : at + size * inner]
            at += size * inner
    return parts


def _joined(tensors: Sequence[Tensor], axis: int) -> bytes:
    rows = numel(tensors[0].shape[:axis])
    sizes = [len(t.data or b"") // max(rows, 1) for t in tensors]
    return b"".join(
        (t.data or b"")[n * size : (n + 1) * size] for n in range(rows) for t, size in zip(tensors, sizes, strict=True)
    )


def _cast(values: Values, of: str, to: str) -> Values | None:
    if of != "float32" or to in ("float32", "bool"):
        return [float(v) for v in values] if to == "float32" else values
    return [int(v) for v in values] if all(map(math.isfinite, values)) else None


def _reduced(op: Reduction, x: Tensor, y: Tensor) -> Values | None:
    """One number for all elements along the axes; sums of floats are taken in double."""
    functions: dict[type[Op], Callable[[Values], Any]] = {
        Sum: math.fsum,
        Product: math.prod,
        Mean: lambda v: math.fsum(v) / len(v),
    }
    function = functions.get(type(op))
    if isinstance(op, Extremum):
        function = max if op.largest else min
    if function is None or x.quantization or not numel(x.shape) or any(v != v for v in _view(x)):
        return None
    return reduced(function, x, op.axes)


def reduced(function: Callable[[Values], Any], x: Tensor, axes: Sequence[int]) -> list[Any]:
    """What a function makes of all elements along the axes of a constant."""
    view, strides = _view(x), _strides(x.shape)

    def places(along: Iterable[int]) -> list[int]:
        return [sum(at) for at in product(*(range(0, x.shape[n] * strides[n], strides[n]) for n in along))]

    inner = places(axes)
    return [function([view[a + b] for b in inner]) for a in places(n for n in range(len(x.shape)) if n not in axes)]


_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "mul": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "div_trunc": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "div_floor": lambda a, b: a // b,
    "fmod": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "remainder": lambda a, b: a % b,
}
COMPARES: dict[CompareFunction, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_LOGICAL: dict[LogicalFunction, Callable[[Any, Any], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}


def _elementwise(op: Op, operands: Sequence[Tensor], y: Tensor) -> Values | None:
    if not isinstance(op, Elementwise | Binary | Compare | Logical | Where) or any(t.quantization for t in operands):
        return None
    values = [_broadcast(t, y.shape) for t in operands]
    match op:
        case Where():
            return [a if c else b for c, a, b in zip(*values, strict=True)]
        case Compare():
            return [*map(COMPARES[op.function], *values)]
        case Logical():
            return [*map(_LOGICAL[op.function], *values)]
        case _ if y.dtype == "float32" and operands[0].dtype == "float32":
            return numerics.apply(op, *values) if numerics.computes(op) else None
        case Unary():
            functions: dict[str, Callable[[int], int]] = {"abs": abs, "neg": lambda v: -v}
            return [*map(functions[op.function], values[0])] if op.function in functions else None
        case Clamp():
            return [max(min(v, op.high), op.low) for v in values[0]]
        case Binary(function="add"):
            return [a + int(op.alpha) * b for a, b in zip(*values, strict=True)]
        case Binary() if op.function in _INTEGERS and (
            0 not in values[1] or op.function in ("mul", "maximum", "minimum")
        ):
            return [*map(_INTEGERS[op.function], *values)]
    return None


def quantized_constant(x: Tensor, by: PerTensor | PerChannel, dtype: str, low: int, high: int) -> bytes:
    """A constant of float32 as integers: x / scale, half to even, + zero point, within bounds."""
    scales = [by.scale] if isinstance(by, PerTensor) else array("f", by.scales).tolist()
    zeros = [by.zero_point] if isinstance(by, PerTensor) else array("i", by.zero_points).tolist() or [0] * len(scales)
    inner = numel(x.shape) if isinstance(by, PerTensor) else numel(x.shape[by.axis + 1 :])
    view, out = _view(x), array(FORMAT[dtype])
    for n, start in enumerate(range(0, len(view), max(inner, 1))):
        scale, zero = f32(scales[n % len(scales)]), zeros[n % len(scales)]
        quotients = array("f", [v / scale for v in view[start : start + inner]])
        out.extend([_within(round(q) + zero if math.isfinite(q) else q, zero, low, high) for q in quotients])
    return out.tobytes()


def dequantized_blocks(x: Tensor, scales: Sequence[float], zeros: Sequence[int] | None, axis: int, block: int) -> bytes:
    """A constant of integers as the float32 numbers that they stand for: (x − zero point) · scale, with one of each for
    `block` of them along an axis."""
    size, inner, scales = x.shape[axis], numel(x.shape[axis + 1 :]), [*scales]
    blocks, points = cdiv(size, block), [0] * len(scales) if zeros is None else [*zeros]
    try:
        import numpy as np
    except ImportError:
        pass
    else:  # the same, for many weights
        by, less = (np.array(n).reshape(-1, blocks, inner).repeat(block, 1)[:, :size] for n in (scales, points))
        integers = np.frombuffer(x.data or b"", x.dtype).reshape(-1, size, inner).astype(np.int32)
        return bytes(((integers - less).astype(np.float32) * by.astype(np.float32)).tobytes())
    view, out = _view(x), array("f")
    for n in range(len(scales) // max(inner, 1)):
        row, at = divmod(n, blocks)
        many, first = min(block, size - at * block), (row * size + at * block) * inner
        run = view[first : first + many * inner]
        own = slice(n * inner, (n + 1) * inner)
        out.extend([(v - z) * s for v, z, s in zip(run, points[own] * many, scales[own] * many, strict=True)])
    return out.tobytes()


def _within(q: float, zero: int, low: int, high: int) -> int:
    return zero if q != q else int(min(max(q, low), high))
