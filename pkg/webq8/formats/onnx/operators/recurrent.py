"""Recurrent layers, step by step: one for each element of the sequence."""

from collections.abc import Callable, Sequence

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, operator
from webq8.formats.onnx.operators.elementwise import binary, unary
from webq8.formats.onnx.operators.matmul import product
from webq8.ir.ops.create import Fill
from webq8.ir.ops.elementwise import Clamp
from webq8.ir.ops.move import Concat
from webq8.ir.types import BadArg, Ref

Step = Callable[[Ref, list[Ref]], list[Ref]]
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _activation(c: Call, name: str, x: Ref) -> Ref:
    if name == "relu":
        return c.emit(Clamp(x, low=0.0))
    if name not in ("sigmoid", "tanh"):
        raise BadArg(f"the activation {name!r} is not supported", Unsupported)
    return unary(c, x, "sigmoid" if name == "sigmoid" else "tanh")


class _Layer:
    """What the layers have in common: their weights, one of each for every direction, and the order of their steps."""

    def __init__(self, c: Call, gates: int, usual: Sequence[str]) -> None:
        for name, plain in (("layout", 0), ("input_forget", 0)):
            if c.integer(name, plain) != plain:
                raise BadArg(f"{name} is not supported", Unsupported)
        if "clip" in c.node.attributes or (c.has(4) and set(c.constant(4, "sequence_lens")) != {c.shape()[0]}):
            raise BadArg("clip, and sequence_lens other than that of x, are not supported", Unsupported)
        if c.g.type(c.x()).dtype != "float32":
            raise BadArg(f"of {c.g.type(c.x()).dtype} is not supported", Unsupported)
        self.c, self.gates, self.hidden = c, gates, c.integer("hidden_size", c.shape(2)[2])
        self.directions = _DIRECTIONS[c.text("direction", "forward")]
        given = c.integers("activations", ()) or tuple(usual) * len(self.directions)
        self.activations = [str(name).lower() for name in given]
        self.count = len(usual)

    def of(self, n: int, direction: int) -> Ref | None:
        """An input of one direction, without that axis."""
        if not self.c.has(n):
            return None
        part = self.c.sliced(self.c.x(n), 0, direction, direction + 1)
        return self.c.reshaped(part, self.c.g.type(part).shape[1:])

    def named(self, direction: int) -> list[str]:
        return self.activations[direction * self.count : (direction + 1) * self.count]

    def gate(self, x: Ref, n: int) -> Ref:
        """One of the gates' parts of the last axis."""
        return self.c.sliced(x, len(self.c.g.type(x).shape) - 1, n * self.hidden, (n + 1) * self.hidden)

    def state(self, n: int, direction: int) -> Ref:
        given = self.of(n, direction)
        return self.c.emit(Fill((self.c.shape()[1], self.hidden), "float32", 0.0)) if given is None else given

    def inputs(self, direction: int, of_bias: int) -> tuple[list[Ref], Ref | None]:
        """x · Wᵀ and the bias of each step, in order, and the bias of the recurrent products."""
        c, weight, biases = self.c, self.of(1, direction), self.of(3, direction)
        assert weight is not None, "an input of weights is there"
        whole, rest = product(c, c.x(), weight, transposed=True), None
        if biases is not None:
            width = self.gates * self.hidden
            first, rest = c.sliced(biases, 0, 0, width), c.sliced(biases, 0, width, 2 * width)
            if of_bias:
                first, rest = binary(c, first, rest, "add"), None
            whole = binary(c, whole, first, "add")
        length, batch, width = c.g.type(whole).shape
        c.g.budget.call(0, 64 * length)  # of ops that a step becomes
        steps = [c.reshaped(c.sliced(whole, 0, n, n + 1), (batch, width)) for n in range(length)]
        return steps[::-1] if self.directions[direction] else steps, rest

    def results(self, states: Sequence[int], make: Callable[[int], tuple[list[Ref], Step]]) -> Result:
        """Y, and the last of each state, of all directions."""
        c, every, last = self.c, list[list[Ref]](), list[list[Ref]]()
        for direction, backwards in enumerate(self.directions):
            steps, step = make(direction)
            held, found = [self.state(n, direction) for n in states], list[Ref]()
            for x in steps:
                held = step(x, held)
                found.append(held[0])
            every.append(found[::-1] if backwards else found)
            last.append(held)
        batch = c.shape()[1]
        parts = [
            c.reshaped(y, (1, 1, batch, self.hidden)) for steps in zip(*every, strict=True) for y in steps
        ]  # by step, then by direction
        shape = (len(every[0]), len(every), batch, self.hidden)
        y = c.reshaped(c.emit(Concat(tuple(parts), 0)), shape) if len(parts) > 1 else parts[0]
        ends = [
            c.emit(Concat(tuple(c.reshaped(held[n], (1, batch, self.hidden)) for held in last), 0))
            for n in range(len(states))
        ]
        return y, *ends


