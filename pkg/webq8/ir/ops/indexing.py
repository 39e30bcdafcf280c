"""Ops whose indices say where elements are read, or written.

Indices are int32 or int64. Constant ones must be in range; a GPU cannot refuse what it computes, so an index that comes
out of range there becomes the nearest that is in range.
"""

from collections.abc import Sequence
from itertools import pairwise

from webq8.dtypes import cast, numel
from webq8.errors import Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.move import moved
from webq8.ir.ops.rules import broadcast, check_rank
from webq8.ir.types import BadArg, Ref, Refs, Shape, Tensor

__all__ = [
    "INDICES",
    "MASKS",
    "MAX_INDICES",
    "BadIndex",
    "Gather",
    "Index",
    "IndexPut",
    "Scatter",
    "SliceScatter",
    "check_mask",
    "indexed_shape",
    "with_one",
]

INDICES = ("int64", "int32")  # dtypes of index tensors
MASKS = ("bool", "uint8")  # and of masks
MAX_INDICES = 6  # kernels have room for so many tensors


class BadIndex(BadArg):
    """What is wrong with an index tensor: the one at this position among an op's."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position


def _check_index(position: int, index: Tensor, axis: int, size: int, from_end: bool = False) -> None:
    """Raises BadIndex where an index along an axis is constant and out of range."""
    if numel(index.shape) and not size:
        raise BadIndex(position, f"there is nothing to index in dimension {axis}, of size 0")
    if index.data:
        numbers = cast(index.data, index.dtype)
        for n in (min(numbers), max(numbers)):
            if not (-size if from_end else 0) <= n < size:
                raise BadIndex(position, f"index {n} is outside of dimension {axis}, of size {size}")


def check_mask(mask: Shape, shape: Shape, axis: int) -> None:
    """Raises BadArg where a mask does not have the sizes of the dimensions from `axis` on."""
    dims = shape[axis : axis + len(mask)]
    if not mask or mask != dims:
        raise BadArg(f"a mask {list(mask)} for dimensions {list(dims)} from {axis} on")


def indexed_shape(shape: Shape, indices: Sequence[Shape], axes: Sequence[int]) -> tuple[Shape, list[int | None]]:
    """The shape of x[indices], and of each of its dimensions which of x it is: None for those of the indices, which
    stand where the indexed ones do, or first where these are not neighbours."""
    common = broadcast(*indices)
    kept: list[int | None] = [at for at in range(len(shape)) if at not in axes]
    first = axes[0] if all(b == a + 1 for a, b in pairwise(axes)) else 0
    dims = [*kept[:first], *[None] * len(common), *kept[first:]]
    sizes = iter(common)
    return check_rank(tuple(next(sizes) if at is None else shape[at] for at in dims)), dims


def with_one(shape: Shape, mask: Shape, axis: int) -> Shape:
    """A shape with one value in place of the dimensions of a mask."""
    return (*shape[:axis], 1, *shape[axis + len(mask) :])


def _check_indices(x: Tensor, indices: Sequence[Tensor], axes: Sequence[int], from_end: bool) -> None:
    if not indices:
        raise BadArg("there is no index")
    if len(indices) > MAX_INDICES:
        raise BadArg(f"{len(indices)} indexed dimensions; at most {MAX_INDICES} are supported", Unsupported)
    if [*axes] != sorted({*axes} & {*range(len(x.shape))}):
        raise BadArg(f"indices along dimensions {list(axes)} of {list(x.shape)}")
    for n, (index, at) in enumerate(zip(indices, axes, strict=True)):
        _check_index(n, index, at, x.shape[at], from_end)


class Index(Op):
    """x[…, indices[0], …, indices[1], …], the indices along axes, in ascending order, and broadcast against each other.

    With `from_end` negative indices count from the end.
    """

    x: Ref
    indices: Refs
    axes: tuple[int, ...]
    from_end: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, indices = types[self.x], [types[ref] for ref in self.indices]
        _check_indices(x, indices, self.axes, self.from_end)
        return (moved(x, indexed_shape(x.shape, [index.shape for index in indices], self.axes)[0]),)

    def exact(self, types: Types) -> bool:
        return True


def _check_along(index: Tensor, axis: int, other: Tensor, what: str) -> None:
    """The sizes of an index are at most those of another tensor, but for the axis that it goes along."""
    own, sizes = index.shape or (1,), other.shape or (1,)
    if len(sizes) != len(own) or any(i > s for n, (i, s) in enumerate(zip(own, sizes, strict=True)) if n != axis):
        raise BadArg(f"an index {list(index.shape)} for {what} {list(other.shape)}")


class Gather(Op):
    """y[i, j, k] = x[index[i, j, k], j, k], that is with the index along an axis; scalars have one axis."""

    x: Ref
    index: Ref
    axis: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, index = types[self.x], types[self.index]
        _check_along(index, self.axis, x, "x")
        _check_index(0, index, self.axis, (x.shape or (1,))[self.axis])
        return (moved(x, index.shape),)

    def exact(self, types: Types) -> bool:
        return True


class _Write(Op):
    """x with some of its elements replaced, or added to; in order, where one is written to several times.

    int8 tensors are of plain integers.
    """

    x: Ref

    def _check_source(self, types: Types, source: Ref) -> None:
        if types[source].dtype != types[self.x].dtype:
            raise BadArg(f"{types[source].dtype} cannot be written to {types[self.x].dtype}", Unsupported)

    def _result(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        return (Tensor(check_rank(x.shape), x.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class IndexPut(_Write):
    """x with x[…, indices[0], …] = values, or += values where they accumulate.

    Negative indices count from the end. In place of all indices there may be a mask, with one value for all elements
    that it is true for.
    """

    indices: Refs
    axes: tuple[int, ...]
    values: Ref
    accumulate: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, indices, values = types[self.x], [types[ref] for ref in self.indices], types[self.values].shape
        self._check_source(types, self.values)
        masked = any(index.dtype in MASKS for index in indices)
        if masked:
            if len(indices) > 1:
                raise BadArg("a mask that is computed is not supported beside other indices", Unsupported)
            check_mask(indices[0].shape, x.shape, self.axes[0])
            shape = with_one(x.shape, indices[0].shape, self.axes[0])
        else:
            _check_indices(x, indices, self.axes, from_end=True)
            shape = indexed_shape(x.shape, [index.shape for index in indices], self.axes)[0]
        given = (1,) * (len(shape) - len(values)) + values
        if len(given) > len(shape) or any(v not in (1, s) for v, s in zip(given, shape, strict=True)):
            places = "of one value for all that a computed mask is true for" if masked else "that is written"
            raise BadArg(f"values {list(values)} do not broadcast to {list(shape)}, the shape {places}")
        return self._result(types)


class Scatter(_Write):
    """x with x[index[i, j, k], j, k] = source[i, j, k], or +=, that is with the index along an axis.

    A scalar source serves all places.
    """

    index: Ref
    source: Ref
    axis: int
    accumulate: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, index, source = types[self.x], types[self.index], types[self.source]
        self._check_source(types, self.source)
        _check_along(index, self.axis, x, "x")
        if source.shape:
            _check_along(index, -1, source, "src")
        _check_index(0, index, self.axis, (x.shape or (1,))[self.axis])
        return self._result(types)

    def exact(self, types: Types) -> bool:
        return not self.accumulate or types[self.x].dtype != "float32"


class SliceScatter(_Write):
    """x with x[…, start + i · step, …] = source[…, i, …] along an axis."""

    source: Ref
    axis: int
    start: int
    step: int = 1

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, source, at = types[self.x], types[self.source].shape, self.axis
        self._check_source(types, self.source)
        count = source[at] if at < len(source) else 0
        if (*x.shape[:at], count, *x.shape[at + 1 :]) != source:
            raise BadArg(f"src {list(source)} does not fit {list(x.shape)} but for dimension {at}")
        if count and not 0 <= self.start <= self.start + (count - 1) * self.step < x.shape[at]:
            raise BadArg(f"{count} places from {self.start} on are outside of dimension {at} of {list(x.shape)}")
        return self._result(types)
