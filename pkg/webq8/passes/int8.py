"""Runs on int8 what lies between dequantizing and quantizing.

    dequantize → function of one element → quantize     a table of 256 entries
    dequantize → move, or the largest → quantize        the same of int8: quantizing never swaps two values' order
    dequantize → mean → quantize                        a sum of int8, scaled once

Float32 functions and sums differ between devices, and by a quantum where a result is a tie; tables that are computed
here and sums of integers do not. So this says what a graph computes, for the reference as well.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from webq8 import numerics
from webq8.dtypes import cast, numel
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import ON_INT8, Binary, Clamp, Elementwise, Lookup, Unary
from webq8.ir.ops.move import PixelShuffle, Reshape
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d
from webq8.ir.ops.quantize import Dequantize, Quantize
from webq8.ir.ops.reduce import FixedPointTable, Mean, check_mean_scales
from webq8.ir.types import BadArg, PerTensor, Ref, Shape, Tensor, f32
from webq8.passes.editor import Editor
from webq8.passes.tables import IDENTITY, clamp_table, signed
from webq8.stages import Stage, Steps

__all__ = ["arithmetic_on_int8", "run_on_int8"]

_MOST_FUNCTIONS = 16  # in a row that become one table
_DEEPEST = 64  # moves that a quantize is led back over
_MOST_SHARED = 16  # those of them that others read as well, so that they are done twice
_Average = Mean | AvgPool2d | AdaptiveAvgPool2d


class _Function(NamedTuple):
    """A float32 tensor as a function of each element of `base`, whose values are dequantized int8."""

    base: Ref
    length: int  # functions from there to here


@Stage
def run_on_int8(graph: Graph) -> Steps[Graph]:
    """The graph with int8 ops in place of float32 ones before every quantize to int8 where that can be."""
    return (yield from _rewritten(graph, arithmetic=False))


@Stage
def arithmetic_on_int8(graph: Graph) -> Steps[Graph]:
    """The same with sums, products and extremes of two dequantized tensors, or of one and a constant: one dispatch in
    place of up to four, by the same steps in float32."""
    return (yield from _rewritten(graph, arithmetic=True))


def _rewritten(graph: Graph, arithmetic: bool) -> Steps[Graph]:
    if not any(isinstance(node.op, Quantize) for node in graph.nodes):
        return graph
    rewriting = _Rewriting(graph, arithmetic)
    for node in rewriting.editor.each():
        yield
        rewriting.visit(node)
    return rewriting.editor.graph()


class _Rewriting:
    def __init__(self, graph: Graph, arithmetic: bool) -> None:
        self.editor, self.arithmetic = Editor(graph), arithmetic
        self.grids: dict[Ref, PerTensor] = {}  # of float32 tensors whose values are dequantized int8
        self.functions: dict[Ref, _Function] = {}
        self.values: dict[Ref, list[float]] = {}  # of functions, for int8 −128…127

    def visit(self, node: Node) -> None:
        op = node.op
        if isinstance(op, Dequantize):
            self._dequantized(op, node.outputs[0])
        elif isinstance(op, Quantize):
            self._quantize(op, node)
        elif isinstance(op, Elementwise):
            self._function(node, op.x)
            if isinstance(op, Clamp) and op.x in self.grids and _stays_on(self.grids[op.x], op):
                self.grids[node.outputs[0]] = self.grids[op.x]
        elif isinstance(op, Binary):
            self._function_of_two(node, op)
        elif self._moves(op):
            grids = {self.grids.get(ref) for ref in self._floats(op)}
            if len(grids) == 1 and (grid := grids.pop()):
                self.grids |= dict.fromkeys(node.outputs, grid)

    def _tensor(self, ref: Ref) -> Tensor:
        return self.editor.tensors[ref]

    # --- what float32 tensors are

    def _dequantized(self, op: Dequantize, out: Ref) -> None:
        x = self._tensor(op.x)
        if x.dtype == "int8" and isinstance(x.quantization, PerTensor):
            self.grids[out] = x.quantization

    def _known(self, ref: Ref) -> _Function | None:
        return self.functions.get(ref) or (_Function(ref, 0) if ref in self.grids else None)

    def _function(self, node: Node, x: Ref) -> None:
        known = self._known(x)
        if known and known.length < _MOST_FUNCTIONS and numerics.computes(node.op):
            self.functions[node.outputs[0]] = _Function(known.base, known.length + 1)

    def _function_of_two(self, node: Node, op: Binary) -> None:
        """x · sigmoid(x), x + 3, …: of one tensor and itself, or a number."""
        shape = self._tensor(node.outputs[0]).shape
        known = [f for ref in (op.a, op.b) if (f := self._known(ref))]
        numbers = [ref for ref in (op.a, op.b) if self._number(ref) is not None]
        bases, length = {f.base for f in known}, sum(f.length for f in known)
        if len(bases) != 1 or len(known) + len(numbers) < 2 or length >= _MOST_FUNCTIONS or not numerics.computes(op):
            return
        (base,) = bases
        if self._tensor(base).shape == shape:
            self.functions[node.outputs[0]] = _Function(base, length + 1)

    def _number(self, ref: Ref) -> float | None:
        """The only element of a constant."""
        t = self._tensor(ref)
        return float(cast(t.data, t.dtype)[0]) if t.data is not None and numel(t.shape) == 1 else None

    def _values(self, ref: Ref, base: Ref) -> list[float]:
        """What a function of the base gives for each int8 that the base's values are dequantized from."""
        if ref == base:
            return numerics.dequantized(self.grids[base])
        if (number := self._number(ref)) is not None:
            return [number] * 256
        if ref not in self.values:
            node = self.editor.producer(ref)
            assert node is not None, "functions are computed"
            self.values[ref] = numerics.apply(node.op, *(self._values(x, base) for x in node.op.reads()))
        return self.values[ref]

    def _moves(self, op: Op) -> bool:
        """Whether an op moves elements or keeps the largest, so that it can as well run on int8."""
        if isinstance(op, MaxPool2d | PixelShuffle):
            return len(self._tensor(op.x).shape) == 4
        return op.MOVES

    def _floats(self, op: Op) -> Iterator[Ref]:
        return (ref for ref in op.reads() if self._tensor(ref).dtype == "float32")

    # --- quantizing on int8

    def _quantize(self, op: Quantize, node: Node) -> None:
        out = self._tensor(node.outputs[0])
        if out.dtype != "int8" or not isinstance(out.quantization, PerTensor):
            return
        path = _Path(self, node, out.quantization)
        if path.possible(op.x):
            y = path.emit(op.x)
            if (op.low, op.high) != (-128, 127):
                y = path.bounded(y, op.low, op.high)
            self.editor.rename(node.outputs[0], y)
            self.editor.remove(node)

    def operands(self, op: Op) -> tuple[Ref, Ref] | None:
        """The two tensors that a float32 function is of, the first dequantized int8, the second such or a constant;
        None for what has no kernel on int8."""
        if not (self.arithmetic and isinstance(op, Binary) and op.function in ON_INT8):
            return None
        a, b = op.a, op.b
        if a not in self.grids and op.alpha == 1.0:
            a, b = b, a
        constant = self._tensor(b).data is not None and self._tensor(b).dtype == "float32"
        return (a, b) if a in self.grids and (b in self.grids or constant) else None

    def averages(self, op: Op, y: PerTensor) -> "FixedPointTable | bool | None":
        """How a float32 mean or average, quantized like y, runs on int8: by a table, or True where it needs none; None
        where it cannot."""
        if not isinstance(op, _Average):
            return None
        grid, known = self.grids.get(op.x), self.functions.get(op.x)
        table = None
        if grid is None:
            table = self._whole_numbers(op, known) if known else None
            if table is None:
                return None
        shape = self._tensor(op.x).shape
        try:
            check_mean_scales(table.unit if table else grid.scale if grid else 0.0, y.scale)
            kind = Tensor((1, *shape) if _lacks_batch(op, shape) else shape, "int8", None, grid)
            op.replace(x=Ref(0), table=table).infer([kind])
        except BadArg:
            return None
        return table or True

    def _whole_numbers(self, op: _Average, known: _Function) -> FixedPointTable | None:
        """A function's values as whole numbers of a unit, so fine as sums of so many terms in int32 allow. They are
        taken in double, which gives clamps, hardswish and hardsigmoid alike on every computer."""
        chain, ref = list[Op](), op.x
        while ref != known.base:
            node = self.editor.producer(ref)
            if node is None or not isinstance(node.op, Clamp | Unary):
                return None
            chain.append(node.op)
            ref = node.op.x
        values = numerics.dequantized(self.grids[known.base])
        for function in reversed(chain):
            if isinstance(function, Clamp):
                low, high = _bounds(function)
                values = [min(max(v, low), high) for v in values]
            elif isinstance(function, Unary) and function.function in ("hardswish", "hardsigmoid"):
                slope = [min(max(v + 3, 0.0), 6.0) for v in values]
                factor = values if function.function == "hardswish" else [1.0] * 256
                values = [v * s / 6 for v, s in zip(factor, slope, strict=True)]
            else:
                return None
        if not all(map(math.isfinite, values)):
            return None
        largest = max(map(abs, values)) or 1.0
        unit = largest / (2**30 // max(1, self._terms(op)) or 1)
        return FixedPointTable(tuple(round(v / unit) for v in values), unit)

    def _terms(self, op: _Average) -> int:
        """How many elements one of an average's results is of, at most."""
        shape = self._tensor(op.x).shape
        if isinstance(op, Mean):
            return op.terms(shape)
        return numel(op.window.kernel if isinstance(op, AvgPool2d) else shape[-2:])


class _Path:
    """The way from a quantize back to int8 tensors; `grid` is what it quantizes to."""

    def __init__(self, rewriting: _Rewriting, quantize: Node, grid: PerTensor) -> None:
        self.r, self.quantize, self.grid = rewriting, quantize, grid
        self.found: dict[Ref, bool] = {}
        self.made: dict[tuple[Ref, PerTensor], Ref] = {}
        self.shared = 0

    def possible(self, ref: Ref, depth: int = 0) -> bool:
        if ref not in self.found:
            self.found[ref] = self._possible(ref, depth)
        return self.found[ref]

    def _possible(self, ref: Ref, depth: int) -> bool:
        node = self.r.editor.producer(ref)
        if node is None or depth > _DEEPEST:
            return False
        op = node.op
        if isinstance(op, Dequantize):
            return ref in self.r.grids
        if ref in self.r.functions:
            return self.possible(self.r.functions[ref].base, depth + 1)
        if isinstance(op, Clamp):
            return self.possible(op.x, depth + 1)
        if (way := self.r.averages(op, self.grid)) is not None:
            assert isinstance(op, _Average)
            return self.possible(op.x if way is True else self.r.functions[op.x].base, depth + 1)
        if operands := self.r.operands(op):
            return all(x not in self.r.grids or self.possible(x, depth + 1) for x in operands)
        if not self.r._moves(op) or not (floats := [*self.r._floats(op)]):
            return False
        self.shared += self.r.editor.uses(ref) > 1
        return self.shared <= _MOST_SHARED and all(self.possible(x, depth + 1) for x in floats)

    def emit(self, ref: Ref, grid: PerTensor | None = None) -> Ref:
        """The int8 tensor that quantizing `ref` gives, once that is known to be possible."""
        grid = grid or self.grid
        if (ref, grid) not in self.made:
            self._emit(ref, grid)
        return self.made[ref, grid]

    def _emit(self, ref: Ref, grid: PerTensor) -> None:
        node, tensor = self.r.editor.producer(ref), self.r._tensor(ref)
        assert node is not None, "what is possible is computed"
        op = node.op
        if isinstance(op, Dequantize):
            self.made[ref, grid] = self._looked_up(op.x, self._table(ref, ref, grid), grid)
        elif known := self.r.functions.get(ref):
            base = self.emit(known.base, self.r.grids[known.base])
            self.made[ref, grid] = self._looked_up(base, self._table(ref, known.base, grid), grid)
        elif isinstance(op, Clamp):
            self.made[ref, grid] = self.bounded(self.emit(op.x, grid), *_quantized_bounds(_bounds(op), grid))
        elif (way := self.r.averages(op, grid)) is not None:
            assert isinstance(op, _Average)
            base = op.x if way is True else self.r.functions[op.x].base
            x = self.emit(base, self.r.grids[base])
            self.made[ref, grid] = self._averaged(op.replace(x=x, table=None if way is True else way), tensor, grid)
        elif operands := self.r.operands(op):
            a, b = (self.emit(x, self.r.grids[x]) if x in self.r.grids else x for x in operands)
            [self.made[ref, grid]] = self._insert(op.replace(a=a, b=b), [tensor], grid)
        else:
            new = {x: self.emit(x, grid) for x in self.r._floats(op)}
            outs = self._insert(op.reading(lambda x: new.get(x, x)), map(self.r._tensor, node.outputs), grid)
            self.made |= {(old, grid): out for old, out in zip(node.outputs, outs, strict=True)}

    def _averaged(self, op: _Average, like: Tensor, grid: PerTensor) -> Ref:
        """An average on int8; a map without a batch is one of a batch of one."""
        x = self.r._tensor(op.x)
        if not _lacks_batch(op, x.shape):
            return self._insert(op, [like], grid)[0]
        assert isinstance(x.quantization, PerTensor), "what runs on int8 has one scale"
        batch = (1, *x.shape)
        [whole] = self._insert(Reshape(op.x, batch), [Tensor(batch, "int8")], x.quantization)
        [y] = self._insert(op.replace(x=whole), [Tensor((1, *like.shape), "int8")], grid)
        return self._insert(Reshape(y, like.shape), [like], grid)[0]

    def _insert(self, op: Op, like: "Iterator[Tensor] | list[Tensor]", grid: PerTensor) -> tuple[Ref, ...]:
        outs = tuple(self.r.editor.add(Tensor(t.shape, "int8", None, grid)) for t in like)
        self.r.editor.insert(self.quantize, Node(op, outs, self.quantize.where))
        return outs

    def _table(self, ref: Ref, base: Ref, grid: PerTensor) -> bytes:
        bounds = self._clamps(ref, base) if self.r.grids[base] == grid else None
        if bounds:
            return clamp_table(*_quantized_bounds(bounds, grid))
        return numerics.quantized(self.r._values(ref, base), grid)

    def _clamps(self, ref: Ref, base: Ref) -> tuple[float, float] | None:
        """Bounds of a function that only keeps its argument within them, where integers come back as they were: then
        they are bounds of the integers as well."""
        low, high = -math.inf, math.inf
        while ref != base:
            node = self.r.editor.producer(ref)
            if node is None or not isinstance(node.op, Clamp):
                return None
            bottom, top = _bounds(node.op)
            low, high = min(max(bottom, low), high), min(max(top, low), high)
            ref = node.op.x
        return (low, high) if 2.0**-100 < self.r.grids[base].scale < 2.0**100 else None

    def _looked_up(self, x: Ref, table: bytes, grid: PerTensor) -> Ref:
        tensor = self.r._tensor(x)
        if table == IDENTITY and tensor.quantization == grid:
            return x
        return self._insert(Lookup(x, table), [tensor], grid)[0]

    def bounded(self, x: Ref, low: int, high: int) -> Ref:
        return self._looked_up(x, clamp_table(low, high), self.grid)


def _lacks_batch(op: Op, shape: Shape) -> bool:
    return isinstance(op, AvgPool2d | AdaptiveAvgPool2d) and len(shape) == 3


def _bounds(clamp: Clamp) -> tuple[float, float]:
    return f32(clamp.low), f32(clamp.high)


def _quantized_bounds(bounds: tuple[float, float], grid: PerTensor) -> tuple[int, int]:
    low, high = (signed(byte) for byte in numerics.quantized(bounds, grid))
    return low, high


def _stays_on(grid: PerTensor, clamp: Clamp) -> bool:
    """Whether a clamp of dequantized int8 gives dequantized int8: its bounds lie beyond all of these, or are such."""
    scale, (low, high) = f32(grid.scale), _bounds(clamp)
    least, most = (f32((q - grid.zero_point) * scale) for q in (-128, 127))

    def is_on(bound: float) -> bool:
        return least <= bound <= most and f32(round(bound / scale) * scale) == bound

    return (low <= least or is_on(low)) and (high >= most or is_on(high))
