"""The ops alone: `webq8.ops.<short name>(…)` for every operator that webq8 takes from ExecuTorch, with the arguments of
its schema. An overload that shares its short name has its full one, `getattr(webq8.ops, "aten.clamp.Tensor")`.

An op checks its arguments and records its nodes; nothing waits. `await y.numpy()` (or `.buffer()`) plans all that leads
to `y` as one program, runs it on the GPU and reads `y` alone. `y` stays on the device as well, where later ops read it.
Compiled programs are kept for graphs of the same form.
"""

import asyncio
import hashlib
import inspect as _inspect
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from webq8.backends.base import Output
from webq8.backends.find import DeviceName
from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import InputError, LimitError, raise_problems
from webq8.formats.pte.bind import Held, lower_call
from webq8.formats.pte.operators import all_overloads
from webq8.formats.pte.schema import Arg, Overload, Scalar, TensorArg, TensorList
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.types import Ref
from webq8.ir.types import Tensor as Type
from webq8.passes import required
from webq8.runtime.inputs import Given, convert, give
from webq8.runtime.load import compile_graphs
from webq8.runtime.tensor import Tensor

if TYPE_CHECKING:
    from webq8.runtime.program import Program

_OVERLOADS = all_overloads()
# the first of the overloads that share a short name has it; `aten::` names are for calls outside of delegates
_SHORT = {spec.short: spec for spec in reversed([*_OVERLOADS.values()]) if "::" not in spec.name}
_KEPT = 16  # compiled programs
_programs: "OrderedDict[tuple[Any, ...], _Compiled]" = OrderedDict()

__all__ = ["Tensor", "close", "tensor"]


class _Call:
    """The nodes of a lowered call, over refs of their own; `inputs` are the tensors that the caller gave for some of
    these, `outputs` the refs of the results. Constants are part of the program."""

    def __init__(self, built: Builder, inputs: dict[Ref, Tensor], outputs: tuple[Ref, ...]) -> None:
        self.types, self.nodes, self.inputs, self.outputs = built.tensors, built.nodes, inputs, outputs
        # weak, since these have the call: what they hold on a device is to be freed with the last that has them
        self.results: tuple[weakref.ref[Tensor], ...] = ()

    async def compute(self, tensor: Tensor, device: DeviceName) -> Output:
        return await _compute(tensor, device)


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
    return Tensor(Type(tuple(shape), dtype), memoryview(bytes(data)))


def close() -> None:
    """Frees the compiled programs that ops keep; those in use, when their last run ends."""
    while _programs:
        _programs.popitem()[1].release()


class _Compiled:
    """A program that compiles at its first run, once for all concurrent runs, and again after its device was lost.

    It is freed when the cache has dropped it and its last run has ended.
    """

    def __init__(self, graph: Graph, device: DeviceName) -> None:
        self.graph, self.device = graph, device
        self.program: Program | None = None
        self.compiling = asyncio.Lock()  # does not wait where nobody else compiles, as `drive` requires
        self.users = 1  # the cache is the first

    async def run(self, inputs: Sequence[Tensor]) -> Output:
        self.users += 1
        try:
            async with self.compiling:
                if self.program is None or self.program.lost:
                    self._free()
                    self.program = await compile_graphs({"forward": required(self.graph)}, "webq8.ops", self.device)
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


def _record(overload: Overload, given: Sequence[Any]) -> Tensor | tuple[Tensor, ...]:
    builder, inputs = Builder(Budget(None, "webq8.ops")), dict[Ref, Tensor]()

    def argument(arg: Arg, value: Any, name: str) -> Any:
        if isinstance(arg, TensorList) and isinstance(value, list | tuple):
            return tuple(argument(a, v, name) for a, v in zip(arg.of(len(value)), value, strict=True))
        if isinstance(arg, Scalar) or value is None:
            return _plain(value)
        if not isinstance(value, Tensor):
            only = arg.dtypes[0] if isinstance(arg, TensorArg) and len(arg.dtypes) == 1 else None
            value = _tensor(give(value, only, name), None, None, name)
        # a tensor that must be a constant but is not computed yet is refused like one that is not constant
        constant = isinstance(arg, TensorArg) and arg.must_be_constant(value.dtype)
        known = value._type.replace(data=value._data)
        ref = builder.add(known)
        if constant:
            return Held(ref, known)
        inputs[ref] = value
        return Held(ref, value._type)

    args = [
        argument(a, v, f"{overload.short}: {name}") for (name, a), v in zip(overload.args.items(), given, strict=True)
    ]
    lowered, problems = lower_call(overload, args, builder)
    # arguments come from the caller, not from a file
    kinds = [p.kind if p.kind is LimitError else InputError for p in problems]
    changed = [p.replace(node="", op="", kind=k) for p, k in zip(problems, kinds, strict=True)]
    raise_problems(overload.short, changed)
    assert lowered is not None
    for ref, copy in builder.copies():
        if ref in inputs:
            inputs[copy] = inputs[ref]
    for ref in inputs:  # constant values were only looked at; they are inputs of the program
        builder.tensors[ref] = builder.tensors[ref].type()
    call = _Call(builder, inputs, lowered if isinstance(lowered, tuple) else (lowered,))
    results = tuple(Tensor(builder.type(ref).type(), call=call) for ref in call.outputs)
    call.results = tuple(map(weakref.ref, results))
    return results if isinstance(lowered, tuple) else results[0]


