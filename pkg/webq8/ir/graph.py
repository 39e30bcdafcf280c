"""A graph of ops over tensors: what a method of a program computes.

Classes are NamedTuples where no field is left out of repr or has a default factory: a page defines these, and makes
their objects, faster than those of dataclasses.
"""

from typing import Any, NamedTuple

from webq8.ir.ops.core import Op
from webq8.ir.types import Ref, Tensor

__all__ = ["Fixed", "Graph", "Node", "State"]


class Node(NamedTuple):
    """An op at its place in a graph. `where`: its place in the file; `also`: the places of what passes had it compute
    at once, and `tables` those of what it computes by a table of its results."""

    op: Op
    outputs: tuple[Ref, ...]
    where: str
    also: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        return (self.where, *self.also, *self.tables)


class Fixed(NamedTuple):
    """A result that is no tensor but a value in the file, which each run returns."""

    value: Any


class State(NamedTuple):
    """A value that is kept between runs: a run reads `value`, and leaves `next` in its place. `initial` is what the
    first run reads; zeros, where there is no data."""

    value: Ref
    next: Ref
    initial: Tensor


class Graph(NamedTuple):
    """Nodes in an order in which every tensor is computed before it is read. A tensor with `data` is a constant."""

    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref | Fixed, ...]
    states: tuple[State, ...] = ()

    @property
    def results(self) -> tuple[Ref, ...]:
        """The outputs that are tensors."""
        return tuple(o for o in self.outputs if not isinstance(o, Fixed))
