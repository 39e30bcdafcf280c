"""Lowers a method of a `.pte` file to a graph of ops, call by call, and finds all that keeps it from running."""

from collections.abc import Iterator, Sequence

from webq8.budget import Budget
from webq8.errors import FormatError, Problem, raise_problems
from webq8.formats.pte.bind import Given, Held, lower_call
from webq8.formats.pte.model import EValue, ListRef, OperatorCall, PteMethod, PteState
from webq8.formats.pte.operators import find_overload
from webq8.formats.pte.schema import got
from webq8.ir.builder import Builder
from webq8.ir.graph import Fixed, Graph, State
from webq8.ir.types import Ref, Tensor
from webq8.stages import Stage, Steps

__all__ = ["lower", "lower_method"]


def lower(method: PteMethod, what: str, budget: Budget | None = None) -> Graph:
    """Lowers a method; raises one error that lists all problems."""
    graph, problems = lower_method(method, budget or Budget(None, what))
    raise_problems(what, problems)
    return graph


@Stage
def lower_method(method: PteMethod, budget: Budget) -> Steps[tuple[Graph, list[Problem]]]:
    """Lowers a method: its graph, and all problems that keep it from running, those of the reader, those of calls that
    do not fit the declarations of their operators, and those of the flow of data."""
    if whole := [p for p in method.problems if not p.node]:
        return Graph((), (), (), ()), list(dict.fromkeys(whole))
    lowering = _Lowering(method, budget)
    for call in method.calls:
        yield
        lowering.call(call)
    return lowering.graph()


class _Lowering:
    def __init__(self, method: PteMethod, budget: Budget) -> None:
        self.method, self.builder = method, Builder(budget)
        self.problems = list(method.problems)
        self.flow = list(_input_problems(method))  # problems of the flow of data
        self.refs: dict[int, Ref] = {}  # value id -> tensor of the graph
        for i in method.inputs:
            if isinstance(tensor := method.values[i], Tensor):
                self.refs.setdefault(i, self.builder.add(tensor.type()))
        for state in method.states:
            tensor = method.values[state.value]
            assert isinstance(tensor, Tensor), "the reader has seen that"
            self.refs.setdefault(state.value, self.builder.add(tensor.type()))
        self.inputs = tuple(self.refs[i] for i in dict.fromkeys(method.inputs) if i in self.refs)

    def call(self, call: OperatorCall) -> None:
        overload = find_overload(call.name)
        if overload is None:
            self.problems.append(Problem(call.where, call.name, "no such op in webq8"))
            return
        given = [self._given(i, call) for i in call.args[:-1]]
        outs = self._tensors(call.args[-1]) if call.args else ()
        declared = [self.method.values[i] for i in outs]
        self.builder.where = call.where
        self.builder.declared = tuple(t for t in declared if isinstance(t, Tensor))
        if not call.args or len(self.builder.declared) != len(declared):
            reason = f"{len(given)} arguments, {len(overload.args)} expected"
            if call.args:
                reason = f"out: expected a tensor {overload.outputs[0].text()}, got {got(self.method.values[outs[0]])}"
            self.problems.append(Problem(call.where, call.name, reason, FormatError))
            return
        lowered, problems = lower_call(overload, given, self.builder)
        self.problems += problems
        for n, i in enumerate(outs):
            if i in self.refs or self.builder.declared[n].data is not None:
                self.flow.append(Problem(call.where, call.name, f"writes value {i} a second time", FormatError))
            elif lowered is not None:
                self.refs[i] = lowered[n] if isinstance(lowered, tuple) else lowered

    def _tensors(self, i: int) -> Sequence[int]:
        value = self.method.values[i]
        return value.ids if isinstance(value, ListRef) else (i,)

    def _given(self, i: int, call: OperatorCall) -> Given:
        value = self.method.values[i]
        if isinstance(value, ListRef):
            return tuple(None if j < 0 else self._held(j, self.method.values[j], call) for j in value.ids)  # type: ignore[return-value]
        return self._held(i, value, call)

    def _held(self, i: int, value: EValue, call: OperatorCall) -> EValue | Held:
        if not isinstance(value, Tensor):
            return value
        if i not in self.refs:
            if value.data is None:
                self.flow.append(Problem(call.where, call.name, f"reads value {i} before it is computed", FormatError))
            self.refs[i] = self.builder.add(value)
        ref = self.refs[i]
        return Held(ref, self.builder.type(ref))

    def _state(self, state: PteState) -> State:
        value = self.refs[state.value]
        return State(value, self.refs[state.next], self.builder.type(value).replace(data=state.initial))

    def graph(self) -> tuple[Graph, list[Problem]]:
        outputs: list[Ref | Fixed] = []
        for i in self.method.outputs:
            value = self.method.values[i]
            if isinstance(value, ListRef):
                self.flow.append(Problem("outputs", "", f"value {i} is a list, which is not supported"))
            elif not isinstance(value, Tensor):
                outputs.append(Fixed(value))
            elif i in self.refs or value.data is not None:
                outputs.append(self.refs[i] if i in self.refs else self.builder.add(value))
            else:
                reason = f"value {i} is a tensor that no call computes"
                self.flow.append(Problem("outputs", "", reason, FormatError))
        states = tuple(self._state(state) for state in self.method.states if state.next in self.refs)
        graph = Graph(tuple(self.builder.tensors), tuple(self.builder.nodes), self.inputs, tuple(outputs), states)
        # where calls could not be lowered, the flow lacks their results, and its problems say nothing new
        return graph, self.problems or self.flow


def _input_problems(method: PteMethod) -> Iterator[Problem]:
    """The problems of inputs: each is a tensor of its own, and no constant."""
    seen = set[int]()
    for n, i in enumerate(method.inputs):
        value = method.values[i]
        if not isinstance(value, Tensor):
            yield Problem(f"input {n}", "", f"{got(value)} is no tensor, and the file holds no value for it")
        elif value.data is not None:
            yield Problem(f"input {n}", "", f"value {i} is a constant as well", FormatError)
        elif i in seen:
            yield Problem(f"input {n}", "", f"value {i} is an earlier input as well", FormatError)
        seen.add(i)
