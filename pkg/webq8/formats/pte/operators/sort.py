"""Sorting, and the largest or smallest elements. Sorts are stable and results sorted, whatever a call asks for."""

from webq8.formats.pte.schema import IGNORED, Argument, Bool, Int, TensorArg, TensorList, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.rules import axis
from webq8.ir.ops.sort import TopK
from webq8.ir.types import Ref

__all__: list[str] = []

_DTYPES = ("float32", "int32")
_X = TensorArg(_DTYPES, "*S")
_LAST = Int(default=-1)
_VALUES_AND_INDICES = TensorList((TensorArg(_DTYPES, "*O", like="x"), TensorArg(("int64", "int32"), "*O")))


@lowers(
    "aten.topk.default",
    "aten::topk.values",
    x=_X,
    k=Int(0),
    dim=_LAST,
    largest=Bool(default=True),
    sorted=IGNORED,
    out=_VALUES_AND_INDICES,
)
def topk(g: Builder, x: Argument, k: int, dim: int, largest: bool) -> tuple[Ref, ...]:
    """The k largest elements along `dim` (or smallest), in order, and their indices: of equal ones the first, NaN above
    all. Without `sorted` they are in order as well."""
    return g.emit_all(TopK(x.ref, axis(dim, len(x.shape)), k, largest, g.declared_dtype("int64", 1)))


@lowers(
    "aten.sort.stable",
    "aten::sort.values_stable",
    x=_X,
    stable=IGNORED,
    dim=_LAST,
    descending=Bool(default=False),
    out=_VALUES_AND_INDICES,
)
@lowers(
    "aten.sort.default",
    "aten::sort.values",
    x=_X,
    dim=_LAST,
    descending=Bool(default=False),
    out=_VALUES_AND_INDICES,
)
def sort(g: Builder, x: Argument, dim: int, descending: bool) -> tuple[Ref, ...]:
    """The elements in order along `dim`, and their indices: equal ones keep theirs, NaN is above all."""
    at = axis(dim, len(x.shape))
    return g.emit_all(TopK(x.ref, at, x.shape[at] if x.shape else 1, descending, g.declared_dtype("int64", 1)))
