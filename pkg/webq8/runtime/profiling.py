"""Profiles: GPU time, operations and bytes of every step of a plan, as a table, as HTML and as a trace."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any

from webq8.ir.plan import Step

__all__ = ["Ceilings", "Profile", "Timing", "profile_of"]


@dataclass(frozen=True)
class Ceilings:
    """What the device reaches at most: int8 dot products from registers, and a copy (read and written)."""

    tops: float  # 10¹² operations a second
    gbps: float  # 10⁹ bytes a second

    def microseconds(self, operations: int, nbytes: int) -> float:
        """The least time that so much work takes: of its products or of its memory, whichever is longer."""
        return max(operations / self.tops * 1e-6, nbytes / self.gbps * 1e-3)


@dataclass(frozen=True)
class Timing:
    """The GPU time of one dispatch (the median of the runs, or their mean by a coarse clock), or the sum of several.

    `operations` counts products only, two for a multiply-add; `nbytes` is the size of the tensors read and written.
    """

    kernel: str
    node: str  # where the dispatch stands in the file; of a sum, the number of dispatches
    microseconds: float
    operations: int
    nbytes: int
    ceiling: float  # microseconds that the work takes at the device's ceilings

    @property
    def tops(self) -> float:
        """10¹² operations a second; 0 where the time is below the clock's resolution."""
        return self.operations / self.microseconds * 1e-6 if self.microseconds else 0.0

    @property
    def gbps(self) -> float:
        """10⁹ bytes a second; 0 where the time is below the clock's resolution."""
        return self.nbytes / self.microseconds * 1e-3 if self.microseconds else 0.0

    @property
    def reached(self) -> float:
        """The share of the ceiling that was reached, of products or of memory; may exceed 1 where tensors lie in cache,
        and for products by subgroup matrices, whose own ceiling is far higher."""
        return self.ceiling / self.microseconds if self.microseconds else 0.0


