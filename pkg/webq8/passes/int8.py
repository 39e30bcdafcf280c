"""Replaces float32 ops between a dequantize and a quantize by ops on int8.

    dequantize → function of one element → quantize     a lookup table of 256 entries
    dequantize → move, or maximum → quantize            the same op on int8, since quantizing keeps the order of values
    dequantize → mean → quantize                        a sum of int8, scaled once
    dequantize → product by constants → quantize        a product of int8 (products.py)

Float32 functions and sums differ between devices, by a whole quantum where a result is near a tie. Lookup tables, which
are computed here, and sums of integers do not. So `run_on_int8` fixes what a graph computes, for the reference as well.
"""

import math
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from webq8 import numerics
from webq8.dtypes import cast, numel
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import ON_INT8, Binary, Clamp, Elementwise, Lookup, Unary
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import PixelShuffle, Reshape
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d
from webq8.ir.ops.quantize import Dequantize, Quantize
from webq8.ir.ops.reduce import FixedPointTable, Mean, check_mean_scales
from webq8.ir.ops.rules import MAX_TERMS
from webq8.ir.types import BadArg, PerTensor, Ref, Shape, Tensor, f32
from webq8.passes.editor import Editor
from webq8.passes.products import Product, Products
from webq8.passes.tables import IDENTITY, clamp_table, signed
from webq8.stages import Stage, Steps

__all__ = ["arithmetic_on_int8", "run_on_int8"]

_MOST_FUNCTIONS = 16  # in a row that become one lookup table
_DEEPEST = 64  # moves between a quantize and the int8 tensors it is computed from
_MOST_SHARED = 16  # such moves with other readers, which run twice then
_Average = Mean | AvgPool2d | AdaptiveAvgPool2d


class _Function(NamedTuple):
    """A float32 tensor that is an elementwise function of `base`, whose values are dequantized int8."""

    base: Ref
    length: int  # how many ops lie between base and the tensor


@Stage
def run_on_int8(graph: Graph) -> Steps[Graph]:
    """Before every quantize to int8, replaces float32 ops by int8 ones where that is possible."""
    return (yield from _replaced(graph, arithmetic=False))


@Stage
def arithmetic_on_int8(graph: Graph) -> Steps[Graph]:
    """Replaces sums, products and extremes of two dequantized tensors, or of one and a constant, as well. One dispatch
    takes the place of up to four; it computes the same in float32."""
    return (yield from _replaced(graph, arithmetic=True))


def _replaced(graph: Graph, arithmetic: bool) -> Steps[Graph]:
    if not any(isinstance(node.op, Quantize) for node in graph.nodes):
        return graph
    to_int8 = _ToInt8(graph, arithmetic)
    for node in to_int8.editor.each():
        yield
        to_int8.visit(node)
    return to_int8.editor.graph()


