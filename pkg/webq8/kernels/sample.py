"""Maps that are sampled at coordinates which the run computes."""

from collections.abc import Iterator

from webq8.dtypes import numel
from webq8.ir.ops.sample import GridSample
from webq8.ir.plan import Dispatch
from webq8.kernels.registry import Call, kernel

__all__: list[str] = []


@kernel(GridSample)
def grid_sample(op: GridSample, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    results = numel(y.shape)
    _, channels, height, width = x.shape
    yield Dispatch(
        "grid_sampler",
        {"x": x.id, "grid": call[op.grid].id, "y": y.id},
        {"results": results, "channels": channels, "places": numel(y.shape[2:]), "height": height, "width": width},
        results,
        {
            "interpolation": op.interpolation.upper(),
            "padding": op.padding.upper(),
            "align_corners": op.align_corners,
        },
    )
