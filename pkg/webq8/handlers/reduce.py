"""Reductions over any dimensions; running sums and softmax along one."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.errors import Unsupported
from webq8.handlers.registry import (
    F32,
    Args,
    BadArg,
    Bool,
    Choice,
    Int,
    Ints,
    Number,
    Operand,
    TensorArg,
    TensorList,
    axis,
    f32,
    op,
)
from webq8.handlers.shape import CODES, DTYPES
from webq8.ir import Dispatch, Param

__all__ = ["lanes_for", "reduce_sum", "reduced", "shared_threads"]

_FLOAT32 = Choice((None, 6), default=None)  # torch's scalar type number
_THREADS = 64  # a workgroup of the kernels here
_MANY = 2048  # outputs that keep a GPU busy with one thread each


def lanes_for(count: int, outputs: int, contiguous: bool) -> int:
    """How many threads share an output, a power of two up to a workgroup's 64, for a reduction over `count` elements.

    One, where there are outputs enough and neighbouring ones lie side by side in memory.
    """
    if not contiguous and outputs >= _MANY and count < _MANY:
        return 1
    return min(_THREADS, 1 << max(0, cdiv(count, 4).bit_length() - 1))


def shared_threads(outputs: int, lanes: int) -> int:
    """Threads for outputs that take `lanes` each, in whole workgroups."""
    return cdiv(outputs, _THREADS // lanes) * _THREADS


def _runs(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Kept and reduced dimensions as (size, stride), innermost first, neighbours of one kind merged."""
    runs: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    stride, before = 1, None
    for i in reversed(range(len(shape))):
        reduced = i in axes
        if shape[i] != 1:
            if reduced == before:
                size, inner = runs[reduced].pop()
                runs[reduced].append((size * shape[i], inner))
            else:
                runs[reduced].append((shape[i], stride))
            before = reduced
        stride *= shape[i]
    return runs


def _geometry(x: Operand, axes: tuple[int, ...]) -> tuple[dict[str, Param], int, int]:
    """Params shared by the reducing kernels; lanes and threads."""
    kept, reduced = _runs(x.shape, axes)
    outputs, count = (math.prod(size for size, _ in run) for run in (kept, reduced))
    lanes = lanes_for(count, outputs, not reduced or reduced[0][1] == 1)
    params: dict[str, Param] = {"outputs": outputs, "count": count}
    for name, run in (("kept", kept), ("reduced", reduced)):
        padded = run + [(1, 0)] * (4 - len(run))  # at most four runs of a kind in eight dimensions
        params |= {name + "_sizes": tuple(s for s, _ in padded), name + "_strides": tuple(s for _, s in padded)}
    return params, lanes, shared_threads(outputs, lanes)


def reduce_sum(x: Operand, out: Operand, axes: tuple[int, ...], mean: bool = False, product: bool = False) -> Dispatch:
    """Sum, mean or product over axes."""
    params, lanes, threads = _geometry(x, axes)
    count = params["count"]
    assert isinstance(count, int)
    divisor = (count or math.nan) if mean else 1.0  # torch's mean of nothing is NaN
    constants = {"lanes": lanes, "product": product}
    return Dispatch("reduce_sum", {"x": x.id, "y": out.id}, params | {"divisor": divisor}, threads, constants)


def reduced(a: Args) -> Mapping[str, tuple[int, ...]]:
    rank = len(a.S)
    dims = (a.dim,) if isinstance(a.dim, int) else a.dim
    axes = tuple(axis(d, rank) for d in dims) if dims else tuple(range(rank))
    if len({*axes}) < len(axes):
        raise BadArg(f"dim {list(dims)} names a dimension twice")
    sizes = (1 if i in axes else size for i, size in enumerate(a.S))
    return {"O": tuple(s for i, s in enumerate(sizes) if a.keepdim or i not in axes), "axes": axes}


@op(
    "aten.mean.dim",
    "aten::mean.out",
    x=F32("*S"),
    dim=Ints(optional=True, default=None),
    keepdim=Bool(default=False),
    dtype=_FLOAT32,
    out=F32("*O"),
    derive=reduced,
)
def mean(a: Args) -> Iterator[Dispatch]:
    """The mean over the dimensions `dim` (all of them, where null or empty), float32; NaN for none at all."""
    yield reduce_sum(a.x, a.out, a.axes, mean=True)


