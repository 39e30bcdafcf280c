"""Means of int8 tensors: summed in int32, scaled once, so that every device gives the same bytes."""

import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.edges import Through
from webq8.ir.ops.reduce import FixedPointTable, Steps, mean_unit
from webq8.ir.ops.window import Window
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import PerTensor, f32
from webq8.kernels.edges import edges
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Operand
from webq8.kernels.walk import axes_params, kept_and_reduced
from webq8.kernels.windows import maps_params
from webq8.plan.layout import strides

__all__ = ["Means", "Span", "adaptive_spans", "mean_int8", "pool_int8", "pool_spans"]


class Means(NamedTuple):
    """The tensors and options of a mean, whatever its terms are.

    y = round(Σ (x − x's zero point) · factor) + y's zero point, clamped to bounds. With a table, its entry for x takes
    the place of x − x's zero point. With steps, y is what those for the number of terms make of Σ x.
    """

    x: Operand
    y: Operand
    table: FixedPointTable | None
    bounds: tuple[int, int]
    through: Through | None
    steps: Mapping[int, Steps] = MappingProxyType({})

    def factor(self, count: int) -> float:
        """What a sum of `count` terms is multiplied by."""
        return f32(mean_unit(self.x.tensor, self.table) / ((count or 1) * self._grid.scale))

    @property
    def _grid(self) -> PerTensor:
        """What means are quantized to, before they go through a table."""
        return self.through.grid if self.through else self.y.per_tensor

    def bind(self, counts: Iterable[int]) -> dict[str, int | Const]:
        """What all kernels with wgsl/parts/average.wgsl bind, for sums of so many terms."""
        table = array("i", self._numbers(counts)).tobytes() + (self.through.table if self.through else b"")
        return {"x": self.x.id, "table": Const(table), "y": self.y.id}

    def _numbers(self, counts: Iterable[int]) -> Sequence[int]:
        if self.table:
            return self.table.entries
        return [n for count in counts for n in self.steps[count]] if self.steps else [0]

    def overrides(self) -> dict[str, bool]:
        """Of wgsl/parts/average.wgsl."""
        chosen = {"looked_up": self.table is not None, "stepped": bool(self.steps)}
        return chosen | {"through_table": self.through is not None, **edges(self.y)[1]}

    def params(self, counts: Sequence[int]) -> dict[str, Param]:
        """The structs Average of wgsl/parts/average.wgsl and Written of wgsl/parts/written.wgsl."""
        average: dict[str, Param] = {
            "x_zero_point": self.x.zero_point if self.table is None else 0,
            "y_zero_point": self._grid.zero_point,
            "y_min": self.bounds[0],
            "y_max": self.bounds[1],
            "through": len(self._numbers(counts)),
        }
        return {"average": average, **edges(self.y)[0]}


def mean_int8(means: Means, axes: Sequence[int]) -> Dispatch:
    """The mean over axes."""
    x, y = means.x, means.y.layout
    x_strides = strides(x.shape, x.layout_name)
    kept, reduced = kept_and_reduced(x.shape, x_strides, axes)
    terms = numel(tuple(x.shape[i] for i in axes))
    params: dict[str, Param] = {
        "count": terms,
        "kept_rank": len(kept),
        "reduced_rank": len(reduced),
        "factor": means.factor(terms),
        "tensor": words_params(y),
        "axes": axes_params([*kept, *reduced]),
        **means.params([terms]),
    }
    together = _word_by_word(means, [i for i in range(len(x.shape)) if i not in axes], x_strides)
    lanes = lanes_for(terms, y.words, not together)
    constants = {"lanes": lanes, "together": together, **means.overrides()}
    return Dispatch("mean_int8", means.bind([terms]), params, shared_threads(y.words, lanes), constants)


def _word_by_word(means: Means, kept: Sequence[int], x_strides: Sequence[int]) -> bool:
    """Whether the four elements of a word of y are each the mean of one byte of the same words of x."""
    sizes, y = means.x.shape, means.y.layout
    innermost = [i for i in kept if x_strides[i] == 1 and sizes[i] > 1]
    if means.y.layout_name == "plain" or not innermost:
        return False
    inner = numel(tuple(sizes[i] for i in kept if i > innermost[0]))
    return (y.channels, y.inner) == (sizes[innermost[0]], inner) and all(
        stride % 4 == 0 for i, stride in enumerate(x_strides) if i != innermost[0] and sizes[i] > 1
    )


class Span(NamedTuple):
    """The rows (or columns) of a map that a window covers: from `first` to before `end`. The mean is over `counted`
    of them, since padding may count."""

    first: int
    end: int
    counted: int


def pool_spans(window: Window, axis: int, size: int, out: int, count_include_pad: bool) -> list[Span]:
    """The spans of `out` windows of a pool along an axis of `size` elements."""
    kernel, stride, before = window.kernel[axis], window.stride[axis], window.padding[axis]
    spans = []
    for i in range(out):
        start = i * stride - before
        # what ceil_mode adds beyond the padding never counts
        end = min(start + kernel, size + window.padding[axis + 2])
        first, last = max(start, 0), min(max(end, 0), size)
        spans.append(Span(first, max(first, last), end - start if count_include_pad else max(0, last - first)))
    return spans


def adaptive_spans(size: int, out: int) -> list[Span]:
    """The spans of `out` windows that divide an axis of `size` elements."""
    bounds = [(i * size // out, cdiv((i + 1) * size, out)) for i in range(out)]
    return [Span(first, end, end - first) for first, end in bounds]


def pool_int8(means: Means, rows: Sequence[Span], columns: Sequence[Span], divisor: int | None = None) -> Dispatch:
    """The mean of each window. A `divisor` takes the place of the number of its elements."""
    y = means.y.layout
    heights, widths = ([*dict.fromkeys(span.counted for span in line)] for line in (rows, columns))
    windows = [n for span in rows for n in (span.first, span.end, heights.index(span.counted), 0)]
    windows += [n for span in columns for n in (span.first, span.end, widths.index(span.counted), 0)]
    counts = [divisor or height * width for height in heights for width in widths]
    factors = [means.factor(count) for count in counts]
    return Dispatch(
        "avg_pool2d_int8",
        {
            "windows": Const(struct.pack(f"<{len(windows)}I", *windows)),
            "factors": Const(struct.pack(f"<{len(factors)}f", *factors)),
            **means.bind(counts),
        },
        {
            "words": y.words,
            "channel_words": y.padded // 4,
            "factor_columns": len(widths),
            "maps": maps_params(means.x.shape, means.y.shape),
            **means.params(counts),
        },
        threads=y.words,
        constants={**means.overrides()},
    )
