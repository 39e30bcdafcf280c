"""The ops alone: `webq8.ops.<short name>(…)` for every op of the registry, arguments in the order of its schema. An
overload that shares its short name has its full one, `getattr(webq8.ops, "aten.clamp.Tensor")`.

Calling an op checks its arguments and records it; nothing waits. `await y.numpy()` (or `.buffer()`) plans what led to
`y` as one program, runs it on the GPU and reads `y` alone. `y` stays on the device as well, where later calls take it
from. Programs of the same form are kept compiled.
"""

import asyncio
import hashlib
import inspect as _inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from webq8.backends.base import Output
from webq8.backends.find import DeviceName
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import InputError, LimitError, raise_problems
from webq8.handlers import REGISTRY
from webq8.handlers.registry import Arg, Op, Scalar, TensorArg, TensorList, bind, out_specs
from webq8.ir import Call, Graph, ListRef, Method, Value
from webq8.ir import Program as Parsed
from webq8.ir import Tensor as IrTensor
from webq8.runtime.inputs import Given, convert, give
from webq8.runtime.load import compile_program
from webq8.runtime.tensor import Tensor

if TYPE_CHECKING:
    from webq8.runtime.program import Program

# where overloads share a short name, the first registered has it; `aten::` names are calls outside of delegates
_SHORT = {spec.short: spec for spec in reversed(REGISTRY.values()) if "::" not in spec.name}
_KEPT = 16  # compiled programs
_programs: "OrderedDict[tuple[Any, ...], _Compiled]" = OrderedDict()

__all__ = ["Tensor", "close", "tensor"]


class _Node:
    """A recorded call: each argument a Tensor, a tuple of Tensors, or a plain value; and its outputs."""

    def __init__(self, spec: Op, args: Sequence[Any]) -> None:
        self.spec, self.args = spec, args
        self.outs: tuple[Tensor, ...] = ()

    async def compute(self, tensor: Tensor, device: DeviceName) -> Output:
        return await _compute(tensor, device)

    def inputs(self) -> Iterator[Tensor]:
        """Tensors that have to be there first; constants are part of the program."""
        for arg, value in zip(self.spec.args.values(), self.args, strict=False):
            for t in value if isinstance(value, tuple) else (value,):
                if isinstance(t, Tensor) and not _is_const(arg, t):
                    yield t


def tensor(x: Any, *, shape: tuple[int, ...] | None = None, dtype: str | None = None, name: str = "x") -> Tensor:
    """Wraps a copy of an array, or of anything else that programs take, for use with `webq8.ops`.

    `shape` is its own by default, or flat where it has none. With `dtype` values convert exactly; bytes are taken as
    elements of it. Numbers and lists have no dtype and need one. `name` stands in messages.
    """
    if dtype is not None and dtype not in ITEMSIZE:
        raise InputError(f"{name}: dtype: {dtype!r} is not one of {', '.join(ITEMSIZE)}")
    return _tensor(give(x, dtype, name), shape, dtype, name)


