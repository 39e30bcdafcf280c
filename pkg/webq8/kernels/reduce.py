"""Reductions over any axes; running sums and softmax along one."""

import math
from collections.abc import Iterator, Sequence

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.linear import INT8
from webq8.ir.ops.reduce import (
    Any,
    ArgExtremum,
    CumulativeSum,
    Extremum,
    Mean,
    Product,
    Softmax,
    SoftmaxInt8,
    Sum,
    Variance,
)
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import Shape, f32
from webq8.kernels.average import Means, mean_int8
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.registry import Call, Operand, kernel
from webq8.kernels.walk import Axis, contiguous, kept_and_reduced

__all__ = ["mean_float"]

_MOST_AXES = 4  # that are kept, or reduced, once neighbours of a kind are merged: a tensor has eight at most


def _axes(axes: Sequence[Axis]) -> dict[str, Param]:
    """The struct Axes of wgsl/parts/reduction.wgsl: always four axes, those that are spare of size 1."""
    spare = _MOST_AXES - len(axes)
    return {
        "sizes": (*(a.size for a in axes), *(1,) * spare),
        "strides": (*(a.strides[0] for a in axes), *(0,) * spare),
    }


def _geometry(x: Shape, axes: tuple[int, ...]) -> tuple[dict[str, Param], int, int]:
    """Params of all kernels with wgsl/parts/reduction.wgsl; how many threads share a result, and how many threads there
    are in all."""
    kept, reduced = kept_and_reduced(x, contiguous(x), axes)
    results, count = (math.prod(a.size for a in side) for side in (kept, reduced))
    lanes = lanes_for(count, results, not reduced or reduced[0].strides[0] == 1)
    params: dict[str, Param] = {"results": results, "count": count, "kept": _axes(kept), "reduced": _axes(reduced)}
    return params, lanes, shared_threads(results, lanes)


def _reduce_sum(x: Operand, y: Operand, axes: tuple[int, ...], divisor: float, product: bool = False) -> Dispatch:
    params, lanes, threads = _geometry(x.shape, axes)
    constants = {"lanes": lanes, "product": product}
    return Dispatch("reduce_sum", {"x": x.id, "y": y.id}, params | {"divisor": divisor}, threads, constants)


def mean_float(x: Operand, y: Operand, axes: tuple[int, ...]) -> Dispatch:
    """The mean of float32 over axes."""
    return _reduce_sum(x, y, axes, numel(tuple(x.shape[i] for i in axes)) or math.nan)


@kernel(Mean)
def mean(op: Mean, call: Call) -> Iterator[Dispatch]:
    """By the type of x: int8 or float32."""
    x, y = call[op.x], call.out
    if x.dtype == "int8":
        yield mean_int8(Means(x, y, op.table, op.bounds, op.through), op.axes)
    else:
        yield mean_float(x, y, op.axes)


@kernel(Sum)
def sum_(op: Sum, call: Call) -> Iterator[Dispatch]:
    """By the type of x: int8 or float32."""
    x, y = call[op.x], call.out
    if x.dtype == "int8":
        yield mean_int8(Means(x, y, None, INT8, None, {op.terms(x.shape): op.steps}), op.axes)
    else:
        yield _reduce_sum(x, y, op.axes, 1.0)


@kernel(Product)
def product(op: Product, call: Call) -> Iterator[Dispatch]:
    yield _reduce_sum(call[op.x], call.out, op.axes, 1.0, product=True)


@kernel(Variance)
def variance(op: Variance, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    params, lanes, threads = _geometry(x.shape, op.axes)
    divisor = f32(max(op.terms(x.shape) - op.correction, 0))
    bind = {"x": x.id, "y": call.out.id}
    yield Dispatch("variance", bind, params | {"divisor": divisor}, threads, {"lanes": lanes})


def _reduce_extremum(op: Extremum | ArgExtremum, call: Call, index: bool) -> Dispatch:
    x, y = call[op.x], call.out
    params, lanes, threads = _geometry(x.shape, op.axes)
    constants = {
        "lanes": lanes,
        "integer": x.dtype == "int32",
        "smallest": not op.largest,
        "index": index,
        "wide": y.dtype == "int64",
    }
    return Dispatch("reduce_extremum", {"x": x.id, "y": y.id}, params, threads, constants)


@kernel(Extremum)
def extremum(op: Extremum, call: Call) -> Iterator[Dispatch]:
    yield _reduce_extremum(op, call, index=False)


@kernel(ArgExtremum)
def arg_extremum(op: ArgExtremum, call: Call) -> Iterator[Dispatch]:
    yield _reduce_extremum(op, call, index=True)


@kernel(Any, layout="plain")
def any_(op: Any, call: Call) -> Iterator[Dispatch]:
    """A thread, or those that share it, has a word of four results."""
    x, y = call[op.x], call.out
    params, lanes, _ = _geometry(x.shape, op.axes)
    threads = shared_threads(cdiv(numel(y.shape), 4), lanes)
    constants = {"lanes": lanes, "item": ITEMSIZE[x.dtype], "floats": x.dtype == "float32"}
    yield Dispatch("reduce_any", {"x": x.id, "y": y.id}, params, threads, constants)


def _along(op: CumulativeSum | Softmax, call: Call, kernel_name: str, **constants: bool | str) -> Dispatch:
    """A kernel whose threads share the rows along an axis."""
    x = call[op.x]
    count, inner = (x.shape[op.axis], numel(x.shape[op.axis + 1 :])) if x.shape else (1, 1)
    rows = numel(x.shape[: op.axis]) * inner if count else 0
    lanes = lanes_for(count, rows, inner == 1)
    params = {"rows": rows, "count": count, "inner": inner}
    threads = shared_threads(rows, lanes)
    return Dispatch(kernel_name, {"x": x.id, "y": call.out.id}, params, threads, {"lanes": lanes, **constants})


@kernel(CumulativeSum, layout="plain")
def cumulative_sum(op: CumulativeSum, call: Call) -> Iterator[Dispatch]:
    result = call.out.dtype
    dtype = call[op.x].dtype.upper()
    yield _along(op, call, "cumsum", dtype=dtype, floats=result == "float32", wide=result == "int64")


@kernel(Softmax)
def softmax(op: Softmax, call: Call) -> Iterator[Dispatch]:
    yield _along(op, call, "softmax", log_of=op.log)


@kernel(SoftmaxInt8, layout=lambda op, reads, results: "rows" if op.axis == len(reads[0].shape) - 1 else "channels")
def softmax_int8(op: SoftmaxInt8, call: Call) -> Iterator[Dispatch]:
    """A workgroup has a row, which lies in whole words."""
    x, y = call[op.x], call.out
    rows = x.layout.outer * x.layout.inner
    yield Dispatch(
        "softmax_int8",
        {"x": x.id, "exponentials": Const(op.exponentials), "y": y.id},
        {
            "rows": rows,
            "count": x.layout.channels,
            "row_words": x.layout.padded // 4,
            "y_scale": f32(y.scale),
            "y_zero_point": y.zero_point,
        },
        threads=64 * rows,
        constants={"lanes": 64},
    )
