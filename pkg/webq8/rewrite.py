"""Graph to graph, between checking and planning: what makes a program faster. Each rewrite is a small function that
leaves every output's bytes as they were; the names in OPTIMIZATIONS can be switched off one by one. `average_on_int8`
alone is no option, since it says what a mean of int8 is: checking applies it, for the reference as well.

Rewrites trust their graphs: `plan.check_method` has found every call to be as its op declares it.
"""

import math
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from webq8.dtypes import cast, numel
from webq8.handlers.int8 import IDENTITY, RELU, UNBOUNDED, Clamp, requantizing_table
from webq8.handlers.pool import KERNEL
from webq8.handlers.registry import REGISTRY, SCALE, ZERO_POINT, Int, arguments, bind, f32
from webq8.ir import Call, Graph, ListRef, Tensor, Value
from webq8.stages import Stage, Steps

__all__ = [
    "MOVING_OPS",
    "OPTIMIZATIONS",
    "average_on_int8",
    "drop_dead_calls",
    "has_constant_calls",
    "optimize",
    "reads",
    "short_name",
    "writes",
]

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
TABLE = "webq8.table.default"
MAX_POOL = "webq8.max_pool2d_int8.default"
CAT_CHANNELS = "webq8.cat_channels_int8.default"
_MOST_CLAMPS = 16  # or other functions in a row that become one table
# float32 means, by the middle of their names, and what each is on int8
AVERAGES = {
    "mean": "webq8.mean_int8.default",
    "avg_pool2d": "webq8.avg_pool2d_int8.default",
    "adaptive_avg_pool2d": "webq8.adaptive_avg_pool2d_int8.default",
    "_adaptive_avg_pool2d": "webq8.adaptive_avg_pool2d_int8.default",
}
_ZERO_POINT = Int()  # those beyond int8 as well
_LONGEST_PATH = 16  # moves and means that a quantize is led back over

Grid = tuple[float, int]  # the scale and zero point of dequantized int8 values
Function = Callable[[float], float]


@Stage
def optimize(graph: Graph, names: Collection[str] | None = None) -> Steps[Graph]:
    """Applies the optimizations of these names; all of them without."""
    graph = spell_out_quantization(graph)
    for name, step in OPTIMIZATIONS.items():
        if names is None or name in names:
            graph = drop_dead_calls((yield from step.steps(graph)))
    return graph


def spell_out_quantization(graph: Graph) -> Graph:
    """Quantizing and dequantizing under one name each, with constant scales and zero points as numbers, so that what
    follows need not tell within a delegate from without, nor numbers from tensors that hold one."""
    values, calls = list(graph.values), list[Call]()
    for call in graph.calls:
        name = _QUANTIZATION.get(call.op, call.op)
        numbers = [_single(values[i]) for i in call.args[1:3]] if name in _BY_TENSORS else []
        if numbers and None not in numbers:
            ids = range(len(values), len(values) + 2)
            values += numbers
            call = call._replace(args=(call.args[0], *ids, *call.args[3:]))
            name = _BY_TENSORS[name]
        calls.append(call._replace(op=name))
    return graph._replace(values=tuple(values), calls=tuple(calls))


_BY_TENSORS = {op.replace(".default", ".tensor"): op for op in (QUANTIZE, DEQUANTIZE)}
# kernel calls by the names that delegates use
_QUANTIZATION = {
    op.replace(".", "::", 1).replace(plain, form): op
    for ops, plain, forms in (
        ((QUANTIZE, DEQUANTIZE), ".default", (".out",)),
        (_BY_TENSORS, ".tensor", (".Tensor_out", ".tensor_out")),
    )
    for op in ops
    for form in forms
}


def _single(value: Value) -> int | float | None:
    """The number in a constant of one element."""
    if isinstance(value, Tensor) and value.data is not None:
        number: int | float = cast(value.data, value.dtype)[0]
        return number
    return None


