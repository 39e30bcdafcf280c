"""ExecuTorch's `.pte` container: program flatbuffer `ET12`, extended header `eh00`, segments, execution plans.

Each method becomes one flat graph: its delegates' graphs are spliced in, its kernel calls become calls like any other.
Field numbers follow `schema/program.fbs` of the `executorch` package.
"""

import struct
from functools import cached_property
from typing import NamedTuple

from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel, row_major
from webq8.errors import FormatError, Problem, shown
from webq8.formats.flatbuf import Table, root
from webq8.formats.pte.delegate import read_vkgraph
from webq8.formats.pte.model import EValue, ListRef, OperatorCall, PteMethod, PteProgram, PteState
from webq8.formats.pte.tensors import DYNAMIC, FLOAT16, checked_shape
from webq8.formats.sniff import other_backend
from webq8.ir.types import Tensor
from webq8.stages import Stage, Steps

__all__ = ["is_pte", "read_program"]

_DTYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    11: "bool",
}
_IDENTIFIER = b"ET12"
_HEADER = struct.Struct("<4sIQQ")  # magic, length, program size, segment base offset; the fourth field is newer
_VULKAN = "VulkanBackend"
_LISTED = 4  # bytes of an id in a list, read again with every call that has the list


def is_pte(data: memoryview) -> bool:
    """Whether bytes say that they are a `.pte` file of the version that is read here."""
    return data[4:8] == _IDENTIFIER


@Stage
def read_program(data: bytes | bytearray | memoryview, name: str = "program") -> Steps[PteProgram]:
    """Reads a whole file. `name` stands for it in messages.

    Raises FormatError where the file is damaged. What is sound but not supported is listed in each method's `problems`.
    """
    view = memoryview(data).toreadonly().cast("B")
    return (yield from _Reader(view, name, Budget(len(view), name)).program())


class _Offsets(NamedTuple):
    """Where pieces begin in a segment, whose number is `segment`."""

    segment: int
    offsets: tuple[int, ...]


