"""The registry of ops, and the declarations from which their arguments are checked.

    @op("et_vk.q8ta_linear.default", x=I8("*B K", "rows"), x_scale=SCALE, …, out=I8("*B N", "rows"))
    def linear(a: Args) -> Iterator[Dispatch]: …

A tensor is declared by its dtypes and its sizes: a letter is the same number everywhere in the op, `*B` any number of
leading sizes, `K+` at least K, `...` any shape. Binding a call checks all there is to check and hands the handler
plain values by name (`a.x`, `a.x_scale`) and letters (`a.K`), so a handler holds arithmetic only.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from webq8.dtypes import cast
from webq8.errors import FormatError, LimitError, Problem, Unsupported, Webq8Error, plain, shown
from webq8.ir import Alias, Dispatch, Limits, ListRef, Tensor, Value
from webq8.plan.layout import Layout, LayoutName, layout

__all__ = [
    "ACTIVATION",
    "F32",
    "GROUPS",
    "I8",
    "IGNORED",
    "MAX_RANK",
    "REGISTRY",
    "SCALE",
    "ZERO_POINT",
    "Args",
    "BadArg",
    "Bool",
    "Choice",
    "Constant",
    "Int",
    "Ints",
    "Number",
    "Numbers",
    "Op",
    "Operand",
    "Pair",
    "TensorArg",
    "TensorList",
    "arguments",
    "axis",
    "bind",
    "check_terms",
    "f32",
    "folds",
    "got",
    "number",
    "op",
    "out_specs",
]

# 255·128·K, the largest sum of K products (x − zero point)·w, must fit int32
MAX_TERMS = (2**31 - 1) // (255 * 128)
_LONGEST_REASON = 400  # characters
MAX_RANK = 8  # of a tensor; kernels have room for so many axes
_FLT_MIN, _FLT_MAX = 2.0**-126, 2.0**127 * (2 - 2**-23)


class BadArg(Exception):
    """What is wrong with one argument; `kind` is the error it leads to."""

    def __init__(self, reason: str, kind: type[Webq8Error] = FormatError) -> None:
        super().__init__(reason)
        self.kind = kind


def got(value: "Value | tuple[tuple[int, Value], ...]") -> str:
    """What was given as an argument, for a message."""
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype} {shown(value.shape)}"
    if isinstance(value, ListRef) or (isinstance(value, tuple) and value and isinstance(value[0], tuple)):
        return "a list of values"
    return shown(value)


def f32(x: float) -> float:
    """`x` rounded to float32, to infinity where it is too large."""
    return array("f", (x,))[0]


@dataclass(frozen=True)
class Operand:
    """A tensor argument: its value id (−1 outside of a plan), what it is, and the layout it is bound in."""

    id: int
    tensor: Tensor
    layout_name: LayoutName

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def layout(self) -> Layout:
        return layout(self.tensor.shape, self.layout_name)

    @property
    def data(self) -> memoryview:
        assert self.tensor.data is not None, "declared const"
        return self.tensor.data


class Args:
    """Arguments by name, letters by letter."""

    def __init__(self, values: Mapping[str, Any], letters: Mapping[str, Any]) -> None:
        self.__dict__.update(letters)
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:  # what __dict__ lacks; also tells mypy that names are dynamic
        raise AttributeError(name)


@dataclass(frozen=True)
class Scalar:
    """An argument that is not a tensor. `default` serves the callable form in `webq8.ops`."""

    default: Any = field(default=..., kw_only=True)

    def text(self) -> str:
        """For the listing of ops: what the class says of itself, up to the first comma or stop."""
        words = re.split("[,.;]", type(self).__doc__ or "")[0]
        return words[:1].lower() + words[1:]

    def convert(self, value: Value) -> Any:
        raise BadArg(f"expected another kind of value, got {got(value)}")


class _Scale(Scalar):
    """A usable scale."""

    def convert(self, value: Value) -> float:
        if not isinstance(value, int | float):
            raise BadArg(f"expected a number, got {got(value)}")
        check_scale(value)
        return float(value)


def _usable_scale(value: float) -> bool:
    return _FLT_MIN <= value <= _FLT_MAX and _FLT_MIN <= 1.0 / value <= _FLT_MAX


def check_scale(value: float, prefix: str = "") -> None:
    """A scale and its reciprocal must be positive, finite, normal float32 numbers."""
    if not _usable_scale(value):
        rule = "it and 1/scale must be positive, finite, normal float32 numbers"
        raise BadArg(f"{prefix}{shown(value)} is not a usable scale: {rule}")


@dataclass(frozen=True)
class Int(Scalar):
    """An integer, within bounds; `absent` stands for a null in the file."""

    low: int = -(2**31)
    high: int = 2**31 - 1
    absent: int | None = None

    def text(self) -> str:
        return f"{self.low}…{self.high}" if self.high < 2**31 - 1 else super().text()

    def convert(self, value: Value) -> int:
        if value is None and self.absent is not None:
            return self.absent
        # the exporter keeps equal constants once: 0, 0.0 and False may stand for each other
        if not isinstance(value, int | float) or value != value // 1:
            raise BadArg(f"expected an integer, got {got(value)}")
        if not self.low <= value <= self.high:
            raise BadArg(f"{shown(value)} is outside of {self.low}…{self.high}")
        return int(value)


@dataclass(frozen=True)
class Number(Scalar):
    """A float or an integer, converted to float; `absent` stands for a null in the file."""

    absent: float | None = None

    def convert(self, value: Value) -> float:
        if value is None and self.absent is not None:
            return self.absent
        return number(value)


def number(value: Value) -> float:
    """A number, as a float."""
    if not isinstance(value, int | float):
        raise BadArg(f"expected a number, got {got(value)}")
    try:
        return float(value)
    except OverflowError:
        raise BadArg(f"{shown(value)} is too large for a float") from None


@dataclass(frozen=True)
class Bool(Scalar):
    """A truth value; `absent` stands for a null in the file."""

    absent: bool = False

    def convert(self, value: Value) -> bool:
        if value is None:
            return self.absent
        if not isinstance(value, int | float) or value not in (0, 1):
            raise BadArg(f"expected a truth value, got {got(value)}")
        return bool(value)


@dataclass(frozen=True)
class Ints(Scalar):
    """A list of integers, or null where `optional`."""

    optional: bool = False

    def convert(self, value: Value) -> tuple[int, ...] | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, tuple | list) or not all(type(v) is int for v in value):
            raise BadArg(f"expected a list of integers, got {got(value)}")
        if value and not (min(value) >= -(2**63) and max(value) < 2**63):
            raise BadArg(f"{shown(value)} holds an integer that does not fit 64 bits")
        return tuple(int(v) for v in value)


@dataclass(frozen=True)
class Numbers(Scalar):
    """A list of numbers, as floats, or null where `optional`."""

    optional: bool = False

    def convert(self, value: Value) -> tuple[float, ...] | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, tuple | list) or not all(type(v) in (int, float) for v in value):
            raise BadArg(f"expected a list of numbers, got {got(value)}")
        return tuple(map(number, value))


@dataclass(frozen=True)
class Pair(Scalar):
    """One or two integers (height and width); none at all where `optional`."""

    low: int = 0
    optional: bool = False

    def convert(self, value: Value) -> tuple[int, int] | None:
        if self.optional and (value is None or value == ()):
            return None
        values = (value,) if type(value) is int else value
        if not isinstance(values, tuple | list) or not 1 <= len(values) <= 2 or not all(type(v) is int for v in values):
            raise BadArg(f"expected one or two integers (height, width), got {got(value)}")
        h, w = int(values[0]), int(values[-1])
        if min(h, w) < self.low or max(h, w) >= 2**31:
            raise BadArg(f"{shown((h, w))} must be at least {self.low}, and below 2³¹")
        return h, w


@dataclass(frozen=True)
class Choice(Scalar):
    """One of a few values; another one is not supported (rather than a bad file)."""

    allowed: tuple[Value, ...] = ()

    def text(self) -> str:
        return " or ".join("null" if a is None else repr(a) for a in self.allowed)

    def convert(self, value: Value) -> Value:
        if value not in self.allowed:
            raise BadArg(f"{got(value)} is not supported; one of {', '.join(map(repr, self.allowed))} is", Unsupported)
        return value


class _Ignored(Scalar):
    def text(self) -> str:
        return ""

    def convert(self, value: Value) -> None:
        return None


SCALE = _Scale()
ZERO_POINT = Int(-128, 127)
GROUPS = Int(1, default=1)
ACTIVATION = Choice(("none", "relu"), default="none")
IGNORED = _Ignored(default=None)


@dataclass(frozen=True)
class TensorArg:
    """A tensor argument; see the module's text for `sizes`."""

    dtypes: tuple[str, ...]
    sizes: str
    layout: LayoutName | None = None  # None: any
    const: bool = False
    const_of: tuple[str, ...] = ()  # dtypes that must be constants
    optional: bool = False
    values: Literal["any", "finite", "scales"] = "any"  # what a constant's elements are checked for
    like: str | None = None  # the argument whose dtype it has, or that names its dtype (null: any)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        return tuple(self.sizes.split())

    @cached_property
    def minima(self) -> tuple[tuple[int, str], ...]:
        """Axes, counted from the end, that are at least a letter."""
        return tuple((n - len(self.tokens), t[:-1]) for n, t in enumerate(self.tokens) if t.endswith("+"))

    def must_be_constant(self, dtype: str) -> bool:
        return self.const or dtype in self.const_of

    def text(self) -> str:
        return f"{' or '.join(self.dtypes)} [{', '.join(self.tokens)}]"


