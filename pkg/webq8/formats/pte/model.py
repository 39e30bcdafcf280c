"""The content of a `.pte` file, as ExecuTorch has it: values by id, and calls of operators by name.

Value ids are indices into `PteMethod.values`; a call's arguments are value ids in the order of the operator's schema,
the result last.
"""

from collections.abc import Mapping
from typing import NamedTuple

from webq8.errors import Problem
from webq8.ir.types import Tensor
from webq8.records import Record

__all__ = ["EValue", "ListRef", "OperatorCall", "PteMethod", "PteProgram", "PteState"]


class ListRef(Record):
    """A list of values, by id (tensor lists, as `cat` takes them)."""

    ids: tuple[int, ...]


EValue = Tensor | ListRef | int | float | bool | str | None | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...]


class OperatorCall(NamedTuple):
    """A call of an operator. `where` is its place in the file, for messages."""

    name: str
    args: tuple[int, ...]
    where: str


class PteState(NamedTuple):
    """A tensor that keeps its value between runs, and the value that a run leaves in it. `initial` is what it holds
    before the first run, little-endian; None for zeros."""

    value: int
    next: int
    initial: memoryview | None


class PteMethod(NamedTuple):
    """A method as one flat list of calls. `problems` lists what webq8 cannot do; a method with problems cannot run."""

    name: str
    values: tuple[EValue, ...]
    calls: tuple[OperatorCall, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    problems: tuple[Problem, ...] = ()
    states: tuple[PteState, ...] = ()


class PteProgram(NamedTuple):
    """The methods of a file by name, and the size of the file in bytes."""

    methods: Mapping[str, PteMethod]
    size: int
