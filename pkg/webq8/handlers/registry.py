"""The registry of ops, and the declarations from which their arguments are checked.

    @op("et_vk.q8ta_linear.default", x=I8("*B K", "rows"), x_scale=SCALE, …, out=I8("*B N", "rows"))
    def linear(a: Args) -> Iterator[Dispatch]: …

A tensor is declared by its dtypes and its sizes: a letter is the same number everywhere in the op, `*B` any number of
leading sizes, `K+` at least K. Binding a call checks everything there is to check and hands the handler plain values
by name (`a.x`, `a.x_scale`) and letters (`a.K`), so a handler holds arithmetic only.
"""

import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from webq8.dtypes import cast
from webq8.errors import FormatError, LimitError, Problem, Unsupported, Webq8Error
from webq8.ir import Dispatch, Tensor, Value
from webq8.layout import Layout, LayoutName, layout

__all__ = [
    "ACTIVATION",
    "F32",
    "GROUPS",
    "I8",
    "IGNORED",
    "REGISTRY",
    "SCALE",
    "ZERO_POINT",
    "Args",
    "Choice",
    "Constant",
    "Int",
    "Op",
    "Operand",
    "Pair",
    "TensorArg",
    "bind",
    "check_terms",
    "f32",
    "op",
    "out_shape",
]

# 255·128·K, the largest sum of K products (x − zero point)·w, must fit int32
MAX_TERMS = (2**31 - 1) // (255 * 128)
_FLT_MIN, _FLT_MAX = 2.0**-126, 2.0**127 * (2 - 2**-23)


class BadArg(Exception):
    """What is wrong with one argument; `kind` is the error it leads to."""

    def __init__(self, reason: str, kind: type[Webq8Error] = FormatError) -> None:
        super().__init__(reason)
        self.kind = kind


def f32(x: float) -> float:
    """`x` rounded to float32."""
    return float(struct.unpack("<f", struct.pack("<f", x))[0])


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

    def convert(self, value: Value) -> Any:
        raise BadArg(f"expected another kind of value, got {value!r}")


@dataclass(frozen=True)
class _Scale(Scalar):
    def convert(self, value: Value) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadArg(f"expected a number, got {value!r}")
        check_scale(value)
        return float(value)


def check_scale(value: float) -> None:
    """A scale and its reciprocal must be positive, finite, normal float32 numbers."""
    if not (_FLT_MIN <= value <= _FLT_MAX and _FLT_MIN <= 1.0 / value <= _FLT_MAX):
        raise BadArg(
            f"{value!r} is not a usable scale: it and 1/scale must be positive, finite, normal float32 numbers"
        )


@dataclass(frozen=True)
class Int(Scalar):
    """An integer within bounds; `absent` stands for a null in the file."""

    low: int = -(2**31)
    high: int = 2**31 - 1
    absent: int | None = None

    def convert(self, value: Value) -> int:
        if value is None and self.absent is not None:
            return self.absent
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadArg(f"expected an integer, got {value!r}")
        if not self.low <= value <= self.high:
            raise BadArg(f"{value} is outside of {self.low}…{self.high}")
        return value


@dataclass(frozen=True)
class Pair(Scalar):
    """Two integers, for height and width."""

    low: int = 0

    def convert(self, value: Value) -> tuple[int, int]:
        if not isinstance(value, tuple | list) or len(value) != 2 or not all(type(v) is int for v in value):
            raise BadArg(f"expected two integers (height, width), got {value!r}")
        h, w = (int(v) for v in value)
        if min(h, w) < self.low or max(h, w) >= 2**31:
            raise BadArg(f"{(h, w)} must be at least {self.low}")
        return h, w


@dataclass(frozen=True)
class Choice(Scalar):
    """One of a few values; another one is not supported (rather than a bad file)."""

    allowed: tuple[Value, ...] = ()

    def convert(self, value: Value) -> Value:
        if not any(type(value) is type(a) and value == a for a in self.allowed):
            raise BadArg(f"{value!r} is not supported; one of {', '.join(map(repr, self.allowed))} is", Unsupported)
        return value


