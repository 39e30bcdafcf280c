"""Cuts a long method into several submits, since browsers end a GPU process that does not answer for seconds.

The estimates are rough; a cut costs a wait of a millisecond or so, and networks of usual size have none on a GPU.
"""

from collections.abc import Sequence

from webq8.ir.plan import Step
from webq8.target import Speed

__all__ = ["submit_ends"]


_SECONDS = 1.75  # of a submit, by the estimate


def submit_ends(steps: Sequence[Step], speed: Speed) -> tuple[int, ...]:
    """For each submit, how many steps of the plan are done when it ends. A single step is never cut."""
    ends, spent = list[int](), 0.0
    for i, step in enumerate(steps):
        seconds = step.operations / speed.operations + step.nbytes / speed.nbytes
        if spent and spent + seconds > _SECONDS:
            ends.append(i)
            spent = 0.0
        spent += seconds
    return (*ends, len(steps))
