"""Graph to graph, before planning. Each rewrite is a small function."""

from dataclasses import replace

from webq8.ir import Call, Graph, ListRef, Tensor

__all__ = ["drop_dead_calls", "fold_prepack", "rewrite"]


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
        if not call.args or call.args[-1] in needed or _list_of(graph, call.args[-1]) & needed:
            kept.append(call)
            for i in call.args:
                needed |= {i} | _list_of(graph, i)
    return replace(graph, calls=tuple(reversed(kept)))


def _list_of(graph: Graph, i: int) -> set[int]:
    value = graph.values[i]
    return set(value.ids) if isinstance(value, ListRef) else set()
