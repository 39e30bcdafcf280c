"""Work and memory grow with a graph as it does: counted, not timed."""

import sys
import tracemalloc
from collections.abc import Callable

import flatbuffers
import pytest
from large_graphs import FORMS, nested
from webq8.formats.pte.lower import lower
from webq8.formats.pte.model import PteMethod
from webq8.formats.pte.read import read_program
from webq8.ir.plan import Plan
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.target import Target


def plan(method: PteMethod) -> Plan:
    graph = rewrite(required(lower(method, "test")))
    return plan_program({"forward": graph}, Target()).plans["forward"]


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C alike."""
    count = 0

    def note(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def peak_of(work: Callable[[], object]) -> int:
    """The most bytes that are allocated at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("measure", "nodes"), [(calls_of, 1000), (peak_of, 400)])
@pytest.mark.parametrize("form", FORMS)
def test_planning_is_linear(form: str, measure: Callable[[Callable[[], object]], int], nodes: int) -> None:
    small, large = FORMS[form](100), FORMS[form](nodes)
    few, many = len(plan(small).steps), len(plan(large).steps)  # and kernels are read once
    growth = measure(lambda: plan(large)) / measure(lambda: plan(small))
    assert growth < 1.3 * max(many / few, len(large.calls) / len(small.calls))


def test_twenty_thousand_nodes() -> None:
    method = nested(20_000)
    planned = plan(method)
    assert len(planned.steps) == len(method.calls) - 2 == 20_000  # no dispatch only quantizes or dequantizes
    assert planned.peak_bytes <= 1.15 * planned.live_bytes
    assert len(planned.buffers) <= 4


def kernel_calls(count: int) -> bytes:
    """A program of additions in a row, each with an operator and a constant of its own."""
    b = flatbuffers.Builder()

    def vector(items: list[int], tables: bool = False) -> int:
        b.StartVector(4, len(items), 4)
        for item in reversed(items):
            (b.PrependUOffsetTRelative if tables else b.PrependInt32)(item)
        return b.EndVector()

    def table(offsets: dict[int, int], **numbers: int) -> int:
        """`offsets` by slot; `numbers` as type_slot."""
        b.StartObject(16)
        for slot, offset in offsets.items():
            b.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for name, value in numbers.items():
            kind, slot = name.split("_")
            getattr(b, f"Prepend{kind}Slot")(int(slot), value, 0)
        return b.EndObject()

    sizes = vector([4])
    blob = b.CreateByteVector(bytes(16))
    tensor = table({2: sizes}, Int8_0=6)
    # value 0 is the input; then, for each call, a constant, and what it computes; last alpha
    values = [table({1: tensor}, Uint8_0=5)]
    for i in range(count):
        values.append(table({1: table({2: sizes}, Int8_0=6, Uint32_5=i + 1)}, Uint8_0=5))
        values.append(table({1: tensor}, Uint8_0=5))
    values.append(table({1: table({}, Int64_0=1)}, Uint8_0=2))
    name, overload = b.CreateString("aten::add"), b.CreateString("out")
    instructions = []
    for i in range(count):
        args = vector([2 * i, 2 * i + 1, 2 * count + 1, 2 * i + 2, 2 * i + 2])
        instructions.append(table({1: table({1: args}, Int32_0=i)}, Uint8_0=1))
    chain = table({2: vector(instructions, tables=True)})
    method = {0: b.CreateString("forward"), 2: vector(values, tables=True), 3: vector([0]), 4: vector([2 * count])}
    method[5] = vector([chain], tables=True)
    method[6] = vector([table({0: name, 1: overload}) for _ in range(count)], tables=True)
    plans = vector([table(method)], tables=True)
    constants = vector([table({0: blob}) for _ in range(count + 1)], tables=True)
    b.Finish(table({1: plans, 2: constants}), b"ET12")
    return bytes(b.Output())


def test_reading_is_linear() -> None:
    small, large = kernel_calls(20), kernel_calls(100)
    method = read_program(large).methods["forward"]
    assert len(method.calls) == 100
    assert plan(method).steps
    assert calls_of(lambda: read_program(large)) < 1.3 * 5 * calls_of(lambda: read_program(small))
