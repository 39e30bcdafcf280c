"""The ops alone: `webq8.ops.<short name>(…)` for every op of the registry, arguments in the order of its schema.

Calling an op checks its arguments and records it; nothing waits. `await y.numpy()` (or `.buffer()`) plans what led to
`y` as one program, runs it on the GPU and keeps the result. Programs of the same form are kept compiled.
"""

import hashlib
import inspect as _inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from webq8.dtypes import ITEMSIZE, as_buffer, numel, to_array
from webq8.errors import InputError, LimitError, raise_problems
from webq8.handlers import REGISTRY
from webq8.handlers.registry import Op, Scalar, TensorArg, bind, out_shape
from webq8.ir import Call, Graph, Method, Value
from webq8.ir import Program as Parsed
from webq8.ir import Tensor as IrTensor
from webq8.runtime import Program, compile_program

_SHORT = {spec.short: spec for spec in REGISTRY.values() if spec.name.endswith(".default")}
_KEPT = 16  # compiled programs
_programs: "OrderedDict[tuple[Any, ...], Program]" = OrderedDict()

__all__ = ["Tensor", "close", "tensor"]


class Tensor:
    """An array, or the result of an op that has not been computed yet. `shape` and `dtype` are known at once."""

    def __init__(
        self, shape: tuple[int, ...], dtype: str, data: memoryview | None = None, call: "_Node | None" = None
    ) -> None:
        self.shape, self.dtype = shape, dtype
        self._data, self._call = data, call

    def __repr__(self) -> str:
        return f"<webq8 tensor {self.dtype} {list(self.shape)}{'' if self._data is not None else ', not computed yet'}>"

    async def buffer(self, device: Literal["webgpu", "cpu"] = "webgpu") -> Any:
        """The values: a numpy array, or a memoryview of the right format and shape where numpy is not installed."""
        if self._data is None:
            await _realize(self, device)
        assert self._data is not None
        return to_array(self._data, self.shape, self.dtype)

    async def numpy(self, device: Literal["webgpu", "cpu"] = "webgpu") -> Any:
        """The values as a numpy array, computed on first use by one submit to the GPU.

        Raises InputError where numpy is not installed; `buffer()` works there.
        """
        try:
            import numpy as np
        except ImportError:
            raise InputError("numpy is not installed here; `await y.buffer()` gives a memoryview instead") from None
        return np.asarray(await self.buffer(device))


class _Node:
    """A recorded call: argument i is a Tensor or a plain value."""

    def __init__(self, spec: Op, args: Sequence[Any]) -> None:
        self.spec, self.args = spec, args


def tensor(x: Any, *, shape: tuple[int, ...] | None = None, dtype: str | None = None, name: str = "x") -> Tensor:
    """Wraps a copy of a numpy array, or of any object with a buffer, for use with `webq8.ops`.

    `shape` and `dtype` say what a flat buffer of bytes holds, where its type does not. `name` stands in messages.
    """
    data, given_shape, given_dtype = as_buffer(x, name)
    shape, dtype = given_shape if shape is None else shape, dtype or given_dtype
    if dtype not in ITEMSIZE or len(data) != numel(shape) * ITEMSIZE[dtype]:
        raise InputError(f"{name}: {len(data)} bytes are not {dtype} {list(shape)}")
    return Tensor(shape, dtype, memoryview(bytes(data)))


def close() -> None:
    """Frees the compiled programs that ops keep."""
    while _programs:
        _programs.popitem()[1].close()


def _record(spec: Op, given: Sequence[Any]) -> Tensor:
    args: list[Any] = []
    for (name, arg), value in zip(spec.args.items(), given, strict=False):
        wrap = isinstance(arg, TensorArg) and value is not None and not isinstance(value, Tensor)
        args.append(tensor(value, name=f"{spec.short}: {name}") if wrap else value)
    values = [(-1, _as_value(a, a._data) if isinstance(a, Tensor) else _plain(a)) for a in args]
    bound, problems = bind(spec, values, "webq8.ops", with_out=False)
    # wrong here is an argument, not a file
    kinds = [p.kind if p.kind is LimitError else InputError for p in problems]
    raise_problems(spec.short, [replace(p, node="", op="", kind=k) for p, k in zip(problems, kinds, strict=True)])
    assert bound is not None
    return Tensor(out_shape(spec, bound), spec.out.dtypes[0], call=_Node(spec, args))


