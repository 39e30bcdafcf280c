"""Where a long method is cut into submits: browsers end a GPU process that does not answer for seconds.

The estimates are rough; a cut costs a wait of a millisecond or so, and networks of usual size have none on a GPU.
"""

from collections.abc import Sequence
from typing import NamedTuple

from webq8.ir import Step

__all__ = ["submit_ends"]


class _Speed(NamedTuple):
    """What a slow device of its kind does in a second."""

    operations: float
    nbytes: float

    def seconds(self, step: Step) -> float:
        return step.operations / self.operations + step.nbytes / self.nbytes


_SECONDS = 1.75  # of a submit, by the estimate
# SwiftShader on two cores, as profiles of MobileNetV2 and ResNet-18 gave it: 0.7 to 7 · 10⁹ operations and 30 to
# 1,000 · 10⁶ bytes a second by kernel; together these estimate twice what the networks take.
_SOFTWARE = _Speed(3e9, 100e6)
_GPU = _Speed(1e12, 20e9)  # a small integrated one


def submit_ends(steps: Sequence[Step], software: bool) -> tuple[int, ...]:
    """The numbers of steps after which a submit ends, the last that of all; one step is never cut."""
    speed = _SOFTWARE if software else _GPU
    ends, spent = list[int](), 0.0
    for i, step in enumerate(steps):
        seconds = speed.seconds(step)
        if spent and spent + seconds > _SECONDS:
            ends.append(i)
            spent = 0.0
        spent += seconds
    return (*ends, len(steps))
