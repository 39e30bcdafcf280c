"""Plans a graph: chooses layouts, has kernels make dispatches, and turns these into steps with buffers and grids."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count

from webq8.budget import Budget
from webq8.dtypes import cdiv, round_up
from webq8.errors import LimitError, Problem, raise_problems
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.edges import Quantized, edges_of
from webq8.ir.ops.move import Bitcast
from webq8.ir.ops.quantize import Quantize
from webq8.ir.plan import Alias, Const, Dispatch, Plan, ProgramPlan, Slot, StateSlots, Step
from webq8.ir.types import BadArg, Ref, Tensor
from webq8.kernels import Call, LayoutChoice, Operand, kernel_of, select, wgsl
from webq8.kernels.layouts import relayout
from webq8.plan.layout import LayoutName, default_layout, layout, nbytes
from webq8.plan.memory import ALIGNMENT, Span, largest_sum, share
from webq8.plan.submits import submit_ends
from webq8.stages import Stage, Steps
from webq8.target import Target

__all__ = ["check_limit", "fold_grid", "plan_program"]

_ARENA = 2**27  # bytes of a buffer of constants, where several share one: an H200 reads larger ones at half the rate
_MOST_LIVE = 2**36  # bytes of tensors at one time; no GPU has more


@Stage
def plan_program(
    graphs: Mapping[str, Graph], target: Target, what: str = "program", budget: Budget | None = None
) -> Steps[ProgramPlan]:
    """Plans the graphs of a program's methods, after all passes.

    Raises LimitError where a buffer, a binding or a grid would exceed the device's limits.
    """
    constants = _Constants(target, what, budget or Budget(None, what))
    plans = {}
    for name, graph in graphs.items():
        plans[name] = yield from _Planner(graph, target, constants, what).plan()
    return ProgramPlan(plans, constants.buffers(), tuple(name for _, name in constants.largest))


def fold_grid(workgroups: int, limit: int) -> tuple[int, int, int]:
    """Folds a flat count of workgroups into a grid whose axes stay within `limit`; kernels ignore the excess."""
    if workgroups <= limit:
        return workgroups, 1, 1
    rows = cdiv(workgroups, limit)
    if rows > limit:
        raise LimitError(f"{workgroups} workgroups do not fit a grid of {limit} × {limit}")
    return cdiv(workgroups, rows), rows, 1


class _Planner:
    def __init__(self, graph: Graph, target: Target, constants: "_Constants", what: str) -> None:
        self.graph, self.target, self.constants, self.what = graph, target, constants, what
        self.tensors: dict[int, Tensor] = dict(enumerate(graph.tensors))
        self.layouts: dict[int, LayoutName] = {}
        self.unused = count(len(graph.tensors))  # ids
        self.converted: dict[tuple[int, LayoutName], int] = {}
        self.dispatches: list[Dispatch] = []
        self.roots: dict[int, int] = {}  # aliases
        self.wanted: dict[int, LayoutName | None] = {}  # by result: the layout that its kernel works in; None for any
        self.read_in: dict[
            int, LayoutName | None
        ] = {}  # by result: the layout that its kernel reads, if that is another
        # results of Bitcast -> the tensor whose memory and layout they have
        self.originals: dict[int, int] = {}
        for node in graph.nodes:
            if isinstance(node.op, Bitcast):
                self.originals[node.outputs[0]] = self._original(node.op.x)

    def plan(self) -> Steps[Plan]:
        nodes = [node for node in self.graph.nodes if not isinstance(node.op, Bitcast)]
        self._choose_layouts(nodes)
        states = self.graph.states
        inputs = [self._plain_input(i) for i in (*self.graph.inputs, *(s.value for s in states))]
        for node in nodes:
            self._node(node)
            yield
        results = (*self.graph.results, *(s.next for s in states))
        outputs = [self._as(self._original(i), "plain", "outputs") for i in results]
        return (yield from _Allocator(self, inputs, outputs).plan())

    def _original(self, i: int) -> int:
        return self.originals.get(i, i)

    def _choose_layouts(self, nodes: Sequence[Node]) -> None:
        """Chooses for each tensor the layout that its producer writes, else the one that its first reader wants."""
        tensors, choices = self.graph.tensors, dict[int, LayoutChoice]()
        for node in nodes:
            kernel, edges = kernel_of(type(node.op)), edges_of(node.op)
            read = [edges.read(place, tensors[i]) for place, i in enumerate(node.op.reads())]
            made = [edges.made(tensors[i]) for i in node.outputs]
            choices |= dict.fromkeys(node.outputs, kernel.layout(node.op, read, made))
            if kernel.reads:
                self.read_in[node.outputs[0]] = kernel.reads(node.op, read, made)
        self.wanted = self._settled(nodes, choices)
        for node in reversed(nodes):
            if name := self._reads(node):
                self.layouts |= dict.fromkeys(map(self._original, node.op.reads(bound=True)), name)
        self.layouts |= {i: name for i, name in self.wanted.items() if name}
        for ref in (*self.graph.inputs, *(state.value for state in self.graph.states)):
            self.layouts.setdefault(ref, "plain")  # as it comes
        for node in nodes:  # what a kernel that works in any layout makes is like what it reads
            shape = tensors[node.outputs[0]].shape
            bound: tuple[int, ...] = (*map(self._original, node.op.reads()), *node.outputs)
            alike = [i for i in bound if (tensors[i].dtype, tensors[i].shape) == ("int8", shape)]
            if known := next((self.layouts[i] for i in alike if i in self.layouts), None):
                for i in alike:
                    self.layouts.setdefault(i, known)
        for n, t in enumerate(tensors):
            self.layouts.setdefault(n, default_layout(t.shape, t.dtype))

    def _reads(self, node: Node) -> LayoutName | None:
        """The layout that a node's kernel reads; None for any."""
        return self.read_in.get(node.outputs[0], self.wanted[node.outputs[0]])

    def _settled(self, nodes: Sequence[Node], choices: Mapping[int, LayoutChoice]) -> dict[int, LayoutName | None]:
        """One layout for each result: where a kernel has a choice, the one that most of its neighbours have, else the
        first."""
        settled: dict[int, LayoutName | None] = {i: c for i, c in choices.items() if not isinstance(c, tuple)}
        open_nodes = [node for node in nodes if node.outputs[0] not in settled]
        votes: dict[int, Counter[LayoutName | None]] = {node.outputs[0]: Counter() for node in open_nodes}
        for node in nodes if open_nodes else ():
            for i in map(self._original, node.op.reads()):
                if i in votes:
                    votes[i][self.read_in.get(node.outputs[0], settled.get(node.outputs[0]))] += 1
        for node in open_nodes:
            y, choice = node.outputs[0], choices[node.outputs[0]]
            for i in map(self._original, node.op.reads()):
                if i in settled:
                    votes[y][settled[i] or default_layout(self.tensors[i].shape, "int8")] += 1
            assert isinstance(choice, tuple), "the others are settled"
            settled |= dict.fromkeys(node.outputs, max(choice, key=votes[y].__getitem__))
        return settled

    def _new(self, tensor: Tensor, name: LayoutName) -> int:
        i = next(self.unused)
        self.tensors[i], self.layouts[i] = tensor, name
        return i

    def _as(self, i: int, name: LayoutName, node: str) -> int:
        """The id of tensor `i` in layout `name`, converted by a dispatch where the bytes differ."""
        t = self.tensors[i]
        if t.dtype != "int8":
            return i
        have, want = layout(t.shape, self.layouts[i]), layout(t.shape, name)
        if have.same_bytes(want):
            return i
        if (i, name) not in self.converted:
            new = self._new(t, name)
            self.converted[i, name] = new
            if t.data is None:
                self._add(relayout(i, have, new, want), node)
        return self.converted[i, name]

    def _plain_input(self, i: int) -> int:
        """The id that the user's row-major data is written to."""
        t, name = self.tensors[i], self.layouts[i]
        if t.dtype != "int8" or layout(t.shape, name).plain:
            return i
        new = self._new(t, "plain")
        self.converted[i, "plain"] = new
        self._add(relayout(new, layout(t.shape, "plain"), i, layout(t.shape, name)), "inputs")
        return new

    def _node(self, node: Node) -> None:
        op, wanted, tensors = node.op, self._reads(node), self.graph.tensors
        bound = {*node.op.reads(bound=True)}
        operands, edges = {}, edges_of(op)
        for place, ref in enumerate(op.reads()):
            i = self._original(ref)
            name = self.layouts[i]
            if by := edges.quantized(place):
                operands[ref] = self._quantized(i, by, wanted, node)
                continue
            if wanted and ref in bound and tensors[ref].dtype == "int8":
                i, name = self._as(i, wanted, node.where), wanted  # also of a tensor whose bytes are the same in both
            operands[ref] = Operand(i, tensors[ref], name)
        outs = [Operand(i, tensors[i], self.layouts[i]) for i in node.outputs]
        if grid := edges.dequantizes:
            int8 = edges.made(tensors[node.outputs[0]])
            alike = (o.layout_name for o in operands.values() if (o.dtype, o.shape) == ("int8", int8.shape))
            name = next(alike, default_layout(int8.shape, "int8"))
            outs = [Operand(node.outputs[0], int8, self.wanted[node.outputs[0]] or name, Quantized(grid))]
        try:
            for made in kernel_of(type(op)).dispatches(op, Call(operands, outs, self.target)):
                self._make(made, node.where)
        except BadArg as e:
            raise_problems(self.what, [Problem(node.where, type(op).__name__, str(e), e.kind)])

    def _quantized(self, i: int, by: Quantized, wanted: LayoutName | None, node: Node) -> Operand:
        """A float32 tensor as the int8 operand of a node: quantized by its kernel, or before it by one of its own."""
        tensors, floats = self.graph.tensors, Operand(i, self.tensors[i], "plain")
        int8 = Tensor(floats.shape, "int8", None, by.grid)
        reads = [tensors[ref].shape for ref in node.op.reads()]
        if select.quantizes(node.op, reads, tensors[node.outputs[0]].shape, self.target):
            return Operand(i, int8, wanted or "plain", by)
        name = wanted or default_layout(int8.shape, "int8")
        new = Operand(self._new(int8, name), int8, name)
        op = Quantize(Ref(i), "int8", by.low, by.high, divides=by.divides)
        for made in kernel_of(Quantize).dispatches(op, Call({Ref(i): floats}, [new], self.target)):
            self._make(made, node.where)
        return new

    def _make(self, made: Dispatch | Alias, node: str) -> None:
        if isinstance(made, Alias):
            self.roots[made.target] = self.root(made.source)
        else:
            self._add(made, node)

    def _add(self, dispatch: Dispatch, node: str) -> None:
        self.constants.budget.dispatch()
        bind = {
            n: self.constants.once(bound) if isinstance(bound, Const) else bound for n, bound in dispatch.bind.items()
        }
        self.dispatches.append(dispatch.replace(node=node, bind=bind))

    def root(self, i: int) -> int:
        """The tensor in whose memory tensor `i` lies."""
        return self.roots.get(i, i)


