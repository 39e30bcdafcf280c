"""Lowers a method of a `.tflite` file to a graph of ops, call by call, and finds all that keeps it from running."""

from collections.abc import Callable, Iterator, Mapping

from webq8.budget import Budget
from webq8.errors import FormatError, Problem, Unsupported, shown
from webq8.formats import xnnpack
from webq8.formats.base import fitting
from webq8.formats.folding import FoldingBuilder
from webq8.formats.tflite.model import Subgraph, TfliteModel, TfliteOperator
from webq8.formats.tflite.operators import find_operator
from webq8.formats.tflite.schema import Lowering
from webq8.formats.tflite.values import Emitter, Lowered, Value, Variable, edge_type, type_of, variable_key
from webq8.ir.graph import Graph, State
from webq8.ir.types import BadArg, PerTensor, Ref, Shape
from webq8.stages import Stage, Steps, finish

__all__ = ["lower_method"]

_CUSTOM = "a custom operator, which only the program that the file was made for has; webq8 knows TFLite's own ones"
_FLEX = (
    "an operator of TensorFlow itself: convert again with `converter.target_spec.supported_ops = "
    "[tf.lite.OpsSet.TFLITE_BUILTINS]`, and replace what that refuses"
)
# operators that take int16 as it is; all others compute with the floats that it stands for
_OF_INT16 = ("DEQUANTIZE", "QUANTIZE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM", "READ_VARIABLE", "ASSIGN_VARIABLE")
_BY_FLOATS = ("L2_NORMALIZATION",)  # those that do so with int8, too
_OF_VARIABLES = ("READ_VARIABLE", "ASSIGN_VARIABLE")


@Stage
def lower_method(
    model: TfliteModel, name: str, shapes: Mapping[int, Shape], budget: Budget
) -> Steps[tuple[Graph, list[Problem]]]:
    """Lowers a method with inputs of these shapes: its graph, and all problems that keep it from running."""
    if shared := [*_shared_variables(model, name)]:
        return Graph((), (), (), ()), shared
    lowering = _Lowering(model, model.methods[name].subgraph, Emitter(FoldingBuilder(budget)))
    lowering.inputs(shapes)
    yield from lowering.operators()
    return lowering.graph()