def _tensor(given: Given, shape: tuple[int, ...] | None, dtype: str | None, name: str) -> Tensor:
    dtype = dtype or given.dtype or "uint8"
    data = convert(given, dtype, name)
    if shape is None:
        shape = (len(data) // ITEMSIZE[dtype],) if given.shape is None else given.shape
    if len(data) != numel(shape) * ITEMSIZE[dtype]:
        raise InputError(f"{name}: {given} cannot be {dtype} {list(shape)}")
    return Tensor(tuple(shape), dtype, memoryview(bytes(data)))


def close() -> None:
    """Frees the compiled programs that ops keep; those in use, when their last run ends."""
    while _programs:
        _programs.popitem()[1].release()


class _Compiled:
    """A program that is compiled when it is first run, once for all that want it at the same time, and again where its
    device was lost. It is freed when it is not kept any more and nobody runs it."""

    def __init__(self, method: Method, device: DeviceName) -> None:
        self.method, self.device = method, device
        self.program: Program | None = None
        self.compiling = asyncio.Lock()  # waits for nothing where nobody else compiles, as `drive` needs it
        self.users = 1  # the cache is one

    async def run(self, inputs: Sequence[Tensor]) -> Output:
        self.users += 1
        try:
            async with self.compiling:
                if self.program is None or self.program.lost:
                    self._free()
                    self.program = await compile_program(Parsed({"forward": self.method}), "webq8.ops", self.device)
            return await self.program.compute(*inputs)
        finally:
            self.release()

    def release(self) -> None:
        self.users -= 1
        if not self.users:
            self._free()

    def _free(self) -> None:
        if self.program is not None:
            self.program.close()


def _record(spec: Op, given: Sequence[Any]) -> Tensor | tuple[Tensor, ...]:
    args = [_wrap(arg, v, f"{spec.short}: {name}") for (name, arg), v in zip(spec.args.items(), given, strict=False)]
    pairs = [(-1, tuple((-1, _value(v)) for v in a) if _is_list(a) else _value(a)) for a in args]
    bound, problems = bind(spec, pairs, "webq8.ops", with_out=False)
    # wrong here is an argument, not a file
    kinds = [p.kind if p.kind is LimitError else InputError for p in problems]
    raise_problems(spec.short, [replace(p, node="", op="", kind=k) for p, k in zip(problems, kinds, strict=True)])
    assert bound is not None
    node = _Node(spec, args)
    node.outs = tuple(Tensor(shape, dtype, call=node) for shape, dtype in out_specs(spec, bound))
    return node.outs[0] if isinstance(spec.args["out"], TensorArg) else node.outs


def _wrap(arg: Arg, value: Any, name: str) -> Any:
    if isinstance(arg, TensorList) and isinstance(value, list | tuple):
        return tuple(_wrap(a, v, name) for a, v in zip(arg.of(len(value)), value, strict=True))
    if isinstance(arg, Scalar) or value is None or isinstance(value, Tensor):
        return _plain(value)
    only = arg.dtypes[0] if isinstance(arg, TensorArg) and len(arg.dtypes) == 1 else None
    return _tensor(give(value, only, name), None, None, name)


def _plain(value: Any) -> Any:
    """What a graph holds: numpy's scalars become Python's, lists become tuples."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value.item() if hasattr(value, "item") else value


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(v, Tensor) for v in value)


def _value(value: Any) -> Any:
    return IrTensor(value.shape, value.dtype, value._data) if isinstance(value, Tensor) else value


class _Graph:
    """Collects what leads to a tensor; `key` is equal for graphs that one compiled program serves."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.calls: list[Call] = []
        self.inputs: list[int] = []
        self.leaves: list[Tensor] = []
        self.ids: dict[int, int] = {}  # id() of a Tensor -> value id
        self.key: list[str] = []

    def visit(self, t: Tensor) -> int:
        """Iterative, since chains of ops can be longer than Python's stack is deep."""
        stack = [t]
        while stack:
            top = stack[-1]
            if id(top) in self.ids:
                stack.pop()
            elif not isinstance(top._call, _Node):
                self.ids[id(top)] = self._add(IrTensor(top.shape, top.dtype))
                self.inputs.append(self.ids[id(top)])
                self.leaves.append(top)
                self.key.append(f"input {top.dtype} {top.shape}")
            elif pending := [a for a in top._call.inputs() if id(a) not in self.ids]:
                stack += pending
            else:
                self._emit(top._call)
        return self.ids[id(t)]

    def _add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _emit(self, node: _Node) -> None:
        self.key.append(node.spec.name)
        ids = [self._argument(arg, v) for arg, v in zip(node.spec.args.values(), node.args, strict=False)]
        for out in node.outs:
            self.ids[id(out)] = self._add(IrTensor(out.shape, out.dtype))
        outs = [self.ids[id(out)] for out in node.outs]
        result = outs[0] if isinstance(node.spec.args["out"], TensorArg) else self._add(ListRef(tuple(outs)))
        self.calls.append(Call(node.spec.name, (*ids, result), f"webq8.ops, call {len(self.calls)}"))

    def _argument(self, arg: Arg, value: Any) -> int:
        if _is_list(value):
            return self._add(ListRef(tuple(self._argument(arg, v) for v in value)))
        if isinstance(value, Tensor) and _is_const(arg, value):
            assert value._data is not None
            self.key.append(f"{value.dtype} {value.shape} {hashlib.sha256(value._data).hexdigest()}")
            return self._add(_value(value))
        if isinstance(value, Tensor):
            self.key.append(f"value {self.ids[id(value)]}")
            return self.ids[id(value)]
        self.key.append(repr(value))
        return self._add(value)


async def _compute(result: Tensor, device: DeviceName) -> Output:
    """What a recorded call gives, by one program of all that leads to it."""
    found = _Graph()
    out = found.visit(result)
    key = (device, out, *found.key)
    compiled = _programs.get(key)
    if compiled is None:
        graph = Graph(tuple(found.values), tuple(found.calls), tuple(found.inputs), (out,))
        compiled = _programs[key] = _Compiled(Method("forward", graph), device)
        while len(_programs) > _KEPT:
            _programs.popitem(last=False)[1].release()
    _programs.move_to_end(key)
    try:
        return await compiled.run(found.leaves)
    except BaseException:
        if compiled.program is None and _programs.get(key) is compiled:
            _programs.pop(key).release()
        raise


def _is_const(arg: Arg, value: Tensor) -> bool:
    """Whether a tensor is part of the program. One that has to be but is not there yet is refused like any other."""
    declared = arg.elements[0] if isinstance(arg, TensorList) else arg
    return isinstance(declared, TensorArg) and declared.must_be_constant(value.dtype)


def _callable(spec: Op) -> Callable[..., Any]:
    names = [n for n in spec.args if n != "out"]
    parameters = []
    for name in names:
        arg = spec.args[name]
        default = arg.default if isinstance(arg, Scalar) else None if arg.optional else ...
        parameters.append(
            _inspect.Parameter(
                name,
                _inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_inspect.Parameter.empty if default is ... else default,
            )
        )
    # a required argument may follow an optional one in a schema: then the earlier one has no default here
    for i in reversed(range(len(parameters) - 1)):
        if parameters[i + 1].default is _inspect.Parameter.empty:
            parameters[i] = parameters[i].replace(default=_inspect.Parameter.empty)
    signature = _inspect.Signature(parameters, return_annotation=Tensor)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as e:
            raise InputError(f"{spec.short}: {e}; its arguments are {signature}") from None
        given.apply_defaults()
        return _record(spec, list(given.arguments.values()))

    call.__name__ = call.__qualname__ = spec.short
    call.__doc__ = spec.handler.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


@cache
def _named(name: str) -> Callable[..., Any]:
    """Kept here and not as globals: an op that is named like a builtin would hide it."""
    return _callable(_SHORT.get(name) or REGISTRY[name])


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _SHORT and name not in REGISTRY:
        raise AttributeError(f"webq8.ops has no {name!r}; there are {', '.join(sorted(_SHORT))}")
    return _named(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SHORT])
