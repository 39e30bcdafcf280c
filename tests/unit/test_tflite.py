"""TFLite files: what their rules say, on files that are written here; numbers are checked by plain numpy.

That all operators compute as their runtime does is tested on files of the converter, by test_format_goldens.
"""

import re
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import pytest
import webq8
from tflite_writer import Tflite
from webq8.budget import Budget
from webq8.errors import FormatError, InputError, Unsupported, Webq8Error
from webq8.formats import Asked, read_file
from webq8.ir.graph import Graph
from webq8.ir.ops.conv import Conv2d, Convolution
from webq8.ir.ops.move import Pad, Permute
from webq8.ir.ops.quantize import Requantize
from webq8.ir.types import PerTensor
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.program import Program
from webq8.stages import drive, finish
from webq8.target import Target

Array = np.ndarray
RNG = np.random.default_rng(11)
SAME, VALID = 0, 1


def program(data: bytes, **options: object) -> Program:
    return drive(webq8.load(data, device="cpu", **options))  # type: ignore[arg-type]


def graph(data: bytes, method: str | None = None) -> Graph:
    methods = read_file(data).methods
    made, problems = finish(methods[method or next(iter(methods))].lower(Budget(None, "test")))
    assert not problems
    return required(made)


def kinds(data: bytes) -> list[type]:
    return [type(node.op) for node in graph(data).nodes]


def refused(data: bytes, kind: type[Webq8Error], words: str) -> str:
    with pytest.raises(kind, match=words) as e:
        program(data)
    assert type(e.value) is kind
    return str(e.value)


def normal(*shape: int) -> Array:
    return RNG.normal(0, 1, shape).astype(np.float32)


