"""Reductions over dims; running sums and softmax along one. Arguments like `dtype` and `half_to_float` only have values
that say nothing more."""

from collections.abc import Sequence

from webq8.formats.pte.schema import (
    F32,
    Argument,
    Bool,
    Choice,
    Int,
    Ints,
    Number,
    TensorArg,
    TensorList,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.reduce import (
    Any,
    ArgExtremum,
    CumulativeSum,
    Extremum,
    Mean,
    Product,
    Softmax,
    Sum,
    Variance,
)
from webq8.ir.ops.rules import axis
from webq8.ir.types import BadArg, Ref

__all__ = ["axes_of_dims"]

# Of overloads that share a short name, the first has it in webq8.ops.

_FLOAT32 = Choice((None, 6), default=None)  # torch's scalar type number
_DIMS = Ints(optional=True, default=None)
_KEEPDIM = Bool(default=False)
_ORDERED = ("float32", "int32")
_NUMBERS, _SAME = TensorArg(_ORDERED, "*S"), TensorArg(_ORDERED, "*O", like="x")
_SAME_SCALAR = TensorArg(_ORDERED, "", like="x")
_INDEX = TensorArg(("int64", "int32"), "*O")
_VALUES_AND_INDICES = TensorList((_SAME, _INDEX))
_ANYTHING = TensorArg(("float32", "int8", "uint8", "int32", "int64", "bool"), "*S")
_TRUTH = TensorArg(("bool", "uint8"), "*O")


def axes_of_dims(dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """The axes that a list of dims names, in ascending order; a scalar, whose dims may be 0 and −1, has none."""
    axes = sorted(axis(dim, rank) for dim in dims)
    if len({*axes}) < len(axes):
        raise BadArg(f"dim {list(dims)} names a dimension twice")
    return tuple(axes) if rank else ()


def _axes(x: Argument, dims: Sequence[int] | None) -> tuple[int, ...]:
    """As `axes_of_dims`; all axes where no dims are given."""
    return axes_of_dims(dims or range(len(x.shape)), len(x.shape))


@lowers(
    "aten.mean.dim",
    "aten::mean.out",
    x=F32("*S"),
    dim=_DIMS,
    keepdim=_KEEPDIM,
    dtype=_FLOAT32,
    out=F32("*O"),
)
def mean(g: Builder, x: Argument, dim: tuple[int, ...] | None, keepdim: bool, dtype: int | None) -> Ref:
    """The mean over the dimensions `dim` (all of them, where null or empty), float32; NaN for none at all."""
    return g.emit(Mean(x.ref, _axes(x, dim), keepdim))


@lowers(
    "aten.sum.dim_IntList",
    "aten::sum.IntList_out",
    x=F32("*S"),
    dim=_DIMS,
    keepdim=_KEEPDIM,
    dtype=_FLOAT32,
    out=F32("*O"),
)
def sum_(g: Builder, x: Argument, dim: tuple[int, ...] | None, keepdim: bool, dtype: int | None) -> Ref:
    """The sum over the dimensions `dim` (all of them, where null or empty), float32."""
    return g.emit(Sum(x.ref, _axes(x, dim), keepdim))


@lowers(
    "aten.var.correction",
    "aten::var.correction_out",
    x=F32("*S"),
    dim=_DIMS,
    correction=Number(absent=1, default=None),
    keepdim=_KEEPDIM,
    out=F32("*O"),
)
def var(g: Builder, x: Argument, dim: tuple[int, ...] | None, correction: float, keepdim: bool) -> Ref:
    """Σ (x − mean)² / max(n − correction, 0) over the n elements of the dimensions `dim` (of all, where null or empty),
    float32."""
    return g.emit(Variance(x.ref, _axes(x, dim), keepdim, correction))


@lowers(
    "aten.var.dim",
    "aten::var.out",
    x=F32("*S"),
    dim=Ints(optional=True),
    unbiased=Bool(default=True),
    keepdim=_KEEPDIM,
    out=F32("*O"),
)
def var_dim(g: Builder, x: Argument, dim: tuple[int, ...] | None, unbiased: bool, keepdim: bool) -> Ref:
    """Σ (x − mean)² / n over the n elements of the dimensions `dim` (of all, where null or empty), float32; with
    `unbiased` over max(n − 1, 0)."""
    return g.emit(Variance(x.ref, _axes(x, dim), keepdim, 1.0 if unbiased else 0.0))


@lowers(
    "aten.prod.dim_int",
    "aten::prod.int_out",
    x=F32("*S"),
    dim=Int(),
    keepdim=_KEEPDIM,
    dtype=_FLOAT32,
    out=F32("*O"),
)
def prod_dim(g: Builder, x: Argument, dim: int, keepdim: bool, dtype: int | None) -> Ref:
    """The product along `dim`, float32."""
    return g.emit(Product(x.ref, _axes(x, (dim,)), keepdim))


@lowers("aten.prod.default", "aten::prod.out", x=F32("*S"), dtype=_FLOAT32, out=F32(""))
def prod(g: Builder, x: Argument, dtype: int | None) -> Ref:
    """The product of all elements, float32."""
    return g.emit(Product(x.ref, _axes(x, None), False))


@lowers(
    "aten.amax.default",
    "aten::amax.out",
    x=_NUMBERS,
    dim=Ints(optional=True, default=()),
    keepdim=_KEEPDIM,
    out=_SAME,
)
def amax(g: Builder, x: Argument, dim: tuple[int, ...] | None, keepdim: bool) -> Ref:
    """The largest element over the dimensions `dim` (all of them, where empty); NaN where there is one."""
    return g.emit(Extremum(x.ref, _axes(x, dim), keepdim, largest=True))


@lowers(
    "aten.amin.default",
    "aten::amin.out",
    x=_NUMBERS,
    dim=Ints(optional=True, default=()),
    keepdim=_KEEPDIM,
    out=_SAME,
)
def amin(g: Builder, x: Argument, dim: tuple[int, ...] | None, keepdim: bool) -> Ref:
    """The smallest element over the dimensions `dim` (all of them, where empty); NaN where there is one."""
    return g.emit(Extremum(x.ref, _axes(x, dim), keepdim, largest=False))


def _index(g: Builder, x: Argument, dim: int | None, keepdim: bool, largest: bool) -> Ref:
    axes = _axes(x, None if dim is None else (dim,))
    return g.emit(ArgExtremum(x.ref, axes, keepdim, largest, g.declared_dtype("int64")))


@lowers(
    "aten.argmax.default",
    "aten::argmax.out",
    x=_NUMBERS,
    dim=Int(optional=True, default=None),
    keepdim=_KEEPDIM,
    out=_INDEX,
)
def argmax(g: Builder, x: Argument, dim: int | None, keepdim: bool) -> Ref:
    """The index along `dim` (among all elements, where null) of the first largest element; NaN is above all."""
    return _index(g, x, dim, keepdim, largest=True)


@lowers(
    "aten.argmin.default",
    "aten::argmin.out",
    x=_NUMBERS,
    dim=Int(optional=True, default=None),
    keepdim=_KEEPDIM,
    out=_INDEX,
)
def argmin(g: Builder, x: Argument, dim: int | None, keepdim: bool) -> Ref:
    """The index along `dim` (among all elements, where null) of the first smallest element; NaN is below all."""
    return _index(g, x, dim, keepdim, largest=False)


def _value_and_index(g: Builder, x: Argument, dim: int, keepdim: bool, largest: bool) -> tuple[Ref, Ref]:
    axes = _axes(x, (dim,))
    value = g.emit(Extremum(x.ref, axes, keepdim, largest))
    return value, g.emit(ArgExtremum(x.ref, axes, keepdim, largest, g.declared_dtype("int64", 1)))


@lowers(
    "aten.max.dim",
    "aten::max.dim_max",
    x=_NUMBERS,
    dim=Int(),
    keepdim=_KEEPDIM,
    out=_VALUES_AND_INDICES,
)
def max_dim(g: Builder, x: Argument, dim: int, keepdim: bool) -> tuple[Ref, Ref]:
    """The first largest element along `dim`, and its index; NaN is above all."""
    return _value_and_index(g, x, dim, keepdim, largest=True)


@lowers(
    "aten.min.dim",
    "aten::min.dim_min",
    x=_NUMBERS,
    dim=Int(),
    keepdim=_KEEPDIM,
    out=_VALUES_AND_INDICES,
)
def min_dim(g: Builder, x: Argument, dim: int, keepdim: bool) -> tuple[Ref, Ref]:
    """The first smallest element along `dim`, and its index; NaN is below all."""
    return _value_and_index(g, x, dim, keepdim, largest=False)


@lowers("aten.max.default", "aten::max.unary_out", x=_NUMBERS, out=_SAME_SCALAR)
def max_(g: Builder, x: Argument) -> Ref:
    """The largest of all elements; NaN where there is one."""
    return g.emit(Extremum(x.ref, _axes(x, None), False, largest=True))


@lowers("aten.min.default", "aten::min.unary_out", x=_NUMBERS, out=_SAME_SCALAR)
def min_(g: Builder, x: Argument) -> Ref:
    """The smallest of all elements; NaN where there is one."""
    return g.emit(Extremum(x.ref, _axes(x, None), False, largest=False))


def _any(g: Builder, x: Argument, axes: tuple[int, ...], keepdim: bool) -> Ref:
    return g.emit(Any(x.ref, axes, keepdim, "uint8" if x.dtype == "uint8" else "bool"))


@lowers("aten.any.dims", "aten::any.dims_out", x=_ANYTHING, dim=_DIMS, keepdim=_KEEPDIM, out=_TRUTH)
def any_dims(g: Builder, x: Argument, dim: tuple[int, ...] | None, keepdim: bool) -> Ref:
    """Whether any element is not zero, over the dimensions `dim` (all of them, where null; each by itself, where
    empty); as uint8 for uint8."""
    axes = _axes(x, None) if dim is None else axes_of_dims(dim, len(x.shape))
    return _any(g, x, axes, keepdim)


@lowers("aten.any.default", "aten::any.all_out", x=_ANYTHING, out=TensorArg(("bool", "uint8"), ""))
def any_(g: Builder, x: Argument) -> Ref:
    """Whether any element is not zero; as uint8 for uint8."""
    return _any(g, x, _axes(x, None), False)


@lowers("aten.any.dim", "aten::any.out", x=_ANYTHING, dim=Int(), keepdim=_KEEPDIM, out=_TRUTH)
def any_dim(g: Builder, x: Argument, dim: int, keepdim: bool) -> Ref:
    """Whether any element is not zero along the dimension `dim`; as uint8 for uint8."""
    return _any(g, x, _axes(x, (dim,)), keepdim)


# torch's scalar type numbers of what sums can be; null is float32 of float32, int64 of integers
_SUMS = {6: "float32", 4: "int64", 3: "int32"}


@lowers(
    "aten.cumsum.default",
    "aten::cumsum.out",
    x=_ANYTHING,
    dim=Int(),
    dtype=Choice((None, *_SUMS), default=None),
    out=TensorArg(("float32", "int64", "int32"), "*S"),
)
def cumsum(g: Builder, x: Argument, dim: int, dtype: int | None) -> Ref:
    """The sums of the elements up to each along `dim`: float32, or of integers and truth values int64, which wraps
    around; or as `dtype` says (3 for int32)."""
    result = _SUMS[dtype or (6 if x.dtype == "float32" else 4)]
    if (g.declared_dtype(result), result) == ("int32", "int64"):  # delegates narrow int64
        result = "int32"
    return g.emit(CumulativeSum(x.ref, axis(dim, len(x.shape)), result))


@lowers(
    "aten._softmax.default",
    "aten::_softmax.out",
    x=F32("*S"),
    dim=Int(),
    half_to_float=Choice((False, None), default=False),
    out=F32("*S"),
)
def softmax(g: Builder, x: Argument, dim: int, half_to_float: bool | None) -> Ref:
    """y = exp(x − max) / Σ exp(x − max) along `dim`, float32."""
    return g.emit(Softmax(x.ref, axis(dim, len(x.shape)), log=False))


@lowers(
    "aten._log_softmax.default",
    "aten::_log_softmax.out",
    x=F32("*S"),
    dim=Int(),
    half_to_float=Choice((False, None), default=False),
    out=F32("*S"),
)
def log_softmax(g: Builder, x: Argument, dim: int, half_to_float: bool | None) -> Ref:
    """y = x − max − log Σ exp(x − max) along `dim`, float32."""
    return g.emit(Softmax(x.ref, axis(dim, len(x.shape)), log=True))
