"""Functions of one element, and of two or three that are broadcast."""

from collections.abc import Callable

from webq8.errors import Unsupported
from webq8.formats import xnnpack
from webq8.formats.tflite.operators.move import held
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value
from webq8.formats.tflite.windows import activated, bounds_of, one_scale
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import (
    Binary,
    BinaryFunction,
    Clamp,
    Compare,
    CompareFunction,
    Elu,
    LeakyRelu,
    Logical,
    LogicalFunction,
    Unary,
    UnaryFunction,
    Where,
)
from webq8.ir.types import BadArg, Ref

__all__: list[str] = []

_INF = float("inf")


def of_one(
    g: Emitter, x: Value, function: xnnpack.Function | None, op: Callable[[Ref], Op], alpha: float = 0.0
) -> Lowered:
    """A function of one element: on int8 a table, by its name there; else an op."""
    ref, maps = held(x)
    if x.is_int8:
        if function is None:
            raise BadArg("int8 is not supported", Unsupported)
        return g.in_form(xnnpack.unary(g.builder, ref, one_scale(g), function, alpha), maps)
    return g.in_form(g.builder.emit(op(ref)), maps)


_UNARY: dict[str, tuple[xnnpack.Function | None, UnaryFunction]] = {
    "LOGISTIC": ("logistic", "sigmoid"),
    "TANH": ("tanh", "tanh"),
    "HARD_SWISH": ("hard_swish", "hardswish"),
    "EXP": ("exp", "exp"),
    "LOG": ("log", "log"),
    "SQRT": ("sqrt", "sqrt"),
    "RSQRT": ("rsqrt", "rsqrt"),
    "ABS": ("abs", "abs"),
    "NEG": ("neg", "neg"),
    "SIN": (None, "sin"),
    "COS": (None, "cos"),
    "FLOOR": (None, "floor"),
    "CEIL": (None, "ceil"),
    "ROUND": (None, "round"),
    "SIGN": (None, "sign"),
}


def _unary(name: str, on_int8: xnnpack.Function | None, function: UnaryFunction) -> None:
    @lowers(name)
    def lowered(g: Emitter, x: Value) -> Lowered:
        return of_one(g, x, on_int8, lambda ref: Unary(ref, function))


for _name, _functions in _UNARY.items():
    _unary(_name, *_functions)


def _clamped(name: str, on_int8: xnnpack.Function, low: float, high: float) -> None:
    @lowers(name)
    def lowered(g: Emitter, x: Value) -> Lowered:
        return of_one(g, x, on_int8, lambda ref: Clamp(ref, low, high))


_CLAMPS: dict[str, tuple[xnnpack.Function, float, float]] = {
    "RELU": ("relu", 0.0, _INF),
    "RELU6": ("relu6", 0.0, 6.0),
    "RELU_N1_TO_1": ("relu_n1_to_1", -1.0, 1.0),
    "RELU_0_TO_1": ("relu_0_to_1", 0.0, 1.0),
}
for _name, _bounds in _CLAMPS.items():
    _clamped(_name, *_bounds)


@lowers("LEAKY_RELU", alpha="0f")
def leaky_relu(g: Emitter, x: Value, *, alpha: float) -> Lowered:
    return of_one(g, x, "leaky_relu", lambda ref: LeakyRelu(ref, alpha), alpha)


@lowers("ELU")
def elu(g: Emitter, x: Value) -> Lowered:
    return of_one(g, x, "elu", lambda ref: Elu(ref, 1.0, 1.0, 1.0))


@lowers("GELU", approximate="0?")
def gelu(g: Emitter, x: Value, *, approximate: int) -> Lowered:
    if approximate:
        return of_one(g, x, "gelu_tanh", lambda ref: Unary(ref, "gelu_tanh"))
    return of_one(g, x, "gelu", lambda ref: Unary(ref, "gelu"))


@lowers("SQUARE")
def square(g: Emitter, x: Value) -> Lowered:
    return of_one(g, x, None, lambda ref: Binary(ref, ref, "mul"))


@lowers("LOGICAL_NOT")
def logical_not(g: Emitter, x: Value) -> Lowered:
    ref, maps = held(x)
    false = g.builder.constant(b"\0", (), "bool")
    return g.in_form(g.builder.emit(Compare(ref, false, "eq")), maps)


@lowers("PRELU")
def prelu(g: Emitter, x: Value, slope: Value) -> Lowered:
    (a, b), maps = g.same_form([x, slope])
    if x.is_int8:
        return g.in_form(xnnpack.prelu(g.builder, a, b, one_scale(g)), maps)
    above, below = g.builder.emit(Clamp(a, 0.0, _INF)), g.builder.emit(Clamp(a, -_INF, 0.0))
    return g.in_form(g.builder.emit(Binary(above, g.builder.emit(Binary(below, b, "mul")), "add")), maps)


# --- two operands

_OnInt8 = Callable[..., Ref]