@dataclass(frozen=True)
class TensorList:
    """A list of tensors (`cat`'s), or several outputs (`max_pool2d_with_indices`'s); bound as a tuple of operands.

    One element serves a list of any length.
    """

    elements: tuple[TensorArg, ...]
    optional: bool = False

    def of(self, count: int) -> tuple[TensorArg, ...]:
        elements = self.elements * count if len(self.elements) == 1 else self.elements
        if len(elements) != count:
            raise BadArg(f"{count} tensors, {len(elements)} expected")
        return elements


def I8(sizes: str, layout: LayoutName | None = None) -> TensorArg:  # noqa: N802 - reads as a type
    return TensorArg(("int8",), sizes, layout)


def F32(sizes: str) -> TensorArg:  # noqa: N802
    return TensorArg(("float32",), sizes)


def Constant(  # noqa: N802
    dtype: str, sizes: str, values: Literal["any", "finite", "scales"] = "any", optional: bool = False
) -> TensorArg:
    return TensorArg((dtype,), sizes, const=True, optional=optional, values=values)


Handler = Callable[[Args], Iterator[Dispatch | Alias]]
Arg = TensorArg | TensorList | Scalar
# a value with its id; a list of values as a tuple of such pairs
Given = tuple[int, "Value | tuple[tuple[int, Value], ...]"]