@op(
    "aten.sum.dim_IntList",
    "aten::sum.IntList_out",
    x=F32("*S"),
    dim=Ints(optional=True, default=None),
    keepdim=Bool(default=False),
    dtype=_FLOAT32,
    out=F32("*O"),
    derive=reduced,
)
def sum_(a: Args) -> Iterator[Dispatch]:
    """The sum over the dimensions `dim` (all of them, where null or empty), float32."""
    yield reduce_sum(a.x, a.out, a.axes)


@op(
    "aten.var.dim",
    "aten::var.out",
    x=F32("*S"),
    dim=Ints(optional=True),
    unbiased=Bool(default=True),
    keepdim=Bool(default=False),
    out=F32("*O"),
    derive=reduced,
)
@op(
    "aten.var.correction",
    "aten::var.correction_out",
    x=F32("*S"),
    dim=Ints(optional=True, default=None),
    correction=Number(absent=1, default=None),
    keepdim=Bool(default=False),
    out=F32("*O"),
    derive=reduced,
)
def var(a: Args) -> Iterator[Dispatch]:
    """Σ (x − mean)² / max(n − correction, 0) over the n elements of the dimensions `dim` (of all, where null or empty),
    float32; `unbiased` is a correction of 1."""
    params, lanes, threads = _geometry(a.x, a.axes)
    correction = vars(a).get("correction", 1.0 if vars(a).get("unbiased", True) else 0.0)
    divisor = f32(max(math.prod(a.S[i] for i in a.axes if a.S) - correction, 0))
    yield Dispatch("variance", {"x": a.x.id, "y": a.out.id}, params | {"divisor": divisor}, threads, {"lanes": lanes})


def _extremum(x: Operand, out: Operand, axes: tuple[int, ...], smallest: bool, index: bool) -> Dispatch:
    params, lanes, threads = _geometry(x, axes)
    constants = {
        "lanes": lanes,
        "integer": x.tensor.dtype == "int32",
        "smallest": smallest,
        "index": index,
        "wide": out.tensor.dtype == "int64",
    }
    return Dispatch("reduce_extremum", {"x": x.id, "y": out.id}, params, threads, constants)


_ORDERED = ("float32", "int32")
_NUMBERS, _SAME = TensorArg(_ORDERED, "*S"), TensorArg(_ORDERED, "*O", like="x")


def _check_not_empty(a: Args) -> None:
    if numel(a.O) and not numel(a.S):
        raise BadArg(f"nothing to choose from in {list(a.S)}")


@op(
    "aten.amax.default",
    "aten::amax.out",
    x=_NUMBERS,
    dim=Ints(optional=True, default=()),
    keepdim=Bool(default=False),
    out=_SAME,
    derive=reduced,
    check=_check_not_empty,
)
def amax(a: Args) -> Iterator[Dispatch]:
    """The largest element over the dimensions `dim` (all of them, where empty); NaN where there is one."""
    yield _extremum(a.x, a.out, a.axes, smallest=False, index=False)


@op(
    "aten.amin.default",
    "aten::amin.out",
    x=_NUMBERS,
    dim=Ints(optional=True, default=()),
    keepdim=Bool(default=False),
    out=_SAME,
    derive=reduced,
    check=_check_not_empty,
)
def amin(a: Args) -> Iterator[Dispatch]:
    """The smallest element over the dimensions `dim` (all of them, where empty); NaN where there is one."""
    yield _extremum(a.x, a.out, a.axes, smallest=True, index=False)


def _all_reduced(a: Args) -> Mapping[str, tuple[int, ...]]:
    return {"O": (), "axes": tuple(range(len(a.S)))}


@op("aten.prod.default", "aten::prod.out", x=F32("*S"), dtype=_FLOAT32, out=F32("*O"), derive=_all_reduced)
@op(
    "aten.prod.dim_int",
    "aten::prod.int_out",
    x=F32("*S"),
    dim=Int(),
    keepdim=Bool(default=False),
    dtype=_FLOAT32,
    out=F32("*O"),
    derive=reduced,
)
def prod(a: Args) -> Iterator[Dispatch]:
    """The product along `dim`, or of all elements, float32."""
    yield reduce_sum(a.x, a.out, a.axes, product=True)


_INDEX = TensorArg(("int64", "int32"), "*O")
_ANY_DIM = 2**31 - 1  # stands for a null: the index counts through all elements


