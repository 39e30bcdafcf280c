"""Reads and lowers ExecuTorch's `.pte` files."""

from collections.abc import Iterable
from typing import NamedTuple

from webq8.budget import Budget
from webq8.errors import InputError, Problem
from webq8.formats.base import Asked, File, FileOp, Names
from webq8.formats.pte.lower import lower_method
from webq8.formats.pte.model import PteMethod
from webq8.formats.pte.read import is_pte, read_program
from webq8.ir.graph import Fixed, Graph
from webq8.ir.types import Tensor
from webq8.stages import Stage, Steps

__all__ = ["Method", "is_pte", "read_pte"]


class Method(NamedTuple):
    """A method of a `.pte` file, as `formats.base.FileMethod` has it."""

    content: PteMethod

    def inputs(self) -> tuple[Tensor, ...]:
        values = (self.content.values[i] for i in self.content.inputs)
        return tuple(v.type() for v in values if isinstance(v, Tensor))

    def outputs(self) -> tuple[Tensor | Fixed, ...]:
        values = (self.content.values[i] for i in self.content.outputs)
        return tuple(v.type() if isinstance(v, Tensor) else Fixed(v) for v in values)

    def names(self) -> Names:
        """The file has none: a number each."""
        return Names.of([""] * len(self.inputs()), [""] * len(self.outputs()))

    def operators(self) -> Iterable[FileOp]:
        return (FileOp(call.where, call.name) for call in self.content.calls)

    def lower(self, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
        return lower_method.steps(self.content, budget)


@Stage
def read_pte(data: bytes | bytearray | memoryview, name: str = "program", asked: Asked | None = None) -> Steps[File]:
    """Reads a `.pte` file; see `formats.read_file`. Its shapes are fixed."""
    if asked and asked.shapes:
        raise InputError(f"shapes: {name} is a .pte file, whose shapes are fixed; leave them out")
    program = yield from read_program.steps(data, name)
    return File({n: Method(method) for n, method in program.methods.items()}, program.size)