class _Reader:
    def __init__(self, data: memoryview, name: str, budget: Budget) -> None:
        self.data, self.name, self.budget = data, name, budget

    def program(self) -> Steps[PteProgram]:
        end, base = len(self.data), len(self.data)
        if bytes(self.data[8:12]) == b"eh00" and len(self.data) >= 8 + _HEADER.size:
            _, _, end, base = _HEADER.unpack_from(self.data, 8)
            base = base or len(self.data)
            if end > len(self.data) or base > len(self.data):
                raise FormatError(
                    f"{self.name}: the file is cut off: its header speaks of {max(end, base)} bytes, "
                    f"there are {len(self.data)}"
                )
        self.flat = root(self.data[:end], _IDENTIFIER, self.name, self.budget)
        self.segments = []
        for i, s in enumerate(self.flat.tables(4, f"{self.name}, segment")):
            start, size = base + s.integer(0, "Q"), s.integer(1, "Q")
            if start + size > len(self.data):
                raise FormatError(
                    f"{self.name}: the file is cut off: segment {i} ends at byte {start + size} of {len(self.data)}"
                )
            self.segments.append(self.data[start : start + size])
        self.named = {
            n.string(0): self._segment(n.integer(1, "I"), "named data")
            for n in self.flat.tables(7, f"{self.name}, named data")
        }
        plans = self.flat.tables(1, f"{self.name}, method")
        if not plans:
            raise FormatError(f"{self.name}: the file holds no method")
        methods = {}
        for plan in plans:
            method = yield from _MethodReader(self, plan).method()
            if method.name in methods:
                raise FormatError(f"{self.name}: two methods have the name {shown(method.name)}")
            methods[method.name] = method
        return PteProgram(methods, len(self.data))

    def _segment(self, index: int, what: str) -> memoryview:
        if index >= len(self.segments):
            raise FormatError(f"{self.name}: {what}: segment {index} does not exist (there are {len(self.segments)})")
        return self.segments[index]

    def named_data(self, key: str) -> memoryview:
        if key not in self.named:
            reason = f"named data {shown(key)} does not exist (external weights are not in this file)"
            raise FormatError(f"{self.name}: {reason}")
        return self.named[key]

    @cached_property
    def _inline_constants(self) -> list[Table]:
        return self.flat.tables(2, f"{self.name}, constant")

    @cached_property
    def _constants(self) -> _Offsets | None:
        table = self.flat.table(5, f"{self.name}, constant segment")
        return _Offsets(table.integer(0, "I"), table.vector(1, "Q")) if table else None

    @cached_property
    def _initials(self) -> _Offsets | None:
        tables = self.flat.tables(6, f"{self.name}, initial data")
        return _Offsets(tables[0].integer(0, "I"), tables[0].vector(1, "Q")) if tables else None

    @cached_property
    def _inline_delegates(self) -> list[Table]:
        return self.flat.tables(3, f"{self.name}, delegate data")

    def constant(self, index: int, need: int, what: str) -> memoryview:
        """The bytes of constant `index`, inline or in the constant segment."""
        if index < len(self._inline_constants):
            return self._bytes(self._inline_constants[index].blob(0), need, f"{what}: constant {index}")
        return self._in_segment(self._constants, index, need, f"{what}: constant {index}")

    def initial(self, index: int, need: int, what: str) -> memoryview:
        """What a tensor that may change holds at first."""
        return self._in_segment(self._initials, index, need, f"{what}: initial data {index}")

    def _in_segment(self, table: _Offsets | None, index: int, need: int, what: str) -> memoryview:
        if table is None or index >= len(table.offsets):
            raise FormatError(f"{self.name}: {what} does not exist")
        return self._bytes(self._segment(table.segment, what)[table.offsets[index] :], need, what)

    def _bytes(self, data: memoryview, need: int, what: str) -> memoryview:
        if len(data) < need:
            raise FormatError(f"{self.name}: {what} has {len(data)} bytes, {need} are needed")
        return data[:need]

    def delegate(self, table: Table, what: str) -> memoryview:
        ref = table.table(1, what)
        if ref is None:
            raise FormatError(f"{self.name}: {what} has no data")
        index = ref.integer(1, "I")
        if ref.integer(0, "b") == 1:
            return self._segment(index, what)
        if index >= len(self._inline_delegates):
            raise FormatError(
                f"{self.name}: {what}: data {index} does not exist (there are {len(self._inline_delegates)})"
            )
        return self._inline_delegates[index].blob(0)