def _arg_reduced(a: Args) -> Mapping[str, tuple[int, ...]]:
    rank = len(a.S)
    axes = tuple(range(rank)) if a.dim == _ANY_DIM else (axis(a.dim, rank),)
    sizes = (1 if i in axes else size for i, size in enumerate(a.S))
    return {"O": tuple(s for i, s in enumerate(sizes) if a.keepdim or i not in axes), "axes": axes}


@op(
    "aten.argmax.default",
    "aten::argmax.out",
    x=_NUMBERS,
    dim=Int(absent=_ANY_DIM, default=None),
    keepdim=Bool(default=False),
    out=_INDEX,
    derive=_arg_reduced,
    check=_check_not_empty,
)
def argmax(a: Args) -> Iterator[Dispatch]:
    """The index along `dim` (among all elements, where null) of the first largest element; NaN is above all."""
    yield _extremum(a.x, a.out, a.axes, smallest=False, index=True)


@op(
    "aten.argmin.default",
    "aten::argmin.out",
    x=_NUMBERS,
    dim=Int(absent=_ANY_DIM, default=None),
    keepdim=Bool(default=False),
    out=_INDEX,
    derive=_arg_reduced,
    check=_check_not_empty,
)
def argmin(a: Args) -> Iterator[Dispatch]:
    """The index along `dim` (among all elements, where null) of the first smallest element; NaN is below all."""
    yield _extremum(a.x, a.out, a.axes, smallest=True, index=True)


_ANYTHING = TensorArg(DTYPES, "*S", "plain")


def _any_reduced(a: Args) -> Mapping[str, object]:
    given, rank, uint8 = vars(a).get("dim"), len(a.S), a.x.tensor.dtype == "uint8"
    dims = tuple(range(rank)) if given is None else (given,) if isinstance(given, int) else given
    axes = tuple(axis(d, rank) for d in dims)
    if len({*axes}) < len(axes):
        raise BadArg(f"dim {list(dims)} names a dimension twice")
    keep = vars(a).get("keepdim", False)
    shape = tuple(1 if i in axes else s for i, s in enumerate(a.S) if keep or i not in axes)
    return {"O": shape, "axes": axes, "result": "uint8" if uint8 else "bool"}


_ANY: dict[str, Any] = {
    "out": TensorArg(("bool", "uint8"), "*O", "plain", like="result"),
    "derive": _any_reduced,
}


@op("aten.any.dim", "aten::any.out", x=_ANYTHING, dim=Int(), keepdim=Bool(default=False), **_ANY)
@op("aten.any.default", "aten::any.all_out", x=_ANYTHING, **_ANY)
@op(
    "aten.any.dims",
    "aten::any.dims_out",
    x=_ANYTHING,
    dim=Ints(optional=True, default=None),
    keepdim=Bool(default=False),
    **_ANY,
)
def any_(a: Args) -> Iterator[Dispatch]:
    """Whether any element is not zero, over the dimensions `dim` (all of them, where null; each by itself, where
    empty); as uint8 for uint8."""
    dtype = a.x.tensor.dtype
    params, lanes, _ = _geometry(a.x, a.axes)
    threads = shared_threads(cdiv(numel(a.O), 4), lanes)
    constants = {"lanes": lanes, "item": ITEMSIZE[dtype], "floats": dtype == "float32"}
    yield Dispatch("reduce_any", {"x": a.x.id, "y": a.out.id}, params, threads, constants)


_VALUES_AND_INDICES = TensorList((_SAME, _INDEX))


def _extremum_and_index(a: Args, smallest: bool) -> Iterator[Dispatch]:
    values, indices = a.out
    yield _extremum(a.x, values, a.axes, smallest, index=False)
    yield _extremum(a.x, indices, a.axes, smallest, index=True)


@op(
    "aten.max.dim",
    "aten::max.dim_max",
    x=_NUMBERS,
    dim=Int(),
    keepdim=Bool(default=False),
    out=_VALUES_AND_INDICES,
    derive=_arg_reduced,
    check=_check_not_empty,
)
def max_dim(a: Args) -> Iterator[Dispatch]:
    """The first largest element along `dim`, and its index; NaN is above all."""
    yield from _extremum_and_index(a, smallest=False)


