"""Graphs of any number of nodes, each of a form that something once took more than linear time for."""

import random
from collections.abc import Callable

from graphs import Builder, Ref
from webq8.formats.pte.model import PteMethod

SHAPE = (16, 32)
ADD = "et_vk.q8ta_add.default"
PARAMS = (0.05, 0, 0.05, 0, 0.05, 0, 1.0)


def _start() -> tuple[Builder, int]:
    b = Builder()
    return b, b.quantize(b.input(SHAPE, "float32"))


def _add(b: Builder, x: int, y: int) -> int:
    return b.call(ADD, Ref(x), Ref(y), *PARAMS, out=(b.shape(x), "int8"))


def chain(nodes: int) -> PteMethod:
    """One op after another."""
    b, x = _start()
    for _ in range(nodes - 2):
        x = b.linear(x, SHAPE[1])
    return b.method(b.dequantize(x))


def nested(nodes: int) -> PteMethod:
    """A U-net: the first result is needed last."""
    b, x = _start()
    skips = [x := b.linear(x, SHAPE[1]) for _ in range(nodes // 2)]
    for skip in reversed(skips):
        x = _add(b, x, skip)
    return b.method(b.dequantize(x))


def fan_out(nodes: int) -> PteMethod:
    """One tensor read by half of the ops, whose results are all needed at once."""
    b, x = _start()
    parts = [b.linear(x, SHAPE[1]) for _ in range(nodes // 2)]
    for part in parts:
        x = _add(b, x, part)
    return b.method(b.dequantize(x))


def heads(nodes: int) -> PteMethod:
    """Half of the ops' results are outputs."""
    b, x = _start()
    return b.method(*(b.dequantize(b.linear(x, SHAPE[1])) for _ in range(nodes // 2)))


def moves(nodes: int) -> PteMethod:
    """float32 views and functions in a row between int8 ops: what passes work on."""
    b, x = _start()
    y = b.dequantize(x)
    for i in range(nodes // 2):
        shape = (SHAPE, SHAPE[::-1])[i % 2]
        y = b.call("aten.view_copy.default", Ref(y), shape, out=(shape, "float32"))
    y = b.dequantize(b.quantize(y))
    for _ in range(nodes // 8):
        y = b.call("aten.view_copy.default", Ref(y), SHAPE, out=(SHAPE, "float32"))
        y = b.call("aten.relu.default", Ref(y), out=(SHAPE, "float32"))
        y = b.dequantize(b.quantize(y))
    return b.method(b.quantize(y))


def constants(nodes: int) -> PteMethod:
    """Half of the ops work on constants alone."""
    b, x = _start()
    y = b.dequantize(x)
    for _ in range(nodes // 2):
        data = b.call("aten.full.default", SHAPE, 1.0, None, None, None, None, out=(SHAPE, "float32"))
        y = b.call("aten.add.Tensor", Ref(y), Ref(data), 1, out=(SHAPE, "float32"))
    return b.method(y)


def tangle(nodes: int) -> PteMethod:
    """Twenty chains of tensors of many sizes, each of which goes on at random."""
    rng = random.Random(nodes)
    b = Builder()
    ends = [b.quantize(b.input((rng.randrange(1, 1000), 16), "float32")) for _ in range(20)]
    for _ in range(nodes - 2 * len(ends)):
        chosen = rng.randrange(len(ends))
        ends[chosen] = b.linear(ends[chosen], 16)
    return b.method(*map(b.dequantize, ends))


FORMS: dict[str, Callable[[int], PteMethod]] = {
    form.__name__: form for form in (chain, nested, fan_out, heads, moves, constants, tangle)
}
