"""Loops over the elements of tensors: the axes of a loop, and how far a step along each goes in each tensor."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from webq8.dtypes import numel
from webq8.ir.plan import Param
from webq8.ir.types import Shape

__all__ = [
    "Axis",
    "axes_of",
    "axes_params",
    "broadcast_params",
    "broadcast_strides",
    "contiguous",
    "kept_and_reduced",
    "merged",
]


class Axis(NamedTuple):
    """An axis of a loop over elements: how far each step goes in each tensor (0: stays), and which of its coordinates,
    `low` to before `high`, have an element there."""

    size: int
    strides: tuple[int, ...]
    low: int
    high: int

    @property
    def full(self) -> bool:
        """Whether all coordinates have an element."""
        return (self.low, self.high) == (0, self.size)


def axes_of(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    """A loop over all elements, through several tensors at once: `strides` has those of each tensor."""
    return [Axis(size, tuple(steps), 0, size) for size, *steps in zip(sizes, *strides, strict=True)]


def contiguous(shape: Sequence[int]) -> list[int]:
    """Strides of a row-major tensor, in elements."""
    return [numel(tuple(shape[i + 1 :])) for i in range(len(shape))]


def broadcast_strides(shape: Sequence[int], out: Sequence[int]) -> list[int]:
    """Strides that read a row-major tensor of `shape` as if it had the shape `out`."""
    strides = [0 if size == 1 else stride for size, stride in zip(shape, contiguous(shape), strict=True)]
    return [0] * (len(out) - len(shape)) + strides


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same loop with as few axes as possible, the innermost first."""
    result: list[Axis] = []
    for a in reversed(axes):
        inner = result[-1] if result else None
        if a.size == 1 and a.full:
            continue
        if inner and inner.full and a.strides == tuple(stride * inner.size for stride in inner.strides):
            size = inner.size
            result[-1] = Axis(a.size * size, inner.strides, a.low * size, a.high * size)
        else:
            result.append(a)
    return result


def kept_and_reduced(shape: Shape, strides: Sequence[int], reduced: Sequence[int]) -> tuple[list[Axis], list[Axis]]:
    """Two loops, the innermost axes first: over the axes of a tensor that a reduction keeps, and over those that it
    reduces."""
    axes = axes_of(shape, strides)
    kept = [a for i, a in enumerate(axes) if i not in reduced]
    return merged(kept), merged([a for i, a in enumerate(axes) if i in reduced])


def axes_params(axes: Iterable[Axis]) -> tuple[int, ...]:
    """The `axes` of a kernel's Params: of each axis its size and its strides, in whole vectors of four numbers."""
    return tuple(n for a in axes for n in (a.size, *a.strides, *(0,) * (-(1 + len(a.strides)) % 4)))


def broadcast_params(out: Shape, *shapes: Shape) -> dict[str, Param]:
    """Params of a walk over the elements of `out` that reads up to three tensors of shapes that broadcast to it."""
    axes = merged(axes_of(out, *(broadcast_strides(shape, out) for shape in shapes)))
    return {"count": numel(out), "rank": len(axes), "axes": axes_params(axes)}