@dataclass(frozen=True)
class _Ignored(Scalar):
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
    optional: bool = False
    values: Literal["any", "finite", "scales"] = "any"  # what a constant's elements are checked for

    def text(self) -> str:
        return f"{' or '.join(self.dtypes)} [{', '.join(self.sizes.split())}]"


def I8(sizes: str, layout: LayoutName | None = None) -> TensorArg:  # noqa: N802 - reads as a type
    return TensorArg(("int8",), sizes, layout)


def F32(sizes: str) -> TensorArg:  # noqa: N802
    return TensorArg(("float32",), sizes)


def Constant(  # noqa: N802
    dtype: str, sizes: str, values: Literal["any", "finite", "scales"] = "any", optional: bool = False
) -> TensorArg:
    return TensorArg((dtype,), sizes, const=True, optional=optional, values=values)


Handler = Callable[[Args], Iterator[Dispatch]]
Arg = TensorArg | Scalar


@dataclass(frozen=True)
class Op:
    """`derive` computes letters from others (an output's height), `check` raises BadArg on what letters can't say."""

    name: str
    args: Mapping[str, Arg]
    handler: Handler
    derive: Callable[[Args], Mapping[str, int]] | None
    check: Callable[[Args], None] | None

    @property
    def short(self) -> str:
        return self.name.split(".")[1]

    @property
    def out(self) -> TensorArg:
        arg = self.args["out"]
        assert isinstance(arg, TensorArg)
        return arg


REGISTRY: dict[str, Op] = {}


def op(
    *names: str,
    derive: Callable[[Args], Mapping[str, int]] | None = None,
    check: Callable[[Args], None] | None = None,
    **args: Arg,
) -> Callable[[Handler], Handler]:
    """Registers a handler under its full names. `args` in the order of the schema, `out` last."""

    def register(handler: Handler) -> Handler:
        for name in names:
            REGISTRY[name] = Op(name, args, handler, derive, check)
        return handler

    return register


def check_terms(count: int) -> None:
    """Refuses sums of so many products that the int32 accumulator could overflow."""
    if count > MAX_TERMS:
        raise BadArg(f"{count} terms an output could overflow the int32 accumulator; at most {MAX_TERMS}", LimitError)


def bind(
    spec: Op,
    values: Sequence[tuple[int, Value]],
    node: str,
    layouts: Mapping[int, LayoutName] | None = None,
    with_out: bool = True,
) -> tuple[Args | None, list[Problem]]:
    """Matches (id, value) pairs against an op's declaration: the arguments by name, or what is wrong with them.

    `layouts` gives the layout each id is bound in. Without `with_out`, `values` lacks the output, so the arguments do.
    """
    names = [n for n in spec.args if with_out or n != "out"]
    if len(values) != len(names):
        return None, [Problem(node, spec.name, f"{len(values)} arguments, {len(names)} expected", FormatError)]
    problems: list[Problem] = []

    def run(step: Callable[[], Any], prefix: str) -> Any:
        try:
            return step()
        except BadArg as e:
            problems.append(Problem(node, spec.name, prefix + str(e), e.kind))
            return None

    letters: dict[str, Any] = {}
    origin: dict[str, str] = {}
    bound: dict[str, Any] = {}
    tensors: list[tuple[str, TensorArg, Tensor]] = []
    for name, (i, value) in zip(names, values, strict=True):
        arg = spec.args[name]
        if isinstance(arg, Scalar):
            bound[name] = run(lambda a=arg, v=value: a.convert(v), f"{name}: ")  # type: ignore[misc]
            continue
        tensor = run(lambda a=arg, v=value: _tensor(a, v), f"{name}: ")  # type: ignore[misc]
        if tensor is None:
            bound[name] = None
            continue
        tensors.append((name, arg, tensor))
        chosen = (layouts or {}).get(i) or arg.layout or "rows"
        bound[name] = Operand(i, tensor, chosen)
        run(lambda n=name, a=arg, t=tensor: _unify(n, a, t.shape, letters, origin), f"{name}: ")  # type: ignore[misc]
    if not problems and spec.derive:
        derive = spec.derive
        for letter, size in (run(lambda: derive(Args(bound, letters)), "") or {}).items():
            run(lambda k=letter, s=size: _set(k, s, letters, origin, "the other arguments"), "out: ")  # type: ignore[misc]
    if not problems:
        for name, arg, tensor in tensors:
            run(lambda a=arg, t=tensor: _minimum(a, t.shape, letters), f"{name}: ")  # type: ignore[misc]
            run(lambda a=arg, t=tensor: _contents(a, t, letters), f"{name}: ")  # type: ignore[misc]
    args = Args(bound, letters)
    if not problems and spec.check:
        check = spec.check
        run(lambda: check(args), "")
    return (None if problems else args), problems