@dataclass(frozen=True, repr=False)
class Profile:
    """GPU times of a method, from `Program.profile`; `str()` is a table, and a notebook shows bars.

    Attributes:
        rows: each dispatch, in order.
        kernels: the same, summed by kernel, the longest first.
        microseconds: the sum over the rows.
        elapsed: microseconds from the first dispatch's begin to the last one's end: the median of the runs.
        resolution: of the GPU's clock, in microseconds. Browsers round it to about 100 unless developer features are
            on (Chromium's `--enable-webgpu-developer-features`). From 10 on, times are means: take a hundred runs.
        ceilings: what the device reaches at most. That of products is for int8 with packed dot products; float32 ones
            reach about half of it.
    """

    model: str
    method: str
    adapter: str
    runs: int
    ceilings: Ceilings
    rows: tuple[Timing, ...]
    timeline: tuple[tuple[float, float], ...]  # begin and duration of each dispatch in the run of median length, in µs
    elapsed: float
    resolution: float

    @property
    def microseconds(self) -> float:
        return sum(row.microseconds for row in self.rows)

    @property
    def kernels(self) -> tuple[Timing, ...]:
        by_kernel: dict[str, list[Timing]] = {}
        for row in self.rows:
            by_kernel.setdefault(row.kernel, []).append(row)
        sums = (_sum(name, rows) for name, rows in by_kernel.items())
        return tuple(sorted(sums, key=lambda t: -t.microseconds))

    def trace(self) -> dict[str, Any]:
        """The run of median length in the Trace Event Format, as a JSON-able dict."""

        def named(kind: str, name: str) -> dict[str, Any]:
            return {"name": kind, "ph": "M", "pid": 1, "tid": 1, "args": {"name": name}}

        events = [named("process_name", self.adapter), named("thread_name", f"{self.model}, {self.method}")]
        for step, (row, (begin, duration)) in enumerate(zip(self.rows, self.timeline, strict=True)):
            args = {
                "step": step,
                "node": row.node,
                "operations": row.operations,
                "bytes": row.nbytes,
                "us": row.microseconds,
                "TOPS": row.tops,
                "GB/s": row.gbps,
                "of ceiling": row.reached,
            }
            place = {"ph": "X", "pid": 1, "tid": 1, "ts": begin, "dur": duration}
            events.append({"name": row.kernel, "cat": "gpu", **place, "args": args})
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes `trace()` as a JSON file for chrome://tracing or ui.perfetto.dev."""
        Path(path).write_text(json.dumps(self.trace()), "utf-8")

    def __str__(self) -> str:
        return "\n".join([*self._summary(), "", *self._table(self.kernels), "", *self._table(self.rows)])

    __repr__ = __str__

    def _summary(self) -> Iterator[str]:
        yield f"{self.model}, {self.method}, on {self.adapter}"
        yield (
            f"{_microseconds(self.microseconds)} µs in {len(self.rows)} dispatches, {_microseconds(self.elapsed)} from "
            f"first to last; {'means' if _is_coarse(self.resolution) else 'medians'} of {self.runs} runs"
        )
        yield f"ceilings: {_number(self.ceilings.tops)} TOPS (int8 dot products), {_number(self.ceilings.gbps)} GB/s"
        if _is_coarse(self.resolution):
            yield (
                f"this browser rounds GPU times to {self.resolution:.0f} µs; "
                "Chromium does not with --enable-webgpu-developer-features"
            )

    def _cells(self, row: Timing) -> list[str]:
        share = row.microseconds / self.microseconds if self.microseconds else 0.0
        return [
            _microseconds(row.microseconds),
            f"{share:.1%}",
            _number(row.operations * 1e-6) if row.operations else "–",
            _number(row.nbytes * 1e-6),
            _number(row.tops) if row.operations else "–",
            _number(row.gbps),
            f"{row.reached:.0%}",
        ]

    def _table(self, rows: Sequence[Timing]) -> list[str]:
        lines = [["kernel", "where", *_COLUMNS], *([row.kernel, row.node, *self._cells(row)] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

        def line(cells: Sequence[str]) -> str:
            padded = (c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True)))
            return "  ".join(padded).rstrip()

        return [line(cells) for cells in lines]

    def _repr_html_(self) -> str:
        """Bars by kernel and, folded away, by dispatch; colours fit light and dark pages alike."""
        from html import escape

        title, *rest = map(escape, self._summary())
        return (
            f'<div class="webq8-profile"><style>{_STYLE}</style><p><strong>{title}</strong><br>{"<br>".join(rest)}</p>'
            '<p><i class="least"></i> the time at the ceiling <i></i> the rest of the time</p>'
            f"{self._bars(self.kernels)}<details><summary>Each dispatch, in order</summary>{self._bars(self.rows)}"
            "</details></div>"
        )

    def _bars(self, rows: Sequence[Timing]) -> str:
        from html import escape

        longest = max((row.microseconds for row in rows), default=0.0) or 1.0
        head = "".join(f"<th>{name}</th>" for name in ("kernel", "where", "", *_COLUMNS))
        body = []
        for row in rows:
            width, least = 100 * row.microseconds / longest, 100 * min(1.0, row.reached)
            bar = f'<i style="width:{width:.2f}%"><i class="least" style="width:{least:.2f}%"></i></i>'
            cells = "".join(f"<td>{cell}</td>" for cell in self._cells(row))
            body.append(f"<tr><td>{escape(row.kernel)}</td><td>{escape(row.node)}</td><td>{bar}</td>{cells}</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


_COLUMNS = ("µs", "share", "Mop", "MB", "TOPS", "GB/s", "of ceiling")

# Text takes the page's colour, and the bars a blue of middle lightness.
_STYLE = """
.webq8-profile { font: 0.8125rem/1.5 system-ui, sans-serif; overflow-x: auto; }
.webq8-profile p { margin: 0 0 0.75em; }
.webq8-profile table { border-collapse: collapse; width: 100%; margin: 0; font-size: inherit; }
.webq8-profile th, .webq8-profile td { padding: 0.15em 0.6em; text-align: right; white-space: nowrap; }
.webq8-profile th { font-weight: 600; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.webq8-profile td { font-variant-numeric: tabular-nums; }
.webq8-profile :is(th, td):nth-child(-n+3) { text-align: left; }
.webq8-profile :is(th, td):nth-child(3) { width: 45%; min-width: 8em; }
.webq8-profile i { display: block; height: 0.9em; min-width: 1px; background: #4f7fe666; border-radius: 2px; }
.webq8-profile i.least { background: #4f7fe6; }
.webq8-profile p i { display: inline-block; width: 0.9em; margin-right: 0.2em; vertical-align: -0.1em; }
.webq8-profile p i + i { margin-left: 0.8em; }
.webq8-profile summary { margin: 0.75em 0; cursor: pointer; }
"""


def profile_of(
    names: tuple[str, str, str], steps: Sequence[Step], runs: Sequence[Sequence[int]], ceilings: Ceilings
) -> Profile:
    """The profile of `runs`: nanoseconds at which each step began and ended; `names`: model, method, adapter."""
    timelines = sorted((_timeline(run) for run in runs), key=_length)
    middle = len(runs) // 2
    resolution = gcd(*(t for run in runs for t in run)) / 1000
    rows = []
    for step, spans in zip(steps, zip(*timelines, strict=True), strict=True):
        durations = sorted(duration for _, duration in spans)
        # rounded down, most of a short step's times are 0, but their mean tends to the right one
        usual = sum(durations) / len(durations) if _is_coarse(resolution) else durations[middle]
        work = step.operations, step.nbytes
        rows.append(Timing(step.kernel, step.node, usual, *work, ceilings.microseconds(*work)))
    chosen = timelines[middle]
    return Profile(*names, len(runs), ceilings, tuple(rows), chosen, _length(chosen), resolution)


def _is_coarse(resolution: float) -> bool:
    return resolution >= 10


def _timeline(times: Sequence[int]) -> tuple[tuple[float, float], ...]:
    """Begin and duration of each step in µs. One that is said to begin before the last has ended waited for that."""
    ends, spans = [times[0], *times[1::2]] if times else [], []
    for begin, (before, end) in zip(times[::2], pairwise(ends), strict=True):
        begin = max(begin, before)
        spans.append(((begin - times[0]) / 1000, max(0, end - begin) / 1000))
    return tuple(spans)


def _length(timeline: Sequence[tuple[float, float]]) -> float:
    return sum(timeline[-1]) if timeline else 0.0


def _sum(kernel: str, rows: Sequence[Timing]) -> Timing:
    where = f"{len(rows)} dispatch{'es' if len(rows) > 1 else ''}"
    operations, nbytes = sum(r.operations for r in rows), sum(r.nbytes for r in rows)
    return Timing(kernel, where, sum(r.microseconds for r in rows), operations, nbytes, sum(r.ceiling for r in rows))


def _microseconds(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _number(value: float) -> str:
    """Three digits that count, without exponents."""
    if 0 < value < 1e-4:
        return "<0.0001"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
