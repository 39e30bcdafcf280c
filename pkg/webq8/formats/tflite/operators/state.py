"""Variables, which keep values between runs."""

from webq8.errors import FormatError
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value, Variable, variable_key
from webq8.ir.types import BadArg

__all__: list[str] = []


@lowers("CALL_ONCE", subgraph="0i")
def call_once(g: Emitter, *, subgraph: int) -> Lowered:
    g.initialize(subgraph)
    return None


@lowers("VAR_HANDLE", container="0s", shared_name="1s")
def var_handle(g: Emitter, *, container: str, shared_name: str) -> Lowered:
    key = variable_key(container, shared_name)
    return g.variables.setdefault(key, Variable(g.builder.where))


@lowers("READ_VARIABLE")
def read_variable(g: Emitter, variable: Variable) -> Lowered:
    return g.found(_checked(variable), g.results[0])


@lowers("ASSIGN_VARIABLE")
def assign_variable(g: Emitter, variable: Variable, value: Value) -> Lowered:
    if not isinstance(value, Value):
        raise BadArg("its second input is a variable", FormatError)
    _checked(variable).value = value
    return None


def _checked(variable: object) -> Variable:
    if not isinstance(variable, Variable):
        raise BadArg("its first input is no variable", FormatError)
    return variable
