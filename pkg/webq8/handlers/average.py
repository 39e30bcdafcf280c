"""Means of int8 tensors: summed in int32, scaled once, so that every device gives the same bytes.

What rewriting makes of dequantize → mean or average → quantize: y = round(Σ (x − x_zero_point) · factor) + y_zero_point
with one factor a count of terms, x_scale / (count · y_scale), computed in double and rounded to float32. With a
`table`, its entry for x, a whole number of x_scale, takes the place of x: so means of functions of int8 are such, too.
"""

import struct
from collections.abc import Iterator, Sequence

from webq8.dtypes import cdiv, numel
from webq8.errors import LimitError, Unsupported
from webq8.handlers.pool import COUNT, KERNEL, PADDING, STRIDE, adaptive_sizes, check_divisor, pooled
from webq8.handlers.reduce import lanes_for, reduced, shared_threads
from webq8.handlers.registry import I8, SCALE, ZERO_POINT, Args, BadArg, Bool, Int, Ints, Pair, f32, op
from webq8.handlers.shape import axes_of, merged
from webq8.ir import Const, Dispatch, Param
from webq8.plan.layout import strides

__all__: list[str] = []

_MOST_WINDOWS = 2**16  # along a side: a table has them all
_RATIO = 2.0**64  # between the scales, at most: with it every factor is a normal float32 number

_SCALED = {"x_scale": SCALE, "x_zero_point": ZERO_POINT}
_RESULT = {"y_scale": SCALE, "y_zero_point": ZERO_POINT, "table": Ints(optional=True, default=None)}
_MAP = I8("N C H W", "channels")


def _factor(a: Args, count: int) -> float:
    return f32(a.x_scale / ((count or 1) * a.y_scale))


def _check_sum(a: Args, terms: int) -> None:
    if a.table is not None and len(a.table) != 256:
        raise BadArg(f"table: {len(a.table)} entries, 256 expected")
    largest = 255 if a.table is None else max(map(abs, a.table)) + 128
    if terms * largest >= 2**31:
        raise BadArg(f"{terms} terms of up to {largest} could overflow int32", LimitError)
    if not 1 / _RATIO <= a.x_scale / a.y_scale <= _RATIO:
        raise BadArg(f"x_scale {a.x_scale!r} and y_scale {a.y_scale!r} are too far apart", LimitError)


def _table(a: Args) -> Const:
    return Const(bytes(4) if a.table is None else struct.pack("<256i", *a.table))


def _epilogue(a: Args) -> dict[str, Param]:
    return {
        "x_zero_point": a.x_zero_point,
        "y_zero_point": a.y_zero_point,
        "y_min": a.clamp[0],
        "y_max": a.clamp[1],
    }


def _mean(a: Args, axes: Sequence[int]) -> Dispatch:
    x, y, steps = a.x, a.out.layout, strides(a.x.shape, a.x.layout_name)
    kept, reduced = [i for i in range(len(x.shape)) if i not in axes], sorted(axes)
    terms = numel(tuple(x.shape[i] for i in reduced))
    params: dict[str, Param] = {
        "words": y.words,
        "channels": y.channels,
        "inner": y.inner,
        "channel_words": y.padded // 4,
        "count": terms,
        "factor": _factor(a, terms),
    }
    for name, dims in (("kept", kept), ("reduced", reduced)):
        loop = merged(axes_of([x.shape[i] for i in dims], [steps[i] for i in dims]))
        params |= {
            f"{name}_rank": len(loop),
            f"{name}_sizes": tuple(axis.size for axis in loop),
            f"{name}_places": tuple(axis.strides[0] for axis in loop),
        }
    together = _word_by_word(a, kept, steps)
    lanes = lanes_for(terms, y.words, not together)
    constants = {"lanes": lanes, "together": together, "looked_up": a.table is not None}
    bind = {"x": x.id, "table": _table(a), "y": a.out.id}
    return Dispatch("mean_int8", bind, params | _epilogue(a), shared_threads(y.words, lanes), constants)