def _plain(value: Any) -> Any:
    """What a graph holds: numpy's scalars become Python's, lists become tuples."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return value.item() if hasattr(value, "item") else value


def _as_value(t: Tensor, data: memoryview | None) -> IrTensor:
    return IrTensor(t.shape, t.dtype, data)


async def _realize(result: Tensor, device: Literal["webgpu", "cpu"]) -> None:
    values: list[Value] = []
    calls: list[Call] = []
    inputs: list[int] = []
    leaves: list[Tensor] = []
    ids: dict[int, int] = {}
    key: list[Any] = [device]

    def add(value: Value) -> int:
        values.append(value)
        return len(values) - 1

    def visit(t: Tensor) -> int:
        """Iterative, since chains of ops can be longer than Python's stack is deep."""
        stack = [t]
        while stack:
            top = stack[-1]
            if id(top) in ids:
                stack.pop()
                continue
            if top._data is not None or top._call is None:
                ids[id(top)] = add(_as_value(top, None))
                inputs.append(ids[id(top)])
                leaves.append(top)
                key.append(("input", top.shape, top.dtype))
                continue
            pending = [
                a
                for a, arg in zip(top._call.args, top._call.spec.args.values(), strict=False)
                if isinstance(a, Tensor) and id(a) not in ids and not _is_const(arg)
            ]
            if pending:
                stack += pending
                continue
            ids[id(top)] = _emit(top)
        return ids[id(t)]

    def _emit(t: Tensor) -> int:
        node = t._call
        assert node is not None
        arg_ids: list[int] = []
        form: list[Any] = []
        for a, arg in zip(node.args, node.spec.args.values(), strict=False):
            if isinstance(a, Tensor) and _is_const(arg):
                assert a._data is not None
                arg_ids.append(add(_as_value(a, a._data)))
                form.append((a.shape, a.dtype, hashlib.sha256(a._data).digest()))
            elif isinstance(a, Tensor):
                arg_ids.append(ids[id(a)])
                form.append(ids[id(a)])
            else:
                arg_ids.append(add(_plain(a)))
                form.append(_plain(a))
        out = add(_as_value(t, None))
        calls.append(Call(node.spec.name, (*arg_ids, out), f"webq8.ops, call {len(calls)}"))
        key.append((node.spec.name, *form))
        return out

    out = visit(result)
    program = _programs.get(tuple(key))
    if program is None:
        graph = Graph(tuple(values), tuple(calls), tuple(inputs), (out,))
        program = await compile_program(Parsed({"forward": Method("forward", graph)}), "webq8.ops", device)
        _programs[tuple(key)] = program
        while len(_programs) > _KEPT:
            _programs.popitem(last=False)[1].close()
    else:
        _programs.move_to_end(tuple(key))
    array = await program(*(to_array(t._data, t.shape, t.dtype) for t in leaves if t._data is not None))
    result._data, result._call = as_buffer(array, "result")[0], None


def _is_const(arg: Any) -> bool:
    return isinstance(arg, TensorArg) and arg.const


def _callable(spec: Op) -> Callable[..., Tensor]:
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

    def call(*args: Any, **kwargs: Any) -> Tensor:
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


def __getattr__(name: str) -> Callable[..., Tensor]:
    if name not in _SHORT:
        raise AttributeError(f"webq8.ops has no {name!r}; there are {', '.join(sorted(_SHORT))}")
    globals()[name] = _callable(_SHORT[name])
    return globals()[name]  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return sorted([*__all__, *_SHORT])
