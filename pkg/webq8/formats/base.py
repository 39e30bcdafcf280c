"""What a reader gives, whatever the format: methods that can be lowered."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from webq8.budget import Budget
from webq8.errors import Problem
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import Tensor
from webq8.stages import Steps

__all__ = ["File", "FileMethod"]


class FileMethod(Protocol):
    """A method as its file has it."""

    def inputs(self) -> tuple[Tensor, ...]:
        """Types of what the method is called with."""

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        """Types of what it returns, or values that the file has."""

    def operators(self) -> Mapping[str, int]:
        """How often it calls each operator, by the format's names."""

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        """Its graph, and everything that keeps it from running; of one with problems the graph is not to be used."""


class File(NamedTuple):
    """`size` in bytes."""

    methods: Mapping[str, FileMethod]
    size: int
