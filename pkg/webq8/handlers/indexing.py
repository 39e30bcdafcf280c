"""Ops whose indices say where elements are read, or written.

An index tensor's elements are int32 or int64. A constant one is checked when a file is loaded; the GPU cannot refuse
what it computes, so an index that comes out of range there becomes the nearest that is in range.
"""

import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Any

from webq8.dtypes import ITEMSIZE, cast, cdiv, numel
from webq8.errors import Unsupported
from webq8.handlers.elementwise import broadcast
from webq8.handlers.registry import IGNORED, Args, BadArg, Bool, Int, Operand, TensorArg, TensorList, axis, op
from webq8.handlers.shape import (
    DTYPES,
    INT64,
    Axis,
    NumberOrTruth,
    axes_of,
    broadcast_strides,
    check_rank,
    contiguous,
    filler,
    insert,
    merged,
    scaled,
    slice_range,
    strided_copy,
)
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []

_TENSORS = 6  # bindings of wgsl/indices.wgsl
_REPLACE, _ADD_FLOATS, _ADD_INTEGERS, _ADD_TRUTHS = range(4)  # constants of wgsl/index_write.wgsl

_X = TensorArg(DTYPES, "*S", "plain")
_OUT = TensorArg(DTYPES, "*O", "plain", like="x")
_SAME = TensorArg(DTYPES, "*S", "plain", like="x")
_DIM = Int()
_INDEX_DTYPES = ("int64", "int32")
_INDEX = TensorArg(_INDEX_DTYPES, "*I")
_MASK_DTYPES = ("bool", "uint8")


@dataclass(frozen=True)
class _Index:
    """One index for each axis that is indexed: which, of what size, and where in memory it lies; or a mask, which is
    computed, on several axes."""

    axis: int
    size: int
    shape: tuple[int, ...]
    source: int | Const
    words: int  # of an index; 0 for a mask
    negative: bool = False  # whether −1 is the last

    @property
    def axes(self) -> range:
        return range(self.axis, self.axis + (1 if self.words else len(self.shape)))


