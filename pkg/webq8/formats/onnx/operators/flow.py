"""Branches and loops. What is decided when a model is lowered is lowered; the rest is refused."""

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, operator
from webq8.ir.types import BadArg


@operator("If")
def branch(c: Call) -> Result:
    (condition,) = c.constant(0, "the condition")
    c.ignore("then_branch", "else_branch")
    taken = c.graph("then_branch" if condition else "else_branch")
    found: Result = c.body.branch(taken)
    return found


@operator("Loop", "Scan", "SequenceMap")
def loop(c: Call) -> Result:
    raise BadArg(
        "loops are not supported: how often they run is known in the run only. Export it unrolled", Unsupported
    )
