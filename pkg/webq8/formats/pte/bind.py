"""Binds the arguments of a call to the declaration of its operator, and lowers the call, or finds all its problems."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from webq8.budget import Budget
from webq8.dtypes import cast
from webq8.errors import Problem, Unsupported, plain
from webq8.formats.pte.model import EValue
from webq8.formats.pte.schema import IGNORED, Arg, Argument, Lowered, Overload, Scalar, TensorArg, TensorList, got
from webq8.ir.builder import Builder
from webq8.ir.ops.rules import MAX_RANK
from webq8.ir.types import BadArg, Ref, Tensor, check_scale, usable_scale

__all__ = ["Given", "Held", "lower_call"]

_LONGEST_REASON = 400  # characters
_LOOK = 16  # looking at one byte of a constant takes as long as packing this many


class Held(NamedTuple):
    """A tensor as an argument of a call: its place in the graph, and its type."""

    ref: Ref
    tensor: Tensor


Given = EValue | Held | tuple[Held | None, ...]


def lower_call(overload: Overload, given: Sequence[Given], builder: Builder) -> tuple[Lowered | None, list[Problem]]:
    """Adds the ops of a call to a graph; returns the results of the call, and its problems."""
    return _Binder(overload, builder).lower(given)


class _Binder:
    def __init__(self, overload: Overload, builder: Builder) -> None:
        self.overload, self.builder = overload, builder
        self.problems: list[Problem] = []
        self.letters: dict[str, Any] = {}
        self.origin: dict[str, str] = {}  # letter -> the argument that set it
        self.bound: dict[str, Any] = {}
        self.tensors: list[tuple[TensorArg, Argument]] = []

    def lower(self, given: Sequence[Given]) -> tuple[Lowered | None, list[Problem]]:
        args = self.overload.args
        try:
            if len(given) != len(args):
                raise BadArg(f"{len(given)} arguments, {len(args)} expected")
            _spend(self.builder.budget, self.overload, given)
            for (name, arg), value in zip(args.items(), given, strict=True):
                try:
                    bound = self._argument(name, arg, value)
                except BadArg as e:
                    self._note(e, name)
                else:
                    if arg is not IGNORED:
                        self.bound[name] = bound
            for tensor_arg, argument in () if self.problems else self.tensors:
                try:
                    self._minimum(tensor_arg, argument.shape)
                    self._contents(tensor_arg, argument.tensor)
                except BadArg as e:
                    self._note(e, argument.name)
            if not self.problems:
                self._check_out()
                lowered = self.overload.lower(self.builder, **self.bound)
                self.builder.check_declared(lowered if isinstance(lowered, tuple) else (lowered,))
                return lowered, []
        except BadArg as e:
            self._note(e)
        return None, self.problems

    def _note(self, error: BadArg, name: str = "") -> None:
        """Lists what is wrong with the call, or with one of its arguments."""
        reason = plain(f"{name}: {error}" if name else str(error), _LONGEST_REASON)
        self.problems.append(Problem(self.builder.where, self.overload.name, reason, error.kind))

    def _argument(self, name: str, arg: Any, value: Any) -> Any:
        if isinstance(arg, Scalar):
            if isinstance(value, Held):
                value = value.tensor
            return arg.convert(value)
        if isinstance(arg, TensorArg):
            return self._tensor(name, arg, value)
        if value is None and arg.optional:
            return None
        if (
            not isinstance(value, tuple)
            or isinstance(value, Held)
            or not all(v is None or isinstance(v, Held) for v in value)
        ):
            raise BadArg(f"expected a list of tensors, got {got(value)}")
        return tuple(self._tensor(name, a, v) for a, v in zip(arg.of(len(value)), value, strict=True))

    def _tensor(self, name: str, arg: TensorArg, value: Any) -> Argument | None:
        if value is None and arg.optional:
            return None
        if not isinstance(value, Held):
            raise BadArg(f"expected a tensor {arg.text()}, got {got(value)}")
        tensor = value.tensor
        expected = (arg.like and self._dtypes_like(arg.like)) or arg.dtypes
        if tensor.dtype not in expected:
            text = arg.replace(dtypes=expected).text()
            raise BadArg(f"expected {text}, got {tensor.dtype} {list(tensor.shape)}", Unsupported)
        if len(tensor.shape) > MAX_RANK:
            raise BadArg(f"{len(tensor.shape)} dimensions; at most {MAX_RANK} are supported", Unsupported)
        if arg.must_be_constant(tensor.dtype) and tensor.data is None:
            raise BadArg(
                "must be a constant" if arg.const else f"one of {tensor.dtype} must be a constant", Unsupported
            )
        argument = Argument(value.ref, tensor, name, self.builder.type(value.ref).data)
        self.tensors.append((arg, argument))
        self._unify(name, arg, tensor.shape)
        return argument

    def _dtypes_like(self, name: str) -> tuple[str, ...]:
        like = self.bound.get(name)
        first = next(iter(like), None) if isinstance(like, tuple) else like
        dtype = first.dtype if isinstance(first, Argument) else first
        return (dtype,) if dtype else ()

    def _unify(self, name: str, arg: TensorArg, shape: tuple[int, ...]) -> None:
        tokens = arg.tokens
        if tokens == ("...",):  # any shape, tied to no other
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

    def _set(self, letter: str, size: Any, source: str) -> None:
        known = self.letters.setdefault(letter, size)
        if known != size:
            size, known = (list(v) if isinstance(v, tuple) else v for v in (size, known))
            raise BadArg(f"{letter} = {size} disagrees with {letter} = {known} of {self.origin[letter]}")
        self.origin.setdefault(letter, source)

    def _minimum(self, arg: TensorArg, shape: tuple[int, ...]) -> None:
        for axis, letter in arg.minima:
            if letter in self.letters and shape[axis] < self.letters[letter]:
                raise BadArg(f"shape {list(shape)}: size {shape[axis]} is less than {letter} = {self.letters[letter]}")

    def _contents(self, arg: TensorArg, tensor: Tensor) -> None:
        if arg.values == "any" or tensor.data is None:
            return
        count = self.letters[arg.sizes.rstrip("+")]  # elements after these are padding
        elements = cast(tensor.data[: 4 * count], tensor.dtype)
        extremes = (min(elements), max(elements)) if elements and arg.values == "scales" else ()
        if all(map(math.isfinite, elements)) and all(map(usable_scale, extremes)):
            return
        for i, v in enumerate(elements):
            if arg.values == "scales":
                check_scale(v, f"element {i}: ")
            elif not math.isfinite(v):
                raise BadArg(f"element {i} is {v}; constants must be finite")

    def _check_out(self) -> None:
        """Refuses declared results of a dtype that the operator never gives, before it is lowered."""
        out, declared = self.overload.out, self.builder.declared
        if not declared:
            return
        kinds = out.of(len(declared)) if isinstance(out, TensorList) else (out,)
        if len(kinds) != len(declared):
            raise BadArg(f"out: {len(declared)} tensors, {len(kinds)} expected")
        for kind, tensor in zip(kinds, declared, strict=True):
            if tensor.dtype not in kind.dtypes:
                raise BadArg(f"out: expected {kind.text()}, got {tensor.dtype} {list(tensor.shape)}", Unsupported)
            if len(tensor.shape) > MAX_RANK:
                raise BadArg(f"out: {len(tensor.shape)} dimensions; at most {MAX_RANK} are supported", Unsupported)


def _spend(budget: Budget, overload: Overload, given: Sequence[Given]) -> None:
    """Spends what binding a call costs: bytes of constants and items of lists."""
    items = constants = 0
    for arg, value in zip(overload.args.values(), given, strict=True):
        if isinstance(value, Held):
            constants += _looked_at(arg, value)
        elif isinstance(value, tuple | str):
            items += len(value)
            constants += sum(_looked_at(arg, held) for held in value if isinstance(held, Held))
    budget.call(constants, items)


def _looked_at(arg: Arg, held: Held) -> int:
    """Bytes of a constant; those that are looked at one by one count more."""
    if held.tensor.data is None:
        return 0
    each = isinstance(arg, TensorArg) and arg.values != "any"
    return (1 + _LOOK * each) * len(held.tensor.data)