def _index(name: str, operand: Operand, at: int, size: int, negative: bool = False) -> _Index:
    """An index tensor along axis `at`. Raises BadArg where it is constant and out of range."""
    tensor = operand.tensor
    if numel(tensor.shape) and not size:
        raise BadArg(f"{name}: there is nothing to index in dimension {at}, of size 0")
    if tensor.data:
        numbers = cast(tensor.data, tensor.dtype)
        for n in (min(numbers), max(numbers)):
            if not (-size if negative else 0) <= n < size:
                raise BadArg(f"{name}: index {n} is outside of dimension {at}, of size {size}")
    return _Index(at, size, tensor.shape, operand.id, ITEMSIZE[tensor.dtype] // 4, negative)


def _true_places(mask: Operand, at: int) -> list[_Index]:
    """A constant mask as the indices, one for each of its axes, of the elements that it is true for."""
    assert mask.tensor.data is not None
    places = [*compress(count(), mask.tensor.data)]

    def along(step: int, size: int) -> Const:
        return Const(array("i", (place // step % size for place in places)).tobytes())

    return [
        _Index(at + n, size, (len(places),), along(step, size), 1)
        for n, (step, size) in enumerate(zip(contiguous(mask.shape), mask.shape, strict=True))
    ]


def _indices(a: Args) -> list[_Index]:
    """The index tensors of a list whose elements are one for each dimension of x, or None; masks take several."""
    found: list[_Index] = []
    dim = 0
    check_rank(a.S)
    for n, operand in enumerate(a.indices):
        name = f"indices[{n}]"
        mask = operand is not None and operand.tensor.dtype in _MASK_DTYPES
        taken = len(operand.shape) if mask else 1
        if dim + taken > len(a.S):
            raise BadArg(f"{name}: more indices than the {len(a.S)} dimensions of {list(a.S)}")
        if mask and (not taken or operand.shape != a.S[dim : dim + taken]):
            raise BadArg(
                f"{name}: a mask {list(operand.shape)} for dimensions {list(a.S[dim : dim + taken])} from {dim} on"
            )
        if mask and operand.tensor.data is not None:
            found += _true_places(operand, dim)
        elif mask:
            found.append(_Index(dim, 0, operand.shape, operand.id, 0))
        elif operand is not None:
            found.append(_index(name, operand, dim, a.S[dim], negative=True))
        dim += taken
    if not found:
        raise BadArg("there is no index")
    if len(found) > _TENSORS:
        raise BadArg(f"{len(found)} indexed dimensions; at most {_TENSORS} are supported", Unsupported)
    return found


def _indexed_shape(shape: Sequence[int], indices: Sequence[_Index]) -> tuple[tuple[int, ...], list[int | None]]:
    """The shape of x[indices], and of each of its dimensions which of x it is: None for those of the indices, which
    stand where the indexed ones do, or first where these are not neighbours."""
    common = broadcast(*(index.shape for index in indices))
    axes = [at for index in indices for at in index.axes]
    kept: list[int | None] = [at for at in range(len(shape)) if at not in axes]
    first = axes[0] if axes == [*range(axes[0], axes[0] + len(axes))] else 0
    dims = [*kept[:first], *[None] * len(common), *kept[first:]]
    sizes = iter(common)
    return check_rank(tuple(next(sizes) if at is None else shape[at] for at in dims)), dims


def _bound(indices: Sequence[_Index]) -> dict[str, int | Const]:
    """Index tensors by binding; those that are not there are one word."""
    sources = [index.source for index in indices] + [Const(bytes(4))] * (_TENSORS - len(indices))
    return {f"i{n}": source for n, source in enumerate(sources)}


def _strides(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    """Axes of a loop through data and up to six index tensors."""
    return axes_of(sizes, *strides, *[[0] * len(sizes)] * (1 + _TENSORS - len(strides)))


def _params(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(n for a in axes for n in (a.size, *a.strides))


def _read(x: Operand, out: Operand, axes: Sequence[Axis], indices: Sequence[_Index]) -> Dispatch:
    """y through `axes`, from x where the `indices` say."""
    steps = contiguous(x.shape)
    jumps = [steps[index.axis] if x.shape else 1 for index in indices]
    loop, jumps, as_bytes = scaled(merged(axes), jumps, ITEMSIZE[x.tensor.dtype], 1 + _TENSORS)
    count = numel(tuple(a.size for a in loop))
    indexed = zip(indices, jumps, strict=True)
    params: dict[str, Param] = {
        "count": count,
        "rank": len(loop),
        "tensors": len(indices),
        "indexed": tuple(n for i, jump in indexed for n in (i.size, jump, i.words, int(i.negative))),
        "axes": _params(loop),
    }
    threads = cdiv(count, 4) if as_bytes else count
    return Dispatch("index_read", {**_bound(indices), "x": x.id, "y": out.id}, params, threads, {"bytes": as_bytes})


def _copy(x: Operand, out: Operand) -> Dispatch:
    return strided_copy(x.id, out.id, ITEMSIZE[x.tensor.dtype], axes_of((numel(x.shape),), (1,)))


def _write(
    out: Operand,
    values: int | Const,
    axes: Sequence[Axis],
    writes: Sequence[Axis],
    indices: Sequence[_Index],
    operation: int,
) -> Dispatch:
    """`values` into y where the `indices` say. `axes` go through y, `writes` through what an element may be written."""
    steps, item = contiguous(out.shape), ITEMSIZE[out.tensor.dtype]
    own, each = merged(axes), merged(writes)
    count = numel(out.shape)
    params: dict[str, Param] = {
        "count": count,
        "rank": len(own),
        "writes": numel(tuple(a.size for a in writes)),
        "write_rank": len(each),
        "tensors": len(indices),
        "indexed": tuple(n for i in indices for n in (i.size, steps[i.axis] if steps else 1, i.words, int(i.negative))),
        "ends": tuple(a.high for a in own),
        "axes": _params([*own, *each]),
    }
    bind = {**_bound(indices), "values": values, "y": out.id}
    threads = cdiv(count, 4) if item == 1 else count
    return Dispatch("index_write", bind, params, threads, {"item": item, "operation": operation})


# --- reading


def _indexed(a: Args) -> Mapping[str, Any]:
    return {"O": _indexed_shape(a.S, _indices(a))[0]}


@op(
    "aten.index.Tensor",
    "aten::index.Tensor_out",
    x=_X,
    indices=TensorList((TensorArg((*_INDEX_DTYPES, *_MASK_DTYPES), "...", optional=True, const_of=_MASK_DTYPES),)),
    out=_OUT,
    derive=_indexed,
)
def index(a: Args) -> Iterator[Dispatch]:
    """x[indices]: a tensor of indices for each dimension, broadcast; null takes all. A mask stands for the indices of
    what it is true for. An index that is computed and out of range becomes the nearest in range."""
    indices, steps = _indices(a), contiguous(a.S)
    shape, dims = _indexed_shape(a.S, indices)
    common = tuple(size for size, at in zip(shape, dims, strict=True) if at is None)
    through: list[list[int]] = []
    for i in indices:
        along = iter(broadcast_strides(i.shape, common))
        through.append([next(along) if at is None else 0 for at in dims])
    yield _read(a.x, a.out, _strides(shape, [0 if at is None else steps[at] for at in dims], *through), indices)


def _one_index(a: Args, dim: int, operand: Operand) -> _Index:
    return _index("index", operand, dim, a.S[dim] if a.S else 1)


def _index_selected(a: Args) -> Mapping[str, Any]:
    dim = axis(a.dim, len(check_rank(a.S)))
    if len(a.I) > 1 or (not a.S and numel(a.I) != 1):
        raise BadArg(f"an index {list(a.I)} for {list(a.S)}")
    _one_index(a, dim, a.index)
    return {"O": (*a.S[:dim], numel(a.I), *a.S[dim + 1 :]) if a.S else ()}


@op(
    "aten.index_select.default",
    "aten::index_select.out",
    x=_X,
    dim=_DIM,
    index=_INDEX,
    out=_OUT,
    derive=_index_selected,
)
def index_select(a: Args) -> Iterator[Dispatch]:
    """y[…, i, …] = x[…, index[i], …] along `dim`."""
    dim, steps = axis(a.dim, len(a.S)), contiguous(a.S)
    along = [int(at == dim) for at in range(len(a.O))]
    axes = _strides(a.O, [0 if at == dim else step for at, step in enumerate(steps)], along)
    yield _read(a.x, a.out, axes, [_one_index(a, dim, a.index)])


def _embedded(a: Args) -> Mapping[str, Any]:
    _index("indices", a.indices, 0, a.N)
    return {"O": check_rank((*a.I, a.D))}


@op(
    "aten.embedding.default",
    "aten::embedding.out",
    weight=TensorArg(DTYPES, "N D", "plain"),
    indices=_INDEX,
    padding_idx=IGNORED,
    scale_grad_by_freq=IGNORED,
    sparse=IGNORED,
    out=TensorArg(DTYPES, "*O", "plain", like="weight"),
    derive=_embedded,
)
def embedding(a: Args) -> Iterator[Dispatch]:
    """A row of `weight` for each of the indices."""
    axes = _strides(a.O, [0] * len(a.I) + [1], [*contiguous(a.I), 0])
    yield _read(a.weight, a.out, axes, [_index("indices", a.indices, 0, a.N)])


def _along(a: Args, other: tuple[int, ...], what: str) -> int:
    """The axis that an index goes along; its other sizes are at most those of `other`."""
    dim = axis(a.dim, len(check_rank(a.S)))
    shape, own = other or (1,), a.I or (1,)
    if len(shape) != len(own) or any(i > s for n, (i, s) in enumerate(zip(own, shape, strict=True)) if n != dim):
        raise BadArg(f"an index {list(a.I)} for {what} {list(other)}")
    return dim


def _gathered(a: Args) -> Mapping[str, Any]:
    _one_index(a, _along(a, a.S, "x"), a.index)
    return {"O": a.I}


@op(
    "aten.gather.default",
    "aten::gather.out",
    x=_X,
    dim=_DIM,
    index=_INDEX,
    sparse_grad=IGNORED,
    out=_OUT,
    derive=_gathered,
)
def gather(a: Args) -> Iterator[Dispatch]:
    """y[i, j, k] = x[index[i, j, k], j, k], that is with the index along `dim`."""
    dim, steps = axis(a.dim, len(a.S)), contiguous(a.S) or [1]
    axes = _strides(a.I, [0 if at == dim else steps[at] for at in range(len(a.I))], contiguous(a.I))
    yield _read(a.x, a.out, axes, [_one_index(a, dim, a.index)])


# --- writing


def _check_put(a: Args) -> None:
    indices = _indices(a)
    masks = [i for i in indices if not i.words]
    if masks and len(indices) > 1:
        raise BadArg("a mask that is computed is not supported beside other indices", Unsupported)
    # how many elements a computed mask is true for is not known: one value serves all
    shape = _with_one(a.S, masks[0]) if masks else _indexed_shape(a.S, indices)[0]
    given = (1,) * (len(shape) - len(a.V)) + a.V
    if len(given) > len(shape) or any(v not in (1, s) for v, s in zip(given, shape, strict=True)):
        places = "of one value for all that a computed mask is true for" if masks else "that is written"
        raise BadArg(f"values {list(a.V)} do not broadcast to {list(shape)}, the shape {places}")


def _with_one(shape: tuple[int, ...], mask: _Index) -> tuple[int, ...]:
    """A shape with one value in place of the dimensions of a mask."""
    return (*shape[: mask.axis], 1, *shape[mask.axes.stop :])


def _operation(a: Args, add: bool) -> int:
    kinds = {"float32": _ADD_FLOATS, "bool": _ADD_TRUTHS}
    return kinds.get(a.x.tensor.dtype, _ADD_INTEGERS) if add else _REPLACE


@op(
    "aten.index_put.default",
    "aten::index_put.out",
    x=_X,
    indices=TensorList((TensorArg((*_INDEX_DTYPES, *_MASK_DTYPES), "...", optional=True),)),
    values=TensorArg(DTYPES, "*V", "plain", like="x"),
    accumulate=Bool(default=False),
    out=_SAME,
    check=_check_put,
)
def index_put(a: Args) -> Iterator[Dispatch]:
    """x with x[indices] = values, or += values where they accumulate; in their order, where indices are equal."""
    yield _copy(a.x, a.out)
    indices, operation = _indices(a), _operation(a, a.accumulate)
    if not indices[0].words:  # a mask, which each element reads at its own place
        [mask] = indices
        steps = broadcast_strides(a.V, _with_one(a.S, mask))
        own = [*steps[: mask.axis], *[0] * len(mask.axes), *steps[mask.axis + 1 :]]
        through = [0] * mask.axis + contiguous(mask.shape) + [0] * (len(a.S) - mask.axes.stop)
        yield _write(a.out, a.values.id, _strides(a.S, own, through), [], indices, operation)
        return
    shape, dims = _indexed_shape(a.S, indices)
    own, each = [0] * len(a.S), list[int]()
    for at, step in zip(dims, broadcast_strides(a.V, shape), strict=True):
        if at is None:
            each.append(step)
        else:
            own[at] = step
    common = tuple(size for size, at in zip(shape, dims, strict=True) if at is None)
    writes = _strides(common, each, *(broadcast_strides(i.shape, common) for i in indices))
    if numel(common):
        yield _write(a.out, a.values.id, _strides(a.S, own), writes, indices, operation)


def _scattered(a: Args) -> Mapping[str, Any]:
    dim = _along(a, a.S, "x")
    if "V" in vars(a):
        shape, own = a.V or (1,), a.I or (1,)
        if len(shape) != len(own) or any(i > s for i, s in zip(own, shape, strict=True)):
            raise BadArg(f"an index {list(a.I)} for src {list(a.V)}")
    else:
        filler(a.value, a.x.tensor.dtype, "value")
    _one_index(a, dim, a.index)
    return {"O": a.S}


def _scatter(a: Args, values: int | Const, add: bool) -> Iterator[Dispatch]:
    yield _copy(a.x, a.out)
    dim, shape = axis(a.dim, len(a.S)), a.S or (1,)
    ends, along = a.I or (1,), contiguous(a.I) or [1]
    steps = (contiguous(a.V) or [1]) if "V" in vars(a) else [0] * len(shape)
    fixed = [at != dim for at in range(len(shape))]
    axes = [
        item._replace(high=end if here else size)
        for item, size, end, here in zip(
            _strides(
                shape,
                [step * here for step, here in zip(steps, fixed, strict=True)],
                [step * here for step, here in zip(along, fixed, strict=True)],
            ),
            shape,
            ends,
            fixed,
            strict=True,
        )
    ]
    writes = _strides((ends[dim],), (steps[dim],), (along[dim],))
    if numel(a.I):
        yield _write(a.out, values, axes, writes, [_one_index(a, dim, a.index)], _operation(a, add))


_SRC = TensorArg(DTYPES, "*V", "plain", like="x")
_SCATTERED: dict[str, Any] = {"out": _SAME, "derive": _scattered}


@op("aten.scatter.src", "aten::scatter.src_out", x=_X, dim=_DIM, index=_INDEX, src=_SRC, **_SCATTERED)
def scatter(a: Args) -> Iterator[Dispatch]:
    """x with x[index[i, j, k], j, k] = src[i, j, k], that is with the index along `dim`; in order, where indices are
    equal."""
    yield from _scatter(a, a.src.id, add=False)


@op("aten.scatter.value", "aten::scatter.value_out", x=_X, dim=_DIM, index=_INDEX, value=NumberOrTruth(), **_SCATTERED)
def scatter_value(a: Args) -> Iterator[Dispatch]:
    """x with x[index[i, j, k], j, k] = value, that is with the index along `dim`."""
    yield from _scatter(a, Const(filler(a.value, a.x.tensor.dtype, "value")), add=False)


@op("aten.scatter_add.default", "aten::scatter_add.out", x=_X, dim=_DIM, index=_INDEX, src=_SRC, **_SCATTERED)
def scatter_add(a: Args) -> Iterator[Dispatch]:
    """x with x[index[i, j, k], j, k] += src[i, j, k], that is with the index along `dim`; in order."""
    yield from _scatter(a, a.src.id, add=True)


def _put_slice(a: Args, dim: int, taken: range) -> Iterator[Dispatch]:
    """x with the slice `taken` along `dim` replaced."""
    yield _copy(a.x, a.out)
    item, steps = ITEMSIZE[a.x.tensor.dtype], contiguous(a.S)
    outer, inner = numel(a.S[:dim]), steps[dim]
    if not taken or not numel(a.S):
        return
    if taken.step == 1:
        yield insert(a.src.id, a.out.id, item, outer, len(taken) * inner, taken.start * inner, a.S[dim] * inner)
    elif item == 1:
        # bytes that are not neighbours: threads write whole words of y, and look up what goes there
        places = Const(struct.pack(f"<{len(taken)}i", *taken))
        axes = _strides((outer, a.S[dim], inner), (len(taken) * inner, 0, 1))
        index = _Index(dim, a.S[dim], (len(taken),), places, 1)
        yield _write(a.out, a.src.id, axes, _strides((len(taken),), (inner,), (1,)), [index], _REPLACE)
    else:
        axes = axes_of((outer, len(taken), inner), (a.S[dim] * inner, taken.step * inner, 1))
        yield strided_copy(a.src.id, a.out.id, item, axes, taken.start * inner, insert=True)


def _check_slice(a: Args) -> None:
    dim, taken = slice_range(a)
    shape = (*a.S[:dim], len(taken), *a.S[dim + 1 :])
    if shape != a.V:
        raise BadArg(f"src {list(a.V)} is not of the shape {list(shape)} that it replaces")


@op(
    "aten.slice_scatter.default",
    "aten::slice_scatter.out",
    x=_X,
    src=_SRC,
    dim=Int(default=0),
    start=Int(*INT64, absent=0, default=None),
    end=Int(*INT64, absent=INT64[1], default=None),
    step=Int(*INT64, default=1),
    out=_SAME,
    check=_check_slice,
)
def slice_scatter(a: Args) -> Iterator[Dispatch]:
    """x with x[start:end:step] = src along `dim`."""
    yield from _put_slice(a, *slice_range(a))


def _check_select(a: Args) -> None:
    if not a.S:
        raise BadArg("a scalar has no dimension to select from")
    dim = axis(a.dim, len(check_rank(a.S)))
    if not -a.S[dim] <= a.index < a.S[dim]:
        raise BadArg(f"index = {a.index} is outside of dimension {dim} of {list(a.S)}")
    shape = (*a.S[:dim], *a.S[dim + 1 :])
    if shape != a.V:
        raise BadArg(f"src {list(a.V)} is not of the shape {list(shape)} that it replaces")


@op(
    "aten.select_scatter.default",
    "aten::select_scatter.out",
    x=_X,
    src=_SRC,
    dim=_DIM,
    index=Int(*INT64),
    out=_SAME,
    check=_check_select,
)
def select_scatter(a: Args) -> Iterator[Dispatch]:
    """x with x[index] = src along `dim`."""
    dim = axis(a.dim, len(a.S))
    start = a.index % a.S[dim]
    yield from _put_slice(a, dim, range(start, start + 1))