class _Constants:
    """The constants of all methods in few read-only buffers, which hold equal constants once."""

    def __init__(self, target: Target, what: str, budget: Budget) -> None:
        self.target, self.what, self.budget = target, what, budget
        self.arenas: list[bytearray] = []
        self.largest: list[tuple[int, str]] = []  # of each arena, its largest constant: size and name
        self.known: dict[int, list[Slot]] = {}  # by the hash of a constant: where those with this hash lie
        self.consts: dict[Const, Const] = {}

    def once(self, const: Const) -> Const:
        """The first of equal constants, so that weights which many nodes share are held once."""
        return self.consts.setdefault(const, const)

    def slot(self, data: bytes, name: str) -> Slot:
        """The slot of a constant, which is added where it is new. Messages call it `name`."""
        alike = self.known.setdefault(hash(data), [])
        for slot in alike:
            if self._holds(slot, data):
                return slot
        size = round_up(max(len(data), 16), 16)
        check_limit(size, self.target.max_storage_buffer_binding_size, f"{self.what}: {name}")
        taken = min(round_up(size, ALIGNMENT), self.target.max_buffer_size)
        self.budget.keep(taken)
        if not self.arenas or len(self.arenas[-1]) + taken > min(_ARENA, self.target.max_buffer_size):
            self.arenas.append(bytearray())
            self.largest.append((0, ""))
        arena = self.arenas[-1]
        self.largest[-1] = max(self.largest[-1], (size, name), key=lambda constant: constant[0])
        alike.append(Slot(-len(self.arenas), len(arena), size))
        arena += data
        arena += bytes(taken - len(data))
        return alike[-1]

    def _holds(self, slot: Slot, data: bytes) -> bool:
        arena = memoryview(self.arenas[-slot.buffer - 1])
        return slot.size == round_up(max(len(data), 16), 16) and arena[slot.offset :][: len(data)] == data

    def buffers(self) -> tuple[bytes | bytearray, ...]:
        return tuple(self.arenas)


