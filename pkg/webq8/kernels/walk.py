"""Walks over the elements of row-major tensors: what kernels that number elements by their coordinates are given."""

from collections.abc import Sequence
from typing import NamedTuple

from webq8.dtypes import numel
from webq8.ir.plan import Param
from webq8.ir.types import Shape

__all__ = ["Axis", "axes_of", "broadcast_params", "broadcast_strides", "contiguous", "merged"]


class Axis(NamedTuple):
    """An axis of a loop over elements: how far each step goes in each tensor (0: stays), and which of its coordinates,
    `low` to before `high`, have an element there."""

    size: int
    strides: tuple[int, ...]
    low: int
    high: int

    @property
    def full(self) -> bool:
        return (self.low, self.high) == (0, self.size)


def axes_of(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    return [Axis(size, steps, 0, size) for size, *rest in zip(sizes, *strides, strict=True) for steps in [tuple(rest)]]


def contiguous(shape: Sequence[int]) -> list[int]:
    """Strides of a row-major tensor."""
    return [numel(tuple(shape[i + 1 :])) for i in range(len(shape))]


def broadcast_strides(shape: Sequence[int], out: Sequence[int]) -> list[int]:
    """Strides that read a row-major tensor of `shape` as if it had the shape `out`."""
    steps = [0 if size == 1 else step for size, step in zip(shape, contiguous(shape), strict=True)]
    return [0] * (len(out) - len(shape)) + steps


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same loop with as few axes as possible, the innermost first."""
    result: list[Axis] = []
    for a in reversed(axes):
        inner = result[-1] if result else None
        if a.size == 1 and a.full:
            continue
        if inner and inner.full and a.strides == tuple(step * inner.size for step in inner.strides):
            size = inner.size
            result[-1] = Axis(a.size * size, inner.strides, a.low * size, a.high * size)
        else:
            result.append(a)
    return result


def broadcast_params(out: Shape, *shapes: Shape) -> dict[str, Param]:
    """Params of a walk over the elements of `out` that reads up to three tensors of shapes that broadcast to it: the
    size of each axis, and its stride in each of them."""
    axes = merged(axes_of(out, *(broadcast_strides(shape, out) for shape in shapes)))
    spare = (0,) * (3 - len(shapes))
    return {
        "count": numel(out),
        "rank": len(axes),
        "axes": tuple(n for axis in axes for n in (axis.size, *axis.strides, *spare)),
    }