def convolved(
    x: Array, w: Array, stride: int = 1, pads: Sequence[int] = (0, 0, 0, 0), dilation: int = 1, zero: float = 0
) -> Array:
    """x [N, H, W, C], w [OC, Kh, Kw, C]; pads are top, left, bottom, right."""
    top, left, bottom, right = pads
    x = np.pad(x.astype(np.float64), ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=zero)
    kh, kw = w.shape[1:3]
    height = (x.shape[1] - dilation * (kh - 1) - 1) // stride + 1
    width = (x.shape[2] - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((x.shape[0], height, width, w.shape[0]))
    for i in range(kh):
        for j in range(kw):
            rows = slice(i * dilation, i * dilation + (height - 1) * stride + 1, stride)
            columns = slice(j * dilation, j * dilation + (width - 1) * stride + 1, stride)
            y += np.einsum("nhwc,oc->nhwo", x[:, rows, columns], w[:, i, j].astype(np.float64))
    return y


def conv_options(f: Tflite, padding: int, stride: int = 1, activation: int = 0) -> dict:
    return {0: f.byte(padding), 1: f.int32(stride), 2: f.int32(stride), 3: f.byte(activation)}


# --- convolutions


@pytest.mark.parametrize(("height", "pads"), [(6, (0, 0, 1, 1)), (7, (1, 1, 1, 1))])
def test_same_padding_has_its_larger_half_after(height: int, pads: tuple[int, ...]) -> None:
    f, w, b = Tflite(), normal(5, 3, 3, 4), normal(5)
    width = height + 2
    x, y = f.tensor((1, height, width, 4)), f.tensor((1, -(-height // 2), -(-width // 2), 5))
    f.call("CONV_2D", [x, f.tensor(w.shape, data=w), f.tensor(b.shape, data=b)], [y], conv_options(f, SAME, 2, 1))
    f.subgraph([x], [y])
    given = normal(1, height, width, 4)
    wanted = np.maximum(convolved(given, w, 2, pads) + b, 0)
    np.testing.assert_allclose(program(f.file()).run(given), wanted, rtol=1e-5, atol=1e-5)


def int8_conv(
    dtype: str = "int8", activation: int = 3, scales: Sequence[float] = (0.02, 0.03, 0.5), x_scale: object = 0.1
) -> bytes:
    """3 → 3 channels, without a bias; y stands for −2 … 3.1."""
    f = Tflite()
    shift = 128 if dtype == "uint8" else 0
    of_x = {} if x_scale is None else {"scale": x_scale, "zero_point": 7 + shift}
    x = f.tensor((1, 5, 4, 3), dtype, **of_x)
    y = f.tensor((1, 5, 4, 3), dtype, scale=0.02, zero_point=-28 + shift)
    w = f.tensor((3, 1, 1, 3), "int8", np.arange(-4, 5), scale=scales, zero_point=[0] * len(scales))
    f.call("CONV_2D", [x, w, -1], [y], conv_options(f, SAME, activation=activation))
    f.subgraph([x], [y])
    return f.file()


@pytest.mark.parametrize(("activation", "low", "high"), [(0, -128, 127), (1, -28, 127), (2, -78, 22), (3, -28, 127)])
def test_activations_are_bounds_of_int8(activation: int, low: int, high: int) -> None:
    x = RNG.integers(-128, 128, (1, 5, 4, 3), np.int8)
    sums = convolved(x.astype(int) - 7, np.arange(-4, 5).reshape(3, 1, 1, 3))
    factor = np.float32(0.1) * np.array([0.02, 0.03, 0.5], np.float32) / np.float32(0.02)
    wanted = np.clip(np.rint(sums.astype(np.float32) * factor) - 28, low, high)
    assert np.array_equal(program(int8_conv(activation=activation)).run(x), wanted.astype(np.int8))
    assert {low, high} <= {*wanted.ravel()}


def test_uint8_is_int8_inside() -> None:
    x = RNG.integers(0, 256, (1, 5, 4, 3), np.uint8)
    run = program(int8_conv("uint8")).run
    expected = program(int8_conv()).run((x ^ 128).view(np.int8)).view(np.uint8) ^ 128
    assert np.array_equal(run(x), expected)
    [first, *_, last] = graph(int8_conv("uint8")).nodes
    assert isinstance(first.op, Requantize)
    assert isinstance(last.op, Requantize)


def dilated(
    crops: Sequence[int] = (0, 0, 0, 1), pads: Sequence[int] = (2, 2, 2, 3), block: int = 2
) -> tuple[bytes, Array]:
    """SPACE_TO_BATCH_ND, a convolution and BATCH_TO_SPACE_ND, as a dilated convolution is written; crops and pads are
    (top, bottom, left, right)."""
    f, w, block, pads = Tflite(), normal(6, 3, 3, 5), 2, (2, 2, 2, 3)
    height, width = 8 + pads[0] + pads[1], 7 + pads[2] + pads[3]
    x = f.tensor((1, 8, 7, 5))
    small = f.tensor((block**2, height // block, width // block, 5))
    made = f.tensor((block**2, height // block - 2, width // block - 2, 6))
    y = f.tensor((1, height - 2 * block - crops[0] - crops[1], width - 2 * block - crops[2] - crops[3], 6))
    sizes = f.ints(block, block)
    f.call("SPACE_TO_BATCH_ND", [x, sizes, f.tensor((2, 2), "int32", np.array(pads))], [small])
    f.call(
        "CONV_2D", [small, f.tensor(w.shape, data=w), f.tensor((6,), data=np.zeros(6))], [made], conv_options(f, VALID)
    )
    f.call("BATCH_TO_SPACE_ND", [made, sizes, f.tensor((2, 2), "int32", np.array(crops))], [y])
    f.subgraph([x], [y])
    return f.file(), w


@pytest.mark.parametrize("crops", [(0, 0, 0, 1), (1, 0, 0, 2), (3, 3, 3, 4)])
def test_a_convolution_between_blocks_is_a_dilated_one(crops: tuple[int, ...]) -> None:
    data, w = dilated(crops)
    x = normal(1, 8, 7, 5)
    y = convolved(x, w, 1, (2, 2, 2, 3), 2)
    y = y[:, crops[0] : y.shape[1] - crops[1], crops[2] : y.shape[2] - crops[3]]
    np.testing.assert_allclose(program(data).run(x), y, rtol=1e-5, atol=1e-5)
    [op] = [node.op for node in graph(data).nodes if isinstance(node.op, Convolution)]
    assert op.dilation == (2, 2)
    assert kinds(data).count(Permute) == 2


def test_blocks_that_no_convolution_follows_are_batches() -> None:
    f = Tflite()
    x, y = f.tensor((1, 4, 6, 2)), f.tensor((4, 2, 4, 2))
    f.call("SPACE_TO_BATCH_ND", [x, f.ints(2, 2), f.tensor((2, 2), "int32", np.array([0, 0, 1, 1]))], [y])
    f.subgraph([x], [y])
    given = normal(1, 4, 6, 2)
    padded = np.pad(given, ((0, 0), (0, 0), (1, 1), (0, 0)))
    wanted = np.concatenate([padded[:, i::2, j::2] for i in (0, 1) for j in (0, 1)])
    assert np.array_equal(program(f.file()).run(given), wanted)


def padded_conv() -> Tflite:
    f = Tflite()
    x = f.tensor((1, 6, 6, 4), "int8", scale=0.1, zero_point=-5)
    p = f.tensor((1, 8, 7, 4), "int8", scale=0.1, zero_point=-5)
    y = f.tensor((1, 6, 5, 4), "int8", scale=1.0)
    w = f.tensor((4, 3, 3, 4), "int8", RNG.integers(-9, 9, (4, 3, 3, 4)), scale=0.1)
    f.call("PAD", [x, f.tensor((4, 2), "int32", np.array([0, 0, 2, 0, 0, 1, 0, 0]))], [p])
    f.call("CONV_2D", [p, w, -1], [y], conv_options(f, VALID))
    f.subgraph([x], [y])
    return f


def test_margins_before_a_convolution_are_its_own() -> None:
    data = padded_conv().file()
    [op] = [node.op for node in graph(data).nodes if isinstance(node.op, Conv2d)]
    assert tuple(op.padding) == (2, 0, 0, 1)
    assert Pad not in kinds(data)


def test_no_layout_changes_inside_a_network() -> None:
    """Of 16 channels nothing is copied at all; what comes in with three is laid out once."""
    for channels, relayouts in ((16, 0), (3, 1)):
        f = Tflite()
        x = last = f.tensor((1, 9, 9, channels), "int8", scale=0.1)
        for depth in (channels, 16, 16):
            w = f.tensor((16, 3, 3, depth), "int8", RNG.integers(-9, 9, (16, 3, 3, depth)), scale=0.1)
            y = f.tensor((1, 9, 9, 16), "int8", scale=0.1)
            f.call("CONV_2D", [last, w, -1], [y], conv_options(f, SAME, activation=1))
            p = f.tensor((1, 9, 9, 16), "int8", scale=0.1)
            pool = {0: f.byte(SAME), 1: f.int32(1), 2: f.int32(1), 3: f.int32(2), 4: f.int32(2)}
            f.call("MAX_POOL_2D", [y], [p], pool)
            last = f.tensor((1, 9, 9, 16), "int8", scale=0.2)
            f.call("ADD", [y, p], [last])
        f.subgraph([x], [last])
        plan = plan_program({"main": rewrite(graph(f.file()))}, Target()).plans["main"]
        assert plan.relayouts == relayouts
        assert len(plan.steps) == 9 + relayouts


# --- shapes


def test_chains_of_shapes_are_folded() -> None:
    f = Tflite()
    x, y = f.tensor((2, 6, 4)), f.tensor((2, 24))
    s, n, to = f.tensor((3,), "int32"), f.tensor((), "int32"), f.tensor((2,), "int32")
    f.call("SHAPE", [x], [s], {0: f.byte(2)})
    f.call("STRIDED_SLICE", [s, f.ints(0), f.ints(1), f.ints(1)], [n], {4: f.int32(1)})
    f.call("PACK", [n, f.tensor((), "int32", np.array(24))], [to], {0: f.int32(2)})
    f.call("RESHAPE", [x, to], [y])
    f.subgraph([x], [y])
    given = normal(2, 6, 4)
    assert np.array_equal(program(f.file()).run(given), given.reshape(2, 24))
    assert len(graph(f.file()).nodes) == 1


def open_sizes() -> bytes:
    f = Tflite()
    x = f.tensor((1, 1, 3), name="frames", signature=(-1, -1, 3))
    y = f.tensor((1, 1, 3), name="out", signature=(-1, -1, 3))
    f.call("ABS", [x], [y])
    f.subgraph([x], [y])
    return f.file()


def test_open_sizes_are_given_by_name() -> None:
    with pytest.raises(InputError, match=r"frames.*are open"):
        program(open_sizes())
    p = program(open_sizes(), shapes={"frames": (2, 5, 3)})
    assert p.run(-np.ones((2, 5, 3), np.float32)).shape == (2, 5, 3)
    assert p.spec().outputs[0].shape == (2, 5, 3)
    for shapes, words in (({"frame": (1, 2, 3)}, "no input 'frame'"), ({"frames": (2, 3)}, "has the shape")):
        with pytest.raises(InputError, match=words):
            program(open_sizes(), shapes=shapes)


def test_an_open_batch_is_one() -> None:
    f = Tflite()
    x, y = f.tensor((1, 3), signature=(-1, 3)), f.tensor((1, 3), signature=(-1, 3))
    f.call("ABS", [x], [y])
    f.subgraph([x], [y])
    assert program(f.file()).spec().inputs[0].shape == (1, 3)


# --- variables


def counter(f: Tflite, *, initial: bool = True, assigns: bool = True, once: int = 1) -> None:
    """A subgraph that returns x + what it keeps, and keeps that; and the one that gives the first value."""

    def handle() -> int:
        v = f.tensor((), "resource")
        f.call("VAR_HANDLE", [], [v], {1: f.offset(f.text("sum"))})
        return v

    x, old, y = (f.tensor((2,), name=name) for name in ("x", "old", "y"))
    f.call("CALL_ONCE", [], [], {0: f.int32(once)})
    v = handle()
    f.call("READ_VARIABLE", [v], [old])
    f.call("ADD", [x, old], [y])
    if assigns:
        f.call("ASSIGN_VARIABLE", [v, y], [])
    f.subgraph([x], [y], "count")
    v = handle()
    if initial:
        f.call("ASSIGN_VARIABLE", [v, f.tensor((2,), data=np.array([1, 2]))], [])
    f.subgraph([], [], "first")


def test_variables_are_kept_between_runs() -> None:
    f = Tflite()
    counter(f)
    p, one = program(f.file()), np.ones(2, np.float32)
    assert [p.run(one).tolist() for _ in range(3)] == [[2, 3], [3, 4], [4, 5]]
    p.reset()
    assert p.run(one).tolist() == [2, 3]


def test_a_variable_that_never_changes_is_a_constant() -> None:
    f = Tflite()
    counter(f, assigns=False)
    assert not graph(f.file(), "count").states
    assert program(f.file()).run(np.ones(2, np.float32)).tolist() == [2, 3]


def test_a_variable_without_a_first_value_is_damage() -> None:
    f = Tflite()
    counter(f, initial=False)
    refused(f.file(), FormatError, "operator 2: READ_VARIABLE: reads a variable that has no value yet")


@pytest.mark.parametrize("once", [0, 7])
def test_what_initializes_is_another_subgraph(once: int) -> None:
    f = Tflite()
    counter(f, once=once)
    f.signature("count", 0, {}, {})
    refused(f.file(), FormatError, f"CALL_ONCE: subgraph {once} does not exist, or is what calls it")


def test_methods_that_share_a_variable_are_refused() -> None:
    f = Tflite()
    counter(f)
    v, y = f.tensor((), "resource"), f.tensor((2,))
    f.call("VAR_HANDLE", [], [v], {1: f.offset(f.text("sum"))})
    f.call("READ_VARIABLE", [v], [y])
    f.subgraph([], [y], "look")
    f.signature("count", 0, {"x": 0}, {"y": 2})
    f.signature("look", 2, {}, {"sum": 1})
    assert "'sum'" in refused(f.file(), Unsupported, "the method 'look' uses the same variables")


def test_a_variable_is_no_tensor() -> None:
    f = Tflite()
    v, y = f.tensor((), "resource"), f.tensor((2,))
    f.call("VAR_HANDLE", [], [v], {})
    f.call("ABS", [v], [y])
    f.subgraph([], [y])
    refused(f.file(), FormatError, "operator 1: ABS: takes a variable")


# --- methods and names


def test_signatures_are_methods_and_name_what_goes_in_and_out() -> None:
    f = Tflite()
    for operator in ("ABS", "NEG"):
        x, y = f.tensor((2,), name="x_raw"), f.tensor((2,), name="y_raw")
        f.call(operator, [x], [y])
        f.subgraph([x], [y], operator)
    f.signature("absolute", 0, {"number": 0}, {"size": 1})
    f.signature("negative", 1, {"number": 0}, {})
    p, x = program(f.file()), np.array([1, -2], np.float32)
    assert {n: (m.inputs[0].name, m.outputs[0].name) for n, m in p.methods.items()} == {
        "absolute": ("number", "size"),
        "negative": ("number", "y_raw"),
    }
    assert drive(p(number=x, method="absolute")).tolist() == [1, 2]
    assert drive(p({"number": x}, method="negative")).tolist() == [-1, 2]


def test_without_signatures_subgraphs_are_methods_but_for_those_that_are_called() -> None:
    f = Tflite()
    counter(f)
    assert [*program(f.file()).methods] == ["count"]


# --- constants


def test_buffers_may_lie_behind_the_flatbuffer() -> None:
    """As in files beyond 2 GiB: a place and a size in the file."""

    def model(offset: int, size: int) -> bytes:
        f = Tflite()
        place = {1: lambda s: f.b.PrependUint64Slot(s, offset, 0), 2: lambda s: f.b.PrependUint64Slot(s, size, 0)}
        f.buffers.append(f.table(place))
        x, y = f.tensor((3,)), f.tensor((3,))
        f.call("ADD", [x, f.tensor((3,), buffer=1)], [y])
        f.subgraph([x], [y])
        return f.file()

    start = -(-len(model(2**20, 12)) // 16) * 16
    whole = model(start, 12).ljust(start, b"\0") + np.arange(3, dtype=np.float32).tobytes()
    assert program(whole).run(np.ones(3, np.float32)).tolist() == [1, 2, 3]
    refused(whole[:-1], FormatError, "the file is cut off: buffer 1 ends at byte")
    refused(model(start, 2**63), FormatError, "the file is cut off")


def times_constant(dtype: str, data: Array | bytes, count: int = 3, **more: object) -> bytes:
    """x · a constant that DEQUANTIZE reads."""
    f = Tflite()
    x, c, y = f.tensor((count,)), f.tensor((count,)), f.tensor((count,))
    f.call("DEQUANTIZE", [f.tensor((count,), dtype, data, **more)], [c])  # type: ignore[arg-type]
    f.call("MUL", [x, c], [y])
    f.subgraph([x], [y])
    return f.file()


def test_constants_of_few_bits_are_unpacked() -> None:
    ones = np.ones(3, np.float32)
    halves = times_constant("float16", np.array([0.5, -2, 65504], np.float16))
    assert program(halves).run(ones).tolist() == [0.5, -2, 65504]
    nibbles = times_constant("int4", bytes([0x8F, 0x07]), scale=0.5)
    assert program(nibbles).run(ones).tolist() == [-0.5, -4, 3.5]


# --- what is not supported, and damage


def chain(*calls: str) -> Tflite:
    f = Tflite()
    last = f.tensor((2,))
    for name in calls:
        y = f.tensor((2,))
        f.call(name, [last], [y])
        last = y
    f.subgraph([0], [last])
    return f


def test_all_that_is_not_supported_is_listed_with_its_place() -> None:
    text = refused(chain("FlexErf", "ABS", "TFLite_Detection_PostProcess", "UNIQUE").file(), Unsupported, "3 problems")
    assert re.search(r"operator 0: FlexErf: an operator of TensorFlow itself: convert again with", text)
    assert re.search(r"operator 2: TFLite_Detection_PostProcess: a custom operator", text)
    assert re.search(r"operator 3: UNIQUE: no such op in webq8", text)


def abs_of(**x: object) -> bytes:
    f = Tflite()
    first, y = f.tensor(**{"shape": (2,), **x}), f.tensor((2,))  # type: ignore[arg-type]
    f.call("ABS", [first], [y])
    f.subgraph([first], [y])
    return f.file()


def sparse() -> bytes:
    f = Tflite()
    x, y = f.tensor((2,)), f.tensor((2,))
    f.call("ADD", [x, f.tensor((2,), data=np.ones(1), more={6: f.table({})})], [y])
    f.subgraph([x], [y])
    return f.file()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lambda: abs_of(dtype="complex64"), r"input 0: tensor 't0': tensors of complex64 are not supported"),
        (lambda: abs_of(dtype="string"), r"tensors of string"),
        (sparse, r"operator 0: ADD: tensor 't2' is sparse"),
        (lambda: int8_conv(activation=4), r"fused activation 4"),
    ],
)
def test_what_is_sound_but_not_supported(data: Callable[[], bytes], words: str) -> None:
    refused(data(), Unsupported, words)


def twice() -> bytes:
    f = Tflite()
    x, y = f.tensor((2,)), f.tensor((2,))
    f.call("ABS", [x], [y])
    f.call("NEG", [x], [y])
    f.subgraph([x], [y])
    return f.file()


def before() -> bytes:
    f = Tflite()
    x, y, z = f.tensor((2,)), f.tensor((2,)), f.tensor((2,))
    f.call("ADD", [x, z], [y])
    f.call("NEG", [x], [z])
    f.subgraph([x], [y])
    return f.file()


def ids(inputs: Sequence[int] = (0,), outputs: Sequence[int] = (1,), ends: tuple[int, int] = (0, 1)) -> bytes:
    f = Tflite()
    f.tensor((2,))
    f.tensor((2,))
    f.call("ABS", inputs, outputs)
    f.subgraph([ends[0]], [ends[1]])
    return f.file()


def other_code() -> bytes:
    f = Tflite()
    x, y = f.tensor((2,)), f.tensor((2,))
    f.calls.append(f.table({0: f.int32(5), 1: f.offset(f.numbers([x], "int32")), 2: f.offset(f.numbers([y], "int32"))}))
    f.subgraph([x], [y])
    return f.file()


def signature_of(subgraph: int = 0, tensor: int = 0, keys: Sequence[str] = ("a",)) -> bytes:
    f = chain("ABS")
    for key in keys:
        f.signature(key, subgraph, {"x": tensor}, {})
    return f.file()


def no_type() -> bytes:
    f = Tflite()
    f.tensors.append(f.table({0: f.offset(f.numbers([2], "int32")), 1: f.byte(77)}))
    f.subgraph([0], [0])
    return f.file()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lambda: chain("ABS").file(version=4), "version 4 of the schema"),
        (lambda: Tflite().file(), "holds no subgraph"),
        (lambda: ids(inputs=(9,)), r"operator 0: tensor 9 does not exist \(there are 2\)"),
        (lambda: ids(inputs=(-2,)), "operator 0: tensor -2 does not exist"),
        (lambda: ids(outputs=(-1,)), "operator 0: tensor -1 does not exist"),
        (lambda: ids(inputs=(0, 0)), "operator 0: ABS: 2 inputs, 1 are expected"),
        (lambda: ids(inputs=(-1,)), "operator 0: ABS: input 0 is left out"),
        (lambda: ids(outputs=(1, 1)), "operator 0: ABS: 2 outputs, 1 are expected"),
        (lambda: ids(ends=(0, 2)), "outputs: tensor 2 does not exist"),
        (lambda: ids(ends=(1, 1)), "writes tensor 1 a second time"),
        (twice, "operator 1: NEG: writes tensor 1 a second time"),
        (before, "operator 0: ADD: reads tensor 2 before it is computed"),
        (other_code, r"operator 0: operator code 5 does not exist \(there are 0\)"),
        (no_type, "tensor 0: type 77 of elements is not known"),
        (lambda: signature_of(subgraph=1), r"signature 0: subgraph 1 does not exist"),
        (lambda: signature_of(tensor=3), r"signature 0: tensor 3 does not exist"),
        (lambda: signature_of(keys=("a", "a")), r"signature 1: another one has the name 'a'"),
        (lambda: abs_of(shape=(-2,)), r"tensor 0: negative size in \[-2\]"),
        (lambda: abs_of(shape=(2**30, 2**30)), r"tensor 0: a tensor of .* is larger than any memory"),
        (lambda: abs_of(dtype="int8", scale=[1, 2], zero_point=[1, 2, 3]), "2 scales, but 3 zero points"),
        (lambda: abs_of(dtype="int8", scale=[1, 2, 3]), r"3 scales do not fit dimension 0 of \[2\]"),
        (lambda: abs_of(dtype="int8", scale=1.0, zero_point=200), "zero point 200 is outside of int8"),
        (lambda: abs_of(dtype="int8", scale=0.0), "0.0 is not a usable scale"),
        (lambda: abs_of(dtype="int8", scale=np.nan), "nan is not a usable scale"),
        (lambda: times_constant("int8", np.ones(4), scale=1.0), "4 bytes of data, 3 are expected"),
        (lambda: times_constant("int4", bytes(3), scale=1.0), "3 bytes of data, 2 are expected"),
        (lambda: int8_conv(scales=(1, 2)), "2 scales do not fit dimension 0"),
        (lambda: int8_conv(x_scale=None), "int8 has no scale, or one for each channel"),
    ],
)
def test_damage(data: Callable[[], bytes], words: str) -> None:
    refused(data(), FormatError, words)


def read_and_lower(data: bytes) -> None:
    file = read_file(data)
    for method in file.methods.values():
        finish(method.lower(Budget(file.size, "test")))


def test_nothing_initializes_itself() -> None:
    f = Tflite()
    f.call("CALL_ONCE", [], [], {0: f.int32(1)})
    f.subgraph([], [])
    f.call("CALL_ONCE", [], [], {0: f.int32(0)})
    f.subgraph([], [])
    refused(f.file(), FormatError, "subgraph 1, operator 0: CALL_ONCE: subgraph 0 does not exist, or is what calls it")


def test_files_that_are_cut_off_or_changed_raise_errors_of_webq8() -> None:
    f = Tflite()
    counter(f)
    whole = f.file()
    for end in range(8, len(whole), 29):
        with pytest.raises(Webq8Error):
            program(whole[:end])
    for at in range(8, len(whole)):
        for value in (at * 37 & 255, 1 - (at & 1)):
            with suppress(Webq8Error):
                read_and_lower(whole[:at] + bytes([value]) + whole[at + 1 :])


def test_the_dtype_of_a_result_is_that_of_the_file() -> None:
    f = Tflite()
    x, y = f.tensor((2,)), f.tensor((2,), "int32")
    f.call("ABS", [x], [y])
    f.subgraph([x], [y])
    refused(f.file(), Unsupported, "operator 0: ABS: its result is float32, but the file says int32")


def test_old_files_have_operators_in_a_byte() -> None:
    f = Tflite()
    x, y = f.tensor((2,)), f.tensor((2,))
    f.call("RELU", [x], [y])
    f.subgraph([x], [y])
    data = f.file()
    number = struct.pack("<i", 19)
    assert data.count(number) == 1  # the newer field; the older one stays
    assert program(data.replace(number, bytes(4))).run(np.array([-1, 2], np.float32)).tolist() == [0, 2]


def test_quantization_of_a_moved_tensor_is_that_of_the_file() -> None:
    """A reshape between two scales keeps the integers."""
    f = Tflite()
    x, y = f.tensor((2, 2), "int8", scale=0.5), f.tensor((4,), "int8", scale=0.25, zero_point=3)
    z = f.tensor((4,))
    f.call("RESHAPE", [x, f.ints(4)], [y])
    f.call("DEQUANTIZE", [y], [z])
    f.subgraph([x], [z])
    given = np.array([[1, 2], [3, 4]], np.int8)
    assert program(f.file()).run(given).tolist() == [-0.5, -0.25, 0, 0.25]
    assert any(t.quantization == PerTensor(0.25, 3) for t in graph(f.file()).tensors)


def test_names_of_inputs_are_told_when_a_shape_is_asked_for_others() -> None:
    with pytest.raises(InputError, match=r"inputs are \['frames'\]"):
        read_file(open_sizes(), "file", Asked({"x": (1, 2, 3)}))
