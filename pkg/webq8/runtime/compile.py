"""From a file to plans, without a device: lowers all methods, runs passes, plans, and says which cannot run and why."""

from collections.abc import Collection, Mapping

from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import LimitError, Unsupported, Webq8Error, raise_problems, shown
from webq8.formats import File
from webq8.ir.graph import Graph
from webq8.ir.plan import ProgramPlan
from webq8.passes import optimize, required
from webq8.plan.planner import check_limit, plan_program
from webq8.stages import Stage, Steps
from webq8.target import Target

__all__ = ["check_memory", "check_some", "lower_file", "plan_methods", "rewrite"]

_MOST_REASONS = 4  # why methods cannot run, in a message
_MOST_IN_MEMORY = 2**29  # bytes of a tensor in a page's or a process' own memory


@Stage
def lower_file(file: File, name: str, budget: Budget, refused: dict[str, Webq8Error]) -> Steps[dict[str, Graph]]:
    """The graphs of those methods that can run; adds the others to `refused`."""
    graphs = {}
    for n, method in file.methods.items():
        graph, problems = yield from method.lower(budget)
        try:
            raise_problems(name if len(file.methods) == 1 else f"{name}, method {shown(n)}", problems)
            graphs[n] = yield from required.steps(graph)
        except (Unsupported, LimitError) as e:
            refused[n] = e
    return graphs


def check_memory(graph: Graph, what: str) -> None:
    """Refuses tensors that are too large for the reference, which has no device's limits to keep."""
    for t in graph.tensors:
        size = numel(t.shape) * ITEMSIZE[t.dtype]
        check_limit(size, _MOST_IN_MEMORY, f"{what}: a tensor {t.dtype} {list(t.shape)}", 'device="cpu"')


def check_some(name: str, methods: Collection[str], refused: Mapping[str, Webq8Error]) -> None:
    """Raises what is wrong with all methods where none can run; what they have in common is said once."""
    if methods:
        return
    reasons = {str(e).removeprefix(f"{name}, method {shown(n)}: "): str(e) for n, e in refused.items()}
    lines = [f"{name}: {next(iter(reasons)).removeprefix(f'{name}: ')}"] if len(reasons) == 1 else [*reasons.values()]
    more = [f"… and {len(lines) - _MOST_REASONS} more"] * (len(lines) > _MOST_REASONS)
    raise type(next(iter(refused.values())))("\n".join(lines[:_MOST_REASONS] + more))


@Stage
def rewrite(graph: Graph, optimizations: Collection[str] | None = None, budget: Budget | None = None) -> Steps[Graph]:
    """Folds constants, where numpy is installed to compute them, and applies the optimizations to a graph."""
    if _has_constant_nodes(graph):  # rarely; the reference takes its time to import
        try:
            from webq8.backends.reference import fold_constants
        except ImportError:
            pass
        else:
            graph = fold_constants(graph, budget)
    return (yield from optimize.steps(graph, optimizations))


def _has_constant_nodes(graph: Graph) -> bool:
    """Whether some node reads constants only, so that its result could be computed now, once."""
    constant = [t.data is not None for t in graph.tensors]
    return any(all(constant[ref] for ref in node.op.reads()) for node in graph.nodes)


@Stage
def plan_methods(
    graphs: Mapping[str, Graph], target: Target, name: str, budget: Budget, refused: dict[str, Webq8Error]
) -> Steps[ProgramPlan]:
    """The plans of those methods that fit the device; adds the others to `refused`."""
    try:
        return (yield from plan_program.steps(graphs, target, name, budget))
    except LimitError:
        for n, graph in graphs.items():
            try:
                yield from plan_program.steps({n: graph}, target, name, budget)
            except LimitError as e:
                refused[n] = e
        rest = {n: g for n, g in graphs.items() if n not in refused}
        return (yield from plan_program.steps(rest, target, name, budget))
