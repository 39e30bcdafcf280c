"""What detectors end with."""

from collections.abc import Iterator

from webq8.ir.ops.boxes import NonMaxSuppression
from webq8.ir.plan import Dispatch
from webq8.ir.types import f32
from webq8.kernels.lanes import shared_threads
from webq8.kernels.registry import Call, kernel

__all__: list[str] = []

_LANES = 64  # a workgroup looks for the best box together


@kernel(NonMaxSuppression)
def non_max_suppression(op: NonMaxSuppression, call: Call) -> Iterator[Dispatch]:
    """A workgroup for each map and class."""
    y, rest = call.outs
    maps, classes, boxes = rest.shape
    params = {"rows": maps * classes, "classes": classes, "boxes": boxes, "most": op.most}
    yield Dispatch(
        "non_max_suppression",
        {"boxes": call[op.boxes].id, "scores": call[op.scores].id, "rest": rest.id, "y": y.id},
        {**params, "overlap": f32(op.overlap), "least": f32(op.least)},
        threads=shared_threads(maps * classes, _LANES),
        constants={"lanes": _LANES, "centred": op.centred},
    )
