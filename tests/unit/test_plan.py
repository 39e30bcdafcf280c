"""Planning without a GPU: grids, layouts, lifetimes, sharing, limits."""

import random
from dataclasses import replace

import numpy as np
import pytest
from webq8 import wgsl
from webq8.errors import FormatError, LimitError
from webq8.ir import Call, Graph, Method, Plan, Tensor
from webq8.plan import Limits, check_method, fold_grid, plan_program
from webq8.rewrite import drop_dead_calls, simplify

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
LINEAR = "et_vk.q8ta_linear.default"
TRANSPOSED = "et_vk.q8ta_conv2d_transposed.default"


class Builder:
    """Writes a graph call by call."""

    def __init__(self) -> None:
        self.values: list = []
        self.calls: list[Call] = []
        self.inputs: list[int] = []

    def value(self, value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, shape: tuple[int, ...], dtype: str, data: np.ndarray | None = None) -> int:
        return self.value(Tensor(shape, dtype, None if data is None else memoryview(data.tobytes())))

    def input(self, shape: tuple[int, ...], dtype: str) -> int:
        self.inputs.append(self.tensor(shape, dtype))
        return self.inputs[-1]

    def const(self, data: np.ndarray) -> int:
        return self.tensor(data.shape, str(data.dtype), data)

    def call(self, op: str, first: int, *rest, out: tuple[tuple[int, ...], str]) -> int:
        ids = [r if isinstance(r, Ref) else self.value(r) for r in rest]
        y = self.tensor(*out)
        self.calls.append(Call(op, (first, *ids, y), f"node {len(self.calls)}"))
        return y

    def quantize(self, x: int, shape: tuple[int, ...]) -> int:
        return self.call(QUANTIZE, x, 0.05, 0, -128, 127, None, out=(shape, "int8"))

    def dequantize(self, x: int, shape: tuple[int, ...]) -> int:
        return self.call(DEQUANTIZE, x, 0.05, 0, -128, 127, None, None, out=(shape, "float32"))

    def linear(self, x: int, lead: tuple[int, ...], n: int, k: int) -> int:
        weight, scales = Ref(self.const(np.ones((n, k), np.int8))), Ref(self.const(np.full(n, 0.01, np.float32)))
        return self.call(LINEAR, x, 0.05, 0, weight, None, scales, 0.05, 0, None, "none", out=((*lead, n), "int8"))

    def graph(self, *outputs: int) -> Graph:
        return Graph(tuple(self.values), tuple(self.calls), tuple(self.inputs), outputs)


class Ref(int):
    """A value id among arguments (a plain int is a value of its own)."""


def plan(graph: Graph, **limits: int) -> Plan:
    method = Method("forward", graph)
    check_method(method, "test")
    return plan_program({"forward": graph}, Limits(**limits)).plans["forward"]


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
    x = b.quantize(b.input((1, 64), "float32"), (1, 64))
    p = plan(b.graph(b.dequantize(b.linear(x, (1,), 10, 64), (1, 10))))
    assert [s.kernel for s in p.steps] == ["quantize", "linear_gemv", "dequantize"]
    assert p.relayouts == 0


def test_four_dimensional_linear_keeps_rows() -> None:
    """A 4-D tensor is channels-last by default, but rows where linear layers use it."""
    b = Builder()
    shape = (2, 3, 5, 7)
    x = b.quantize(b.input(shape, "float32"), shape)
    p = plan(b.graph(b.dequantize(b.linear(x, shape[:3], 4, 7), (2, 3, 5, 4))))
    assert p.relayouts == 0


def test_int8_inputs_and_outputs_are_row_major_outside() -> None:
    b = Builder()
    p = plan(b.graph(b.linear(b.input((3, 5), "int8"), (3,), 7, 5)))
    assert [s.kernel for s in p.steps] == ["relayout", "linear", "relayout"]
    assert p.relayouts == 2
    b = Builder()
    p = plan(b.graph(b.linear(b.input((3, 16), "int8"), (3,), 32, 16)))
    assert [s.kernel for s in p.steps] == ["linear"]


def test_two_layouts_of_one_tensor() -> None:
    """A convolution's output read by a linear layer is converted once, whoever else reads it."""
    b = Builder()
    x = b.quantize(b.input((1, 3, 2, 2), "float32"), (1, 3, 2, 2))
    weight, scales = Ref(b.const(np.ones((5, 12), np.int8))), Ref(b.const(np.full(5, 0.01, np.float32)))
    geometry = ((2, 2), (1, 1), (0, 0), (0, 0), (1, 1), 1, "none")
    y = b.call(TRANSPOSED, x, 0.05, 0, weight, None, scales, 0.05, 0, None, *geometry, out=((1, 5, 3, 3), "int8"))
    first, second = b.linear(y, (1, 5, 3), 4, 3), b.linear(y, (1, 5, 3), 6, 3)
    p = plan(b.graph(b.dequantize(first, (1, 5, 3, 4)), b.dequantize(second, (1, 5, 3, 6))))
    assert [s.kernel for s in p.steps].count("relayout") == p.relayouts == 1