class _ToInt8:
    def __init__(self, graph: Graph, arithmetic: bool) -> None:
        self.editor, self.arithmetic = Editor(graph), arithmetic
        self.grids: dict[Ref, PerTensor] = {}  # float32 tensors whose values are dequantized int8 -> by which numbers
        self.functions: dict[Ref, _Function] = {}
        self.moved_bases: dict[Ref, Ref] = {}  # functions that were moved -> their base before the move
        self.values: dict[Ref, list[float]] = {}  # of functions, their values for int8 −128…127
        self.products = Products(self.editor)

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

    # --- what is known of float32 tensors

    def _dequantized(self, op: Dequantize, out: Ref) -> None:
        if grid := self._tensor(op.x).grid:
            self.grids[out] = grid

    def _known(self, ref: Ref, moves: int = 0) -> _Function | None:
        if ref in self.grids:
            return _Function(ref, 0)
        return self.functions.get(ref) or self._moved(ref, moves)

    def _moved(self, ref: Ref, moves: int) -> _Function | None:
        """A function that was moved, and maybe moved before, as the function of what is moved instead."""
        node = self.editor.producer(ref)
        if node is None or not node.op.MOVES or len(node.outputs) > 1 or moves == _DEEPEST:
            return None
        floats = [*self._floats(node.op)]
        known = self._known(floats[0], moves + 1) if len(floats) == 1 else None
        if known is None or not known.length:
            return None
        base = self.editor.add(self._tensor(ref))
        moved = node.op.reading(lambda x: known.base if x == floats[0] else x)
        self.editor.insert(node, node._replace(op=moved, outputs=(base,)))
        self.grids[base] = self.grids[known.base]
        self.values[ref] = self.values_of(floats[0], known.base)
        self.moved_bases[ref] = known.base
        self.functions[ref] = _Function(base, known.length + 1)
        return self.functions[ref]

    def _function(self, node: Node, x: Ref) -> None:
        known = self._known(x)
        if known and known.length < _MOST_FUNCTIONS and numerics.computes(node.op):
            self.functions[node.outputs[0]] = _Function(known.base, known.length + 1)

    def _function_of_two(self, node: Node, op: Binary) -> None:
        """Notes functions of two operands that depend on one tensor only, such as x · sigmoid(x) and x + 3."""
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
        """The value of a constant of one element; None for other tensors."""
        t = self._tensor(ref)
        return float(cast(t.data, t.dtype)[0]) if t.data is not None and numel(t.shape) == 1 else None

    def values_of(self, ref: Ref, base: Ref) -> list[float]:
        """The values of a function of `base` for each of the 256 int8 values that `base` is dequantized from."""
        if ref == base:
            return numerics.dequantized(self.grids[base])
        if (number := self._number(ref)) is not None:
            return [number] * 256
        if ref not in self.values:
            node = self.editor.producer(ref)
            assert node is not None, "functions are computed"
            self.values[ref] = numerics.apply(node.op, *(self.values_of(x, base) for x in node.op.reads()))
        return self.values[ref]

    def _moves(self, op: Op) -> bool:
        """Whether an op only moves elements or picks the largest, so that it gives the same on int8."""
        if isinstance(op, MaxPool2d | PixelShuffle):
            return len(self._tensor(op.x).shape) == 4
        return op.MOVES

    def _floats(self, op: Op) -> Iterator[Ref]:
        return (ref for ref in op.reads() if self._tensor(ref).dtype == "float32")

    # --- replacing the ops before a quantize

    def _quantize(self, op: Quantize, node: Node) -> None:
        out = self._tensor(node.outputs[0])
        if out.dtype != "int8" or not isinstance(out.quantization, PerTensor):
            return
        path = _Path(self, node, out.quantization)
        if path.possible(op.x) and path.keeps_nan():
            y = path.emit(op.x)
            if (op.low, op.high) != (-128, 127):
                y = path.bounded(y, (op.low, op.high), out.quantization)
            self.editor.rename(node.outputs[0], y)
            self.editor.remove(node)

    def product(self, ref: Ref) -> Product | None:
        """What a float32 tensor is the product of, where its x is dequantized int8 of the run."""
        found = self.products.at(ref)
        return found if found and found.x in self.grids and self._tensor(found.x).data is None else None

    def operands(self, op: Op) -> tuple[Ref, Ref] | None:
        """The two operands of an op that has an int8 kernel: the first of int8, the second of int8 or a constant. What
        is of int8 is dequantized, or a function of what is: those differ between devices, so that they count without
        `arithmetic`, too. None for other ops."""
        if not isinstance(op, Binary) or op.function not in ON_INT8:
            return None
        a, b = op.a, op.b
        of_int8 = [x for x in (a, b) if self.base(x) is not None]
        if not self.arithmetic and all(x in self.grids for x in of_int8):
            return None
        if a not in of_int8 and op.alpha == 1.0:
            a, b = b, a
        constant = self._tensor(b).data is not None and self._tensor(b).dtype == "float32"
        found = a in of_int8 and (b in of_int8 or constant)
        return (a, b) if found and all(map(self._finite, of_int8)) else None

    def base(self, ref: Ref) -> Ref | None:
        """The float32 tensor on a grid that another is, or is a function of."""
        if ref in self.grids:
            return ref
        return self.functions[ref].base if ref in self.functions else None

    def _finite(self, ref: Ref) -> bool:
        """Whether what is of int8 holds no infinities, which sums make NaN of, and that becomes the zero point."""
        if ref in self.grids:
            return math.isfinite(f32(255 * self.grids[ref].scale))
        return all(map(math.isfinite, self.values_of(ref, self.functions[ref].base)))

    def table(self, ref: Ref) -> bytes | None:
        """The float32 numbers that int8 −128…127 stand for by a function; None for what is dequantized, or constant."""
        if ref in self.grids or ref not in self.functions:
            return None
        return array("f", self.values_of(ref, self.functions[ref].base)).tobytes()

    def multiplies(self, op: Op) -> bool:
        """Whether an op is a product of matrices that are dequantized int8."""
        if not isinstance(op, MatMul) or op.alpha != 1.0 or op.addend is not None:
            return False
        return op.a in self.grids and op.b in self.grids and self._tensor(op.a).shape[-1] <= MAX_TERMS // 2

    def averages(self, op: Op, y: PerTensor) -> "FixedPointTable | bool | None":
        """How a float32 average, quantized like y, runs on int8: by a lookup table, or True where it needs none; None
        where it cannot run on int8."""
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
        """The values of a function as multiples of a unit, which is as small as int32 sums of this many terms allow.

        They are computed in double, in which clamps, hardswish and hardsigmoid are the same on every computer.
        """
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
        """How many elements each result of an average sums, at most."""
        shape = self._tensor(op.x).shape
        if isinstance(op, Mean):
            return op.terms(shape)
        return numel(op.window.kernel if isinstance(op, AvgPool2d) else shape[-2:])


