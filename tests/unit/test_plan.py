"""Planning without a GPU: grids, layouts, lifetimes, sharing, limits."""

import random

import numpy as np
import pytest
from graphs import TRANSPOSED, Builder, Ref
from webq8.errors import FormatError, LimitError
from webq8.ir.graph import Graph
from webq8.ir.plan import Plan, Slot
from webq8.kernels import wgsl
from webq8.passes import drop_dead_nodes
from webq8.plan.planner import fold_grid, plan_program
from webq8.target import Target


def plan(graph: Graph, **limits: int) -> Plan:
    return plan_program({"forward": graph}, Target(**limits)).plans["forward"]


@pytest.mark.parametrize(
    ("count", "grid"),
    [
        (1, (1, 1, 1)),
        (65535, (65535, 1, 1)),
        (65536, (32768, 2, 1)),
        (131_071, (43691, 3, 1)),
        (65535**2, (65535, 65535, 1)),
    ],
)
def test_grids_fold(count: int, grid: tuple[int, int, int]) -> None:
    assert fold_grid(count, 65535) == grid
    assert grid[0] * grid[1] >= count


def test_grid_that_cannot_fold() -> None:
    with pytest.raises(LimitError, match="65535"):
        fold_grid(65535**2 + 1, 65535)


def test_digit_needs_no_layout_change() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 64), "float32"))
    p = plan(b.graph(b.dequantize(b.linear(x, 10))))
    assert [s.kernel for s in p.steps] == ["quantize_flat", "linear_gemv", "dequantize"]
    assert p.relayouts == 0


def test_four_dimensional_linear_keeps_rows() -> None:
    """A 4-D tensor is channels-last by default, but rows where linear layers use it."""
    b = Builder()
    shape = (2, 3, 5, 7)
    x = b.quantize(b.input(shape, "float32"))
    p = plan(b.graph(b.dequantize(b.linear(x, 4))))
    assert p.relayouts == 0


def test_int8_inputs_and_outputs_are_row_major_outside() -> None:
    b = Builder()
    p = plan(b.graph(b.linear(b.input((3, 5), "int8"), 7)))
    assert [s.kernel for s in p.steps] == ["relayout", "gemm_small", "relayout"]
    assert p.relayouts == 2
    b = Builder()
    p = plan(b.graph(b.linear(b.input((3, 16), "int8"), 32)))
    assert [s.kernel for s in p.steps] == ["gemm_small"]


def test_two_layouts_of_one_tensor() -> None:
    """A convolution's output read by a linear layer is converted once, whoever else reads it."""
    b = Builder()
    x = b.quantize(b.input((1, 3, 2, 2), "float32"))
    geometry = ((2, 2), (1, 1), (0, 0), (0, 0), (1, 1), 1)
    y = b.weighted(TRANSPOSED, x, (5, 12), (1, 5, 3, 3), 5, None, *geometry)
    first, second = b.linear(y, 4), b.linear(y, 6)
    p = plan(b.graph(b.dequantize(first), b.dequantize(second)))
    assert [s.kernel for s in p.steps].count("relayout") == p.relayouts == 1


class Memory:
    """Which tensor each piece of a buffer holds."""

    def __init__(self) -> None:
        self.held: list[tuple[Slot, int]] = []

    def put(self, slot: Slot, i: int) -> None:
        def apart(s: Slot) -> bool:
            return s.buffer != slot.buffer or s.offset + s.size <= slot.offset or slot.offset + slot.size <= s.offset

        self.held = [(s, j) for s, j in self.held if apart(s)] + [(slot, i)]

    def holds(self, slot: Slot, i: int) -> bool:
        return (slot, i) in self.held


def test_nothing_live_is_overwritten() -> None:
    """Simulates random chains with skip connections: a slot holds its tensor until the last reader has run."""
    rng = random.Random(3)
    for _ in range(50):
        b = Builder()
        pool = [b.quantize(b.input((5, 16), "float32"))]
        for _ in range(rng.randrange(1, 12)):
            pool.append(b.linear(rng.choice(pool), rng.choice((3, 16, 40, 129))))
        ends = rng.sample(pool[1:], min(len(pool) - 1, rng.randrange(1, 3)))
        graph = drop_dead_nodes(b.graph(*map(b.dequantize, ends)))
        p = plan(graph)
        assert len(p.steps) == len(graph.nodes)
        memory = Memory()
        memory.put(p.inputs[0], graph.inputs[0])
        for node, step in zip(graph.nodes, p.steps, strict=True):
            named = dict(zip((b.name for b in wgsl.kernel(step.kernel).bindings), step.slots, strict=True))
            assert memory.holds(named["x"], node.op.x)
            memory.put(named["y"], node.outputs[0])
            assert memory.holds(named["x"], node.op.x), "written over while it is read"
            assert named["x"].buffer != named["y"].buffer or "x" in step.writable
        variants = {(step.kernel, step.constants): step.writable for step in p.steps}
        for step in p.steps:  # one shader a kernel, where no tensor stands in the way
            assert step.writable == variants[step.kernel, step.constants]
        for slot, i in zip(p.outputs, graph.outputs, strict=True):
            assert memory.holds(slot, i)
        assert p.live_bytes <= p.peak_bytes


