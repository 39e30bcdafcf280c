"""A program on the reference: its graphs, run by numpy one node at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from webq8.arrays import to_array
from webq8.backends.base import Output
from webq8.backends.reference.core import run_graph
from webq8.dtypes import as_buffer
from webq8.errors import LimitError
from webq8.ir.graph import Graph

__all__ = ["ReferenceProgram"]


class _Run(NamedTuple):
    method: str
    sources: list[bytes]


class ReferenceProgram:
    """Graphs that are ready to run; `base.Loaded`. A run is computed when it is awaited."""

    device = None

    def __init__(self, name: str, graphs: Mapping[str, Graph]) -> None:
        self.name, self._graphs = name, graphs

    def start(self, method: str, sources: Sequence[Any], *, read: bool = True, keep: bool = False) -> _Run:
        return _Run(method, [bytes(source) for source in sources])

    async def finish(self, run: _Run) -> list[Output]:
        graph = self._graphs[run.method]
        specs = [graph.tensors[ref] for ref in graph.inputs]
        arrays = [to_array(memoryview(b), t.shape, t.dtype) for b, t in zip(run.sources, specs, strict=True)]
        try:
            results = run_graph(graph, arrays)
        except MemoryError:
            raise LimitError(f"{self.name}: there is not enough memory to run {run.method}") from None
        return [Output(as_buffer(array, "result")[0]) for array in results]

    def close(self) -> None:
        """Does nothing: all memory is Python's."""
