"""Maps, read at computed places."""

from collections.abc import Iterator

from webq8.dtypes import numel
from webq8.handlers.registry import F32, Args, BadArg, Bool, Choice, op
from webq8.ir import Dispatch

__all__: list[str] = []


def _check_not_empty(a: Args) -> None:
    if a.two != 2:
        raise BadArg(f"grid: {a.two} numbers a place; two (x, y) are expected")
    if not a.H * a.W and a.N * a.C * a.OH * a.OW:
        raise BadArg(f"x: there is nothing to read in {[a.N, a.C, a.H, a.W]}")


@op(
    "aten.grid_sampler_2d.default",
    "aten::grid_sampler_2d.out",
    x=F32("N C H W"),
    grid=F32("N OH OW two"),
    interpolation=Choice((0, 1, 2), default=0),
    padding=Choice((0, 1, 2), default=0),
    align_corners=Bool(default=False),
    out=F32("N C OH OW"),
    check=_check_not_empty,
)
def grid_sampler(a: Args) -> Iterator[Dispatch]:
    """y[n, c, i, j] = x[n, c] at the place grid[n, i, j] = (x, y), where −1 and 1 are the edges of x, or with
    `align_corners` the centres of its corners. interpolation: 0 bilinear, 1 nearest, 2 bicubic. padding, what lies
    beyond: 0 zeros, 1 the border, 2 reflections."""
    yield Dispatch(
        "grid_sampler",
        {"x": a.x.id, "grid": a.grid.id, "y": a.out.id},
        {"outputs": numel(a.out.shape), "channels": a.C, "places": a.OH * a.OW, "height": a.H, "width": a.W},
        numel(a.out.shape),
        {"interpolation": int(a.interpolation), "padding": int(a.padding), "align_corners": a.align_corners},
    )