@operator("RNN")
def rnn(c: Call) -> Result:
    layer = _Layer(c, 1, ["Tanh"])

    def make(direction: int) -> tuple[list[Ref], Step]:
        weight, (name,) = layer.of(2, direction), layer.named(direction)
        assert weight is not None, "an input of weights is there"

        def step(x: Ref, held: list[Ref]) -> list[Ref]:
            return [_activation(c, name, binary(c, x, product(c, held[0], weight, transposed=True), "add"))]

        return layer.inputs(direction, 1)[0], step

    return layer.results([5], make)


@operator("LSTM")
def lstm(c: Call) -> Result:
    """Gates in the order input, output, forget, cell."""
    layer = _Layer(c, 4, ["Sigmoid", "Tanh", "Tanh"])

    def make(direction: int) -> tuple[list[Ref], Step]:
        weight, peepholes, (f, g, h) = layer.of(2, direction), layer.of(7, direction), layer.named(direction)
        assert weight is not None, "an input of weights is there"

        def peep(x: Ref, n: int, cell: Ref) -> Ref:
            return x if peepholes is None else binary(c, x, binary(c, layer.gate(peepholes, n), cell, "mul"), "add")

        def step(x: Ref, held: list[Ref]) -> list[Ref]:
            whole = binary(c, x, product(c, held[0], weight, transposed=True), "add")
            i, o, forget, new = (layer.gate(whole, n) for n in range(4))
            kept = binary(c, _activation(c, f, peep(forget, 2, held[1])), held[1], "mul")
            added = binary(c, _activation(c, f, peep(i, 0, held[1])), _activation(c, g, new), "mul")
            cell = binary(c, kept, added, "add")
            return [binary(c, _activation(c, f, peep(o, 1, cell)), _activation(c, h, cell), "mul"), cell]

        return layer.inputs(direction, 1)[0], step

    return layer.results([5, 6], make)


@operator("GRU")
def gru(c: Call) -> Result:
    """Gates in the order update, reset, hidden."""
    layer, linear = _Layer(c, 3, ["Sigmoid", "Tanh"]), c.integer("linear_before_reset", 0)

    def make(direction: int) -> tuple[list[Ref], Step]:
        weight, (f, g) = layer.of(2, direction), layer.named(direction)
        assert weight is not None, "an input of weights is there"
        steps, rest = layer.inputs(direction, 0)
        two = c.sliced(weight, 0, 0, 2 * layer.hidden)
        one = c.sliced(weight, 0, 2 * layer.hidden, 3 * layer.hidden)

        def biased(x: Ref, n: int) -> Ref:
            return x if rest is None else binary(c, x, layer.gate(rest, n), "add")

        def step(x: Ref, held: list[Ref]) -> list[Ref]:
            before = held[0]
            gates = product(c, before, two, transposed=True)
            update, reset = (
                _activation(c, f, biased(binary(c, layer.gate(x, n), layer.gate(gates, n), "add"), n)) for n in (0, 1)
            )
            if linear:
                inner = binary(c, reset, biased(product(c, before, one, transposed=True), 2), "mul")
            else:
                inner = biased(product(c, binary(c, reset, before, "mul"), one, transposed=True), 2)
            new = _activation(c, g, binary(c, layer.gate(x, 2), inner, "add"))
            return [binary(c, new, binary(c, update, binary(c, before, new, "add", -1.0), "mul"), "add")]

        return steps, step

    return layer.results([5], make)
