"""Declarations of ExecuTorch's operators: which arguments webq8 takes, and which function lowers their calls.

    @lowers("et_vk.q8ta_linear.default", x=I8("*B K"), x_scale=SCALE, …, out=I8("*B N"))
    def q8ta_linear(g: Builder, x: Argument, x_scale: float, …) -> Ref: …

A tensor is declared by its dtypes and its sizes: a letter is the same number in all tensors that a call reads, `*B` any
number of leading sizes, `K+` at least K, `...` any shape. Binding a call checks what a declaration says, and hands
plain values by name to the function that lowers it; shapes of results are those of the ops that it makes.
"""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, final

from webq8.errors import Unsupported, shown
from webq8.formats.pte.model import EValue, ListRef
from webq8.ir.types import BadArg, Ref, Tensor, check_scale
from webq8.records import Record

__all__ = [
    "ACTIVATION",
    "F32",
    "GROUPS",
    "I8",
    "IGNORED",
    "OVERLOADS",
    "SCALE",
    "ZERO_POINT",
    "Arg",
    "Argument",
    "Bool",
    "Choice",
    "Constant",
    "Int",
    "Ints",
    "Lowered",
    "Number",
    "Numbers",
    "Overload",
    "Pair",
    "Scalar",
    "TensorArg",
    "TensorList",
    "got",
    "lowers",
    "number",
]


def got(value: "EValue | tuple[tuple[int, EValue], ...]") -> str:
    """Describes a given argument, for a message."""
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype} {shown(value.shape)}"
    if isinstance(value, ListRef) or (isinstance(value, tuple) and value and isinstance(value[0], tuple)):
        return "a list of values"
    return shown(value)


class Scalar(Record, kw_only=True):
    """An argument that is not a tensor. `default` serves the callable form in `webq8.ops`."""

    default: Any = ...

    def text(self) -> str:
        """The argument in the listing of ops: the docstring of its class, up to the first comma or stop."""
        words = re.split("[,.;]", type(self).__doc__ or "")[0]
        return words[:1].lower() + words[1:]

    def convert(self, value: EValue) -> Any:
        raise BadArg(f"expected another kind of value, got {got(value)}")


class _Scale(Scalar):
    """A usable scale."""

    def convert(self, value: EValue) -> float:
        if not isinstance(value, int | float):
            raise BadArg(f"expected a number, got {got(value)}")
        check_scale(value)
        return float(value)


class Int(Scalar):
    """An integer, within bounds; `absent` stands for a null in the file, which is None where `optional`."""

    low: int = -(2**31)
    high: int = 2**31 - 1
    absent: int | None = None
    optional: bool = False

    def text(self) -> str:
        return f"{self.low}…{self.high}" if self.high < 2**31 - 1 else super().text()

    def convert(self, value: EValue) -> int | None:
        if value is None and (self.optional or self.absent is not None):
            return self.absent
        # the exporter keeps equal constants once: 0, 0.0 and False may stand for each other
        if not isinstance(value, int | float) or value != value // 1:
            raise BadArg(f"expected an integer, got {got(value)}")
        if not self.low <= value <= self.high:
            raise BadArg(f"{shown(value)} is outside of {self.low}…{self.high}")
        return int(value)


class Number(Scalar):
    """A float or an integer, converted to float; `absent` stands for a null in the file."""

    absent: float | None = None

    def convert(self, value: EValue) -> float:
        if value is None and self.absent is not None:
            return self.absent
        return number(value)


def number(value: EValue) -> float:
    """A number, as a float."""
    if not isinstance(value, int | float):
        raise BadArg(f"expected a number, got {got(value)}")
    try:
        return float(value)
    except OverflowError:
        raise BadArg(f"{shown(value)} is too large for a float") from None


class Bool(Scalar):
    """A truth value; `absent` stands for a null in the file."""

    absent: bool = False

    def convert(self, value: EValue) -> bool:
        if value is None:
            return self.absent
        if not isinstance(value, int | float) or value not in (0, 1):
            raise BadArg(f"expected a truth value, got {got(value)}")
        return bool(value)


class Ints(Scalar):
    """A list of integers, or null where `optional`."""

    optional: bool = False

    def convert(self, value: EValue) -> tuple[int, ...] | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, tuple | list) or not all(type(v) is int for v in value):
            raise BadArg(f"expected a list of integers, got {got(value)}")
        if value and not (min(value) >= -(2**63) and max(value) < 2**63):
            raise BadArg(f"{shown(value)} holds an integer that does not fit 64 bits")
        return tuple(int(v) for v in value)


class Numbers(Scalar):
    """A list of numbers, as floats, or null where `optional`."""

    optional: bool = False

    def convert(self, value: EValue) -> tuple[float, ...] | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, tuple | list) or not all(type(v) in (int, float) for v in value):
            raise BadArg(f"expected a list of numbers, got {got(value)}")
        return tuple(map(number, value))


