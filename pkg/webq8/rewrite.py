"""Graph to graph, before planning. Each rewrite is a small function."""

from dataclasses import replace

from webq8.ir import Call, Graph, ListRef, Tensor

__all__ = ["drop_dead_calls", "fold_prepack", "reads", "rewrite", "writes"]


def rewrite(graph: Graph) -> Graph:
    return drop_dead_calls(fold_prepack(graph))


def fold_prepack(graph: Graph) -> Graph:
    """`et_vk.prepack(constant, out)` copies a constant to a texture upstream: here the constant itself serves."""
    values, calls = list(graph.values), []
    for call in graph.calls:
        source = graph.values[call.args[0]] if call.args else None
        target = graph.values[call.args[-1]] if call.args else None
        if (
            call.op == "et_vk.prepack.default"
            and len(call.args) == 2
            and isinstance(source, Tensor)
            and source.data is not None
            and isinstance(target, Tensor)
            and (target.shape, target.dtype) == (source.shape, source.dtype)
        ):
            values[call.args[1]] = source
        else:
            calls.append(call)
    return replace(graph, values=tuple(values), calls=tuple(calls))


def drop_dead_calls(graph: Graph) -> Graph:
    """Removes calls whose results nobody needs."""
    needed, kept = set(graph.outputs), list[Call]()
    for call in reversed(graph.calls):
        if writes(graph, call) & needed or not call.args:
            kept.append(call)
            needed |= reads(graph, call)
    return replace(graph, calls=tuple(reversed(kept)))


def reads(graph: Graph, call: Call) -> set[int]:
    """Ids of what a call reads, lists looked into."""
    return {j for i in call.args[:-1] for j in _flat(graph, i)}


def writes(graph: Graph, call: Call) -> set[int]:
    """Ids of what a call computes: its last argument, or the tensors of that list."""
    return {j for i in call.args[-1:] for j in _flat(graph, i)}


def _flat(graph: Graph, i: int) -> tuple[int, ...]:
    value = graph.values[i]
    return value.ids if isinstance(value, ListRef) else (i,)
