"""Declarations of TFLite's operators: the fields of their options, and which function lowers their calls.

    @lowers("SOFTMAX", beta="0f")
    def softmax(g: Emitter, x: Value, *, beta: float) -> Lowered: …

An option is declared by its field number in the schema and a code: i for 32 bits, b for a byte, ? for a truth value, f,
s for a string, v for a list of 32 bits; a default that is not zero follows: "4i=1". Inputs come by position: those with
a default of None may be left out, by the file's −1 or at the end; `*values` takes any number of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from webq8.formats.flatbuf import Table
from webq8.formats.tflite.values import Lowered, Value, Variable
from webq8.ir.types import BadArg

__all__ = ["ACTIVATIONS", "OPERATORS", "Lowering", "lowers"]

Option = int | float | str | tuple[int, ...]
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Lowered])

# ActivationFunctionType: what an operator does to its results, as bounds
_INF = float("inf")
ACTIVATIONS = {0: (-_INF, _INF), 1: (0.0, _INF), 2: (-1.0, 1.0), 3: (0.0, 6.0)}


class Lowering(NamedTuple):
    """How calls of an operator are lowered."""

    function: Callable[..., Lowered]
    options: Mapping[str, str]

    def arguments(self, values: Sequence[Value | Variable | None]) -> list[Value | Variable | None]:
        """The inputs as the function takes them. Raises BadArg where there are too few or too many."""
        code, defaults = self.function.__code__, self.function.__defaults__ or ()
        most = code.co_argcount - 1
        least, any_number = most - len(defaults), bool(code.co_flags & 4)
        given = [*values]
        while len(given) > least and given[-1] is None:
            given.pop()
        if None in given[:least]:
            raise BadArg(f"input {given.index(None)} is left out")
        if len(given) < least or (len(given) > most and not any_number):
            raise BadArg(f"{len(given)} inputs, {least}{f' to {most}' * (most > least)} are expected")
        return given

    def read(self, table: Table | None) -> dict[str, Option]:
        """The options of a call, by name."""
        return {name: _option(table, spec) for name, spec in self.options.items()}


def _option(table: Table | None, spec: str) -> Option:
    field, _, default = spec.partition("=")
    slot, code = int(field[:-1]), field[-1]
    if code == "s":
        return table.string(slot) if table else ""
    if code == "v":
        return table.vector(slot, "i") if table else ()
    number = table.scalar(slot, code, int(default or 0)) if table else int(default or 0)
    return number if code == "f" else int(number)


OPERATORS: dict[str, Lowering] = {}


def lowers(*names: str, **options: str) -> Callable[[AnyFunction], AnyFunction]:
    """Registers the function that lowers calls of operators with these names."""

    def register(function: AnyFunction) -> AnyFunction:
        OPERATORS.update(dict.fromkeys(names, Lowering(function, options)))
        return function

    return register