@dataclass(frozen=True)
class Op:
    """`derive` computes letters from others (an output's height), `check` raises BadArg on what letters can't say."""

    name: str
    args: Mapping[str, Arg]
    handler: Handler
    derive: Callable[[Args], Mapping[str, Any]] | None
    check: Callable[[Args], None] | None
    fuses_clamp: bool  # its int8 results can be bounded by the call's `clamp`

    @property
    def fold(self) -> "Callable[[Args], Tensor] | None":
        """What computes its result as soon as a call is checked, where all that it reads is constant."""
        return _FOLDS.get(self.handler)

    @property
    def short(self) -> str:
        return self.name.split(".")[1]

    @property
    def outputs(self) -> tuple[TensorArg, ...]:
        out = self.args["out"]
        assert isinstance(out, TensorArg | TensorList)
        return (out,) if isinstance(out, TensorArg) else out.elements


REGISTRY: dict[str, Op] = {}
_FOLDS: dict[Handler, Callable[[Args], Tensor]] = {}


def op(
    *names: str,
    derive: Callable[[Args], Mapping[str, Any]] | None = None,
    check: Callable[[Args], None] | None = None,
    fuses_clamp: bool = False,
    **args: Arg,
) -> Callable[[Handler], Handler]:
    """Registers a handler under its full names. `args` in the order of the schema, `out` last."""

    def register(handler: Handler) -> Handler:
        for name in names:
            REGISTRY[name] = Op(name, args, handler, derive, check, fuses_clamp)
        return handler

    return register


def folds(compute: Callable[[Args], Tensor]) -> Callable[[Handler], Handler]:
    """Has calls of the op computed when they are checked, so that their results are constants for what follows."""

    def mark(handler: Handler) -> Handler:
        _FOLDS[handler] = compute
        return handler

    return mark


