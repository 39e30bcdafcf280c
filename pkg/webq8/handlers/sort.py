"""The largest or smallest elements in order."""

from collections.abc import Iterator, Mapping
from typing import Any

from webq8.dtypes import numel
from webq8.handlers.registry import Args, BadArg, Bool, Int, TensorArg, TensorList, axis, op
from webq8.ir import Dispatch

__all__: list[str] = []

_DTYPES = ("float32", "int32")
_X = TensorArg(_DTYPES, "*S")
_VALUES_AND_INDICES = TensorList((TensorArg(_DTYPES, "*O", like="x"), TensorArg(("int64", "int32"), "*O")))


def _ordered(a: Args, descending: bool) -> Iterator[Dispatch]:
    """Each element finds its place in its row, and those that have one in `out` go there."""
    at = axis(a.dim, len(a.S))
    size, inner = (a.S[at], numel(a.S[at + 1 :])) if a.S else (1, 1)
    params = {"count": numel(a.S), "size": size, "inner": inner, "kept": a.O[at] if a.O else 1}
    for index, out in enumerate(a.out):
        yield Dispatch(
            "order",
            {"x": a.x.id, "y": out.id},
            params,
            threads=numel(a.S),
            constants={
                "integer": a.x.tensor.dtype == "int32",
                "descending": descending,
                "index": bool(index),
                "wide": out.tensor.dtype == "int64",
            },
        )


def _kept(a: Args) -> Mapping[str, Any]:
    at = axis(a.dim, len(a.S))
    size = a.S[at] if a.S else 1
    if a.k > size:
        raise BadArg(f"k: {a.k} of {size} elements along dim {a.dim} of {list(a.S)}")
    if not a.S:
        if a.k != 1:
            raise BadArg(f"k: {a.k} of a scalar; 1 is expected")
        return {"O": ()}
    return {"O": (*a.S[:at], a.k, *a.S[at + 1 :])}


@op(
    "aten.topk.default",
    "aten::topk.values",
    x=_X,
    k=Int(0),
    dim=Int(default=-1),
    largest=Bool(default=True),
    sorted=Bool(default=True),
    out=_VALUES_AND_INDICES,
    derive=_kept,
)
def topk(a: Args) -> Iterator[Dispatch]:
    """The k largest elements along `dim` (or smallest), in order, and their indices: of equal ones the first, NaN above
    all. Without `sorted` they are in order as well."""
    yield from _ordered(a, a.largest)


def _all(a: Args) -> Mapping[str, Any]:
    axis(a.dim, len(a.S))
    return {"O": a.S}


@op(
    "aten.sort.stable",
    "aten::sort.values_stable",
    x=_X,
    stable=Bool(default=True),
    dim=Int(default=-1),
    descending=Bool(default=False),
    out=_VALUES_AND_INDICES,
    derive=_all,
)
@op(
    "aten.sort.default",
    "aten::sort.values",
    x=_X,
    dim=Int(default=-1),
    descending=Bool(default=False),
    out=_VALUES_AND_INDICES,
    derive=_all,
)
def sort(a: Args) -> Iterator[Dispatch]:
    """The elements in order along `dim`, and their indices: equal ones keep theirs, NaN is above all."""
    yield from _ordered(a, a.descending)