def _plain(value: Any) -> Any:
    """An argument as a file would hold it: numpy scalars become numbers, lists become tuples."""
    if isinstance(value, Tensor):
        return Held(Ref(-1), value._type)
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value.item() if hasattr(value, "item") else value


class _Recording:
    """Records the graph that leads to a tensor; graphs that one compiled program serves have the same `key`."""

    def __init__(self) -> None:
        self.builder = Builder(Budget(None, "webq8.ops"))
        self.inputs: list[Ref] = []
        self.leaves: list[Tensor] = []
        self.refs: dict[int, Ref] = {}  # by id() of a Tensor
        self.constants: list[str] = []

    def visit(self, t: Tensor) -> Ref:
        """Iterative, since chains of ops can be longer than Python's stack is deep."""
        stack = [t]
        while stack:
            top = stack[-1]
            if id(top) in self.refs:
                stack.pop()
            elif not isinstance(top._call, _Call):
                self.refs[id(top)] = self.builder.add(top._type)
                self.inputs.append(self.refs[id(top)])
                self.leaves.append(top)
            elif pending := [x for x in top._call.inputs.values() if id(x) not in self.refs]:
                stack += pending
            else:
                self._add(top._call)
        return self.refs[id(t)]

    def _add(self, call: _Call) -> None:
        refs = {}

        def renamed(ref: Ref) -> Ref:
            if ref not in refs:
                kind = call.types[ref]
                if ref in call.inputs:
                    refs[ref] = self.builder.quantized(self.refs[id(call.inputs[ref])], kind.quantization)
                else:
                    assert kind.data is not None, "nodes come after what they read"
                    self.constants.append(hashlib.sha256(kind.data).hexdigest())
                    refs[ref] = self.builder.add(kind)
            return refs[ref]

        for node in call.nodes:
            self.builder.where = f"webq8.ops, call {len(self.builder.nodes)}"
            made = self.builder.node(node.op.reading(renamed), tuple(call.types[ref] for ref in node.outputs))
            refs |= dict(zip(node.outputs, made, strict=True))
        for weak, ref in zip(call.results, call.outputs, strict=True):
            if (result := weak()) is not None:
                self.refs[id(result)] = renamed(ref)

    def graph(self, *outputs: Ref) -> Graph:
        builder = self.builder
        return Graph(tuple(builder.tensors), tuple(builder.nodes), tuple(self.inputs), outputs)

    def key(self) -> tuple[Any, ...]:
        types = tuple(t.type() for t in self.builder.tensors)
        return (types, tuple(node.op for node in self.builder.nodes), tuple(self.inputs), *self.constants)


async def _compute(result: Tensor, device: DeviceName) -> Output:
    """Computes a recorded result by one program of all that leads to it."""
    found = _Recording()
    out = found.visit(result)
    key = (device, out, *found.key())
    compiled = _programs.get(key)
    if compiled is None:
        compiled = _programs[key] = _Compiled(found.graph(out), device)
        while len(_programs) > _KEPT:
            _programs.popitem(last=False)[1].release()
    _programs.move_to_end(key)
    try:
        return await compiled.run(found.leaves)
    except BaseException:
        if compiled.program is None and _programs.get(key) is compiled:
            _programs.pop(key).release()
        raise


def _callable(spec: Overload) -> Callable[..., Any]:
    names = list(spec.args)
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
    # Python allows no required argument after an optional one, as schemas do: then the optional one has no default
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
    call.__doc__ = spec.lower.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


@cache
def _named(name: str) -> Callable[..., Any]:
    """The function of an op. It is no global of this module, where `abs`, `max` and others would hide builtins."""
    return _callable(_SHORT.get(name) or _OVERLOADS[name])


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _SHORT and name not in _OVERLOADS:
        raise AttributeError(f"webq8.ops has no {name!r}; there are {', '.join(sorted(_SHORT))}")
    return _named(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SHORT])
