"""Tells what a file holds, without a GPU."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from webq8.budget import Budget
from webq8.errors import Problem, Webq8Error, plain
from webq8.formats import Asked, FileOp, Shapes, read_file
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.edges import Edges, edges_of
from webq8.ir.ops.elementwise import Lookup
from webq8.ir.plan import Plan
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.source import Source, beside, read_here
from webq8.runtime.specs import TensorSpec, ValueSpec, spec_of
from webq8.stages import finish
from webq8.target import Target

__all__ = ["inspect", "where_ops_run"]

# Where an op of a file runs. Of several the first counts, for an op that became several.
UNSUPPORTED, FLOAT, INTEGER, INT8, TABLE = "unsupported", "float", "integer", "int8 kernel", "table"
FOLDED = "folded"  # no dispatch is left of it: it was computed when the file was loaded, or joined another op
SUPPORTED = "supported"  # it would run, if other ops did
_ORDER = (UNSUPPORTED, FLOAT, INTEGER, INT8, TABLE, FOLDED, SUPPORTED)


def inspect(source: Source, shapes: Shapes | None = None) -> dict[str, Any]:
    """What is in a file, without a GPU: specs, ops with counts, where each runs, dispatches, what is unsupported and
    why. JSON-able. `shapes` are as for `load`.

    Raises InputError where there is no such file, FormatError where it is damaged.
    """
    data, name = read_here(source)
    file = read_file(data, name, Asked(shapes or {}, beside(source)))
    budget = Budget(file.size, name)
    methods = {}
    for n, method in file.methods.items():
        graph, problems = finish(method.lower(budget))
        spec, ops = spec_of(method), [*method.operators()]  # lowering may find out sizes of outputs
        planned = None
        if not problems:
            try:
                rewritten = rewrite(required(graph), None, budget)
                planned = rewritten, plan_program({n: rewritten}, Target(), name, budget).plans[n]
            except Webq8Error as e:
                problems = [Problem("plan", "", str(e))]
        entry: dict[str, Any] = {
            "inputs": [_described(t) for t in spec.inputs],
            "outputs": [_described(v) for v in spec.outputs],
            "ops": dict(Counter(op.name for op in ops)),
            "runs": where_ops_run(ops, problems, planned),
            "unsupported": [{"node": p.node, "op": p.op, "reason": p.reason} for p in problems],
        }
        plan = planned and planned[1]
        methods[n] = entry | {
            "states": len(graph.states),
            "dispatches": plan and len(plan.steps),
            "relayouts": plan and plan.relayouts,
            "peak_bytes": plan and plan.peak_bytes,
            "live_bytes": plan and plan.live_bytes,
        }
    return {"model": name, "methods": methods}


def _described(spec: TensorSpec | ValueSpec) -> dict[str, Any]:
    what = {"value": spec.value} if isinstance(spec, ValueSpec) else {"shape": list(spec.shape), "dtype": spec.dtype}
    if isinstance(spec, TensorSpec) and spec.scale is not None:
        what |= {"scale": spec.scale, "zero_point": spec.zero_point}
    return {"name": spec.name, **what}


def where_ops_run(
    ops: Iterable[FileOp], problems: Sequence[Problem], planned: tuple[Graph, Plan] | None
) -> list[dict[str, Any]]:
    """Where the ops of a file run, as rows of those that are alike: op, runs, reason (where it does not), count and
    nodes. `planned` is what became of them, None where some cannot run.
    """
    reasons = {p.node: p.reason for p in reversed(problems)}
    found = _by_place(*planned) if planned else {}
    otherwise = FOLDED if planned else SUPPORTED
    rows = defaultdict[tuple[int, str, str], list[str]](list)
    for where, name in ops:
        kinds = {UNSUPPORTED} if where in reasons else found.get(where, {otherwise})
        rows[min(map(_ORDER.index, kinds)), plain(name), reasons.get(where, "")].append(where)
    return [
        {"op": name, "runs": _ORDER[kind], "reason": reason, "count": len(nodes), "nodes": nodes}
        for (kind, name, reason), nodes in sorted(rows.items())
    ]


def _by_place(graph: Graph, plan: Plan) -> dict[str, set[str]]:
    """By what each op of a file runs, found by its place."""
    found = defaultdict[str, set[str]](set)
    dispatched = {step.node for step in plan.steps}
    for node in graph.nodes:
        if node.where in dispatched:
            kind = _kind(node, graph)
            for place in (node.where, *node.also):
                found[place].add(kind)
            for place in node.tables:
                found[place].add(TABLE)
    return found


def _kind(node: Node, graph: Graph) -> str:
    if isinstance(node.op, Lookup):
        return TABLE
    tensors = [graph.tensors[ref] for ref in (*node.op.reads(), *node.outputs)]
    dtypes = {t.dtype for t in tensors if t.data is None}
    if "int8" in dtypes or edges_of(node.op) != Edges():
        return INT8
    return FLOAT if any(dtype.startswith("float") for dtype in dtypes) else INTEGER
