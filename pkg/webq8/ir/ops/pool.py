"""Pools of maps [*B, H, W] with one or two leading axes; on int8 they are [N, C, H, W]."""

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.edges import Edges, Through
from webq8.ir.ops.linear import INT8
from webq8.ir.ops.move import moved
from webq8.ir.ops.reduce import FixedPointTable, Steps, check_mean_terms, check_steps
from webq8.ir.ops.window import Window, pooled_sizes
from webq8.ir.types import BadArg, Ref, Shape, Tensor

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "MaxPool2d", "MaxPool2dIndices"]

_MOST_WINDOWS = 2**16  # along a side, on int8: a table has them all


def _map_size(x: Tensor) -> tuple[int, int]:
    """Height and width of maps."""
    if len(x.shape) not in (3, 4):
        raise BadArg(f"x: {len(x.shape)} dimensions; 3 or 4 are a map (a batch of them) of channels")
    if x.dtype == "int8" and len(x.shape) == 3:
        raise BadArg("x: int8 maps without a batch are not supported; [N, C, H, W] are", Unsupported)
    height, width = x.shape[-2:]
    return height, width


def _pooled(x: Tensor, window: Window, ceil_mode: bool) -> Shape:
    return (*x.shape[:-2], *pooled_sizes(window, _map_size(x), ceil_mode))


def _check_windows(x: Tensor, y: Shape, terms: int, table: FixedPointTable | None) -> None:
    """What means of windows of int8 need."""
    if x.dtype == "int8":
        check_mean_terms(terms, table)
        if max(y[-2:]) > _MOST_WINDOWS:
            raise BadArg(f"{y[-2]} × {y[-1]} windows; at most {_MOST_WINDOWS} a side are supported", Unsupported)


class MaxPool2d(Op):
    """The largest element of each window, on int8 or float32; NaN where there is one."""

    x: Ref
    window: Window
    ceil_mode: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        return (moved(x, _pooled(x, self.window, self.ceil_mode)),)


class MaxPool2dIndices(Op):
    """Where in its map (row · W + column) each result of MaxPool2d stands: the first of equals, the last NaN. x is
    float32; indices are int32 or int64, as `dtype` says."""

    x: Ref
    window: Window
    ceil_mode: bool
    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (Tensor(_pooled(types[self.x], self.window, self.ceil_mode), self.dtype),)


class AvgPool2d(Op):
    """The sum of each window, which has no dilation, over `divisor`; over its number of elements, where there is none:
    with padding (but not what `ceil_mode` adds beyond it), or with `count_include_pad` off those in the map.

    float32; or int8 with a `table` and `bounds` as Mean has them; or, with `steps`, int8 that the steps for the number
    of elements make of the sum of the int8 values themselves.
    """

    FUSES_BOUNDS = True
    x: Ref
    window: Window
    ceil_mode: bool
    count_include_pad: bool
    divisor: int | None
    table: FixedPointTable | None = None
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()
    steps: tuple[tuple[int, Steps], ...] = ()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, window = types[self.x], self.window
        shape = _pooled(x, window, self.ceil_mode)
        if self.count_include_pad and window.padding[:2] != window.padding[2:]:
            raise BadArg("padding that differs between opposite edges cannot be counted", Unsupported)
        for _, steps in self.steps:
            check_steps(steps)
        _check_windows(x, shape, min(window.kernel[0], x.shape[-2]) * min(window.kernel[1], x.shape[-1]), self.table)
        return (Tensor(shape, "float32"),)


class AdaptiveAvgPool2d(Op):
    """The mean of each of `size` (height, width) windows that divide a map: window i of O has rows floor(i·H/O) to
    ceil((i + 1)·H/O) of H; columns alike.

    float32; or int8 with a `table` and `bounds` as Mean has them.
    """

    FUSES_BOUNDS = True
    x: Ref
    size: tuple[int, int]
    table: FixedPointTable | None = None
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        height, width = _map_size(x)
        if not height * width:
            raise BadArg(f"x: nothing to average in maps of {[height, width]}")
        if height * max(self.size[0], 1) >= 2**32 or width * max(self.size[1], 1) >= 2**32:
            raise BadArg(f"output_size: {list(self.size)} of {[height, width]} is too large", Unsupported)
        shape = (*x.shape[:-2], *self.size)
        _check_windows(x, shape, numel((height, width)), self.table)
        return (Tensor(shape, "float32"),)