def _word_by_word(a: Args, kept: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether neighbours within a word of y are neighbours within a word of x."""
    innermost = [i for i in kept if steps[i] == 1 and a.x.shape[i] > 1]
    if a.out.layout_name == "plain" or not innermost:
        return False
    inner = numel(tuple(a.x.shape[i] for i in kept if i > innermost[0]))
    channels = a.out.layout.channels, a.out.layout.inner
    return channels == (a.x.shape[innermost[0]], inner) and all(
        step % 4 == 0 for i, step in enumerate(steps) if i != innermost[0] and a.x.shape[i] > 1
    )


@op(
    "webq8.mean_int8.default",
    x=I8("*S"),
    **_SCALED,
    dim=Ints(optional=True, default=None),
    keepdim=Bool(default=False),
    **_RESULT,
    out=I8("*O"),
    derive=reduced,
    check=lambda a: _check_sum(a, numel(tuple(a.S[i] for i in a.axes))),
    fuses_clamp=True,
)
def mean(a: Args) -> Iterator[Dispatch]:
    """The mean over the dimensions `dim` (all of them, where null or empty): int8 of any shape, requantized."""
    yield _mean(a, a.axes)


Window = tuple[int, int, int]  # the first row (or column), the one after the last, and how many it counts


def _windows(a: Args, axis: int) -> list[Window]:
    size, kernel, padding, stride = (a.H, a.W)[axis], a.kernel[axis], a.padding[axis], (a.stride or a.kernel)[axis]
    windows = []
    for i in range((a.OH, a.OW)[axis]):
        start = i * stride - padding
        end = min(start + kernel, size + padding)  # what ceil_mode adds beyond the padding never counts
        first, last = max(start, 0), min(max(end, 0), size)
        windows.append((first, max(first, last), end - start if a.count_include_pad else max(0, last - first)))
    return windows


def _adaptive_windows(size: int, windows: int) -> list[Window]:
    bounds = [(i * size // windows, cdiv((i + 1) * size, windows)) for i in range(windows)]
    return [(first, last, last - first) for first, last in bounds]


def _average(a: Args, rows: Sequence[Window], columns: Sequence[Window], divisor: int = 0) -> Dispatch:
    y = a.out.layout
    heights, widths = ([*dict.fromkeys(count for *_, count in line)] for line in (rows, columns))
    table = [n for first, last, count in rows for n in (first, last, heights.index(count), 0)]
    table += [n for first, last, count in columns for n in (first, last, widths.index(count), 0)]
    factors = [_factor(a, divisor or height * width) for height in heights for width in widths]
    return Dispatch(
        "avg_pool2d_int8",
        {
            "windows": Const(struct.pack(f"<{len(table)}I", *table)),
            "factors": Const(struct.pack(f"<{len(factors)}f", *factors)),
            "x": a.x.id,
            "table": _table(a),
            "y": a.out.id,
        },
        {
            "words": y.words,
            "channel_words": y.padded // 4,
            "y_height": a.OH,
            "y_width": a.OW,
            "x_height": a.H,
            "x_width": a.W,
            "factor_columns": len(widths),
        }
        | _epilogue(a),
        threads=y.words,
        constants={"looked_up": a.table is not None},
    )


def _check_windows(a: Args, terms: int) -> None:
    _check_sum(a, terms)
    if max(a.OH, a.OW) > _MOST_WINDOWS:
        raise BadArg(f"{a.OH} × {a.OW} windows; at most {_MOST_WINDOWS} a side are supported", Unsupported)


def _check_pool(a: Args) -> None:
    check_divisor(a)
    _check_windows(a, min(a.kernel[0], a.H) * min(a.kernel[1], a.W))


@op(
    "webq8.avg_pool2d_int8.default",
    x=_MAP,
    **_SCALED,
    kernel=KERNEL,
    stride=STRIDE,
    padding=PADDING,
    ceil_mode=Bool(default=False),
    count_include_pad=Bool(absent=True, default=True),
    divisor_override=Int(absent=COUNT, default=None),
    **_RESULT,
    out=I8("N C OH OW", "channels"),
    derive=lambda a: pooled(a, (1, 1)),
    check=_check_pool,
    fuses_clamp=True,
)
def avg_pool2d(a: Args) -> Iterator[Dispatch]:
    """`avg_pool2d` of int8 [N, C, H, W], requantized."""
    divisor = 0 if a.divisor_override == COUNT else a.divisor_override
    yield _average(a, _windows(a, 0), _windows(a, 1), divisor)


@op(
    "webq8.adaptive_avg_pool2d_int8.default",
    x=_MAP,
    **_SCALED,
    output_size=Pair(),
    **_RESULT,
    out=I8("N C OH OW", "channels"),
    derive=adaptive_sizes,
    check=lambda a: _check_windows(a, a.H * a.W),
    fuses_clamp=True,
)
def adaptive_avg_pool2d(a: Args) -> Iterator[Dispatch]:
    """`adaptive_avg_pool2d` of int8 [N, C, H, W], requantized."""
    if (a.OH, a.OW) == (1, 1):
        yield _mean(a, (2, 3))
        return
    yield _average(a, _adaptive_windows(a.H, a.OH), _adaptive_windows(a.W, a.OW))
