"""Means of int8 tensors: summed in int32, scaled once, so that every device gives the same bytes."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.reduce import FixedPointTable, mean_unit
from webq8.ir.ops.window import Window
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import f32
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Operand
from webq8.kernels.strided import axes_of, merged
from webq8.kernels.windows import maps_params
from webq8.plan.layout import strides

__all__ = ["Means", "Span", "adaptive_spans", "mean_int8", "pool_int8", "pool_spans"]


class Means(NamedTuple):
    """What a mean is of, whatever its terms are: y = round(Σ (x − zero point) · factor) + y's zero point within bounds,
    or with a table's entries for x, which have no zero point."""

    x: Operand
    y: Operand
    table: FixedPointTable | None
    bounds: tuple[int, int]

    def factor(self, count: int) -> float:
        """What a sum of so many terms is multiplied by."""
        return f32(mean_unit(self.x.tensor, self.table) / ((count or 1) * self.y.scale))

    def bind(self) -> dict[str, int | Const]:
        """Bindings of all kernels of means of int8 (see wgsl/average.wgsl)."""
        table = Const(bytes(4) if self.table is None else struct.pack("<256i", *self.table.entries))
        return {"x": self.x.id, "table": table, "y": self.y.id}

    def params(self) -> dict[str, Param]:
        return {
            "x_zero_point": self.x.zero_point if self.table is None else 0,
            "y_zero_point": self.y.zero_point,
            "y_min": self.bounds[0],
            "y_max": self.bounds[1],
        }


def mean_int8(means: Means, axes: Sequence[int]) -> Dispatch:
    """The mean over axes."""
    x, y = means.x, means.y.layout
    steps = strides(x.shape, x.layout_name)
    kept = [i for i in range(len(x.shape)) if i not in axes]
    terms = numel(tuple(x.shape[i] for i in axes))
    params: dict[str, Param] = {**words_params(y), "count": terms, "factor": means.factor(terms)}
    for name, dims in (("kept", kept), ("reduced", axes)):
        loop = merged(axes_of([x.shape[i] for i in dims], [steps[i] for i in dims]))
        params |= {
            f"{name}_rank": len(loop),
            f"{name}_sizes": tuple(axis.size for axis in loop),
            f"{name}_places": tuple(axis.strides[0] for axis in loop),
        }
    together = _word_by_word(means, kept, steps)
    lanes = lanes_for(terms, y.words, not together)
    constants = {"lanes": lanes, "together": together, "looked_up": means.table is not None}
    return Dispatch("mean_int8", means.bind(), params | means.params(), shared_threads(y.words, lanes), constants)


def _word_by_word(means: Means, kept: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether neighbours within a word of y are neighbours within a word of x."""
    sizes, y = means.x.shape, means.y.layout
    innermost = [i for i in kept if steps[i] == 1 and sizes[i] > 1]
    if means.y.layout_name == "plain" or not innermost:
        return False
    inner = numel(tuple(sizes[i] for i in kept if i > innermost[0]))
    return (y.channels, y.inner) == (sizes[innermost[0]], inner) and all(
        step % 4 == 0 for i, step in enumerate(steps) if i != innermost[0] and sizes[i] > 1
    )


class Span(NamedTuple):
    """The rows (or columns) of a map in a window: from `first` to before `end`; a sum is divided by
    `counted` of them."""

    first: int
    end: int
    counted: int


def pool_spans(window: Window, axis: int, size: int, out: int, count_include_pad: bool) -> list[Span]:
    """Those of `out` windows along an axis of `size` elements."""
    kernel, stride, before = window.kernel[axis], window.stride[axis], window.padding[axis]
    spans = []
    for i in range(out):
        start = i * stride - before
        end = min(
            start + kernel, size + window.padding[axis + 2]
        )  # what ceil_mode adds beyond the padding never counts
        first, last = max(start, 0), min(max(end, 0), size)
        spans.append(Span(first, max(first, last), end - start if count_include_pad else max(0, last - first)))
    return spans


def adaptive_spans(size: int, out: int) -> list[Span]:
    """Those of `out` windows that divide an axis of `size` elements."""
    bounds = [(i * size // out, cdiv((i + 1) * size, out)) for i in range(out)]
    return [Span(first, end, end - first) for first, end in bounds]


def pool_int8(means: Means, rows: Sequence[Span], columns: Sequence[Span], divisor: int | None = None) -> Dispatch:
    """The mean of each window; with a `divisor` in place of the number of its elements."""
    y = means.y.layout
    heights, widths = ([*dict.fromkeys(span.counted for span in line)] for line in (rows, columns))
    windows = [n for span in rows for n in (span.first, span.end, heights.index(span.counted), 0)]
    windows += [n for span in columns for n in (span.first, span.end, widths.index(span.counted), 0)]
    factors = [means.factor(divisor or height * width) for height in heights for width in widths]
    return Dispatch(
        "avg_pool2d_int8",
        {
            "windows": Const(struct.pack(f"<{len(windows)}I", *windows)),
            "factors": Const(struct.pack(f"<{len(factors)}f", *factors)),
            **means.bind(),
        },
        {
            "words": y.words,
            "channel_words": y.padded // 4,
            **maps_params(means.x.shape, means.y.shape),
            "factor_columns": len(widths),
            **means.params(),
        },
        threads=y.words,
        constants={"looked_up": means.table is not None},
    )