class _Lowering:
    """One subgraph, whose tensors become values in order."""

    def __init__(self, model: TfliteModel, index: int, g: Emitter) -> None:
        self.model, self.index, self.g = model, index, g
        self.subgraph = model.subgraphs[index]
        self.values: dict[int, Value | Variable] = {}
        self.missing: set[int] = set()  # tensors that would be computed by what has problems
        self.problems: list[Problem] = []
        self.initializes = False  # whether it runs once, to give variables their first values
        self.entries: list[Ref] = []

    def _attempt(self, node: str, op: str, work: Callable[[], None]) -> bool:
        """Does some work, and notes the problem that it meets; says whether it met none."""
        try:
            with self.g.at(node), fitting():
                work()
        except BadArg as e:
            self.problems.append(Problem(node, op, str(e), e.kind))
            return False
        return True

    # --- inputs and operators, in order

    def inputs(self, shapes: Mapping[int, Shape]) -> None:
        for n, i in enumerate(self.subgraph.inputs):
            if not self._attempt(f"input {n}", "", lambda: self._input(i, shapes)):  # noqa: B023 — called at once
                self.missing.add(i)

    def _input(self, i: int, shapes: Mapping[int, Shape]) -> None:
        tensor = self.subgraph.tensors[i]
        tensor = tensor._replace(shape=shapes.get(i, tensor.shape))
        if tensor.data is not None or i in self.values:
            raise BadArg(f"it is {'a constant' if tensor.data else 'an earlier input'} as well", FormatError)
        ref, kind = self.g.builder.add(edge_type(tensor)), type_of(tensor)
        self.entries.append(ref)
        if kind.dtype != tensor.dtype and isinstance(kind.quantization, PerTensor):
            ref = xnnpack.requantize(self.g.builder, ref, kind.quantization)
        self.values[i] = Value(self.g, tensor, ref)

    def operators(self) -> Steps[None]:
        for call in self.subgraph.operators:
            yield
            if self.missing.intersection(call.inputs):
                self._check_known(call)
                self.missing.update(call.outputs)
            elif not self._attempt(call.where, call.name, lambda: self._call(call)):  # noqa: B023 — called at once
                self.missing.update(call.outputs)

    def _check_known(self, call: TfliteOperator) -> None:
        """Notes where webq8 lacks an operator, even if it is not known what it is called with."""
        self._attempt(call.where, call.name, lambda: _find(call) and None)

    def _call(self, call: TfliteOperator) -> None:
        lowering = _find(call)
        for i in call.outputs:
            if i in self.values or self.subgraph.tensors[i].data is not None:
                raise BadArg(f"writes tensor {i} a second time", FormatError)
        arguments = lowering.arguments([None if i < 0 else self._value(i) for i in call.inputs])
        if call.name not in _OF_VARIABLES and any(isinstance(a, Variable) for a in arguments):
            raise BadArg("takes a variable, of which only READ_VARIABLE gives the value", FormatError)
        declared = [self.subgraph.tensors[i] for i in call.outputs]
        wide = call.name not in _OF_INT16 and any(isinstance(a, Value) and a.is_int16 for a in arguments)
        wide = wide or call.name in _BY_FLOATS
        if wide:
            arguments = [a.floats if isinstance(a, Value) else a for a in arguments]
        self.g.results = expected = tuple(t.as_floats if wide else t for t in declared)
        self.g.initialize = self._initialize
        self.g.intermediates = tuple(self.subgraph.tensors[i] for i in call.intermediates)
        made: Lowered = lowering.function(self.g, *arguments, **lowering.read(call.options))
        results = made if isinstance(made, list) else [] if made is None else [made]
        if len(results) != len(declared):
            raise BadArg(f"{len(declared)} outputs, {len(results)} are expected", FormatError)
        for i, tensor, given, result in zip(call.outputs, declared, expected, results, strict=True):
            if isinstance(result, Variable):
                self.values[i] = result
            else:
                value = self.g.bound(given, result)
                self.values[i] = value if given is tensor else self.g.quantized(tensor, value)

    def _value(self, i: int) -> Value | Variable:
        """The value of a tensor; constants and what is kept between runs are added when they are first read."""
        if i not in self.values:
            tensor = self.subgraph.tensors[i]
            if tensor.data is not None:
                self.values[i] = Value(self.g, tensor, self.g.constant(tensor))
            elif tensor.variable:
                self.values[i] = self.g.kept(i, tensor)
            else:
                raise BadArg(f"reads tensor {i} before it is computed", FormatError)
        return self.values[i]

    def _initialize(self, index: int) -> None:
        """Runs the subgraph that gives variables their first values, which are to be constants."""
        if not 0 <= index < len(self.model.subgraphs) or index == self.index or self.initializes:
            raise BadArg(f"subgraph {index} does not exist, or is what calls it", FormatError)
        first = _Lowering(self.model, index, self.g)
        first.initializes = True
        finish(first.operators())
        if first.problems:
            problem = first.problems[0]
            raise BadArg(f"{problem}", problem.kind)
        for variable in self.g.variables.values():
            variable.begin()

    # --- the graph

    def graph(self) -> tuple[Graph, list[Problem]]:
        outputs = list[Ref]()
        for n, i in enumerate(self.subgraph.outputs):
            if i not in self.missing:
                self._attempt(f"output {n}", "", lambda: outputs.append(self._output(i)))  # noqa: B023 — called at once
        states = list[State]()
        for variable in self.g.variables.values():
            self._attempt(variable.where, "", lambda: states.extend(self.g.state(variable)))  # noqa: B023
        builder = self.g.builder
        tensors, nodes = tuple(builder.tensors), tuple(builder.nodes)
        return Graph(tensors, nodes, tuple(self.entries), tuple(outputs), tuple(states)), self.problems

    def _output(self, i: int) -> Ref:
        tensor, value = self.subgraph.tensors[i], self._value(i)
        if isinstance(value, Variable):
            raise BadArg("it is a variable, of which only READ_VARIABLE gives the value")
        kind = edge_type(tensor)
        if kind.dtype != value.dtype and isinstance(kind.quantization, PerTensor):
            return xnnpack.requantize(self.g.builder, value.ref, kind.quantization, kind.dtype)
        return value.ref


def _find(call: TfliteOperator) -> Lowering:
    """How a call is lowered; raises BadArg where webq8 cannot."""
    if call.custom:
        raise BadArg(_FLEX if call.name.startswith("Flex") else _CUSTOM, Unsupported)
    if (lowering := find_operator(call.name)) is None:
        raise BadArg("no such op in webq8", Unsupported)
    return lowering


def _shared_variables(model: TfliteModel, name: str) -> Iterator[Problem]:
    """Problems of variables that other methods use as well, where one changes them: each method keeps its own."""
    own = _variables(model.subgraphs[model.methods[name].subgraph])
    for other, method in model.methods.items():
        if method.subgraph != model.methods[name].subgraph:
            theirs = _variables(model.subgraphs[method.subgraph])
            if shared := [key for key in own.keys() & theirs.keys() if own[key] or theirs[key]]:
                text = f"the method {shown(other)} uses the same variables ({shown(sorted(shared))})"
                yield Problem("", "", f"{text}, and methods cannot share what they change")


def _variables(subgraph: Subgraph) -> Mapping[str, bool]:
    """The variables of a subgraph, and whether it changes them."""
    handles, changes = dict[int, str](), dict[str, bool]()
    for call in subgraph.operators:
        if call.name == "VAR_HANDLE" and call.options:
            handles |= dict.fromkeys(call.outputs, variable_key(call.options.string(0), call.options.string(1)))
            changes |= {handles[i]: changes.get(handles[i], False) for i in call.outputs}
        elif call.name == "ASSIGN_VARIABLE" and call.inputs and call.inputs[0] in handles:
            changes[handles[call.inputs[0]]] = True
    return changes