@op(
    "aten.min.dim",
    "aten::min.dim_min",
    x=_NUMBERS,
    dim=Int(),
    keepdim=Bool(default=False),
    out=_VALUES_AND_INDICES,
    derive=_arg_reduced,
    check=_check_not_empty,
)
def min_dim(a: Args) -> Iterator[Dispatch]:
    """The first smallest element along `dim`, and its index; NaN is below all."""
    yield from _extremum_and_index(a, smallest=True)


@op(
    "aten.max.default",
    "aten::max.unary_out",
    x=_NUMBERS,
    out=TensorArg(_ORDERED, "", like="x"),
    derive=_all_reduced,
    check=_check_not_empty,
)
def max_(a: Args) -> Iterator[Dispatch]:
    """The largest of all elements; NaN where there is one."""
    yield _extremum(a.x, a.out, a.axes, smallest=False, index=False)


@op(
    "aten.min.default",
    "aten::min.unary_out",
    x=_NUMBERS,
    out=TensorArg(_ORDERED, "", like="x"),
    derive=_all_reduced,
    check=_check_not_empty,
)
def min_(a: Args) -> Iterator[Dispatch]:
    """The smallest of all elements; NaN where there is one."""
    yield _extremum(a.x, a.out, a.axes, smallest=True, index=False)


def _along(a: Args, kernel: str, constants: Mapping[str, int | bool]) -> Dispatch:
    """A kernel whose threads share the rows along `dim`."""
    dim = axis(a.dim, len(a.S))
    count, inner = (a.S[dim], numel(a.S[dim + 1 :])) if a.S else (1, 1)
    rows = numel(a.S[:dim]) * inner if count else 0
    lanes = lanes_for(count, rows, inner == 1)
    params = {"rows": rows, "count": count, "inner": inner}
    threads = shared_threads(rows, lanes)
    return Dispatch(kernel, {"x": a.x.id, "y": a.out.id}, params, threads, {"lanes": lanes, **constants})


# torch's scalar type numbers of what sums can be; null is float32 of float32, int64 of integers
_SUMS = {6: "float32", 4: "int64", 3: "int32"}


def _summed(a: Args) -> Mapping[str, object]:
    axis(a.dim, len(a.S))
    return {"result": _SUMS[a.dtype or (6 if a.x.tensor.dtype == "float32" else 4)]}


def _check_summed(a: Args) -> None:
    dtype, out = a.x.tensor.dtype, vars(a).get("out")
    if dtype == "float32" and a.result != "float32":
        raise BadArg(f"dtype: sums of {dtype} as {a.result} are not supported", Unsupported)
    # delegates narrow int64
    if out is not None and (out.tensor.dtype, a.result) not in ((a.result, a.result), ("int32", "int64")):
        raise BadArg(f"out: expected {a.result}, got {out.tensor.dtype}")


@op(
    "aten.cumsum.default",
    "aten::cumsum.out",
    x=_ANYTHING,
    dim=Int(),
    dtype=Choice((None, *_SUMS), default=None),
    out=TensorArg(("float32", "int64", "int32"), "*S", like="result"),
    derive=_summed,
    check=_check_summed,
)
def cumsum(a: Args) -> Iterator[Dispatch]:
    """The sums of the elements up to each along `dim`: float32, or of integers and truth values int64, which wraps
    around; or as `dtype` says (3 for int32)."""
    result = a.out.tensor.dtype
    constants = {"dtype": CODES.index(a.x.tensor.dtype), "floats": result == "float32", "wide": result == "int64"}
    yield _along(a, "cumsum", constants)


def _check_softmax(a: Args) -> None:
    axis(a.dim, len(a.S))


@op(
    "aten._softmax.default",
    "aten::_softmax.out",
    x=F32("*S"),
    dim=Int(),
    half_to_float=Choice((False, None), default=False),
    out=F32("*S"),
    check=_check_softmax,
)
def softmax(a: Args) -> Iterator[Dispatch]:
    """y = exp(x − max) / Σ exp(x − max) along `dim`, float32."""
    yield _along(a, "softmax", {"log_of": False})


@op(
    "aten._log_softmax.default",
    "aten::_log_softmax.out",
    x=F32("*S"),
    dim=Int(),
    half_to_float=Choice((False, None), default=False),
    out=F32("*S"),
    check=_check_softmax,
)
def log_softmax(a: Args) -> Iterator[Dispatch]:
    """y = x − max − log Σ exp(x − max) along `dim`, float32."""
    yield _along(a, "softmax", {"log_of": True})