def drop_dead_calls(graph: Graph) -> Graph:
    """Removes calls whose results nobody needs."""
    needed, kept = set(graph.outputs), list[Call]()
    for call in reversed(graph.calls):
        if writes(graph, call) & needed or not call.args:
            kept.append(call)
            needed |= reads(graph, call)
    return graph._replace(calls=tuple(reversed(kept)))


def average_on_int8(graph: Graph) -> Steps[Graph]:
    """dequantize → mean or average → quantize: a sum of int8, scaled once. Float32 sums differ between devices, and by
    a quantum where a mean is a tie; these do not. So the reference runs what this makes as well.

    Moves and bounds may lie in between. A mean's input is quantized again as it was, which changes nothing, and its
    result dequantized for what follows; optimizing takes away what is the identity.
    """
    if not any(short_name(call) in AVERAGES for call in graph.calls):
        return graph
    editor = _Editor(spell_out_quantization(graph))
    grids: dict[int, Grid] = {}  # of float32 tensors whose values are dequantized int8
    functions: dict[int, tuple[int, tuple[Function, ...]]] = {}  # those of elements of such tensors, one after another
    made: dict[int, tuple[int, Call]] = {}  # tensors that are averages of such, or moved from averages: place and call
    for place, call in enumerate(editor.each()):
        yield
        outs = _ids(editor.values, call.args[-1:])
        if _dequantizes(editor, call):
            scale, zero_point = (editor.values[i] for i in call.args[1:3])
            grids[outs[0]] = SCALE.convert(scale), _ZERO_POINT.convert(zero_point)
        elif _quantizes(editor, call):
            _quantize_averages(editor, call, grids, functions, made)
        elif short_name(call) in AVERAGES:
            if call.args[0] in grids or call.args[0] in functions:
                made[outs[0]] = place, call
        elif function := _function(editor, call):
            x, before = functions.get(call.args[0], (call.args[0], ()))
            if x in grids and not before and _stays_on(grids[x], function):
                grids[outs[0]] = grids[x]
            elif x in grids and len(before) < _MOST_CLAMPS:
                functions[outs[0]] = x, (*before, function)
            if call.args[0] in made and _exact_clamp(editor, call):
                made[outs[0]] = place, call
        elif _keeps_values(editor, call):
            inputs = [*_float_inputs(editor, call)]
            found = {grids.get(i) for i in inputs}
            if len(found) == 1 and (grid := found.pop()):
                grids |= dict.fromkeys(outs, grid)
            if not made.keys().isdisjoint(inputs):
                made |= dict.fromkeys(outs, (place, call))
    return editor.graph()


def _function(editor: "_Editor", call: Call) -> Function | None:
    """What a call does to each element, if double arithmetic gives the same on every device."""
    if short_name(call) == "hardswish":
        return lambda v: v * min(max(v + 3, 0.0), 6.0) / 6
    if short_name(call) == "hardsigmoid":
        return lambda v: min(max(v + 3, 0.0), 6.0) / 6
    if clamp := _exact_clamp(editor, call):
        low, high = clamp
        return lambda v: min(max(v, low), high)
    return None


def _dequantized(grid: Grid) -> list[float]:
    """The values of all int8."""
    scale, zero_point = f32(grid[0]), grid[1]
    return array("f", [(x - zero_point) * scale for x in range(-128, 128)]).tolist()


def _stays_on(grid: Grid, function: Function) -> bool:
    """Whether a function of dequantized int8 gives dequantized int8."""
    values = _dequantized(grid)
    return {*map(function, values)} <= {*values}


