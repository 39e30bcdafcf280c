"""Reading `.onnx` files: every encoding, the rules of operators, open sizes, and bytes that are no such file."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import webq8
from onnx_writer import KINDS, Sizes, attribute, external, field, graph, model, node, one_node, varint
from webq8.budget import Budget
from webq8.errors import FormatError, InputError, OpenShapes, Unsupported, Webq8Error
from webq8.formats import FORMATS, read_file
from webq8.formats.onnx.read import read_model
from webq8.passes import required
from webq8.stages import drive, finish

CLASSIFIER = Path(__file__).parents[2] / "web" / "models" / "classifier.pte"
X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
ADD = one_node("Add", {"x": X, "y": X}, {"z": "float32"})


def run(data: bytes | Path, *inputs: Any, **options: Any) -> Any:
    with drive(webq8.load(data, device="cpu", **options)) as program:
        return program.run(*inputs)


def of(op: str, x: Any, *constants: Any, result: str = "float32", opset: int = 17, **attributes: Any) -> Any:
    """What an operator makes of one input, the others being constants."""
    held = {f"c{n}": c for n, c in enumerate(constants)}
    return run(one_node(op, {"x": x}, {"y": result}, held, opset, **attributes), x)


# --- recognizing and reading


def test_it_is_recognized() -> None:
    assert [f.name for f in FORMATS if f.recognizes(memoryview(ADD))] == [".onnx"]
    assert np.array_equal(run(ADD, X, X), X + X)


def test_names_are_those_of_the_file() -> None:
    with drive(webq8.load(ADD, device="cpu")) as program:
        assert np.array_equal(program.run(y=X, x=np.zeros_like(X)), X)


@pytest.mark.parametrize("length", [20, 60, len(ADD) // 2, len(ADD) - 1])
def test_a_file_that_is_cut_off(length: int) -> None:
    with pytest.raises(FormatError):
        read_file(ADD[:length])


def message(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (message(7, 2) + varint(2**63), "the file is cut off"),
        (b"\x08" + b"\xff" * 11, "an integer does not end"),
        (field(7, message(0, 0) + b"\1"), "a field has the number 0"),
        (field(7, message(1, 3)), "the wire type 3"),
        (field(7, 5), "graph is a number"),
        (field(7, field(1, field(1, b"\xff\xfe"))), "no UTF-8"),
        (field(8, field(2, 17)), "the model has no graph"),
        (field(7, field(1, 7)), "a number stands in place of a message"),
    ],
)
def test_damage(damage: bytes, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read_model(memoryview(field(1, 8) + damage), "model.onnx")


def test_graphs_within_graphs_without_end() -> None:
    inner = b""
    for _ in range(200):
        inner = graph([node("If", ["c"], ["y"], then_branch=inner)], {}, {})
    with pytest.raises(FormatError, match="messages lie within each other"):
        read_model(memoryview(model(inner)), "model.onnx")


def typed(kind: int, number: int, values: "list[Any]", shape: "tuple[int, ...]" = (2,)) -> bytes:
    """A tensor whose elements lie in a field of their own, packed or one by one."""
    numbers = b"".join(map(varint, values)) if isinstance(values[0], int) else struct.pack(f"<{len(values)}f", *values)
    return b"".join(field(1, n) for n in shape) + field(2, kind) + field(8, "c") + field(number, numbers)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (typed(1, 4, [1.5, -2.0]), np.array([1.5, -2], np.float32)),
        (typed(2, 5, [3, 255]), np.array([3, 255], np.uint8)),
        (typed(3, 5, [3, -128]), np.array([3, -128], np.int8)),
        (typed(6, 5, [3, -(2**31)]), np.array([3, -(2**31)], np.int32)),
        (typed(7, 7, [3, -(2**62)]), np.array([3, -(2**62)], np.int64)),
        (typed(9, 5, [1, 0]), np.array([True, False])),
        (typed(10, 5, [0x3E00, 0xC000]), np.array([1.5, -2], np.float32)),
        (typed(16, 5, [0x3FC0, 0xC000]), np.array([1.5, -2], np.float32)),
        (typed(22, 5, [0xF1, 0x08], (3,)), np.array([1, -1, -8], np.int8)),
        (typed(21, 5, [0xF1], (2,)), np.array([1, 15], np.uint8)),
    ],
)
def test_elements_of_typed_fields(data: bytes, expected: "np.ndarray[Any, Any]") -> None:
    found = read_model(memoryview(model(graph([], {}, {}, {"c": data}))), "m").graph.initializers["c"].tensor  # type: ignore[union-attr]
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype.name)
    assert np.array_equal(np.frombuffer(found.data or b"", found.dtype), expected)


@pytest.mark.parametrize(("kind", "raw"), [("float16", b"\0\x3e\0\xc0"), (16, b"\xc0\x3f\0\xc0")])
def test_halves_are_held_as_float32(kind: int | str, raw: bytes) -> None:
    data = field(1, 2) + field(2, KINDS.get(str(kind), kind)) + field(8, "c") + field(9, raw)  # type: ignore[arg-type]
    read = read_model(memoryview(model(graph([], {}, {}, {"c": data}))), "m").graph.initializers["c"].tensor  # type: ignore[union-attr]
    assert np.frombuffer(read.data or b"", np.float32).tolist() == [1.5, -2.0]


@pytest.mark.parametrize("count", [0, 7, 9])
def test_elements_that_do_not_fit(count: int) -> None:
    data = field(1, 2) + field(2, 1) + field(8, "c") + field(9, bytes(count))
    with pytest.raises(FormatError, match=rf"initializer 0 \(c\): {count} bytes for float32 \[2\], which takes 8"):
        read_model(memoryview(model(graph([], {}, {}, {"c": data}))), "m")


# --- weights in other files


def with_external(folder: Path, location: str, offset: int = 0) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(one_node("Add", {"x": X}, {"y": "float32"}, {"c": external("c", X, location, offset)}))
    return path


def test_weights_in_the_folder_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"\1" * 4 + X.tobytes())
    path = with_external(tmp_path, "weights.bin", 4)
    assert np.array_equal(run(path, X), X + X)
    with pytest.raises(Unsupported, match=r"the weights lie in another file, 'weights.bin', which is not at hand"):
        run(path.read_bytes(), X)


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "a/../../secret", "link", "", ".", "none", "a\0b"])
def test_files_elsewhere_are_not_read(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret").write_bytes(X.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(FormatError, match="is no file in the folder of the model"):
        run(with_external(folder, location), X)


@pytest.mark.parametrize("offset", [1, -1, 2**63])
def test_bytes_beyond_a_file_of_weights(tmp_path: Path, offset: int) -> None:
    (tmp_path / "weights.bin").write_bytes(X.tobytes())
    with pytest.raises(FormatError, match=r"of 'weights.bin', which has 48"):
        run(with_external(tmp_path, "weights.bin", offset), X)


# --- open sizes

OPEN: dict[str, tuple[str, Sizes]] = {"x": ("float32", ["batch", 4]), "y": ("float32", ["batch", None])}
SUM = model(graph([node("Add", ["x", "y"], ["z"])], OPEN, {"z": ("float32", ["batch", 4])}))


def test_open_sizes_are_named() -> None:
    with pytest.raises(OpenShapes, match=r"the sizes batch, y are open \(x: \[batch, 4\]; y: \[batch, \?\]\)") as e:
        run(SUM)
    assert (e.value.symbols, e.value.inputs) == (["batch"], ["y"])


def test_open_sizes_are_given() -> None:
    assert np.array_equal(run(SUM, X, X, shapes={"batch": 3, "y": [3, 4]}), X + X)
    assert np.array_equal(run(SUM, X, X[:, :1], shapes={"y": [3, 1]}), X + X[:, :1])


def test_other_shapes_are_planned_once() -> None:
    with drive(webq8.load(SUM, device="cpu", shapes={"batch": 3, "y": [3, 4]})) as program:
        one = drive(program.for_shapes({"batch": 1, "y": [1, 4]}))
        assert np.array_equal(one.run(X[:1], X[:1]), X[:1] * 2)
        assert drive(one.for_shapes({"batch": 3, "y": [3, 4]})) is program
        assert drive(program.for_shapes({"batch": 1, "y": [1, 4]})) is one
        one.close()
        assert drive(program.for_shapes({"batch": 1, "y": [1, 4]})) is not one
        with pytest.raises(InputError, match="does not fit y"):
            drive(program.for_shapes({"y": [2, 4]}))
    with drive(webq8.load(CLASSIFIER, device="cpu")) as fixed, pytest.raises(InputError, match="are fixed"):
        drive(fixed.for_shapes({"batch": 1}))


@pytest.mark.parametrize(
    ("shapes", "why"),
    [
        ({"batch": 3, "y": [3, 4], "time": 2}, "no symbol or input 'time'; it has batch, x, y"),
        ({"batch": 3, "y": [2, 4]}, r"\[2, 4\] does not fit y, which is \[batch, \?\]"),
        ({"batch": -1, "y": [3, 4]}, "does not fit y|is negative"),
        ({"batch": 3, "y": [3, 4, 1]}, "does not fit y"),
    ],
)
def test_sizes_that_do_not_fit(shapes: "dict[str, Any]", why: str) -> None:
    with pytest.raises(InputError, match=why):
        run(SUM, shapes=shapes)


# --- what keeps a file from running is listed


def test_all_problems_are_listed_with_their_places() -> None:
    nodes = [
        node("Bogus", ["x"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["x"], ["c"]),
        node("Relu", ["x"], ["d"], strange=3),
        node("Relu", ["nothing"], ["e"]),
    ]
    outputs: dict[str, tuple[str, Sizes]] = dict.fromkeys("bcde", ("float32", None))
    with pytest.raises(Webq8Error) as caught:
        run(model(graph(nodes, {"x": ("float32", [3, 4])}, outputs)))
    assert str(caught.value).splitlines()[1:] == [
        "  - node 0: Bogus: no such operator in webq8",
        "  - node 2: Conv: input 1 is missing",
        "  - node 3: Relu: the attribute strange is not supported",
        "  - node 4: Relu: reads 'nothing', which nothing before it computes",
    ]


def test_an_attribute_of_another_type() -> None:
    with pytest.raises(FormatError, match=r"LeakyRelu: alpha: 'much' is no float"):
        of("LeakyRelu", X, alpha="much")


# --- branches and functions

ONE: dict[str, tuple[str, Sizes]] = {"y": ("float32", None)}


@pytest.mark.parametrize("truth", [True, False])
def test_a_branch_that_is_known_takes_the_place_of_if(truth: bool) -> None:
    then = graph([node("Neg", ["x"], ["then"])], {}, {"then": ("float32", None)})
    other = graph([node("Identity", ["x"], ["other"])], {}, {"other": ("float32", None)})
    made = node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    data = model(graph([made], {"x": ("float32", [3, 4])}, ONE, {"c": np.array(truth)}))
    assert np.array_equal(run(data, X), -X if truth else X)


def test_a_branch_that_the_run_decides_is_refused() -> None:
    empty = graph([node("Identity", ["x"], ["z"])], {}, {"z": ("float32", None)})
    made = node("If", ["c"], ["y"], then_branch=empty, else_branch=empty)
    with pytest.raises(Unsupported, match=r"node 0: If: the condition is computed in the run"):
        run(model(graph([made], {"x": ("float32", [3, 4]), "c": ("bool", [])}, ONE)))


def function(name: str, nodes: "list[bytes]", attributes: bytes = b"") -> bytes:
    versions = field(9, field(2, 17)) + field(9, field(1, "own") + field(2, 1))
    return (
        field(1, name)
        + field(4, "a")
        + field(5, "b")
        + b"".join(field(7, n) for n in nodes)
        + versions
        + field(10, "own")
        + attributes
    )


def test_functions_are_inlined() -> None:
    """With attributes of the call, and those that it leaves out."""
    alpha = field(1, "alpha") + field(20, 1) + field(21, "slope")
    leaky = node("LeakyRelu", ["a"], ["t"]) + field(5, alpha)
    own = function("Twice", [leaky, node("Add", ["t", "t"], ["b"])], field(11, attribute("slope", 0.5)))
    nodes = [node("Twice", ["x"], ["t"], "own"), node("Twice", ["t"], ["y"], "own", slope=0.25)]
    data = model(graph(nodes, {"x": ("float32", [3, 4])}, ONE), functions=[own])
    once = np.where(X > 0, X, X * np.float32(0.5)) * 2
    assert np.array_equal(run(data, X), np.where(once > 0, once, once * np.float32(0.25)) * 2)
    assert [op.where for op in read_file(data).methods["forward"].operators()][:2] == [
        "node 0, Twice, node 0",
        "node 0, Twice, node 1",
    ]


def test_functions_that_call_each_other() -> None:
    own = function("Endless", [node("Endless", ["a"], ["b"], "own")])
    data = model(graph([node("Endless", ["x"], ["y"], "own")], {"x": ("float32", [3, 4])}, ONE), functions=[own])
    with pytest.raises(FormatError, match="its functions call each other without end"):
        read_file(data)


def test_functions_that_grow_without_end() -> None:
    functions = [
        function(f"F{n}", [node(f"F{n + 1}", ["a"], [out], "own") for out in ("t", "b")]) for n in range(30)
    ] + [function("F30", [node("Relu", ["a"], ["b"])])]
    data = model(graph([node("F0", ["x"], ["y"], "own")], {"x": ("float32", [3, 4])}, ONE), functions=functions)
    with pytest.raises(FormatError, match="without end"):
        read_file(data)


# --- dynamic quantization, weights of a few bits, and results of fewer rows


def test_dynamic_quantization_is_a_product_of_what_integers_stand_for() -> None:
    """As transformers are quantized: DynamicQuantizeLinear → MatMulInteger → Cast → Mul by both scales → Add."""
    weight, scale = np.arange(-10, 10, dtype=np.int8).reshape(4, 5), np.array(0.25, np.float32)
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "w", "z"], ["i"]),
        node("Cast", ["i"], ["f"], to=1),
        node("Mul", ["s", "ws"], ["both"]),
        node("Mul", ["f", "both"], ["y"]),
    ]
    data = model(graph(nodes, {"x": ("float32", [3, 4])}, ONE, {"w": weight, "ws": scale}))
    step = (X.max() - X.min()) / np.float32(255)
    zero = np.rint(-X.min() / step)
    q = np.clip(np.rint(X / step) + zero, 0, 255)
    assert np.allclose(run(data, X), (q - zero) @ weight * step * scale, rtol=1e-6)
    lowered, problems = finish(read_file(data).methods["forward"].lower(Budget(None, "test")))
    assert not problems
    kinds = [type(n.op).__name__ for n in required(lowered).nodes]
    assert [kind for kind in kinds if kind not in ("Dequantize", "Reshape")] == ["ChooseQparams", "Quantize", "Linear"]


def test_weights_of_four_bits() -> None:
    """Two in a byte, the first in its lower half, with a scale for each 16 of a row, and 8 for 0."""
    q = np.arange(64, dtype=np.uint8).reshape(2, 32) * 7 % 16
    packed = (q[:, ::2] | q[:, 1::2] << 4).reshape(2, 2, 8)
    scales = np.array([0.5, 0.25, 2, 1], np.float32)
    x = np.linspace(-1, 1, 96, dtype=np.float32).reshape(3, 32)
    sizes = {"K": 32, "N": 2, "bits": 4, "block_size": 16}
    held = {"w": packed, "s": scales}
    found = run(one_node("MatMulNBits", {"x": x}, {"y": "float32"}, held, domain="com.microsoft", **sizes), x)
    weight = (q.astype(np.float32) - 8) * scales.reshape(2, 2).repeat(16, 1)
    assert np.allclose(found, x @ weight.T, rtol=1e-5, atol=1e-5)


def test_rows_that_are_none_are_left_out() -> None:
    """Of three boxes the second overlaps the first by 0.9, and the third has too low a score."""
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 0.9, 1], [2, 2, 3, 3]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]]], np.float32)
    limits = {"m": np.array([3]), "i": np.array([0.5], np.float32), "s": np.array([0.15], np.float32)}
    data = one_node("NonMaxSuppression", {"b": boxes, "c": scores}, {"y": "int64"}, limits)
    assert run(data, boxes, scores).tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 2]]
    with drive(webq8.load(data, device="cpu")) as program:
        assert str(program.methods["forward"].outputs[0]) == "int64 [6, 3], or fewer rows"


def test_nothing_reads_rows_whose_number_the_run_decides() -> None:
    nodes = [node("NonMaxSuppression", ["b", "c", "m"], ["r"]), node("Identity", ["r"], ["y"])]
    takes: dict[str, tuple[str, Sizes]] = {"b": ("float32", [1, 3, 4]), "c": ("float32", [1, 1, 3])}
    with pytest.raises(Unsupported, match="how many rows x has is known in the run only"):
        run(model(graph(nodes, takes, {"y": ("int64", None)}, {"m": np.array([3])})))
