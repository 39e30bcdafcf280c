"""What every reader returns, whatever the format: methods that can be lowered."""

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
        """The types of the inputs."""

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        """The types of the outputs; for one that is no tensor, the value that the file has."""

    def operators(self) -> Mapping[str, int]:
        """How many calls of each operator it has, by the format's names."""

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        """The graph, and all problems that keep it from running; a graph with problems is not to be used."""


class File(NamedTuple):
    """A file that was read: its methods by name, and its size in bytes."""

    methods: Mapping[str, FileMethod]
    size: int
