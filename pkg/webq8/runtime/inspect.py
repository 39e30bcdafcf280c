"""What is in a file, without a GPU."""

from typing import Any

from webq8.budget import Budget
from webq8.errors import Webq8Error
from webq8.formats import read_pte
from webq8.ir import Limits
from webq8.plan.planner import find_problems, plan_program
from webq8.runtime.load import rewrite
from webq8.runtime.source import Source, read_here
from webq8.runtime.specs import TensorSpec, spec_of

__all__ = ["inspect"]


def inspect(source: Source) -> dict[str, Any]:
    """What is in a file, without a GPU: specs, ops with counts, dispatches, what is unsupported and why. JSON-able.

    Raises InputError where there is no such file, FormatError where it is damaged.
    """
    data, name = read_here(source)
    parsed = read_pte(data, name)
    budget = Budget(parsed.size, name)
    methods = {}
    for method in parsed.methods.values():
        spec = spec_of(method)
        ops: dict[str, int] = {}
        for call in method.graph.calls:
            ops[call.op] = ops.get(call.op, 0) + 1
        graph, problems = find_problems(method, budget)
        entry: dict[str, Any] = {
            "inputs": [{"shape": list(t.shape), "dtype": t.dtype} for t in spec.inputs],
            "outputs": [
                {"shape": list(v.shape), "dtype": v.dtype} if isinstance(v, TensorSpec) else {"value": v.value}
                for v in spec.outputs
            ],
            "ops": ops,
            "unsupported": [{"node": p.node, "op": p.op, "reason": p.reason} for p in problems],
        }
        entry |= {"dispatches": None, "relayouts": None, "peak_bytes": None, "live_bytes": None}
        if not problems:
            try:
                graphs = {method.name: rewrite(graph, None, budget)}
                plan = plan_program(graphs, Limits(), name, budget).plans[method.name]
            except Webq8Error as e:
                entry["unsupported"].append({"node": "plan", "op": "", "reason": str(e)})
            else:
                entry |= {"dispatches": len(plan.steps), "relayouts": plan.relayouts}
                entry |= {"peak_bytes": plan.peak_bytes, "live_bytes": plan.live_bytes}
        methods[method.name] = entry
    return {"model": name, "methods": methods}
