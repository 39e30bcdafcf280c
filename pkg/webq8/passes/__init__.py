"""Passes, from graph to graph. `required` fixes what a graph computes; `optimize` only makes that faster."""

from collections.abc import Collection

from webq8.ir.graph import Graph, Node
from webq8.ir.types import Ref
from webq8.passes.edges import fuse_dequantize, fuse_quantize
from webq8.passes.int8 import arithmetic_on_int8, run_on_int8
from webq8.passes.products import float_results_of_int8
from webq8.passes.tables import fuse_bounds, fuse_tables, fuse_through
from webq8.passes.weights import center_weights
from webq8.stages import Stage, Steps

__all__ = ["OPTIMIZATIONS", "drop_dead_nodes", "optimize", "required"]

OPTIMIZATIONS: dict[str, Stage[[Graph], Graph]] = {
    "arithmetic_on_int8": arithmetic_on_int8,
    "fuse_tables": fuse_tables,
    "fuse_bounds": fuse_bounds,
    "fuse_through": fuse_through,
    "fuse_dequantize": fuse_dequantize,
    "fuse_quantize": fuse_quantize,
}


@Stage
def required(graph: Graph) -> Steps[Graph]:
    """Applies the passes that every device and the reference need to give the same bytes; for a graph just lowered."""
    for stage in (run_on_int8, float_results_of_int8, center_weights):
        graph = yield from stage.steps(graph)
    return drop_dead_nodes(graph)


@Stage
def optimize(graph: Graph, names: Collection[str] | None = None) -> Steps[Graph]:
    """Applies the optimizations of these names; all of them where no names are given."""
    for name, optimization in OPTIMIZATIONS.items():
        if names is None or name in names:
            graph = drop_dead_nodes((yield from optimization.steps(graph)))
    return graph


def drop_dead_nodes(graph: Graph) -> Graph:
    """Removes nodes whose results nobody needs."""
    needed, kept = set[Ref](graph.results), list[Node]()
    needed.update(state.next for state in graph.states)
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.outputs):
            kept.append(node)
            needed.update(node.op.reads())
    return graph._replace(nodes=tuple(reversed(kept)))
