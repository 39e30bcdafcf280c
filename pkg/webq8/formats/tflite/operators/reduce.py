"""Reductions over axes, and what goes along one: softmax, running sums, the largest elements."""

from collections.abc import Callable

from webq8.formats import xnnpack
from webq8.formats.tflite.operators.move import held, place
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Maps, Value
from webq8.formats.tflite.windows import activated, one_scale
from webq8.ir.builder import Builder
from webq8.ir.ops import reduce as ops
from webq8.ir.ops.create import Cast
from webq8.ir.ops.elementwise import Binary, Clamp, Compare, Unary
from webq8.ir.ops.move import Reshape
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.ops.sort import TopK
from webq8.ir.types import PerTensor, Ref

__all__: list[str] = []

_OnInt8 = Callable[[Builder, Ref, tuple[int, ...], bool, PerTensor], Ref]
_KEEP = {"keep": "0?"}


def _reduced(
    g: Emitter, x: Value, axes: Value, keep: int, make: Callable[[Ref, tuple[int, ...], bool], Ref]
) -> Lowered:
    """A reduction, on the form that x is at hand in where the result has maps again."""
    over = {axis_of(a, len(x.shape)) for a in axes.ints("the axes")}
    ref, maps = held(x)
    y = make(ref, tuple(sorted(place(a, maps) for a in over)), maps or bool(keep))
    if not maps or keep:
        return g.in_form(y, maps)
    # of maps, those axes are dropped last, since channels come last in the file
    value = g.bound(g.results[0], Maps(y))
    return g.builder.emit(Reshape(value.ref, tuple(s for i, s in enumerate(x.shape) if i not in over)))


@lowers("MEAN", **_KEEP)
def mean(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
    def make(ref: Ref, over: tuple[int, ...], keepdims: bool) -> Ref:
        if x.is_int8:
            return xnnpack.mean(g.builder, ref, over, keepdims, one_scale(g))
        return g.builder.emit(ops.Mean(ref, over, keepdims))

    return _reduced(g, x, axes, keep, make)


@lowers("SUM", **_KEEP)
def sum_(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
    def make(ref: Ref, over: tuple[int, ...], keepdims: bool) -> Ref:
        if x.is_int8:
            return xnnpack.sum_(g.builder, ref, over, keepdims, one_scale(g))
        return g.builder.emit(ops.Sum(ref, over, keepdims))

    return _reduced(g, x, axes, keep, make)


def _extremum(name: str, largest: bool) -> None:
    @lowers(name, **_KEEP)
    def lowered(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
        def make(ref: Ref, over: tuple[int, ...], keepdims: bool) -> Ref:
            if x.is_int8:
                return (xnnpack.reduce_max if largest else xnnpack.reduce_min)(g.builder, ref, over, keepdims)
            return g.builder.emit(ops.Extremum(ref, over, keepdims, largest))

        return _reduced(g, x, axes, keep, make)


_extremum("REDUCE_MAX", True)
_extremum("REDUCE_MIN", False)


@lowers("REDUCE_PROD", **_KEEP)
def product(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
    return _reduced(g, x, axes, keep, lambda ref, over, keepdims: g.builder.emit(ops.Product(ref, over, keepdims)))


@lowers("REDUCE_ANY", **_KEEP)
def any_(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
    return _reduced(g, x, axes, keep, lambda ref, over, keepdims: g.builder.emit(ops.Any(ref, over, keepdims, "bool")))


@lowers("REDUCE_ALL", **_KEEP)
def all_(g: Emitter, x: Value, axes: Value, *, keep: int) -> Lowered:
    def make(ref: Ref, over: tuple[int, ...], keepdims: bool) -> Ref:
        false = g.builder.constant(b"\0", (), "bool")
        found = g.builder.emit(ops.Any(g.builder.emit(Compare(ref, false, "eq")), over, keepdims, "bool"))
        return g.builder.emit(Compare(found, false, "eq"))

    return _reduced(g, x, axes, keep, make)


def _ordered(g: Emitter, x: Value) -> Ref:
    """Elements of a dtype that is put in order: int8 as int32."""
    if x.dtype in ("float32", "int32"):
        return x.ref
    return g.builder.emit(Cast(g.builder.quantized(x.ref, None), "int32", x.shape))


def _arg_extremum(name: str, largest: bool) -> None:
    @lowers(name)
    def lowered(g: Emitter, x: Value, axis: Value) -> Lowered:
        at = axis_of(axis.integer("the axis"), len(x.shape))
        return g.builder.emit(ops.ArgExtremum(_ordered(g, x), (at,), False, largest, g.declared().dtype))


_arg_extremum("ARG_MAX", True)
_arg_extremum("ARG_MIN", False)


@lowers("SOFTMAX", beta="0f")
def softmax(g: Emitter, x: Value, *, beta: float) -> Lowered:
    ref, maps = held(x)
    axis = place(len(x.shape) - 1, maps)
    if x.is_int8:
        return g.in_form(xnnpack.softmax(g.builder, ref, axis, one_scale(g), beta), maps)
    scaled = ref if beta == 1.0 else g.builder.emit(Binary(ref, g.floats([beta], ()), "mul"))
    return g.in_form(g.builder.emit(ops.Softmax(scaled, axis, False)), maps)


@lowers("LOG_SOFTMAX")
def log_softmax(g: Emitter, x: Value) -> Lowered:
    if x.is_int8:
        return xnnpack.log_softmax(g.builder, x.ref, len(x.shape) - 1, one_scale(g))
    return g.builder.emit(ops.Softmax(x.ref, len(x.shape) - 1, True))


@lowers("L2_NORMALIZATION", activation="0b")
def l2_normalization(g: Emitter, x: Value, *, activation: int) -> Lowered:
    axis = len(x.shape) - 1
    squares = g.builder.emit(Binary(x.ref, x.ref, "mul"))
    total = g.builder.emit(Clamp(g.builder.emit(ops.Sum(squares, (axis,), True)), 1e-12))
    length = g.builder.emit(Unary(total, "sqrt"))
    return activated(g, g.builder.emit(Binary(x.ref, length, "div")), activation)


@lowers("CUMSUM", exclusive="0?", reverse="1?")
def cumsum(g: Emitter, x: Value, axis: Value, *, exclusive: int, reverse: int) -> Lowered:
    from webq8.formats.tflite.operators.move import sliced

    at = axis_of(axis.integer("the axis"), len(x.shape))
    rank = range(len(x.shape))
    turned = tuple(-1 if i == at else 1 for i in rank), tuple(x.shape[at] - 1 if i == at else 0 for i in rank)

    def turn(value: Value) -> Value:
        return g.bound(g.results[0], sliced(g, value, turned[1], turned[0], x.shape)) if reverse else value

    first = turn(Value(g, g.results[0], x.ref))
    total = g.builder.emit(ops.CumulativeSum(first.ref, at, x.dtype))
    if exclusive:
        total = g.builder.emit(Binary(total, first.ref, "add", -1.0))
    return turn(Value(g, g.results[0], total))


@lowers("TOPK_V2")
def top_k(g: Emitter, x: Value, k: Value) -> Lowered:
    op = TopK(_ordered(g, x), max(len(x.shape) - 1, 0), k.integer("k"), True, g.declared(1).dtype)
    values, indices = g.builder.emit_all(op)
    if g.type(values).dtype != x.dtype:
        values = g.builder.emit(Cast(values, x.dtype, g.type(values).shape))
    return [values, indices]