def out_shape(spec: Op, args: Args) -> tuple[int, ...]:
    """The output's shape, from the letters that `bind(…, with_out=False)` found."""
    shape: list[int] = []
    for token in spec.out.sizes.split():
        shape += getattr(args, token[1:]) if token[0] == "*" else [getattr(args, token)]
    return tuple(shape)


def _tensor(arg: TensorArg, value: Value) -> Tensor | None:
    if value is None and arg.optional:
        return None
    if not isinstance(value, Tensor):
        raise BadArg(f"expected a tensor {arg.text()}, got {value!r}")
    if value.dtype not in arg.dtypes:
        raise BadArg(f"expected {arg.text()}, got {value.dtype} {list(value.shape)}", Unsupported)
    if arg.const and value.data is None:
        raise BadArg("must be a constant", Unsupported)
    return value


def _set(letter: str, size: int, letters: dict[str, Any], origin: dict[str, str], source: str) -> None:
    if letters.setdefault(letter, size) != size:
        raise BadArg(f"{letter} = {size} disagrees with {letter} = {letters[letter]} of {origin[letter]}")
    origin.setdefault(letter, source)


def _unify(name: str, arg: TensorArg, shape: tuple[int, ...], letters: dict[str, Any], origin: dict[str, str]) -> None:
    tokens = arg.sizes.split()
    if tokens and tokens[0][0] == "*":
        lead = len(shape) - (len(tokens) - 1)
        if lead < 0:
            raise BadArg(f"shape {list(shape)} has too few dimensions for [{', '.join(tokens)}]")
        _set(tokens[0][1:], shape[:lead], letters, origin, name)  # type: ignore[arg-type]
        tokens, shape = tokens[1:], shape[lead:]
    if len(tokens) != len(shape):
        raise BadArg(f"shape {list(shape)} has {len(shape)} dimensions, [{', '.join(tokens)}] expected")
    for token, size in zip(tokens, shape, strict=True):
        if not token.endswith("+"):
            _set(token, size, letters, origin, name)


def _minimum(arg: TensorArg, shape: tuple[int, ...], letters: Mapping[str, Any]) -> None:
    for token, size in zip(reversed(arg.sizes.split()), reversed(shape), strict=False):
        if token.endswith("+") and size < letters[token[:-1]]:
            raise BadArg(f"shape {list(shape)}: size {size} is less than {token[:-1]} = {letters[token[:-1]]}")


def _contents(arg: TensorArg, tensor: Tensor, letters: Mapping[str, Any]) -> None:
    if arg.values == "any" or tensor.data is None:
        return
    count = letters[arg.sizes.rstrip("+")]  # longer ones are padding
    elements = cast(tensor.data[: 4 * count], tensor.dtype)
    for i, v in enumerate(elements):
        if arg.values == "scales":
            try:
                check_scale(v)
            except BadArg as e:
                raise BadArg(f"element {i}: {e}") from None
        elif not math.isfinite(v):
            raise BadArg(f"element {i} is {v}; constants must be finite")
