"""Reductions over axes; running sums and softmax along one."""

import math
from collections.abc import Callable, Sequence

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.folding import reduced
from webq8.formats.onnx.call import Call, Result, operator
from webq8.formats.onnx.operators.elementwise import binary, unary
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Compare
from webq8.ir.ops.move import Pad, Slice
from webq8.ir.ops.reduce import ArgExtremum, CumulativeSum, Extremum, Mean, Product, Softmax, Sum
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Ref

Ints = Sequence[int]
_OF_INTEGERS: dict[str, Callable[[Ints], int]] = {
    "ReduceMax": max,
    "ReduceMin": min,
    "ReduceSum": sum,
    "ReduceProd": math.prod,
    "ReduceMean": lambda v: int(sum(v) / len(v)),
}


def _axes(c: Call) -> tuple[int, ...] | None:
    """The axes that are reduced; None where all stays as it is."""
    given, rank = c.axes(1), len(c.shape())
    noop = c.integer("noop_with_empty_axes", 0)
    if given:
        return tuple(sorted(axis_of(a, rank) for a in given))
    return None if noop else tuple(range(rank))


@operator(
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
def reduction(c: Call) -> Result:
    axes, keepdims, x, name = _axes(c), bool(c.integer("keepdims", 1)), c.x(), c.node.operator
    tensor = c.g.type(x)
    if axes is None:
        return _applied(c, name, x)
    if tensor.dtype != "float32":
        return _of_integers(c, name, x, axes, keepdims)
    if not tensor.shape:
        return _applied(c, name, x)
    return _of_floats(c, name, x, axes, keepdims)


def _applied(c: Call, name: str, x: Ref) -> Ref:
    """The reduction of each element alone."""
    match name:
        case "ReduceL1" | "ReduceL2":
            return unary(c, x, "abs")
        case "ReduceSumSquare":
            return binary(c, x, x, "mul")
        case "ReduceLogSum":
            return unary(c, x, "log")
    return x


def _of_floats(c: Call, name: str, x: Ref, axes: tuple[int, ...], keepdims: bool) -> Ref:
    def emit(kind: type[Sum] | type[Mean] | type[Product], of: Ref) -> Ref:
        return c.emit(kind(of, axes, keepdims))

    match name:
        case "ReduceSum":
            return emit(Sum, x)
        case "ReduceMean":
            return emit(Mean, x)
        case "ReduceProd":
            return emit(Product, x)
        case "ReduceL1":
            return emit(Sum, unary(c, x, "abs"))
        case "ReduceL2":
            return unary(c, emit(Sum, binary(c, x, x, "mul")), "sqrt")
        case "ReduceSumSquare":
            return emit(Sum, binary(c, x, x, "mul"))
        case "ReduceLogSum":
            return unary(c, emit(Sum, x), "log")
        case "ReduceLogSumExp":
            most = c.emit(Extremum(x, axes, True, True))
            total = emit(Sum, unary(c, binary(c, x, most, "add", -1.0), "exp"))
            logarithm = unary(c, total, "log")
            return binary(c, logarithm, c.reshaped(most, c.g.type(total).shape), "add")
    return c.emit(Extremum(x, axes, keepdims, name == "ReduceMax"))


def _of_integers(c: Call, name: str, x: Ref, axes: tuple[int, ...], keepdims: bool) -> Ref:
    tensor = c.g.type(x)
    shape = Sum(x, axes, keepdims).shape(tensor.shape)
    if tensor.data is not None and name in _OF_INTEGERS:
        return c.numbers(reduced(_OF_INTEGERS[name], tensor, axes), shape, tensor.dtype)
    if name in ("ReduceMax", "ReduceMin") and tensor.dtype != "int64":
        found = c.emit(Extremum(c.cast(x, "int32"), axes, keepdims, name == "ReduceMax"))
        return (
            c.cast(found, tensor.dtype)
            if tensor.dtype != "bool"
            else c.emit(Compare(found, c.number(0, "int32"), "ne"))
        )
    if name in ("ReduceSum", "ReduceL1", "ReduceSumSquare") and tensor.dtype in ("int32", "int64"):
        if name != "ReduceSum":
            x = unary(c, x, "abs") if name == "ReduceL1" else binary(c, x, x, "mul")
        for axis in axes:
            size = tensor.shape[axis]
            x = c.sliced(c.emit(CumulativeSum(x, axis, tensor.dtype)), axis, size - 1, size)
        return c.reshaped(x, shape)
    raise BadArg(f"of {tensor.dtype} is not supported", Unsupported)


@operator("ArgMax", "ArgMin")
def place_of_extremum(c: Call) -> Result:
    at, keepdims = axis_of(c.integer("axis", 0), len(c.shape())), bool(c.integer("keepdims", 1))
    x, dtype, size = c.x(), c.type().dtype, c.shape()[at]
    if dtype in ("int8", "uint8", "int16", "uint16", "bool"):
        x = c.cast(x, "int32")
    elif dtype not in ("float32", "int32"):
        raise BadArg(f"of {dtype} is not supported", Unsupported)
    largest = c.node.operator == "ArgMax"
    if not c.integer("select_last_index", 0):
        return c.emit(ArgExtremum(x, (at,), keepdims, largest, "int64"))
    found = c.emit(ArgExtremum(_backwards(c, x, at), (at,), keepdims, largest, "int64"))
    return binary(c, c.number(size - 1, "int64"), found, "add", -1.0)


def _backwards(c: Call, x: Ref, at: int) -> Ref:
    shape = c.g.type(x).shape
    starts = tuple(shape[at] - 1 if n == at else 0 for n in range(len(shape)))
    return c.emit(Slice(x, starts, tuple(-1 if n == at else 1 for n in range(len(shape))), shape))


@operator("CumSum")
def running_sum(c: Call) -> Result:
    at = axis_of(int(c.constant(1, "axis")[0]), len(c.shape()))
    x, dtype, reverse = c.x(), c.type().dtype, c.integer("reverse", 0)
    if dtype not in ("float32", "int32", "int64"):
        raise BadArg(f"of {dtype} is not supported", Unsupported)
    ordered = _backwards(c, x, at) if reverse else x
    if c.integer("exclusive", 0):  # of what stands before each
        rest = c.sliced(ordered, at, 0, c.shape()[at] - 1)
        before = tuple(int(n == at) for n in range(len(c.shape())))
        ordered = c.emit(Pad(rest, before, (0,) * len(before), 0))
    total = c.emit(CumulativeSum(ordered, at, dtype))
    return _backwards(c, total, at) if reverse else total


def _normalized(c: Call, make: Callable[[Ref, int], Op]) -> Ref:
    """An op along an axis: since version 13 of that axis alone, before of all from it on."""
    shape, x = c.shape(), c.x()
    at = axis_of(c.integer("axis", -1 if c.version >= 13 else 1), len(shape))
    if c.version >= 13:
        return c.emit(make(x, at))
    flat = c.reshaped(x, (numel(shape[:at]), numel(shape[at:])))
    return c.reshaped(c.emit(make(flat, 1)), shape)


@operator("Softmax")
def softmax(c: Call) -> Result:
    return _normalized(c, lambda x, axis: Softmax(x, axis, log=False))


@operator("LogSoftmax")
def log_softmax(c: Call) -> Result:
    return _normalized(c, lambda x, axis: Softmax(x, axis, log=True))


@operator("Hardmax")
def hardmax(c: Call) -> Result:
    def make(x: Ref, axis: int) -> Op:
        shape = c.g.type(x).shape
        places = c.numbers([*range(shape[axis])], (shape[axis],) + (1,) * (len(shape) - axis - 1), "int64")
        return Compare(c.emit(ArgExtremum(x, (axis,), True, True, "int64")), places, "eq")

    return c.cast(_normalized(c, make), "float32")
