"""Tells what a file holds, without a GPU."""

from collections import Counter
from typing import Any

from webq8.budget import Budget
from webq8.errors import Webq8Error
from webq8.formats import read_file
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.source import Source, read_here
from webq8.runtime.specs import TensorSpec, ValueSpec, spec_of
from webq8.stages import finish
from webq8.target import Target

__all__ = ["inspect"]


def inspect(source: Source) -> dict[str, Any]:
    """What is in a file, without a GPU: specs, ops with counts, dispatches, what is unsupported and why. JSON-able.

    Raises InputError where there is no such file, FormatError where it is damaged.
    """
    data, name = read_here(source)
    file = read_file(data, name)
    budget = Budget(file.size, name)
    methods = {}
    for n, method in file.methods.items():
        spec = spec_of(method)
        graph, problems = finish(method.lower(budget))
        entry: dict[str, Any] = {
            "inputs": [_described(t) for t in spec.inputs],
            "outputs": [_described(v) for v in spec.outputs],
            "ops": dict(Counter(op.name for op in method.operators())),
            "unsupported": [{"node": p.node, "op": p.op, "reason": p.reason} for p in problems],
        }
        entry |= {"dispatches": None, "relayouts": None, "peak_bytes": None, "live_bytes": None}
        if not problems:
            try:
                rewritten = rewrite(required(graph), None, budget)
                plan = plan_program({n: rewritten}, Target(), name, budget).plans[n]
            except Webq8Error as e:
                entry["unsupported"].append({"node": "plan", "op": "", "reason": str(e)})
            else:
                entry |= {"dispatches": len(plan.steps), "relayouts": plan.relayouts}
                entry |= {"peak_bytes": plan.peak_bytes, "live_bytes": plan.live_bytes}
        methods[n] = entry
    return {"model": name, "methods": methods}


def _described(spec: TensorSpec | ValueSpec) -> dict[str, Any]:
    what = {"value": spec.value} if isinstance(spec, ValueSpec) else {"shape": list(spec.shape), "dtype": spec.dtype}
    return {"name": spec.name, **what}