def test_a_chain_needs_two_buffers() -> None:
    b = Builder()
    x = b.quantize(b.input((64, 64), "float32"))
    for _ in range(20):
        x = b.linear(x, 64)
    p = plan(b.graph(b.dequantize(x)))
    assert len(p.buffers) == 2
    assert p.peak_bytes <= 1.15 * p.live_bytes


def test_equal_constants_are_kept_once() -> None:
    b = Builder()
    x = b.quantize(b.input((5, 512), "float32"))
    graph = b.graph(b.dequantize(b.linear(b.linear(x, 512), 512)))
    constants = plan_program({"one": graph, "two": graph}, Target()).constants
    assert sum(map(len, constants)) < 1.1 * 512 * 512


def test_constants_share_buffers_of_a_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the device allows: weights in large buffers are read slowly. A larger constant has one of its own."""
    monkeypatch.setattr("webq8.plan.planner._ARENA", 2**14)
    b = Builder()
    x = b.quantize(b.input((1, 64), "float32"))
    for i, width in enumerate((64, 64, 64, 64, 512)):
        x = b.linear(x, width, np.random.default_rng(i))
    sizes = [len(c) for c in plan_program({"forward": b.graph(b.dequantize(x))}, Target()).constants]
    assert [size for size in sizes if size > 2**14] == [64 * 512]
    assert len(sizes) > 2


def test_constants_split_over_buffers() -> None:
    b = Builder()
    x = b.quantize(b.input((5, 256), "float32"))
    for i in range(4):
        x = b.linear(x, 256, np.random.default_rng(i))
    limits = Target(max_buffer_size=2**17, max_storage_buffer_binding_size=2**17)
    planned = plan_program({"forward": b.graph(b.dequantize(x))}, limits)
    assert len(planned.constants) > 1
    assert all(len(c) <= 2**17 for c in planned.constants)
    sizes = planned.plans["forward"].buffers
    for step in planned.plans["forward"].steps:
        for slot in step.slots:
            size = len(planned.constants[-1 - slot.buffer]) if slot.buffer < 0 else sizes[slot.buffer]
            assert slot.offset % 256 == 0
            assert slot.offset + slot.size <= size


def test_limits_name_the_numbers() -> None:
    b = Builder()
    graph = b.graph(b.quantize(b.input((1024, 1024), "float32")))
    with pytest.raises(
        LimitError,
        match=r"inputs: a tensor float32 \[1024, 1024\] needs 4,194,304 bytes; this device allows 1,000,000",
    ):
        plan(graph, max_storage_buffer_binding_size=1_000_000)
    b = Builder()
    x = b.quantize(b.input((1, 4096), "float32"))
    with pytest.raises(LimitError, match=r"node \d+: a constant needs 1,048,576 bytes; this device allows 65,536"):
        plan(b.graph(b.linear(x, 256)), max_storage_buffer_binding_size=65_536)


def test_accumulator_bound() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 65794), "float32"))
    with pytest.raises(LimitError, match="65794 terms an output could overflow the int32 accumulator; at most 65793"):
        b.graph(b.linear(x, 1))


def test_empty_tensors_take_no_dispatch() -> None:
    b = Builder()
    p = plan(b.graph(b.quantize(b.input((0, 5), "float32"))))
    assert p.steps == ()


def test_dead_nodes_go() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 64), "float32"))
    b.linear(x, 10)
    assert len(drop_dead_nodes(b.graph(b.dequantize(x))).nodes) == 2


def test_broken_data_flow_is_a_bad_file() -> None:
    b = Builder()
    missing = b.tensor((1, 64), "int8")
    with pytest.raises(FormatError, match=r"node 0: .*reads value 0 before it is computed"):
        b.graph(b.dequantize(missing))
    b = Builder()
    y = b.quantize(b.input((1, 64), "float32"))
    b.calls *= 2
    with pytest.raises(FormatError, match="a second time"):
        b.graph(y)
    b = Builder()
    with pytest.raises(FormatError, match="outputs: value 0 is a tensor that no call computes"):
        b.graph(b.tensor((1, 64), "int8"))


def test_a_convolution_reads_a_moved_tensor_as_channels() -> None:
    """One pixel of eight channels a map has the same bytes in row-major order, but a pixel of it is not the whole."""
    b = Builder()
    x = Ref(b.input((8, 4, 1, 1), "int8"))
    x = b.call("aten.permute_copy.default", x, (1, 0, 2, 3), out=((4, 8, 1, 1), "int8"))
    geometry = ((3, 3), (2, 2), (0, 0), (0, 0), (1, 1), 1)
    p = plan(b.graph(b.weighted(TRANSPOSED, x, (4, 72), (4, 4, 3, 3), 4, None, *geometry)))
    assert [s.kernel for s in p.steps] == ["strided_copy", "conv2d_windowed", "relayout"]
