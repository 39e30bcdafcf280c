"""Reads and writes elements that index tensors, masks or slices select."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import compress, count

from webq8.dtypes import ITEMSIZE, numel
from webq8.formats.pte.operators.arguments import DIM, DTYPES, INT64, NumberOrTruth, X, result
from webq8.formats.pte.operators.move import reshaped, selected_index, slice_range
from webq8.formats.pte.schema import IGNORED, Argument, Bool, Int, TensorArg, TensorList, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.core import Op
from webq8.ir.ops.create import element_bytes
from webq8.ir.ops.indexing import (
    INDICES,
    MASKS,
    BadIndex,
    Gather,
    Index,
    IndexPut,
    Scatter,
    SliceScatter,
    check_mask,
)
from webq8.ir.ops.rules import axis
from webq8.ir.types import BadArg, Ref

__all__: list[str] = []

_SAME = TensorArg(DTYPES, "*S", like="x")
_INDEX = TensorArg(INDICES, "*I")


def _emit(g: Builder, op: Op, *names: str) -> Ref:
    """Emits an op; messages about its index tensors have these names."""
    try:
        return g.emit(op)
    except BadIndex as e:
        raise BadArg(f"{names[e.position]}: {e}") from None


def _true_places(g: Builder, mask: Argument) -> Iterator[Ref]:
    """The indices of the elements for which a constant mask is true, one tensor for each axis of the mask."""
    assert mask.data is not None, "computed masks are told apart"
    places = [*compress(count(), mask.data)]
    for at, size in enumerate(mask.shape):
        step = numel(mask.shape[at + 1 :])
        yield g.constant(array("i", (place // step % size for place in places)).tobytes(), (len(places),), "int32")


def _indices(
    g: Builder, x: Argument, indices: Sequence[Argument | None]
) -> tuple[tuple[Ref, ...], tuple[int, ...], list[str]]:
    """Index tensors, axes and names of a list whose elements are one for each dimension of x, or None; masks take
    several."""
    refs, axes, names = list[Ref](), list[int](), list[str]()
    dim = 0
    for n, index in enumerate(indices):
        name = f"indices[{n}]"
        mask = index is not None and index.dtype in MASKS
        taken = len(index.shape) if index is not None and mask else 1
        if dim + taken > len(x.shape):
            raise BadArg(f"{name}: more indices than the {len(x.shape)} dimensions of {list(x.shape)}")
        if index is not None and mask:
            try:
                check_mask(index.shape, x.shape, dim)
            except BadArg as e:
                raise BadArg(f"{name}: {e}") from None
        if index is not None:
            found = [*_true_places(g, index)] if mask and index.data is not None else [index.ref]
            refs += found
            axes += range(dim, dim + len(found))
            names += [name] * len(found)
        dim += taken
    return tuple(refs), tuple(axes), names


# --- reading


@lowers(
    "aten.index.Tensor",
    "aten::index.Tensor_out",
    x=X,
    indices=TensorList((TensorArg((*INDICES, *MASKS), "...", optional=True, const_of=MASKS),)),
    out=result(),
)
def index(g: Builder, x: Argument, indices: tuple[Argument | None, ...]) -> Ref:
    """x[indices]: a tensor of indices for each dimension, broadcast; null takes all. A mask stands for the indices of
    what it is true for. An index that is computed and out of range becomes the nearest in range."""
    refs, axes, names = _indices(g, x, indices)
    return _emit(g, Index(x.ref, refs, axes, from_end=True), *names)


@lowers("aten.index_select.default", "aten::index_select.out", x=X, dim=DIM, index=_INDEX, out=result())
def index_select(g: Builder, x: Argument, dim: int, index: Argument) -> Ref:
    """y[…, i, …] = x[…, index[i], …] along `dim`."""
    at = axis(dim, len(x.shape))
    if len(index.shape) > 1 or (not x.shape and numel(index.shape) != 1):
        raise BadArg(f"an index {list(index.shape)} for {list(x.shape)}")
    flat = reshaped(g, index.ref, (numel(index.shape),))
    y = _emit(g, Index(reshaped(g, x.ref, x.shape or (1,)), (flat,), (at,)), "index")
    return y if x.shape else reshaped(g, y, ())


@lowers(
    "aten.embedding.default",
    "aten::embedding.out",
    weight=TensorArg(DTYPES, "N D"),
    indices=_INDEX,
    padding_idx=IGNORED,
    scale_grad_by_freq=IGNORED,
    sparse=IGNORED,
    out=result("weight"),
)
def embedding(g: Builder, weight: Argument, indices: Argument) -> Ref:
    """A row of `weight` for each of the indices."""
    return _emit(g, Index(weight.ref, (indices.ref,), (0,)), "indices")


@lowers("aten.gather.default", "aten::gather.out", x=X, dim=DIM, index=_INDEX, sparse_grad=IGNORED, out=result())
def gather(g: Builder, x: Argument, dim: int, index: Argument) -> Ref:
    """y[i, j, k] = x[index[i, j, k], j, k], that is with the index along `dim`."""
    return _emit(g, Gather(x.ref, index.ref, axis(dim, len(x.shape))), "index")


# --- writing


@lowers(
    "aten.index_put.default",
    "aten::index_put.out",
    x=X,
    indices=TensorList((TensorArg((*INDICES, *MASKS), "...", optional=True),)),
    values=TensorArg(DTYPES, "*V", like="x"),
    accumulate=Bool(default=False),
    out=_SAME,
)
def index_put(g: Builder, x: Argument, indices: tuple[Argument | None, ...], values: Argument, accumulate: bool) -> Ref:
    """x with x[indices] = values, or += values where they accumulate; in their order, where indices are equal."""
    refs, axes, names = _indices(g, x, indices)
    put = IndexPut(g.quantized(x.ref, None), refs, axes, g.quantized(values.ref, None), accumulate)
    return _emit(g, put, *names)


_SRC = TensorArg(DTYPES, "*V", like="x")


def _scatter(g: Builder, x: Argument, dim: int, index: Argument, src: Ref, *, add: bool = False) -> Ref:
    to, at = g.quantized(x.ref, None), axis(dim, len(x.shape))
    return _emit(g, Scatter(to, index.ref, g.quantized(src, None), at, add), "index")


def _source(index: Argument, src: Argument) -> Ref:
    """A source with an element for each of the index."""
    if not src.shape and numel(index.shape) != 1:
        raise BadArg(f"an index {list(index.shape)} for src {list(src.shape)}")
    return src.ref


@lowers("aten.scatter.src", "aten::scatter.src_out", x=X, dim=DIM, index=_INDEX, src=_SRC, out=_SAME)
def scatter(g: Builder, x: Argument, dim: int, index: Argument, src: Argument) -> Ref:
    """x with x[index[i, j, k], j, k] = src[i, j, k], that is with the index along `dim`; in order, where indices are
    equal."""
    return _scatter(g, x, dim, index, _source(index, src))


@lowers("aten.scatter.value", "aten::scatter.value_out", x=X, dim=DIM, index=_INDEX, value=NumberOrTruth(), out=_SAME)
def scatter_value(g: Builder, x: Argument, dim: int, index: Argument, value: float) -> Ref:
    """x with x[index[i, j, k], j, k] = value, that is with the index along `dim`."""
    element = element_bytes(value, x.dtype, "value")[: ITEMSIZE[x.dtype]]
    return _scatter(g, x, dim, index, g.constant(element, (), x.dtype))


@lowers("aten.scatter_add.default", "aten::scatter_add.out", x=X, dim=DIM, index=_INDEX, src=_SRC, out=_SAME)
def scatter_add(g: Builder, x: Argument, dim: int, index: Argument, src: Argument) -> Ref:
    """x with x[index[i, j, k], j, k] += src[i, j, k], that is with the index along `dim`; in order."""
    return _scatter(g, x, dim, index, _source(index, src), add=True)


def _put(g: Builder, x: Argument, src: Argument, at: int, places: range, replaced: tuple[int, ...]) -> Ref:
    """x with the elements at some indices along an axis replaced by src, which has the shape `replaced`."""
    if src.shape != replaced:
        raise BadArg(f"src {list(src.shape)} is not of the shape {list(replaced)} that it replaces")
    part = reshaped(g, g.quantized(src.ref, None), (*x.shape[:at], len(places), *x.shape[at + 1 :]))
    return g.emit(SliceScatter(g.quantized(x.ref, None), part, at, places.start, places.step))


@lowers(
    "aten.slice_scatter.default",
    "aten::slice_scatter.out",
    x=X,
    src=_SRC,
    dim=Int(default=0),
    start=Int(*INT64, absent=0, default=None),
    end=Int(*INT64, absent=INT64[1], default=None),
    step=Int(*INT64, default=1),
    out=_SAME,
)
def slice_scatter(g: Builder, x: Argument, src: Argument, dim: int, start: int, end: int, step: int) -> Ref:
    """x with x[start:end:step] = src along `dim`."""
    at, places = slice_range(x, dim, start, end, step)
    return _put(g, x, src, at, places, (*x.shape[:at], len(places), *x.shape[at + 1 :]))


@lowers(
    "aten.select_scatter.default",
    "aten::select_scatter.out",
    x=X,
    src=_SRC,
    dim=DIM,
    index=Int(*INT64),
    out=_SAME,
)
def select_scatter(g: Builder, x: Argument, src: Argument, dim: int, index: int) -> Ref:
    """x with x[index] = src along `dim`."""
    at, place = selected_index(x, dim, index)
    return _put(g, x, src, at, range(place, place + 1), (*x.shape[:at], *x.shape[at + 1 :]))
