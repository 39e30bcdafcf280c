"""What every reader returns, whatever the format: methods that can be lowered."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple, Protocol

from webq8.budget import Budget
from webq8.errors import Problem, Webq8Error
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import BadArg, Tensor
from webq8.stages import Steps

__all__ = ["Asked", "Beside", "File", "FileMethod", "FileOp", "Names", "Shapes", "fitting"]

Shapes = Mapping[str, int | Sequence[int]]
Beside = Callable[[str], memoryview]


class Asked(NamedTuple):
    """What a reader is told besides the bytes of a file: `shapes` gives sizes to symbols of the file, or whole shapes
    to inputs, by name; `beside` reads another file of the model's folder, and raises InputError for all others."""

    shapes: Shapes = MappingProxyType({})
    beside: Beside | None = None


class FileOp(NamedTuple):
    """A call of an operator, by the format's name. `where` is its place in the file, which problems and the nodes that
    it is lowered to have."""

    where: str
    name: str


class Names(NamedTuple):
    """Names of a method's inputs and outputs, no two of the inputs alike, nor of the outputs."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @classmethod
    def of(cls, inputs: Iterable[str], outputs: Iterable[str]) -> "Names":
        """Names of a file. What has none is in0, in1, … or out0, …; one that came before gets a number."""
        return cls(_distinct(inputs, "in"), _distinct(outputs, "out"))


def _distinct(names: Iterable[str], default: str) -> tuple[str, ...]:
    found = dict[str, None]()
    for i, name in enumerate(names):
        name = name or f"{default}{i}"
        while name in found:
            name += f"_{i}"
        found[name] = None
    return tuple(found)


class FileMethod(Protocol):
    """A method as its file has it."""

    def inputs(self) -> tuple[Tensor, ...]:
        """The types of the inputs."""

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        """The types of the outputs; for one that is no tensor, the value that the file has."""

    def names(self) -> Names:
        """The names of the inputs and outputs."""

    def operators(self) -> Iterable[FileOp]:
        """All calls of operators, in order."""

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        """The graph, and all problems that keep it from running; a graph with problems is not to be used."""


class File(NamedTuple):
    """A file that was read: its methods by name, and its size in bytes; `reshaped` gives it for other shapes than those
    that were asked for, where the file leaves some open."""

    methods: Mapping[str, FileMethod]
    size: int
    reshaped: "Callable[[Shapes], File] | None" = None


@contextmanager
def fitting() -> Iterator[None]:
    """What Python cannot compute of inputs and attributes that contradict each other, as damage of the op that has
    them: too many ways to contradict lead here to check each."""
    try:
        yield
    except Webq8Error:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        raise BadArg("its inputs and attributes do not fit each other") from e
