"""Grid sampling: maps that are read at computed coordinates."""

from webq8.formats.pte.schema import F32, Argument, Bool, Choice, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.sample import Beyond, GridSample, Interpolation
from webq8.ir.types import Ref

__all__: list[str] = []

# by torch's numbers
_INTERPOLATIONS: tuple[Interpolation, ...] = ("bilinear", "nearest", "bicubic")
_PADDINGS: tuple[Beyond, ...] = ("zeros", "border", "reflection")


@lowers(
    "aten.grid_sampler_2d.default",
    "aten::grid_sampler_2d.out",
    x=F32("N C H W"),
    grid=F32("N OH OW two"),
    interpolation=Choice((0, 1, 2), default=0),
    padding=Choice((0, 1, 2), default=0),
    align_corners=Bool(default=False),
    out=F32("N C OH OW"),
)
def grid_sampler(g: Builder, x: Argument, grid: Argument, interpolation: int, padding: int, align_corners: bool) -> Ref:
    """y[n, c, i, j] = x[n, c] at the point grid[n, i, j] = (x, y), where −1 and 1 are the edges of x, or with
    `align_corners` the centres of its corners. interpolation: 0 bilinear, 1 nearest, 2 bicubic. padding, what lies
    beyond: 0 zeros, 1 the border, 2 reflections."""
    # the exporter keeps equal constants once: 0.0 and False may stand for 0
    interpolate, beyond = _INTERPOLATIONS[int(interpolation)], _PADDINGS[int(padding)]
    return g.emit(GridSample(x.ref, grid.ref, interpolate, beyond, align_corners))