def test_nothing_live_is_overwritten() -> None:
    """Simulates random chains with skip connections: a slot holds its tensor until the last reader has run."""
    rng = random.Random(3)
    for _ in range(50):
        b = Builder()
        pool = [(b.quantize(b.input((5, 16), "float32"), (5, 16)), 16)]
        for _ in range(rng.randrange(1, 12)):
            x, k = rng.choice(pool)
            n = rng.choice((3, 16, 40, 129))
            pool.append((b.linear(x, (5,), n, k), n))
        ends = rng.sample(pool[1:], min(len(pool) - 1, rng.randrange(1, 3)))
        graph = simplify(b.graph(*(b.dequantize(y, (5, n)) for y, n in ends)))
        p = plan(graph)
        assert len(p.steps) == len(graph.calls)
        holder: dict[int, int] = {p.inputs[0].buffer: graph.inputs[0]}
        for call, step in zip(graph.calls, p.steps, strict=True):
            bindings = wgsl.kernel(step.kernel).bindings
            source = next(s for b_, s in zip(bindings, step.slots, strict=True) if b_.name == "x")
            target = next(s for b_, s in zip(bindings, step.slots, strict=True) if b_.name == "y")
            assert holder[source.buffer] == call.args[0]
            assert source.buffer != target.buffer
            holder[target.buffer] = call.args[-1]
        for slot, i in zip(p.outputs, graph.outputs, strict=True):
            assert holder[slot.buffer] == i
        assert p.live_bytes <= p.peak_bytes


def test_a_chain_needs_two_buffers() -> None:
    b = Builder()
    x = b.quantize(b.input((64, 64), "float32"), (64, 64))
    for _ in range(20):
        x = b.linear(x, (64,), 64, 64)
    p = plan(b.graph(b.dequantize(x, (64, 64))))
    assert len(p.buffers) == 2
    assert p.peak_bytes <= 1.15 * p.live_bytes


def test_equal_constants_are_kept_once() -> None:
    b = Builder()
    x = b.quantize(b.input((5, 512), "float32"), (5, 512))
    graph = b.graph(b.dequantize(b.linear(b.linear(x, (5,), 512, 512), (5,), 512, 512), (5, 512)))
    constants = plan_program({"one": graph, "two": graph}, Limits()).constants
    assert sum(map(len, constants)) < 1.1 * 512 * 512


def test_constants_split_over_buffers() -> None:
    b = Builder()
    x = b.quantize(b.input((5, 256), "float32"), (5, 256))
    for i in range(4):
        weight = Ref(b.const(np.full((256, 256), i, np.int8)))
        scales = Ref(b.const(np.full(256, 0.01, np.float32)))
        x = b.call(LINEAR, x, 0.05, 0, weight, None, scales, 0.05, 0, None, "none", out=((5, 256), "int8"))
    limits = Limits(max_buffer_size=2**17, max_storage_buffer_binding_size=2**17)
    planned = plan_program({"forward": b.graph(b.dequantize(x, (5, 256)))}, limits)
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
    graph = b.graph(b.quantize(b.input((1024, 1024), "float32"), (1024, 1024)))
    with pytest.raises(LimitError, match=r"float32 \[1024, 1024\] needs 4,194,304 bytes; this device allows 1,000,000"):
        plan(graph, max_storage_buffer_binding_size=1_000_000)
    b = Builder()
    x = b.quantize(b.input((1, 4096), "float32"), (1, 4096))
    with pytest.raises(LimitError, match=r"a constant needs 1,048,576 bytes; this device allows 65,536"):
        plan(b.graph(b.linear(x, (1,), 256, 4096)), max_storage_buffer_binding_size=65_536)


def test_accumulator_bound() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 65794), "float32"), (1, 65794))
    with pytest.raises(LimitError, match="65794 terms an output could overflow the int32 accumulator; at most 65793"):
        plan(b.graph(b.linear(x, (1,), 1, 65794)))


def test_empty_tensors_take_no_dispatch() -> None:
    b = Builder()
    p = plan(b.graph(b.quantize(b.input((0, 5), "float32"), (0, 5))))
    assert p.steps == ()


def test_dead_calls_go() -> None:
    b = Builder()
    x = b.quantize(b.input((1, 64), "float32"), (1, 64))
    b.linear(x, (1,), 10, 64)
    assert len(drop_dead_calls(b.graph(b.dequantize(x, (1, 64)))).calls) == 2


def test_broken_data_flow_is_a_bad_file() -> None:
    b = Builder()
    missing = b.tensor((1, 64), "int8")
    with pytest.raises(FormatError, match=r"node 0: .*reads value 0 before it is computed"):
        plan(b.graph(b.dequantize(missing, (1, 64))))
    b = Builder()
    y = b.quantize(b.input((1, 64), "float32"), (1, 64))
    twice = b.graph(y)
    with pytest.raises(FormatError, match="a second time"):
        plan(replace(twice, calls=twice.calls * 2))
    b = Builder()
    with pytest.raises(FormatError, match="outputs: value 0 is not a tensor that a call computes"):
        plan(b.graph(b.tensor((1, 64), "int8")))