def _quantize_averages(
    editor: "_Editor",
    quantize: Call,
    grids: Mapping[int, Grid],
    functions: Mapping[int, tuple[int, tuple[Function, ...]]],
    made: Mapping[int, tuple[int, Call]],
) -> None:
    """Has a quantize read copies of the moves that lead from averages to it, with the averages on int8."""
    path, waiting = dict[int, tuple[int, Call]](), [quantize.args[0]]
    while waiting and len(path) <= _LONGEST_PATH:
        i = waiting.pop()
        if i in made and i not in path:
            path[i] = made[i]
            waiting += _float_inputs(editor, made[i][1])
    if waiting:
        return
    new: dict[int, int] = {}
    for _, call in sorted({place: (place, call) for place, call in path.values()}.values(), key=itemgetter(0)):
        if short_name(call) in AVERAGES:
            x, applied = functions.get(call.args[0], (call.args[0], ()))
            result = _averaged(editor, quantize, call, x, grids[x], applied)
            new |= {} if result is None else {call.args[-1]: result}
        elif not new.keys().isdisjoint(_float_inputs(editor, call)):
            new |= _copied(editor, quantize, call, new)
    if quantize.args[0] in new:
        editor.replace(quantize, quantize._replace(args=(new[quantize.args[0]], *quantize.args[1:])))


def _averaged(
    editor: "_Editor", quantize: Call, average: Call, x: int, grid: Grid, functions: Sequence[Function]
) -> int | None:
    """The id of a mean on int8, dequantized, just before the quantize that lends its scale; None where none can be."""
    node, kind = average.node, short_name(average)
    shape, out = editor.shape(x), editor.shape(average.args[-1])
    y_scale, y_zero_point = quantize.args[1:3]
    options = average.args[1:3] if kind == "mean" else average.args[1:-1]
    alone = kind != "mean" and len(shape) == 3  # a map without a batch
    scale, zero_point, low, high, none = map(editor.add, (*grid, -128, 127, None))
    unit, no_offset, table = scale, zero_point, none
    if functions:
        values = _dequantized(grid)
        for function in functions:
            values = [*map(function, values)]
        if not all(map(math.isfinite, values)):
            return None
        fine, entries = _whole_numbers(values, _terms(editor, average))
        unit, no_offset, table = editor.add(fine), editor.add(0), editor.add(entries)
    calls = list[Call]()

    def made(op: str, args: Sequence[int], shape: tuple[int, ...], dtype: str = "int8") -> int:
        calls.append(Call(op, (*args, editor.add(Tensor(shape, dtype))), node))
        return calls[-1].args[-1]

    def viewed(i: int, shape: tuple[int, ...]) -> int:
        return made("aten.view_copy.default", (i, editor.add(shape)), shape)

    y = made(QUANTIZE, (x, scale, zero_point, low, high, none), shape)
    y = viewed(y, (1, *shape)) if alone else y
    y = made(AVERAGES[kind], (y, unit, no_offset, *options, y_scale, y_zero_point, table), (1, *out) if alone else out)
    if bind(REGISTRY[AVERAGES[kind]], arguments(editor.values, calls[-1].args), node)[0] is None:
        return None
    y = viewed(y, out) if alone else y
    y = made(DEQUANTIZE, (y, y_scale, y_zero_point, low, high, none, none), out, "float32")
    for call in calls:
        editor.insert(quantize, call)
    return y


def _terms(editor: "_Editor", average: Call) -> int:
    """How many elements one of a call's means is of, at most."""
    shape = editor.shape(average.args[0])
    if short_name(average) == "mean":
        return numel(shape) // max(1, numel(editor.shape(average.args[-1])))
    if short_name(average) == "avg_pool2d":
        return numel(KERNEL.convert(editor.values[average.args[1]]) or ())
    return numel(shape[-2:])