class _MethodReader:
    def __init__(self, file: _Reader, plan: Table) -> None:
        self.file, self.plan = file, plan
        self.name = plan.string(0)
        self.what = f"{file.name}, method {shown(self.name)}"
        self.values: list[EValue] = []
        self.calls: list[OperatorCall] = []
        self.problems: list[Problem] = []
        self.moved: dict[int, int] = {}  # value id -> the id it was moved from
        self.memory: dict[int, tuple[int, int]] = {}  # tensor -> where it was planned to lie: memory id and offset
        self.orders: dict[int, tuple[int, ...]] = {}  # tensor -> its dimensions of more than 1, the outermost first
        self.holder: dict[tuple[int, int], int] = {}  # memory id and offset -> the tensor written there last
        self.written: set[int] = set()
        self.initial: dict[int, memoryview] = {}  # tensor that may change -> what it holds at first
        self.states: dict[int, int] = {}  # tensor that keeps its value between runs -> what a run leaves in it

    @cached_property
    def _operators(self) -> list[str]:
        """The full names of the operators that calls refer to by index."""
        pairs = ((t.string(0), t.string(1)) for t in self.plan.tables(6, f"{self.what}, operator"))
        return [f"{name}.{overload}" if overload else name for name, overload in pairs]

    @cached_property
    def _delegates(self) -> list[Table]:
        return self.plan.tables(7, f"{self.what}, delegate")

    def method(self) -> Steps[PteMethod]:
        tables = self.plan.tables(2, f"{self.what}, value")
        for i, table in enumerate(tables):
            self.values.append(self._value(table, f"value {i}", len(tables), i))
            yield
        self.values = [self._resolve_list(v) for v in self.values]
        for i in self.plan.vector(3, "i"):
            self._write(self._id(i, "inputs"))
        chains = self.plan.tables(5, f"{self.what}, chain")
        if len(chains) != 1:
            self.problems.append(Problem("execution plan", "", f"{len(chains)} chains; one is supported"))
        for chain in chains:
            for i, instruction in enumerate(chain.tables(2, f"{self.what}, instruction")):
                yield from self._instruction(instruction, f"instruction {i}")
        inputs = tuple(i for i in self.plan.vector(3, "i") if not self._is_known(i))
        outputs = tuple(self._id(i, "outputs") for i in self.plan.vector(4, "i"))
        for i in outputs:
            self._read(i, "outputs")
        for i, data in self.initial.items():
            if i not in self.states and isinstance(tensor := self.values[i], Tensor):
                self.values[i] = tensor.replace(data=data)
        states = tuple(PteState(i, new, self.initial.get(i)) for i, new in self.states.items())
        problems = tuple(self.problems)
        return PteMethod(self.name, tuple(self.values), tuple(self.calls), inputs, outputs, problems, states)

    def _is_known(self, i: int) -> bool:
        """Whether an input is a number or text: it stands in the file as it was exported, and nothing else can be
        given for it, since the exporter took it for a constant."""
        return isinstance(self.values[i], int | float | bool | str)

    def _id(self, i: int, what: str) -> int:
        if not 0 <= i < len(self.values):
            raise FormatError(f"{self.what}: {what}: value {i} does not exist (there are {len(self.values)})")
        return self.moved.get(i, i)

    def _value(self, table: Table, node: str, count: int, i: int) -> EValue:
        kind, inner = table.union(0, f"{self.what}, {node}")
        if kind in (0, 1):
            return None
        if inner is None:
            raise FormatError(f"{self.what}: {node}: type {kind} without a value")
        match kind:
            case 2:
                return inner.integer(0, "q")
            case 3:
                return bool(inner.scalar(0, "?"))
            case 4:
                return float(inner.scalar(0, "d"))
            case 5:
                place = inner.table(6, node)
                if place is not None:
                    self.memory[i] = place.integer(0, "I"), place.integer(1, "I") | place.integer(2, "I") << 32
                tensor = self._tensor(inner, node, i)
                if tensor is not None:
                    self.orders[i] = tuple(d for d in inner.vector(3, "B") if tensor.shape[d] != 1)
                return tensor
            case 6:
                return inner.string(0)
            case 7:
                return _IntList(inner.vector(0, "q"))
            case 8:
                return inner.doubles(0)
            case 9:
                return tuple(bool(b) for b in inner.vector(0, "?"))
            case 10 | 11:
                ids = inner.vector(0, "i")
                if any(i >= count or i < -1 for i in ids):
                    raise FormatError(f"{self.what}: {node}: a list names a value that does not exist")
                return ListRef(ids)
        raise FormatError(f"{self.what}: {node}: unknown type {kind}")

    def _resolve_list(self, value: EValue) -> EValue:
        """The integers of a list, which is stored as the ids of int values."""
        if not isinstance(value, _IntList):
            return value
        items = [self.values[self._id(i, "a list of ints")] for i in value]
        ints = tuple(i for i in items if isinstance(i, int))
        if len(ints) != len(items):
            self.problems.append(DYNAMIC)
        return ints

    def _tensor(self, table: Table, node: str, i: int) -> Tensor | None:
        code = table.integer(0, "b")
        if code not in _DTYPES:
            self.problems.append(Problem(node, "", f"data type {code} is not supported"))
            return None
        shape = checked_shape(table.vector(2, "i"), _DTYPES[code], f"{self.what}, {node}")
        if _DTYPES[code] == "float16":
            self.problems.append(FLOAT16)
        order = table.vector(3, "B") or tuple(range(len(shape)))
        if sorted(order) != list(range(len(shape))):
            raise FormatError(f"{self.what}: {node}: {list(order)} does not order {len(shape)} dimensions")
        if table.integer(8, "b"):
            self.problems.append(DYNAMIC)
        constant = table.integer(5, "I")
        if not constant:
            return Tensor(shape, _DTYPES[code])
        changes = table.table(6, node) is not None  # a place in memory: it is there to be written
        size = numel(shape) * ITEMSIZE[_DTYPES[code]]
        data = self.file.initial(constant, size, node) if changes else self.file.constant(constant, size, node)
        data = row_major(data, shape, order, _DTYPES[code])
        if changes:
            self.initial[i] = data
            return Tensor(shape, _DTYPES[code])
        return Tensor(shape, _DTYPES[code], data)

    def _instruction(self, table: Table, node: str) -> Steps[None]:
        yield
        kind, inner = table.union(0, f"{self.what}, {node}")
        if inner is None:
            raise FormatError(f"{self.what}: {node}: empty")
        match kind:
            case 1:
                self._kernel_call(inner, node)
            case 2:
                yield from self._delegate_call(inner, node)
            case 3:
                self.moved[self._id(inner.integer(1), node)] = self._id(inner.integer(0), node)
            case 4:
                self.problems.append(Problem(node, "", "control flow is not supported"))
            case 5:
                pass  # the planner works out lifetimes itself
            case _:
                raise FormatError(f"{self.what}: {node}: unknown instruction {kind}")

    def _kernel_call(self, table: Table, node: str) -> None:
        index = table.integer(0)
        if not 0 <= index < len(self._operators):
            raise FormatError(
                f"{self.what}: {node}: operator {index} does not exist (there are {len(self._operators)})"
            )
        given = table.vector(1, "i")
        args = tuple(self._id(i, node) for i in given)
        if self._operators[index] == "aten::copy_" and len(args) == 4:
            self._mutate(given[0], args, node)
            return
        # the outputs come again as the returned value: one as itself, several as a list
        returned = self.values[args[-1]] if args else None
        if len(args) > 1 and args[-1] == args[-2]:
            args = args[:-1]
        elif isinstance(returned, ListRef) and returned.ids == args[-1 - len(returned.ids) : -1]:
            args = args[: -1 - len(returned.ids)] + args[-1:]
        elif isinstance(returned, ListRef) and len(args) > 1 and self.values[args[-2]] == returned:
            args = args[:-1]
        args = (*map(self._unmoved, args[:-1]), *args[-1:])
        for i in args[:-1]:
            self._read(i, node)
        self.calls.append(OperatorCall(self._operators[index], args, node))
        for i in args[-1:]:
            self._write(i)

    def _mutate(self, target: int, args: tuple[int, ...], node: str) -> None:
        """Replaces a copy in place by a copy to a new value, which later calls read in place of `target`. A target that
        nothing has written before is a state: the next run reads the copy."""
        old, source, non_blocking, _ = args
        for i in (old, source):
            self._read(i, node)
        if not isinstance(tensor := self.values[old], Tensor):
            raise FormatError(f"{self.what}: {node}: {shown(tensor)} is no tensor to copy into")
        new = len(self.values)
        self.values.append(tensor.replace(data=None))
        self.calls.append(OperatorCall("aten::copy.out", (old, source, non_blocking, new), node))
        self._write(new)
        if (old not in self.written and tensor.data is None) or target in self.states:
            self.states[target] = new
        self.moved[target] = new

    def _unmoved(self, i: int) -> int:
        """The id of an argument; of a list that holds values which were moved, the id of a new list."""
        value = self.values[i]
        if isinstance(value, ListRef) and not self.moved.keys().isdisjoint(value.ids):
            self.values.append(ListRef(tuple(self.moved.get(j, j) for j in value.ids)))
            return len(self.values) - 1
        return i

    def _tensors(self, i: int) -> tuple[int, ...]:
        value = self.values[i]
        if not isinstance(value, ListRef):
            return (i,)
        self.file.budget.read(_LISTED * len(value.ids))
        return value.ids

    def _write(self, i: int) -> None:
        for j in self._tensors(i):
            self.written.add(j)
            if j in self.memory:
                self.holder[self.memory[j]] = j

    def _read(self, i: int, node: str) -> None:
        """Adds the copy for a view that the exporter left out: it lies where its source does, and no call writes it."""
        for j in self._tensors(i):
            tensor = self.values[j]
            if j in self.written or j not in self.memory or not isinstance(tensor, Tensor):
                continue
            source = self.holder.get(self.memory[j])
            if source is not None:
                orders = self.orders.get(source, ()), self.orders.get(j, ())
                if self.values[source] != tensor and any(list(order) != sorted(order) for order in orders):
                    reason = f"a view of value {source}, which is not in row-major order, is not supported"
                    self.problems.append(Problem(f"{node}, value {j}", "", reason))
                self._carry(source, j, f"{node}, view of value {source}")
                self.written.add(j)

    def _delegate_call(self, table: Table, node: str) -> Steps[None]:
        index = table.integer(0)
        if not 0 <= index < len(self._delegates):
            raise FormatError(
                f"{self.what}: {node}: delegate {index} does not exist (there are {len(self._delegates)})"
            )
        delegate, where = self._delegates[index], f"delegate {index}"
        backend = delegate.string(0)
        if backend != _VULKAN:
            self.problems.append(other_backend(backend))
            return
        blob = self.file.delegate(delegate, where)
        graph = yield from read_vkgraph(blob, f"{self.what}, {where}", self.file.named_data, self.file.budget)
        self.problems += [p.replace(node=f"{where}, {p.node}") if p.node else p for p in graph.problems]

        args = tuple(self._id(i, node) for i in table.vector(1, "i"))
        if len(args) != len(graph.inputs) + len(graph.outputs) or len(set(graph.inputs)) < len(graph.inputs):
            counts = f"inputs {list(graph.inputs)} and outputs {list(graph.outputs)}"
            raise FormatError(f"{self.what}: {where}: {len(args)} arguments for {counts}")
        sources, results = args[: len(graph.inputs)], args[len(graph.inputs) :]
        for i in sources:
            self._read(i, node)
        base = len(self.values)
        ids = list(range(base, base + len(graph.values)))
        self.values += graph.values
        for inner, outer in zip(graph.inputs, sources, strict=True):
            if self._same(graph.values[inner], outer, f"{where}, value {inner}"):
                ids[inner] = outer
            else:
                self._carry(outer, ids[inner], f"{where}, value {inner}")
        copies = []  # of an input, a constant or another output, or unlike the value inside
        taken = {
            *graph.inputs,
            *(i for i, v in enumerate(graph.values) if isinstance(v, Tensor) and v.data is not None),
        }
        for inner, outer in zip(graph.outputs, results, strict=True):
            if self._same(graph.values[inner], outer, f"{where}, value {inner}") and inner not in taken:
                ids[inner] = outer
                taken.add(inner)
            else:
                copies.append((inner, outer))
            self._write(outer)
        for i, value in enumerate(graph.values):
            if isinstance(value, ListRef):
                self.values[base + i] = ListRef(tuple(ids[j] for j in value.ids))
        for node_id, op, call_args in graph.calls:
            self.calls.append(OperatorCall(op, tuple(ids[i] for i in call_args), f"{where}, node {node_id}"))
        for inner, outer in copies:
            self._carry(ids[inner], outer, f"{where}, value {inner}")

    def _same(self, inner: EValue, outer: int, node: str) -> bool:
        """Whether a value has the same shape and dtype inside of a delegate and outside."""
        other = self.values[outer]
        if not isinstance(inner, Tensor) or not isinstance(other, Tensor):
            self.problems.append(Problem(node, "", "a delegate's inputs and outputs must be tensors"))
            return True
        narrowed = (inner.dtype, other.dtype) == ("int32", "int64")
        if numel(inner.shape) != numel(other.shape) or not (inner.dtype == other.dtype or narrowed):
            reason = f"{inner.dtype} {list(inner.shape)} inside, {other.dtype} {list(other.shape)} outside"
            self.problems.append(Problem(node, "", reason))
            return True
        return (inner.shape, inner.dtype) == (other.shape, other.dtype)

    def _carry(self, source: int, target: int, node: str) -> None:
        """Adds calls that copy `source` to `target` in the shape of that; delegates narrow int64 to int32."""
        x, y = self.values[source], self.values[target]
        if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
            return  # `_same` has added the problem
        if x.dtype != y.dtype:
            wide, source = source, len(self.values)
            self.values.append(Tensor(x.shape, y.dtype))
            self.calls.append(OperatorCall("aten::_to_copy.out", (wide, self._none(), self._none(), source), node))
        self.values.append(y.shape)
        self.calls.append(OperatorCall("aten.view_copy.default", (source, len(self.values) - 1, target), node))

    def _none(self) -> int:
        self.values.append(None)
        return len(self.values) - 1


class _IntList(tuple[int, ...]):
    """The ids of int values, until their values are looked up."""
