"""Memory planning: assigns tensors places in buffers that they share over time. Pure arithmetic."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import NamedTuple

from webq8.dtypes import round_up

__all__ = ["ALIGNMENT", "Place", "Span", "largest_sum", "share"]

ALIGNMENT = 256  # of offsets in bind groups: the default minStorageBufferOffsetAlignment, and for uniforms alike


class Span(NamedTuple):
    """The bytes of a tensor, and the first and the last step that needs it."""

    size: int
    first: int
    last: int


class Place(NamedTuple):
    """Where a tensor lies: the index of its buffer, and its offset there in bytes."""

    buffer: int
    offset: int


Neighbours = Mapping[int, Collection[int]]


def share(
    spans: Mapping[int, Span], avoided: Neighbours, forbidden: Neighbours, limit: int
) -> tuple[list[int], dict[int, Place]]:
    """Assigns each tensor a place, and returns the sizes of the buffers with the places. Tensors that no step needs at
    the same time may share bytes.

    The largest tensor comes first; each goes where the buffers grow least (greedy by size, Pisarchyk and Lee 2020,
    arXiv:2001.03288). No tensor shares a buffer with its `forbidden` neighbours, nor, where that costs nothing, with
    its `avoided` ones.
    """
    sizes: list[int] = []
    buffers: list[_Buffer] = []
    places: dict[int, Place] = {}
    steps = _steps(spans.values())
    for i in sorted(spans, key=lambda i: (-spans[i].size, spans[i].first)):
        near, excluded = (
            {places[j].buffer for j in neighbours.get(i, ()) if j in places} for neighbours in (avoided, forbidden)
        )
        best = (round_up(spans[i].size, ALIGNMENT), False, len(sizes), 0)  # growth, near an avoided one, buffer, offset
        for buffer, held in enumerate(buffers):
            if buffer in excluded:
                continue
            offset = held.lowest_gap(spans[i])
            end = offset + spans[i].size
            if end <= limit:
                growth = round_up(end, ALIGNMENT) - round_up(sizes[buffer], ALIGNMENT)
                best = min(best, (max(0, growth), buffer in near, buffer, offset))
            if best[:2] == (0, False):
                break
        _, _, buffer, offset = best
        if buffer == len(sizes):
            sizes.append(0)
            buffers.append(_Buffer(steps))
        sizes[buffer] = max(sizes[buffer], offset + spans[i].size)
        buffers[buffer].take(spans[i], offset)
        places[i] = Place(buffer, offset)
    return sizes, places


class _Buffer:
    """The bytes of a buffer that are taken, step by step.

    A binary tree over the steps, node n above 2n and 2n + 1. Tensors that lie side by side count as one, so that a
    look at a node costs little however many tensors there are.
    """

    def __init__(self, steps: int) -> None:
        self._leaves = 1 << steps.bit_length()
        # by node: bytes that are taken, as disjoint pieces: begin, end, begin, end, …
        self._throughout: defaultdict[int, list[int]] = defaultdict(list)  # at every one of the node's steps
        self._sometime: defaultdict[int, list[int]] = defaultdict(list)  # at any of them

    def take(self, span: Span, offset: int) -> None:
        end = round_up(offset + span.size, ALIGNMENT)
        nodes, above = self._nodes(span)
        for n in nodes:
            _join(self._throughout[n], offset, end)
        for n in (*nodes, *above):
            _join(self._sometime[n], offset, end)

    def lowest_gap(self, span: Span) -> int:
        """The lowest offset at which `span` fits between the tensors that are needed at the same time."""
        nodes, above = self._nodes(span)
        taken = [self._sometime[n] for n in nodes if n in self._sometime]
        taken += [self._throughout[n] for n in above if n in self._throughout]
        offset = 0
        for start, end in sorted(piece for bounds in taken for piece in zip(bounds[::2], bounds[1::2], strict=True)):
            if offset + span.size <= start:
                break
            offset = max(offset, end)
        return offset

    def _nodes(self, span: Span) -> tuple[list[int], set[int]]:
        """The nodes that together cover exactly the steps of a span, and all nodes above these."""
        nodes, above = list[int](), set[int]()
        low, high = self._leaves + span.first + 1, self._leaves + span.last + 2  # steps begin at −1
        while low < high:
            if low & 1:
                nodes.append(low)
                low += 1
            if high & 1:
                high -= 1
                nodes.append(high)
            low, high = low // 2, high // 2
        for n in nodes:
            while (n := n // 2) and n not in above:
                above.add(n)
        return nodes, above


def _join(bounds: list[int], start: int, end: int) -> None:
    """Adds a piece to ordered, disjoint pieces, joining those that it touches."""
    i, j = bisect_left(bounds, start), bisect_right(bounds, end)
    bounds[i:j] = [start] * (i % 2 == 0) + [end] * (j % 2 == 0)


def largest_sum(spans: Collection[Span]) -> int:
    """The largest number of bytes that one step needs."""
    change = [0] * (_steps(spans) + 1)
    for s in spans:
        change[s.first + 1] += s.size
        change[s.last + 2] -= s.size
    return max(accumulate(change))


def _steps(spans: Collection[Span]) -> int:
    """The number of steps, the first of which is −1."""
    return max((s.last for s in spans), default=0) + 2