def _whole_numbers(values: Sequence[float], terms: int) -> tuple[float, tuple[int, ...]]:
    """Values as whole numbers of a unit, so fine as sums of so many terms in int32 allow."""
    largest = max(map(abs, values)) or 1.0
    unit = largest / (2**30 // max(1, terms) or 1)
    return unit, tuple(round(v / unit) for v in values)


def _copied(editor: "_Editor", quantize: Call, call: Call, new: Mapping[int, int]) -> dict[int, int]:
    """What a copy of a call, just before a quantize, computes of new values; by the ids of what the call computes."""
    outs = {i: editor.add(editor.values[i]) for i in _ids(editor.values, call.args[-1:])}
    renamed = outs | {**new}

    def copy(i: int) -> int:
        value = editor.values[i]
        if isinstance(value, ListRef):
            return editor.add(ListRef(tuple(renamed.get(j, j) for j in value.ids)))
        return renamed.get(i, i)

    editor.insert(quantize, call._replace(args=tuple(map(copy, call.args))))
    return outs


@Stage
def quantize_early(graph: Graph) -> Steps[Graph]:
    """dequantize → view, permute, max_pool, … → quantize: those ops move values or keep the largest, and quantizing
    never swaps two values' order, so they run on int8 after the quantize as well."""
    editor = _Editor(graph)
    for call in editor.each():
        yield
        # what holds for a quantize holds for those that it leads to, further up
        waiting = [call] if _quantizes(editor, call) and _comes_from_int8(editor, call.args[0]) else []
        while waiting:
            late = waiting.pop()
            moved = editor.producer(late.args[0])
            if moved is None or not _moves(editor, moved, late.args[0]):
                continue
            quantized: dict[int, int] = {}
            for i in _float_inputs(editor, moved):
                quantized[i] = editor.add(Tensor(editor.shape(i), "int8"))
                early = late._replace(args=(i, *late.args[1:-1], quantized[i]))
                editor.insert(late, early)
                waiting.append(early)
            editor.replace(late, _on_int8(editor, moved, late, quantized))
            editor.remove(moved)
    return editor.graph()


@Stage
def fuse_tables(graph: Graph) -> Steps[Graph]:
    """dequantize → relu, hardtanh, clamp … → quantize is a function of 256 values: a table, or nothing where it is the
    identity. Tables in a row become one."""
    editor = _Editor(graph)
    for call in editor.each():
        yield
        found = _table_of(editor, call)
        if found is None:
            continue
        source, table = found
        before = editor.producer(source)
        if before and before.op == TABLE and editor.uses(source) == 1:
            first = _int_list(editor.values[before.args[1]])
            source, table = before.args[0], bytes(table[(v + 128) & 255] for v in first)
        if table == IDENTITY:
            editor.rename(call.args[-1], source)
            editor.remove(call)
        else:
            values = tuple(v - 256 if v > 127 else v for v in table)
            editor.replace(call, Call(TABLE, (source, editor.add(values), call.args[-1]), call.node))
    return editor.graph()


@Stage
def fuse_clamps(graph: Graph) -> Steps[Graph]:
    """A table that only bounds its input becomes the epilogue of the op before it."""
    editor = _Editor(graph)
    for call in editor.each():
        yield
        before = editor.producer(call.args[0]) if call.op == TABLE else None
        if before is None or not REGISTRY[before.op].fuses_clamp or editor.uses(call.args[0]) != 1:
            continue
        table = _int_list(editor.values[call.args[1]])
        low, high = table[0], table[-1]
        if table == tuple(min(max(v, low), high) for v in range(-128, 128)):
            bounds = tuple(min(max(v, low), high) for v in before.clamp)
            editor.remove(before)
            clamp = (bounds[0], bounds[1])
            editor.replace(call, before._replace(args=(*before.args[:-1], call.args[-1]), clamp=clamp))
    return editor.graph()


OPTIMIZATIONS: dict[str, Stage[[Graph], Graph]] = {
    "quantize_early": quantize_early,
    "fuse_tables": fuse_tables,
    "fuse_clamps": fuse_clamps,
}


# --- what a call reads and writes


def reads(graph: Graph, call: Call) -> set[int]:
    """Ids of what a call reads, lists looked into."""
    return set(_ids(graph.values, call.args[:-1]))


def has_constant_calls(graph: Graph) -> bool:
    """Whether some call reads constants only, so that its result could be computed now, once."""
    computed = {i for i, v in enumerate(graph.values) if isinstance(v, Tensor) and v.data is None}
    return any(computed.isdisjoint(reads(graph, call)) for call in graph.calls)


def writes(graph: Graph, call: Call) -> set[int]:
    """Ids of what a call computes: its last argument, or the tensors of that list."""
    return set(_ids(graph.values, call.args[-1:]))


def _ids(values: Sequence[Value], args: Sequence[int]) -> list[int]:
    """The ids among arguments, lists looked into."""
    return [j for i in args for j in _flat(values[i], i)]


def _flat(value: Value, i: int) -> tuple[int, ...]:
    return value.ids if isinstance(value, ListRef) else (i,)


# --- parts


@dataclass(eq=False)
class _Place:
    """Where a call stands among others; without one, where it stood."""

    call: Call | None = None
    before: "_Place | None" = None
    after: "_Place | None" = None


class _Editor:
    """A graph being changed. Calls are told apart by identity; a change costs the same however large the graph is."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.values, self._outputs = list(graph.values), list(graph.outputs)
        self._results: dict[int, list[int]] = {}  # id -> which outputs it is
        for n, i in enumerate(graph.outputs):
            self._results.setdefault(i, []).append(n)
        self._start = self._end = _Place()
        self._place_of: dict[int, _Place] = {}  # by id() of a call
        self._producers: dict[int, Call] = {}
        self._readers: dict[int, dict[tuple[int, int], Call]] = {}  # by id() of a call and which of its reads it is
        for call in graph.calls:
            self._end.after = _Place(None, self._end)
            self._end = self._end.after
            self._put(call, self._end)

    def each(self) -> Iterator[Call]:
        """Every call in order, as it is when its turn comes: earlier changes may have renamed what it reads."""
        place: _Place | None = self._start
        while place := place.after if place else None:
            if place.call:
                yield place.call

    def graph(self) -> Graph:
        return self._graph._replace(values=tuple(self.values), calls=tuple(self.each()), outputs=tuple(self._outputs))

    def tensor(self, i: int) -> Tensor | None:
        value = self.values[i] if i >= 0 else None
        return value if isinstance(value, Tensor) else None

    def shape(self, i: int) -> tuple[int, ...]:
        tensor = self.tensor(i)
        assert tensor is not None
        return tensor.shape

    def producer(self, i: int) -> Call | None:
        return self._producers.get(i)

    def uses(self, i: int) -> int:
        return len(self._readers.get(i, ())) + len(self._results.get(i, ()))

    def add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _put(self, call: Call, place: _Place) -> None:
        place.call = call
        self._place_of[id(call)] = place
        for i in _ids(self.values, call.args[-1:]):
            self._producers[i] = call
        for n, i in enumerate(_ids(self.values, call.args[:-1])):
            self._readers.setdefault(i, {})[id(call), n] = call

    def remove(self, call: Call) -> _Place:
        place = self._place_of.pop(id(call))
        place.call = None
        for i in _ids(self.values, call.args[-1:]):
            del self._producers[i]
        for n, i in enumerate(_ids(self.values, call.args[:-1])):
            del self._readers[i][id(call), n]
        return place

    def insert(self, before: Call, new: Call) -> None:
        after = self._place_of[id(before)]
        place = _Place(None, after.before, after)
        assert after.before is not None, "there is a place before all calls"
        after.before.after = after.before = place
        self._put(new, place)

    def replace(self, old: Call, new: Call) -> None:
        self._put(new, self.remove(old))

    def rename(self, old: int, new: int) -> None:
        """Everyone who reads `old` reads `new`."""
        for n in self._results.pop(old, ()):
            self._outputs[n] = new
            self._results.setdefault(new, []).append(n)
        readers = self._readers.get(old, {})
        for (key, n), call in list(readers.items()):
            if (place := self._in_list(call, n)) is not None:
                i, k = place
                ids = _flat(self.values[i], i)
                self.values[i] = ListRef((*ids[:k], new, *ids[k + 1 :]))
                del readers[key, n]
                self._readers.setdefault(new, {})[key, n] = call
        for call in {key: c for (key, _), c in readers.items()}.values():
            args = (new if i == old else i for i in call.args[:-1])
            self.replace(call, call._replace(args=(*args, *call.args[-1:])))

    def _in_list(self, call: Call, n: int) -> tuple[int, int] | None:
        """The list, and the place in it, of the n-th that a call reads; None for an argument of its own."""
        for i in call.args[:-1]:
            count = len(_flat(self.values[i], i))
            if n < count:
                return (i, n) if isinstance(self.values[i], ListRef) else None
            n -= count
        raise AssertionError("a call has what it reads")


def _quantizes(editor: _Editor, call: Call) -> bool:
    """Whether a call quantizes to int8."""
    tensor = editor.tensor(call.args[-1]) if call.op == QUANTIZE else None
    return tensor is not None and tensor.dtype == "int8"


def _dequantizes(editor: _Editor, call: Call) -> bool:
    """Whether a call dequantizes int8."""
    tensor = editor.tensor(call.args[0]) if call.op == DEQUANTIZE else None
    return tensor is not None and tensor.dtype == "int8"


# float32 functions whose results are exact, so that a table holds the very bytes that kernels would give
def _exact_clamp(editor: _Editor, call: Call) -> Clamp | None:
    """The bounds that a call keeps its float32 input within, if that is all it does."""
    name = short_name(call)
    if name == "relu":
        return RELU
    if name in ("hardtanh", "clamp"):
        low, high = (editor.values[i] for i in call.args[1:3])
        if all(v is None or (isinstance(v, int | float) and v == v) for v in (low, high)):
            bottom = f32(low) if isinstance(low, int | float) else -math.inf
            return bottom, f32(high) if isinstance(high, int | float) else math.inf
    return None


def _table_of(editor: _Editor, call: Call) -> tuple[int, bytes] | None:
    """The int8 tensor that a call's int8 result is a function of, and that function's 256 results."""
    values = editor.values
    if call.op == TABLE:
        return call.args[0], bytes(v & 255 for v in _int_list(values[call.args[1]]))
    if call.op == "et_vk.q8ta_relu.default":
        return call.args[0], _table(values, call.args[1:5], RELU, (-128, 127))
    if not _quantizes(editor, call):
        return None
    low, high = UNBOUNDED
    before = editor.producer(call.args[0])
    for _ in range(_MOST_CLAMPS):
        if before is None or (clamp := _exact_clamp(editor, before)) is None:
            break
        low, high = (min(max(v, low), high) for v in clamp)  # what follows bounds the bounds
        before = editor.producer(before.args[0])
    if before is None or not _dequantizes(editor, before):
        return None
    bounds = (values[call.args[3]], values[call.args[4]])
    limits = tuple(wide if v is None else ZERO_POINT.convert(v) for v, wide in zip(bounds, (-128, 127), strict=True))
    return before.args[0], _table(values, (*before.args[1:3], *call.args[1:3]), (low, high), (limits[0], limits[1]))


def _table(values: list[Value], ids: tuple[int, ...], clamp: Clamp, bounds: tuple[int, int]) -> bytes:
    x_scale, x_zero_point, y_scale, y_zero_point = (
        kind.convert(values[i]) for kind, i in zip((SCALE, ZERO_POINT, SCALE, ZERO_POINT), ids, strict=True)
    )
    return requantizing_table(x_scale, x_zero_point, y_scale, y_zero_point, clamp, bounds)


def _int_list(value: Value) -> tuple[int, ...]:
    assert isinstance(value, tuple)
    return tuple(int(v) for v in value)


# ops that move values without changing them, by the middle of their names
MOVING_OPS = {
    "view", "view_copy", "_unsafe_view", "reshape", "flatten", "permute", "permute_copy", "transpose", "t", "t_copy",
    "transpose_copy", "unsqueeze", "unsqueeze_copy", "squeeze", "squeeze_copy", "slice", "slice_copy", "select",
    "select_copy", "cat", "expand", "expand_copy", "clone", "pixel_shuffle", "flip", "repeat",
}  # fmt: skip
_POOLING = {"max_pool2d", "max_pool2d_with_indices"}


def short_name(call: Call) -> str:
    """The middle of an op's name, the same within a delegate and without."""
    return call.op.replace("::", ".").split(".")[1]


def _moves(editor: _Editor, call: Call, result: int) -> bool:
    """Whether `result`, used once, is all that is used of an op that can as well run on int8."""
    others = set(_ids(editor.values, call.args[-1:])) - {result}
    unused = short_name(call) not in _POOLING or not any(map(editor.uses, others))
    return editor.uses(result) == 1 and unused and _keeps_values(editor, call)


def _keeps_values(editor: _Editor, call: Call) -> bool:
    """Whether an op moves values or keeps the largest, so that it can as well run on int8."""
    if short_name(call) in _POOLING or short_name(call) == "pixel_shuffle":
        return len(editor.shape(call.args[0])) == 4
    return short_name(call) in MOVING_OPS and call.op.startswith("aten")


def _float_inputs(editor: _Editor, call: Call) -> Iterator[int]:
    for i in _ids(editor.values, call.args[:-1]):
        tensor = editor.tensor(i)
        if tensor is not None and tensor.dtype == "float32":
            yield i


def _comes_from_int8(editor: _Editor, i: int) -> bool:
    """Whether only exact functions and moves lie between dequantized tensors and this one."""
    waiting = [i]
    while waiting:
        i = waiting.pop()
        call = editor.producer(i)
        if call is None:
            return False
        if _dequantizes(editor, call):
            continue
        if _exact_clamp(editor, call) is not None and editor.uses(i) == 1:
            waiting.append(call.args[0])
        elif _moves(editor, call, i):
            waiting += _float_inputs(editor, call)
        else:
            return False
    return True


def _joins_channels(editor: _Editor, ids: tuple[int, ...], axis: Value) -> bool:
    """Whether a cat is along the channels of maps, all but the last with whole words of them."""
    shapes = [editor.shape(i) for i in ids]
    return axis in (1, -3) and all(len(s) == 4 for s in shapes) and not any(s[1] % 4 for s in shapes[:-1])


def _on_int8(editor: _Editor, moved: Call, quantize: Call, quantized: dict[int, int]) -> Call:
    """The moving op on int8 tensors, with the quantize's result."""
    out = quantize.args[-1]
    if short_name(moved) in _POOLING:
        return Call(MAX_POOL, (quantized[moved.args[0]], *moved.args[1:-1], out), moved.node)
    if short_name(moved) == "pixel_shuffle":
        scale, zero_point = quantize.args[1:3]
        inverse = editor.add(1.0 / SCALE.convert(editor.values[scale]))
        shuffled = (quantized[moved.args[0]], scale, zero_point, inverse, zero_point, moved.args[1], out)
        return Call("et_vk.q8ta_pixel_shuffle.default", shuffled, moved.node)
    args: list[int] = []
    for i in moved.args[:-1]:
        value = editor.values[i]
        if isinstance(value, ListRef):
            args.append(editor.add(ListRef(tuple(quantized.get(j, j) for j in value.ids))))
            if short_name(moved) == "cat" and _joins_channels(editor, value.ids, editor.values[moved.args[1]]):
                return Call(CAT_CHANNELS, (args[0], out), moved.node)
        else:
            args.append(quantized.get(i, i))
    return moved._replace(args=(*args, out))