def of_two(
    g: Emitter, a: Value, b: Value, on_int8: _OnInt8, op: Callable[[Ref, Ref], Op], activation: int = 0
) -> Lowered:
    """A function of two operands: on int8 as XNNPACK computes it; else an op."""
    (x, y), maps = g.same_form([a, b])
    if a.is_int8:
        bounds = (bounds_of(g, activation),) if activation else ()
        return g.in_form(on_int8(g.builder, x, y, one_scale(g), *bounds), maps)
    return g.in_form(activated(g, g.builder.emit(op(x, y)), activation), maps)


@lowers("ADD", activation="0b")
def add(g: Emitter, a: Value, b: Value, *, activation: int) -> Lowered:
    return of_two(g, a, b, xnnpack.add, lambda x, y: Binary(x, y, "add"), activation)


@lowers("SUB", activation="0b")
def sub(g: Emitter, a: Value, b: Value, *, activation: int) -> Lowered:
    return of_two(g, a, b, xnnpack.subtract, lambda x, y: Binary(x, y, "add", -1.0), activation)


@lowers("MUL", activation="0b")
def mul(g: Emitter, a: Value, b: Value, *, activation: int) -> Lowered:
    return of_two(g, a, b, xnnpack.multiply, lambda x, y: Binary(x, y, "mul"), activation)


@lowers("DIV", activation="0b")
def div(g: Emitter, a: Value, b: Value, *, activation: int) -> Lowered:
    whole = a.dtype in ("int32", "int64")
    return of_two(g, a, b, xnnpack.divide, lambda x, y: Binary(x, y, "div_trunc" if whole else "div"), activation)


@lowers("MAXIMUM")
def maximum(g: Emitter, a: Value, b: Value) -> Lowered:
    return of_two(g, a, b, xnnpack.maximum, lambda x, y: Binary(x, y, "maximum"))


@lowers("MINIMUM")
def minimum(g: Emitter, a: Value, b: Value) -> Lowered:
    return of_two(g, a, b, xnnpack.minimum, lambda x, y: Binary(x, y, "minimum"))


@lowers("SQUARED_DIFFERENCE")
def squared_difference(g: Emitter, a: Value, b: Value) -> Lowered:
    (x, y), maps = g.same_form([a, b])
    if a.is_int8:
        return g.in_form(xnnpack.squared_difference(g.builder, x, y, one_scale(g)), maps)
    difference = g.builder.emit(Binary(x, y, "add", -1.0))
    return g.in_form(g.builder.emit(Binary(difference, difference, "mul")), maps)


@lowers("ADD_N")
def add_n(g: Emitter, first: Value, *more: Value) -> Lowered:
    refs, maps = g.same_form([first, *more])
    total = refs[0]
    for ref in refs[1:]:
        total = g.builder.emit(Binary(total, ref, "add"))
    return g.in_form(total, maps)


def _of_numbers(name: str, function: BinaryFunction) -> None:
    @lowers(name)
    def lowered(g: Emitter, a: Value, b: Value) -> Lowered:
        (x, y), maps = g.same_form([a, b])
        return g.in_form(g.builder.emit(Binary(x, y, function)), maps)


for _name, _binary in {"POW": "pow", "FLOOR_DIV": "div_floor", "FLOOR_MOD": "remainder", "ATAN2": "atan2"}.items():
    _of_numbers(_name, _binary)  # type: ignore[arg-type]  # mypy takes the names for any text


def _compares(name: str, function: CompareFunction) -> None:
    @lowers(name)
    def lowered(g: Emitter, a: Value, b: Value) -> Lowered:
        (x, y), maps = g.same_form([a, b])
        if a.is_int8:
            return g.in_form(xnnpack.compare(g.builder, x, y, function), maps)
        return g.in_form(g.builder.emit(Compare(x, y, function)), maps)


for _name, _compare in {
    "EQUAL": "eq", "NOT_EQUAL": "ne", "LESS": "lt", "LESS_EQUAL": "le", "GREATER": "gt", "GREATER_EQUAL": "ge",
}.items():  # fmt: skip
    _compares(_name, _compare)  # type: ignore[arg-type]


def _logical(name: str, function: LogicalFunction) -> None:
    @lowers(name)
    def lowered(g: Emitter, a: Value, b: Value) -> Lowered:
        (x, y), maps = g.same_form([a, b])
        return g.in_form(g.builder.emit(Logical(x, y, function)), maps)


_logical("LOGICAL_AND", "and")
_logical("LOGICAL_OR", "or")


@lowers("SELECT", "SELECT_V2")
def select(g: Emitter, condition: Value, a: Value, b: Value) -> Lowered:
    (c, x, y), maps = g.same_form([condition, a, b])
    quantization = a.type.quantization
    if quantization is None:
        return g.in_form(g.builder.emit(Where(c, x, y)), maps)
    x, y = (g.builder.quantized(ref, None) for ref in (x, y))
    return g.in_form(g.builder.emit(Where(c, x, y), quantization), maps)