class Pair(Scalar):
    """One or two integers (height and width); none at all where `optional`."""

    low: int = 0
    optional: bool = False

    def convert(self, value: EValue) -> tuple[int, int] | None:
        if self.optional and (value is None or value == ()):
            return None
        values = (value,) if type(value) is int else value
        if not isinstance(values, tuple | list) or not 1 <= len(values) <= 2 or not all(type(v) is int for v in values):
            raise BadArg(f"expected one or two integers (height, width), got {got(value)}")
        h, w = int(values[0]), int(values[-1])
        if min(h, w) < self.low or max(h, w) >= 2**31:
            raise BadArg(f"{shown((h, w))} must be at least {self.low}, and below 2³¹")
        return h, w


class Choice(Scalar):
    """One of a few values; another one is not supported (rather than a bad file)."""

    allowed: tuple[EValue, ...] = ()

    def text(self) -> str:
        return " or ".join("null" if a is None else repr(a) for a in self.allowed)

    def convert(self, value: EValue) -> EValue:
        if value not in self.allowed:
            raise BadArg(f"{got(value)} is not supported; one of {', '.join(map(repr, self.allowed))} is", Unsupported)
        return value


class _Ignored(Scalar):
    def text(self) -> str:
        return ""

    def convert(self, value: EValue) -> None:
        return None


SCALE = _Scale()
ZERO_POINT = Int(-128, 127)
GROUPS = Int(1, default=1)
ACTIVATION = Choice(("none", "relu"), default="none")
IGNORED = _Ignored(default=None)


class TensorArg(Record):
    """A tensor argument; see the module's text for `sizes`."""

    dtypes: tuple[str, ...]
    sizes: str
    const: bool = False
    const_of: tuple[str, ...] = ()  # dtypes that must be constants
    optional: bool = False
    values: Literal["any", "finite", "scales"] = "any"  # what the elements of a constant must be
    like: str | None = None  # the argument whose dtype it has, or that names its dtype (null: any)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(self.sizes.split())

    @cached_property
    def minima(self) -> tuple[tuple[int, str], ...]:
        """Axes (counted from the end) that are at least as long as a letter says, and these letters."""
        return tuple((n - len(self.tokens), t[:-1]) for n, t in enumerate(self.tokens) if t.endswith("+"))

    def must_be_constant(self, dtype: str) -> bool:
        return self.const or dtype in self.const_of

    def text(self) -> str:
        return f"{' or '.join(self.dtypes)} [{', '.join(self.tokens)}]"


class TensorList(Record):
    """A list of tensors (`cat`'s), or several outputs (`max_pool2d_with_indices`'s); bound as a tuple of arguments.

    One element serves a list of any length.
    """

    elements: tuple[TensorArg, ...]
    optional: bool = False

    def of(self, count: int) -> tuple[TensorArg, ...]:
        elements = self.elements * count if len(self.elements) == 1 else self.elements
        if len(elements) != count:
            raise BadArg(f"{count} tensors, {len(elements)} expected")
        return elements


def I8(sizes: str) -> TensorArg:  # noqa: N802 - reads as a type
    return TensorArg(("int8",), sizes)


def F32(sizes: str) -> TensorArg:  # noqa: N802
    return TensorArg(("float32",), sizes)


def Constant(  # noqa: N802
    dtype: str, sizes: str, values: Literal["any", "finite", "scales"] = "any", optional: bool = False
) -> TensorArg:
    return TensorArg((dtype,), sizes, const=True, optional=optional, values=values)


Arg = TensorArg | TensorList | Scalar
Lowered = Ref | tuple[Ref, ...]


@final
class Argument(Record):
    """A tensor that a call is given, as the function that lowers the call gets it. `name` stands in messages; `values`
    are its bytes where they are known already, be it a constant or not: what is wrong with them can be told."""

    ref: Ref
    tensor: Tensor
    name: str
    values: memoryview | None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def data(self) -> memoryview | None:
        return self.tensor.data

    def check_size(self, axis: int, least: int, letter: str) -> None:
        """Raises BadArg where the tensor has fewer than `least` elements along an axis; messages call them `letter`."""
        if self.shape[axis] < least:
            raise BadArg(
                f"{self.name}: shape {list(self.shape)}: size {self.shape[axis]} is less than {letter} = {least}"
            )


class Overload(Record):
    """An operator under its full name: its arguments in the order of its schema, without `out`, and what lowers it."""

    name: str
    args: Mapping[str, Arg]
    out: TensorArg | TensorList
    lower: Callable[..., Lowered]

    @property
    def short(self) -> str:
        return self.name.split(".")[1]

    @property
    def outputs(self) -> tuple[TensorArg, ...]:
        return (self.out,) if isinstance(self.out, TensorArg) else self.out.elements


OVERLOADS: dict[str, Overload] = {}


def lowers(
    *names: str, out: TensorArg | TensorList, **args: Arg
) -> Callable[[Callable[..., Lowered]], Callable[..., Lowered]]:
    """Declares an operator under its full names, with `args` in the order of its schema, and what lowers it: a function
    of a Builder and of those `args` that are not ignored, by name. A tensor is an Argument, a list a tuple of them."""

    def register(function: Callable[..., Lowered]) -> Callable[..., Lowered]:
        for name in names:
            OVERLOADS[name] = Overload(name, args, out, function)
        return function

    return register