def check_limit(size: int, limit: int, what: str, device: str = "this device") -> None:
    if size > limit:
        raise LimitError(f"{what} needs {size:,} bytes; {device} allows {limit:,}")


def _bound_alike(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Gives all steps of a kernel the same writable bindings where possible, so that it compiles once."""
    every: dict[object, set[str]] = {}
    for step in steps:
        every.setdefault((step.kernel, step.constants), set()).update(step.writable)
    alike = []
    for step in steps:
        named = {b.name: slot for b, slot in zip(wgsl.kernel(step.kernel).bindings, step.slots, strict=True)}
        uses = Counter(slot.buffer for slot in named.values())
        more = {n for n in every[step.kernel, step.constants] if uses[named[n].buffer] == 1}
        alike.append(step._replace(writable=tuple(n for n in named if n in more or n in step.writable)))
    return tuple(alike)


def _padded(tensor: Tensor, size: int) -> bytes:
    """A tensor's bytes, or zeros where it has none, and zeros up to a size."""
    return bytes(tensor.data or b"").ljust(size, b"\0")


class _Allocator:
    """Gives every tensor a slot: constants in the buffers of the program, activations in buffers shared over time.

    `inputs` end with what a run finds of its graph's states, `outputs` with what it leaves in their places.
    """

    def __init__(self, planner: _Planner, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self.p, self.inputs, self.outputs = planner, inputs, outputs
        self.dispatches = self._needed([d for d in planner.dispatches if d.threads])
        self.slots: dict[int, Slot] = {}

    def plan(self) -> Steps[Plan]:
        yield
        buffers, largest, live = self._activations()
        made = []
        for dispatch in self.dispatches:
            yield
            made.append(self._step(dispatch))
        steps = _bound_alike(made)
        graph = self.p.graph
        inputs = [self._slot(i, "inputs") for i in self.inputs]
        outputs = [self._slot(i, "outputs") for i in self.outputs]
        kept = zip(graph.states, inputs[len(graph.inputs) :], outputs[len(graph.results) :], strict=True)
        return Plan(
            tuple(buffers),
            tuple(largest),
            steps,
            submit_ends(steps, self.p.target.kind.speed),
            tuple(inputs[: len(graph.inputs)]),
            tuple(outputs[: len(graph.results)]),
            sum(buffers),
            live,
            sum(d.kernel == "relayout" for d in self.dispatches),
            tuple(StateSlots(read, left, _padded(state.initial, read.size)) for state, read, left in kept),
        )

    def _needed(self, dispatches: Sequence[Dispatch]) -> list[Dispatch]:
        """Leaves out dispatches whose results nobody reads, such as unused second results and unused relayouts."""
        needed, kept = set(map(self.p.root, self.outputs)), list[Dispatch]()
        for d in reversed(dispatches):
            refs, written = self._bound(d)
            if any(refs[n] in needed for n in written):
                kept.append(d)
                needed |= {i for n, i in refs.items() if n not in written}
        return kept[::-1]

    def _bound(self, d: Dispatch) -> tuple[dict[str, int], frozenset[str]]:
        """The tensors that a dispatch binds, by the name of the binding, and the names of those that it writes."""
        refs = {n: self.p.root(i) for n, i in d.bind.items() if isinstance(i, int)}
        return refs, wgsl.kernel(d.kernel).written & refs.keys()

    def _step(self, d: Dispatch) -> Step:
        k = wgsl.kernel(d.kernel)
        names = {b.name for b in k.bindings if b.type != "uniform"}
        if names != d.bind.keys() or d.constants.keys() - k.overrides:
            raise KeyError(
                f"{d.kernel}.wgsl: bindings {sorted(names ^ d.bind.keys())} or overrides {d.constants} differ"
            )
        workgroups, most = cdiv(d.threads, k.workgroup_size), self.p.target.max_compute_workgroups_per_dimension
        try:
            params, grid = wgsl.pack_params(k, d.params), fold_grid(workgroups, most)
        except LimitError as e:
            raise LimitError(f"{self.p.what}: {d.node}: {e}") from None
        slots = [self._ref(d.bind[b.name] if b.name in names else Const(params), d.node) for b in k.bindings]
        slot_of = {b.name: slot for b, slot in zip(k.bindings, slots, strict=True)}
        written = {slot_of[name].buffer for name in k.written}
        writable = tuple(name for name, s in slot_of.items() if name not in k.written and s.buffer in written)
        nbytes = sum(slot_of[name].size for name in names)
        constants = tuple(sorted(wgsl.override_values(k, d.constants).items()))
        return Step(d.kernel, tuple(slots), constants, writable, grid, d.node, d.operations, nbytes)

    def _ref(self, ref: int | Const, node: str) -> Slot:
        if isinstance(ref, Const):
            return self.p.constants.slot(ref.data, f"{node}: a constant")
        return self._slot(ref, node)

    def _slot(self, i: int, node: str) -> Slot:
        i = self.p.root(i)
        if i not in self.slots:
            t = self.p.tensors[i]
            assert t.data is not None, "activations have their slots"
            self._size(i, node)
            packed = layout(t.shape, self.p.layouts[i]).pack(t.data) if t.dtype == "int8" else bytes(t.data)
            self.slots[i] = self.p.constants.slot(packed, self._name(i, node))
        return self.slots[i]

    def _name(self, i: int, node: str) -> str:
        t = self.p.tensors[i]
        return f"{node}: a tensor {t.dtype} {list(t.shape)}"

    def _size(self, i: int, node: str) -> int:
        t, limits = self.p.tensors[i], self.p.target
        size = round_up(max(nbytes(t.shape, t.dtype, self.p.layouts[i]), 16), 16)
        limit = min(limits.max_storage_buffer_binding_size, limits.max_buffer_size, 2**32 - 16)  # indices are u32
        check_limit(size, limit, f"{self.p.what}: {self._name(i, node)}")
        return size

    def _activations(self) -> tuple[list[int], list[str], int]:
        """Gives activations their slots. Returns the sizes of the buffers, the name of the largest tensor in each, and
        the largest number of bytes that are live at once."""
        end = len(self.dispatches)
        first = dict.fromkeys(map(self.p.root, self.inputs), -1)
        last = dict(first)
        avoided: dict[int, set[int]] = {}
        forbidden: dict[int, set[int]] = {}
        for step, d in enumerate(self.dispatches):
            refs, written = self._bound(d)
            # A buffer that a step both reads and writes is bound to write everywhere in it (see `ir.plan.Step`). That
            # compiles the kernel anew, so it is avoided; a tensor that is bound twice cannot be, so it is forbidden.
            twice = len({*refs.values()}) < len(refs)
            for name, i in refs.items():
                first.setdefault(i, step)
                last[i] = step
                others = {j for n, j in refs.items() if (n in written) != (name in written)}
                (forbidden if twice else avoided).setdefault(i, set()).update(others)
        for i in map(self.p.root, self.outputs):
            first.setdefault(i, end)
            last[i] = end
        nodes = [*(d.node for d in self.dispatches), "outputs", "inputs"]  # the inputs' step is −1
        activations = ((i, step) for i, step in first.items() if self.p.tensors[i].data is None)
        spans = {i: Span(self._size(i, nodes[step]), step, last[i]) for i, step in activations}
        live = largest_sum(spans.values())
        check_limit(live, _MOST_LIVE, f"{self.p.what}: all tensors of one moment together")
        sizes, places = share(spans, avoided, forbidden, self.p.target.max_buffer_size)
        self.slots = {i: Slot(p.buffer, p.offset, spans[i].size) for i, p in places.items()}
        largest = {places[i].buffer: i for i in sorted(spans, key=lambda i: spans[i].size)}
        return sizes, [self._name(i, nodes[first[i]]) for _, i in sorted(largest.items())], live