class _Path:
    """The way from a quantize back to the int8 tensors it depends on; `grid` is the quantization of its result."""

    def __init__(self, to_int8: _ToInt8, quantize: Node, grid: PerTensor) -> None:
        self.p, self.quantize, self.grid = to_int8, quantize, grid
        self.found: dict[Ref, bool] = {}
        self.made: dict[tuple[Ref, PerTensor], Ref] = {}
        self.averaged: set[Ref] = set()  # means, and what is moved from them
        self.bases: set[Ref] = set()  # of functions, and what is moved to them
        self.shared = 0
        self.tables: list[Ref] = []  # functions on the way
        self.compares = False  # whether their results are compared with bounds, or with each other

    def possible(self, ref: Ref, depth: int = 0) -> bool:
        if ref not in self.found:
            self.found[ref] = self._possible(ref, depth)
        return self.found[ref]

    def _possible(self, ref: Ref, depth: int) -> bool:
        node = self.p.editor.producer(ref)
        if node is None or depth > _DEEPEST:
            return False
        op = node.op
        if isinstance(op, Dequantize):
            return ref in self.p.grids
        if ref in self.p.functions:
            self.tables.append(ref)
            self.bases.add(base := self.p.functions[ref].base)
            return self.possible(base, depth + 1)
        self.compares = self.compares or isinstance(op, Clamp | MaxPool2d)
        if isinstance(op, Clamp):
            found = self.possible(op.x, depth + 1)
            self.averaged |= {ref} if op.x in self.averaged else set()
            return found
        if product := self.p.product(ref):
            return self.p.editor.uses(ref) == 1 and self.possible(product.x, depth + 1)
        if (way := self.p.averages(op, self.grid)) is not None:
            assert isinstance(op, _Average)
            self.averaged.add(ref)
            return self.possible(op.x if way is True else self.p.functions[op.x].base, depth + 1)
        if operands := self.p.operands(op):
            return all(self.possible(x, depth + 1) for x in map(self.p.base, operands) if x is not None)
        if self.p.multiplies(op):
            return self.p.editor.uses(ref) == 1 and all(self.possible(x, depth + 1) for x in op.reads())
        if not self.p._moves(op) or not (floats := [*self.p._floats(op)]):
            return False
        if ref in self.bases:
            self.bases.update(floats)
        if not all(self.possible(x, depth + 1) for x in floats):
            return False
        if not self.averaged.isdisjoint(floats):
            self.averaged.add(ref)
        if sum(map(self.p.editor.uses, node.outputs)) == 1:
            return True
        # others may go on reading floats, so that the move is done twice: only means and functions are worth that,
        # whose float32 results differ between devices
        self.shared += 1
        return (ref in self.averaged or ref in self.bases) and self.shared <= _MOST_SHARED

    def keeps_nan(self) -> bool:
        """Whether NaN, which int8 lacks, becomes the zero point just as in float32, where comparisons keep it."""
        values = (v for ref in self.tables for v in self.p.values_of(ref, self.p.functions[ref].base))
        return not self.compares or not any(map(math.isnan, values))

    def emit(self, ref: Ref, grid: PerTensor | None = None) -> Ref:
        """Inserts the int8 ops that give `ref` quantized, and returns their result; ask `possible` first."""
        grid = grid or self.grid
        if (ref, grid) not in self.made:
            self._emit(ref, grid)
        return self.made[ref, grid]

    def _emit(self, ref: Ref, grid: PerTensor) -> None:
        node, tensor = self.p.editor.producer(ref), self.p._tensor(ref)
        assert node is not None, "what is possible is computed"
        op = node.op
        also: tuple[str, ...] = (node.where,)
        if isinstance(op, Dequantize):
            self.made[ref, grid] = self._looked_up(op.x, self._table(ref, ref, grid), grid, also)
        elif known := self.p.functions.get(ref):
            base = self.emit(known.base, self.p.grids[known.base])
            also = self._places(ref, known.base)
            self.made[ref, grid] = self._looked_up(base, self._table(ref, known.base, grid), grid, also)
        elif isinstance(op, Clamp):
            bounds = _quantized_bounds(_bounds(op), grid)
            self.made[ref, grid] = self.bounded(self.emit(op.x, grid), bounds, grid, also)
        elif product := self.p.product(ref):
            self.made[ref, grid] = self._product(product, tensor, grid, (*also, *product.places))
        elif (way := self.p.averages(op, grid)) is not None:
            assert isinstance(op, _Average)
            base = op.x if way is True else self.p.functions[op.x].base
            x = self.emit(base, self.p.grids[base])
            also = (*also, *self._places(op.x, base))
            averages = op.replace(x=x, table=None if way is True else way)
            self.made[ref, grid] = self._averaged(averages, tensor, grid, also)
        elif self.p.multiplies(op):
            on_int8 = op.reading(lambda x: self.emit(x, self.p.grids[x]))
            [self.made[ref, grid]] = self._insert(on_int8, [tensor], grid, also)
        elif operands := self.p.operands(op):
            bases = [(x, self.p.base(x)) for x in operands]
            a, b = (x if base is None else self.emit(base, self.p.grids[base]) for x, base in bases)
            a_table, b_table = map(self.p.table, operands)
            also += tuple(place for x, base in bases if base is not None for place in self._places(x, base))
            on_int8 = op.replace(a=a, b=b, divides=self._quantize.divides, a_table=a_table, b_table=b_table)
            [self.made[ref, grid]] = self._insert(on_int8, [tensor], grid, also)
        else:
            new = {x: self.emit(x, grid) for x in self.p._floats(op)}
            outs = self._insert(op.reading(lambda x: new.get(x, x)), map(self.p._tensor, node.outputs), grid, also)
            self.made |= {(old, grid): out for old, out in zip(node.outputs, outs, strict=True)}

    def _product(self, p: Product, like: Tensor, grid: PerTensor, also: tuple[str, ...]) -> Ref:
        """Inserts a product on int8; maps of one dimension are those of height one."""
        x, shape = self.emit(p.x, self.p.grids[p.x]), self.p._tensor(p.x).shape
        op = self.p.products.packed(p, self.p.grids[p.x])
        if not isinstance(op, Conv2d) or len(shape) == 4:
            return self._insert(op.replace(x=x), [like], grid, also)[0]
        n, channels, width = shape
        x = self._reshaped(x, (n, channels, 1, width))
        high = Tensor((*like.shape[:2], 1, *like.shape[2:]), "int8")
        return self._reshaped(self._insert(op.replace(x=x), [high], grid, also)[0], like.shape)

    def _reshaped(self, x: Ref, shape: Shape) -> Ref:
        grid = self.p._tensor(x).quantization
        assert isinstance(grid, PerTensor), "what runs on int8 has one scale"
        return self._insert(Reshape(x, shape), [Tensor(shape, "int8")], grid)[0]

    def _averaged(self, op: _Average, like: Tensor, grid: PerTensor, also: tuple[str, ...]) -> Ref:
        """Inserts an average on int8; a map without a batch axis gets one of size 1 for it."""
        x = self.p._tensor(op.x)
        if not _lacks_batch(op, x.shape):
            return self._insert(op, [like], grid, also)[0]
        op = op.replace(x=self._reshaped(op.x, (1, *x.shape)))
        return self._reshaped(self._insert(op, [Tensor((1, *like.shape), "int8")], grid, also)[0], like.shape)

    def _insert(
        self, op: Op, like: "Iterator[Tensor] | list[Tensor]", grid: PerTensor, also: tuple[str, ...] = ()
    ) -> tuple[Ref, ...]:
        outs = tuple(self.p.editor.add(Tensor(t.shape, "int8", None, grid)) for t in like)
        self.p.editor.insert(self.quantize, Node(op, outs, self.quantize.where, also))
        return outs

    def _table(self, ref: Ref, base: Ref, grid: PerTensor) -> bytes:
        bounds = self._clamps(ref, base) if self.p.grids[base] == grid else None
        if bounds:
            return clamp_table(*_quantized_bounds(bounds, grid))
        return numerics.quantized(self.p.values_of(ref, base), grid, divides=self._quantize.divides)

    @property
    def _quantize(self) -> Quantize:
        assert isinstance(self.quantize.op, Quantize), "it is what the way leads to"
        return self.quantize.op

    def _clamps(self, ref: Ref, base: Ref) -> tuple[float, float] | None:
        """The bounds of a function that only clamps its argument; None for other functions, and for scales by which
        dequantized integers do not quantize to themselves again. Such bounds clamp the integers as well."""
        low, high = -math.inf, math.inf
        while ref != base:
            node = self.p.editor.producer(ref)
            if node is None or not isinstance(node.op, Clamp):
                return None
            bottom, top = _bounds(node.op)
            low, high = min(max(bottom, low), high), min(max(top, low), high)
            ref = node.op.x
        return (low, high) if 2.0**-100 < self.p.grids[base].scale < 2.0**100 else None

    def _places(self, ref: Ref, base: Ref) -> tuple[str, ...]:
        """The places of the ops between a function and its base."""
        node = self.p.editor.producer(ref)
        if ref == base or node is None:
            return ()
        base = self.p.moved_bases.get(ref, base)
        return (node.where, *(place for x in node.op.reads() for place in self._places(x, base)))

    def _looked_up(self, x: Ref, table: bytes, grid: PerTensor, also: tuple[str, ...]) -> Ref:
        tensor = self.p._tensor(x)
        if table == IDENTITY and tensor.quantization == grid:
            return x
        return self._insert(Lookup(x, table), [tensor], grid, also)[0]

    def bounded(self, x: Ref, bounds: tuple[int, int], grid: PerTensor, also: tuple[str, ...] = ()) -> Ref:
        return self._looked_up(x, clamp_table(*bounds), grid, also)


def _lacks_batch(op: Op, shape: Shape) -> bool:
    return isinstance(op, AvgPool2d | AdaptiveAvgPool2d) and len(shape) == 3


def _bounds(clamp: Clamp) -> tuple[float, float]:
    return f32(clamp.low), f32(clamp.high)


def _quantized_bounds(bounds: tuple[float, float], grid: PerTensor) -> tuple[int, int]:
    low, high = (signed(byte) for byte in numerics.quantized(bounds, grid))
    return low, high


def _stays_on(grid: PerTensor, clamp: Clamp) -> bool:
    """Whether a clamp of dequantized int8 gives dequantized int8: each bound is one of these values, or beyond all."""
    scale, (low, high) = f32(grid.scale), _bounds(clamp)
    least, most = (f32((q - grid.zero_point) * scale) for q in (-128, 127))

    def is_on(bound: float) -> bool:
        return least <= bound <= most and f32(round(bound / scale) * scale) == bound

    return (low <= least or is_on(low)) and (high >= most or is_on(high))
