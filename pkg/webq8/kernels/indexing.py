"""Elements that index tensors name, read or written (wgsl/index_read.wgsl and index_write.wgsl)."""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.indexing import (
    MASKS,
    MAX_INDICES,
    Gather,
    Index,
    IndexPut,
    Scatter,
    SliceScatter,
    indexed_shape,
    with_one,
)
from webq8.ir.plan import Const, Dispatch, Param
from webq8.kernels.registry import Call, Operand, kernel
from webq8.kernels.strided import insert, scaled, strided_copy
from webq8.kernels.walk import Axis, axes_of, axes_params, broadcast_strides, contiguous, merged

__all__: list[str] = []


class _Index(NamedTuple):
    """An index tensor or a mask: the axis that it indexes, the size of that, and its own shape and memory."""

    axis: int
    size: int
    shape: tuple[int, ...]
    source: int | Const
    words: int  # of an index; 0 for a mask
    from_end: bool = False  # whether −1 is the last


def _along(index: Operand, axis: int, size: int, from_end: bool = False) -> _Index:
    return _Index(axis, size, index.shape, index.id, ITEMSIZE[index.dtype] // 4, from_end)


def _bound(indices: Sequence[_Index]) -> dict[str, int | Const]:
    """Index tensors by the names of their bindings, of which spare ones get a word."""
    sources = [index.source for index in indices] + [Const(bytes(4))] * (MAX_INDICES - len(indices))
    return {f"i{n}": source for n, source in enumerate(sources)}


def _axes(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    """Axes of a loop through data and up to six index tensors, of which spare ones stay where they are."""
    return axes_of(sizes, *strides, *[[0] * len(sizes)] * (1 + MAX_INDICES - len(strides)))


def _indexed_params(indices: Sequence[_Index], jumps: Sequence[int]) -> tuple[int, ...]:
    """The `indexed` of Params: of each index the size of its axis, the stride of that in the data (its jump), how many
    words it has, and whether it may count from the end."""
    indexed = zip(indices, jumps, strict=True)
    return tuple(n for i, jump in indexed for n in (i.size, jump, i.words, int(i.from_end)))


def _read(x: Operand, y: Operand, axes: Sequence[Axis], indices: Sequence[_Index]) -> Dispatch:
    """y in row-major order: the elements of x that `indices` name, which are read along `axes`."""
    strides = contiguous(x.shape) or [1]
    jumps = [strides[index.axis] for index in indices]
    loop, jumps, as_bytes = scaled(merged(axes), jumps, ITEMSIZE[x.dtype], 1 + MAX_INDICES)
    count = numel(tuple(a.size for a in loop))
    params: dict[str, Param] = {
        "count": count,
        "rank": len(loop),
        "tensors": len(indices),
        "indexed": _indexed_params(indices, jumps),
        "axes": axes_params(loop),
    }
    threads = cdiv(count, 4) if as_bytes else count
    return Dispatch("index_read", {**_bound(indices), "x": x.id, "y": y.id}, params, threads, {"bytes": as_bytes})


def _copy(x: Operand, y: Operand) -> Dispatch:
    return strided_copy(x.id, y.id, ITEMSIZE[x.dtype], axes_of((numel(x.shape),), (1,)))


def _write(
    y: Operand,
    values: Operand,
    axes: Sequence[Axis],
    writes: Sequence[Axis],
    indices: Sequence[_Index],
    operation: str,
) -> Dispatch:
    """`values` go to the elements of y that `indices` name. `axes` are a loop over y, `writes` one over all that may be
    written to an element."""
    strides, item = contiguous(y.shape) or [1], ITEMSIZE[y.dtype]
    own, each = merged(axes), merged(writes)
    count = numel(y.shape)
    params: dict[str, Param] = {
        "count": count,
        "rank": len(own),
        "writes": numel(tuple(a.size for a in writes)),
        "write_rank": len(each),
        "tensors": len(indices),
        "indexed": _indexed_params(indices, [strides[index.axis] for index in indices]),
        "ends": tuple(a.high for a in own),
        "axes": axes_params([*own, *each]),
    }
    bind = {**_bound(indices), "values": values.id, "y": y.id}
    threads = cdiv(count, 4) if item == 1 else count
    return Dispatch("index_write", bind, params, threads, {"item": item, "operation": operation})


def _operation(dtype: str, accumulate: bool) -> str:
    """What a write does to an element, as wgsl/index_write.wgsl calls it."""
    kinds = {"float32": "ADD_FLOATS", "bool": "ADD_TRUTHS"}
    return kinds.get(dtype, "ADD_INTEGERS") if accumulate else "REPLACE"


# --- reading


@kernel(Index, layout="plain")
def index(op: Index, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    strides = contiguous(x.shape)
    indices = [_along(call[ref], at, x.shape[at], op.from_end) for ref, at in zip(op.indices, op.axes, strict=True)]
    shape, dims = indexed_shape(x.shape, [i.shape for i in indices], op.axes)
    common = tuple(size for size, at in zip(shape, dims, strict=True) if at is None)
    through: list[list[int]] = []
    for i in indices:
        along = iter(broadcast_strides(i.shape, common))
        through.append([next(along) if at is None else 0 for at in dims])
    yield _read(x, call.out, _axes(shape, [0 if at is None else strides[at] for at in dims], *through), indices)


@kernel(Gather, layout="plain")
def gather(op: Gather, call: Call) -> Iterator[Dispatch]:
    x, index = call[op.x], call[op.index]
    strides = contiguous(x.shape) or [1]
    own = [0 if at == op.axis else strides[at] for at in range(len(index.shape))]
    axes = _axes(index.shape, own, contiguous(index.shape))
    yield _read(x, call.out, axes, [_along(index, op.axis, (x.shape or (1,))[op.axis])])


# --- writing


@kernel(IndexPut, layout="plain")
def index_put(op: IndexPut, call: Call) -> Iterator[Dispatch]:
    x, values, y = call[op.x], call[op.values], call.out
    yield _copy(x, y)
    indices, operation = [call[ref] for ref in op.indices], _operation(x.dtype, op.accumulate)
    if indices[0].dtype in MASKS:  # each element reads it at its own place
        yield _masked_write(y, values, indices[0], op.axes[0], operation)
        return
    shape, dims = indexed_shape(x.shape, [i.shape for i in indices], op.axes)
    own, each = [0] * len(x.shape), list[int]()
    for at, step in zip(dims, broadcast_strides(values.shape, shape), strict=True):
        if at is None:
            each.append(step)
        else:
            own[at] = step
    common = tuple(size for size, at in zip(shape, dims, strict=True) if at is None)
    writes = _axes(common, each, *(broadcast_strides(i.shape, common) for i in indices))
    if numel(common):
        places = [_along(i, at, x.shape[at], from_end=True) for i, at in zip(indices, op.axes, strict=True)]
        yield _write(y, values, _axes(x.shape, own), writes, places, operation)


def _masked_write(y: Operand, values: Operand, mask: Operand, axis: int, operation: str) -> Dispatch:
    rank, end = len(mask.shape), axis + len(mask.shape)
    strides = broadcast_strides(values.shape, with_one(y.shape, mask.shape, axis))
    own = [*strides[:axis], *[0] * rank, *strides[axis + 1 :]]
    through = [0] * axis + contiguous(mask.shape) + [0] * (len(y.shape) - end)
    place = _Index(axis, 0, mask.shape, mask.id, 0)
    return _write(y, values, _axes(y.shape, own, through), [], [place], operation)


@kernel(Scatter, layout="plain")
def scatter(op: Scatter, call: Call) -> Iterator[Dispatch]:
    x, index, source, y = call[op.x], call[op.index], call[op.source], call.out
    yield _copy(x, y)
    if not numel(index.shape):
        return
    shape, ends, along = x.shape or (1,), index.shape or (1,), contiguous(index.shape) or [1]
    strides = contiguous(source.shape) or [0] * len(shape)
    fixed = [at != op.axis for at in range(len(shape))]
    loop = _axes(
        shape,
        [step * here for step, here in zip(strides, fixed, strict=True)],
        [step * here for step, here in zip(along, fixed, strict=True)],
    )
    axes = [item._replace(high=end if here else item.size) for item, end, here in zip(loop, ends, fixed, strict=True)]
    writes = _axes((ends[op.axis],), (strides[op.axis],), (along[op.axis],))
    place = _along(index, op.axis, shape[op.axis])
    yield _write(y, source, axes, writes, [place], _operation(x.dtype, op.accumulate))


@kernel(SliceScatter, layout="plain")
def slice_scatter(op: SliceScatter, call: Call) -> Iterator[Dispatch]:
    x, source, y = call[op.x], call[op.source], call.out
    yield _copy(x, y)
    item, size, count = ITEMSIZE[x.dtype], x.shape[op.axis], source.shape[op.axis]
    outer, inner = numel(x.shape[: op.axis]), contiguous(x.shape)[op.axis]
    if not numel(source.shape):
        return
    if op.step == 1:
        yield insert(source.id, y.id, item, outer, count * inner, op.start * inner, size * inner)
    elif item == 1:
        # bytes that are not neighbours: threads write whole words of y, and look up what goes there
        taken = range(op.start, op.start + count * op.step, op.step)
        places = _Index(op.axis, size, (count,), Const(struct.pack(f"<{count}i", *taken)), 1)
        axes = _axes((outer, size, inner), (count * inner, 0, 1))
        yield _write(y, source, axes, _axes((count,), (inner,), (1,)), [places], "REPLACE")
    else:
        axes = axes_of((outer, count, inner), (size * inner, op.step * inner, 1))
        yield strided_copy(source.id, y.id, item, axes, op.start * inner, insert=True)