def axis(dim: int, rank: int) -> int:
    """A dim counted from the end, if negative, as an axis from 0 on; a scalar has one axis."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        raise BadArg(f"dim {dim} is out of range for {rank} dimensions")
    return dim % max(rank, 1)


def check_terms(count: int) -> None:
    """Refuses sums of so many products that the int32 accumulator could overflow."""
    if count > MAX_TERMS:
        raise BadArg(f"{count} terms an output could overflow the int32 accumulator; at most {MAX_TERMS}", LimitError)


def arguments(values: Sequence[Value] | Mapping[int, Value], ids: Sequence[int]) -> list[Given]:
    """Pairs of id and value for `bind`; lists are looked into. An id of −1 in a list stands for None."""

    def given(i: int) -> Given:
        value = values[i]
        return (
            i,
            tuple((j, values[j] if j >= 0 else None) for j in value.ids) if isinstance(value, ListRef) else value,
        )

    return [given(i) for i in ids]


def bind(
    spec: Op,
    given: Sequence[Given],
    node: str,
    layouts: Mapping[int, LayoutName] | None = None,
    with_out: bool = True,
    clamp: tuple[int, int] = (-128, 127),
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> tuple[Args | None, list[Problem]]:
    """Matches the arguments of a call against its op's declaration: the arguments by name, or what is wrong with them.

    `clamp` is the call's and `limits` the device's, handed on as `a.clamp` and `a.limits`. `layouts` gives the layout
    each id is bound in. Without `with_out`, `given` lacks the output, so the arguments do.
    """
    binder = _Binder(spec, node, layouts or {})
    binder.letters |= {"clamp": clamp, "limits": limits}
    return binder.bind(given, [n for n in spec.args if with_out or n != "out"])


class _Binder:
    def __init__(self, spec: Op, node: str, layouts: Mapping[int, LayoutName]) -> None:
        self.spec, self.node, self.layouts = spec, node, layouts
        self.problems: list[Problem] = []
        self.letters: dict[str, Any] = {}
        self.origin: dict[str, str] = {}  # letter -> the argument that set it
        self.bound: dict[str, Any] = {}
        self.tensors: list[tuple[str, TensorArg, Tensor]] = []

    def bind(self, given: Sequence[Given], names: Sequence[str]) -> tuple[Args | None, list[Problem]]:
        with _Noting(self):
            if len(given) != len(names):
                raise BadArg(f"{len(given)} arguments, {len(names)} expected")
        if not self.problems:
            for name, (i, value) in zip(names, given, strict=True):
                with _Noting(self, name):
                    self.bound[name] = self._argument(name, i, value)
        if not self.problems and self.spec.derive:
            with _Noting(self):
                for letter, size in self.spec.derive(Args(self.bound, self.letters)).items():
                    self._set(letter, size, "the other arguments")
        if not self.problems:
            for name, arg, tensor in self.tensors:
                with _Noting(self, name):
                    self._minimum(arg, tensor.shape)
                    self._contents(arg, tensor)
        args = Args(self.bound, self.letters)
        if not self.problems and self.spec.check:
            with _Noting(self):
                self.spec.check(args)
        return (None if self.problems else args), self.problems

    def _argument(self, name: str, i: int, value: Any) -> Any:
        arg = self.spec.args[name]
        if isinstance(arg, Scalar):
            return arg.convert(value)
        if isinstance(arg, TensorArg):
            return self._operand(name, arg, i, value)
        if value is None and arg.optional:
            return None
        if not isinstance(value, tuple) or not all(isinstance(v, tuple) for v in value):
            raise BadArg(f"expected a list of tensors, got {got(value)}")
        return tuple(self._operand(name, a, j, v) for a, (j, v) in zip(arg.of(len(value)), value, strict=True))

    def _operand(self, name: str, arg: TensorArg, i: int, value: Value) -> Operand | None:
        if value is None and arg.optional:
            return None
        if not isinstance(value, Tensor):
            raise BadArg(f"expected a tensor {arg.text()}, got {got(value)}")
        expected = (arg.like and self._dtypes_like(arg.like)) or arg.dtypes
        if value.dtype not in expected:
            text = replace(arg, dtypes=expected).text()
            raise BadArg(f"expected {text}, got {value.dtype} {list(value.shape)}", Unsupported)
        if len(value.shape) > MAX_RANK:
            raise BadArg(f"{len(value.shape)} dimensions; at most {MAX_RANK} are supported", Unsupported)
        if arg.must_be_constant(value.dtype) and value.data is None:
            raise BadArg("must be a constant" if arg.const else f"one of {value.dtype} must be a constant", Unsupported)
        self.tensors.append((name, arg, value))
        self._unify(name, arg, value.shape)
        return Operand(i, value, self.layouts.get(i) or arg.layout or "rows")

    def _dtypes_like(self, name: str) -> tuple[str, ...]:
        dtype = _dtype_of(self.bound.get(name))
        return (dtype,) if dtype else ()

    def _set(self, letter: str, size: Any, source: str) -> None:
        known = self.letters.setdefault(letter, size)
        if known != size:
            raise BadArg(f"{letter} = {shown(size)} disagrees with {letter} = {shown(known)} of {self.origin[letter]}")
        self.origin.setdefault(letter, source)

    def _unify(self, name: str, arg: TensorArg, shape: tuple[int, ...]) -> None:
        tokens = arg.tokens
        if tokens == ("...",):  # any shape, the same as no other
            return
        if tokens and tokens[0][0] == "*":
            lead = len(shape) - (len(tokens) - 1)
            if lead < 0:
                raise BadArg(f"shape {list(shape)} has too few dimensions for [{', '.join(tokens)}]")
            self._set(tokens[0][1:], shape[:lead], name)
            tokens, shape = tokens[1:], shape[lead:]
        if len(tokens) != len(shape):
            raise BadArg(f"shape {list(shape)} has {len(shape)} dimensions, [{', '.join(tokens)}] expected")
        for token, size in zip(tokens, shape, strict=True):
            if not token.endswith("+"):
                self._set(token, size, name)

    def _minimum(self, arg: TensorArg, shape: tuple[int, ...]) -> None:
        for axis, letter in arg.minima:
            if shape[axis] < self.letters[letter]:
                raise BadArg(f"shape {list(shape)}: size {shape[axis]} is less than {letter} = {self.letters[letter]}")

    def _contents(self, arg: TensorArg, tensor: Tensor) -> None:
        if arg.values == "any" or tensor.data is None:
            return
        count = self.letters[arg.sizes.rstrip("+")]  # longer ones are padding
        elements = cast(tensor.data[: 4 * count], tensor.dtype)
        extremes = (min(elements), max(elements)) if elements and arg.values == "scales" else ()
        if all(map(math.isfinite, elements)) and all(map(_usable_scale, extremes)):
            return
        for i, v in enumerate(elements):
            if arg.values == "scales":
                check_scale(v, f"element {i}: ")
            elif not math.isfinite(v):
                raise BadArg(f"element {i} is {v}; constants must be finite")


class _Noting:
    """Within it, a BadArg becomes a problem of the call, or of one of its arguments."""

    def __init__(self, binder: _Binder, name: str = "") -> None:
        self.binder, self.name = binder, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, BadArg):
            reason, spec = f"{self.name}: {error}" if self.name else str(error), self.binder.spec
            reason = plain(reason, _LONGEST_REASON)
            self.binder.problems.append(Problem(self.binder.node, spec.name, reason, error.kind))
        return isinstance(error, BadArg)


def _dtype_of(like: Any) -> str | None:
    """The dtype that an argument has or names."""
    first = next(iter(like), None) if isinstance(like, tuple) else like
    return first.tensor.dtype if isinstance(first, Operand) else first


def out_specs(spec: Op, args: Args) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of each output, from what `bind(…, with_out=False)` found.

    An op with a list of any number of outputs derives their shapes as `outputs`.
    """
    specs = []
    for out in spec.outputs:
        dtype = (_dtype_of(getattr(args, out.like)) if out.like else None) or out.dtypes[0]
        if out.sizes == "...":
            specs += [(shape, dtype) for shape in args.outputs]
            continue
        shape: list[int] = []
        for token in out.tokens:
            shape += getattr(args, token[1:]) if token[0] == "*" else [getattr(args, token)]
        specs.append((tuple(shape), dtype))
    return specs
