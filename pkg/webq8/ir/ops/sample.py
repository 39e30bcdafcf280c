"""Maps, read at computed places."""

from typing import Literal

from webq8.dtypes import numel
from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, Ref, Tensor

__all__ = ["Beyond", "GridSample", "Interpolation"]

Interpolation = Literal["bilinear", "nearest", "bicubic"]
Beyond = Literal["zeros", "border", "reflection"]


class GridSample(Op):
    """y[n, c, i, j] = x[n, c] at the place grid[n, i, j] = (x, y), where −1 and 1 are the edges of x, or with
    `align_corners` the centres of its corners; `padding` says what lies beyond.

    x float32 [N, C, H, W], grid float32 [N, OH, OW, 2], y [N, C, OH, OW].
    """

    x: Ref
    grid: Ref
    interpolation: Interpolation
    padding: Beyond
    align_corners: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, grid = types[self.x].shape, types[self.grid].shape
        if grid[3] != 2:
            raise BadArg(f"grid: {grid[3]} numbers a place; two (x, y) are expected")
        shape = (*x[:2], *grid[1:3])
        if numel(shape) and not numel(x[2:]):
            raise BadArg(f"x: there is nothing to read in {list(x)}")
        return (Tensor(shape, "float32"),)
