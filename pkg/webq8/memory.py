"""Where tensors lie in buffers that they share over time. Pure arithmetic."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate

from webq8.dtypes import round_up

__all__ = ["ALIGNMENT", "Place", "Span", "largest_sum", "share"]

ALIGNMENT = 256  # of offsets in bind groups: the default minStorageBufferOffsetAlignment, and for uniforms alike


@dataclass(frozen=True)
class Span:
    """Bytes of a tensor and the first and last step that needs it."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Place:
    buffer: int
    offset: int


Neighbours = Mapping[int, Collection[int]]


def share(
    spans: Mapping[int, Span], apart: Neighbours, strictly_apart: Neighbours, limit: int
) -> tuple[list[int], dict[int, Place]]:
    """Sizes of buffers and each tensor's place: side by side, or over each other when not needed at the same time.

    Largest first, each where the buffers grow least (greedy by size, Pisarchyk and Lee 2020, arXiv:2001.03288). Tensors
    `strictly_apart` get different buffers; those `apart`, where it costs nothing.
    """
    sizes: list[int] = []
    held: list[list[tuple[Span, int]]] = []  # for each buffer, its tensors and their offsets
    places: dict[int, Place] = {}
    for i in sorted(spans, key=lambda i: (-spans[i].size, spans[i].first)):
        avoided, forbidden = (
            {places[j].buffer for j in neighbours.get(i, ()) if j in places} for neighbours in (apart, strictly_apart)
        )
        best = (spans[i].size, False, len(sizes), 0)  # growth, whether avoided, buffer, offset
        for buffer in range(len(sizes)):
            offset = _lowest_gap(spans[i], held[buffer])
            end = offset + spans[i].size
            if end <= limit and buffer not in forbidden:
                best = min(best, (max(0, end - sizes[buffer]), buffer in avoided, buffer, offset))
        _, _, buffer, offset = best
        if buffer == len(sizes):
            sizes.append(0)
            held.append([])
        sizes[buffer] = max(sizes[buffer], offset + spans[i].size)
        held[buffer].append((spans[i], offset))
        places[i] = Place(buffer, offset)
    return sizes, places


def _lowest_gap(span: Span, held: Collection[tuple[Span, int]]) -> int:
    """The lowest offset at which `span` fits between the tensors that are needed at the same time."""
    offset = 0
    busy = sorted((at, at + s.size) for s, at in held if s.first <= span.last and span.first <= s.last)
    for start, end in busy:
        if offset + span.size <= start:
            break
        offset = max(offset, round_up(end, ALIGNMENT))
    return offset


def largest_sum(spans: Collection[Span]) -> int:
    """The most bytes that are needed at one step."""
    steps = max((s.last for s in spans), default=0) + 3
    change = [0] * steps  # from step −1 on
    for s in spans:
        change[s.first + 1] += s.size
        change[s.last + 2] -= s.size
    return max(accumulate(change))
