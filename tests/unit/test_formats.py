"""Reading .pte files: what real ones hold, and every way of being damaged."""

import random
import re
import struct
from pathlib import Path

import numpy as np
import pytest
import webq8
from pte_writer import Pte, one_call
from webq8 import formats
from webq8.errors import FormatError, LimitError, Unsupported, Webq8Error
from webq8.formats import Asked, File, Format, read_file
from webq8.formats.base import Names
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program
from webq8.ir.plan import ProgramPlan
from webq8.ir.types import Tensor
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.stages import Steps, drive
from webq8.target import Target

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "tests" / "data" / "goldens"
LINEAR = (GOLDENS / "q8ta_linear__basic.pte").read_bytes()
CLASSIFIER = (ROOT / "web" / "models" / "classifier.pte").read_bytes()


def test_names_are_distinct() -> None:
    """Those of a file that names a tensor twice, or none, too."""
    assert Names.of(["x", "", "x", "in1", "x_2"], ["", "x"]) == (("x", "in1", "x_2", "in1_3", "x_2_4"), ("out0", "x"))


def check(data: bytes) -> None:
    for method in read_program(data, "file.pte").methods.values():
        lower(method, "file.pte")


def test_methods_share_constants() -> None:
    program = read_program(CLASSIFIER)
    assert set(program.methods) == {"forward", "batch"}
    weights = [
        {bytes(v.data) for v in m.values if isinstance(v, Tensor) and v.data is not None and v.dtype == "int8"}
        for m in program.methods.values()
    ]
    assert weights[0] == weights[1]
    assert {len(w) for w in weights[0]} == {8192, 640}


def test_calls_name_their_node() -> None:
    method = read_program(LINEAR).methods["forward"]
    assert [(c.where, c.name.split(".")[1]) for c in method.calls] == [
        ("delegate 0, node 0", "quantize_per_tensor"),
        ("delegate 0, node 1", "q8ta_linear"),
        ("delegate 0, node 2", "dequantize_per_tensor"),
    ]


def test_named_data_and_padding() -> None:
    """Ten outputs, twelve scales: the exporter pads, webq8 reads the first ten."""
    spec = webq8.inspect(ROOT / "web" / "models" / "classifier.pte")["methods"]["forward"]
    assert spec["outputs"] == [{"name": "out0", "shape": [1, 10], "dtype": "float32"}]
    assert not spec["unsupported"]
    assert spec["dispatches"] == 3  # quantizing and dequantizing takes none of its own


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.pte")), ids=lambda p: p.stem)
def test_every_golden_is_readable(path: Path) -> None:
    methods = read_program(path.read_bytes(), path.name).methods
    assert methods["forward"].problems == ()
    assert methods["forward"].calls


@pytest.mark.parametrize("data", [LINEAR, CLASSIFIER], ids=["linear", "classifier"])
def test_truncated_anywhere(data: bytes) -> None:
    for length in [*range(0, min(len(data), 4096), 7), *range(4096, len(data), 997), len(data) - 1]:
        with pytest.raises(FormatError):
            check(data[:length])


def test_truncation_is_named() -> None:
    with pytest.raises(FormatError, match=r"file\.pte: the file is cut off: .* of 2000"):
        check(LINEAR[:2000])


def test_wrong_identifier() -> None:
    with pytest.raises(
        FormatError, match=r"this is a \.pte file of another version \(webq8 reads ET12\)\. Export it again"
    ):
        read_file(LINEAR.replace(b"ET12", b"ET99"), "file.pte")
    with pytest.raises(FormatError, match="VH00"):
        check(LINEAR.replace(b"VH00", b"VH77"))
    with pytest.raises(FormatError, match="VK00"):
        check(LINEAR.replace(b"VK00", b"VK77"))
    with pytest.raises(FormatError, match="there is nothing in it"):
        read_file(b"", "file.pte")


def test_a_format_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file goes to the reader of the format that recognizes it; here one more is there, a `.pte` in an envelope."""
    seal, names = b"sealed: ", list[str]()

    def read(data: memoryview, name: str, asked: Asked) -> Steps[File]:
        names.append(name)
        return (yield from read_file.steps(data[len(seal) :], name, asked))

    x = np.zeros((1, 64), np.float32)
    plain = drive(webq8.load(CLASSIFIER, device="cpu")).run(x)
    with pytest.raises(FormatError, match="this is no model"):
        read_file(seal + CLASSIFIER)
    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, Format("sealed", lambda data: data[:8] == seal, read)])
    np.testing.assert_array_equal(drive(webq8.load(seal + CLASSIFIER, device="cpu")).run(x), plain)
    np.testing.assert_array_equal(drive(webq8.load(CLASSIFIER, device="cpu")).run(x), plain)
    assert names == ["program"]


def test_damage_is_never_anything_but_an_error_of_ours() -> None:
    rng = random.Random(8)
    for source in (LINEAR, CLASSIFIER, (GOLDENS / "q8ta_conv2d_transposed__k3.pte").read_bytes()):
        for _ in range(1500):
            data = bytearray(source)
            for _ in range(rng.choice((1, 2, 8))):
                at = rng.randrange(min(len(data), 5000))
                data[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", rng.randbytes(4), b"\0\0\0\x80"))
            try:
                check(bytes(data))
            except Webq8Error as e:
                assert str(e)  # noqa: PT017 - any of ours will do, most mutants raise none


def test_unknown_ops_are_all_listed() -> None:
    data = LINEAR.replace(b"et_vk.q8ta_linear.default", b"et_vk.q8ta_laenir.default")
    data = data.replace(b"dequantize_per_tensor", b"dequantize_per_tesnor")
    with pytest.raises(Unsupported) as caught:
        check(data)
    text = str(caught.value)
    assert "file.pte: 2 problems" in text
    assert "delegate 0, node 1: et_vk.q8ta_laenir.default: no such op in webq8" in text
    assert "delegate 0, node 2: quantized_decomposed.dequantize_per_tesnor.default: no such op" in text


@pytest.mark.parametrize("scale", [0.0, -0.5, float("inf"), float("nan"), 1e-40, 2.0**127.5, 1e300])
def test_unusable_scale(scale: float) -> None:
    good = struct.pack("<d", 0.010672703385353088)
    assert LINEAR.count(good) == 1
    with pytest.raises(FormatError, match=r"node 1: et_vk\.q8ta_linear\.default: y_scale: .* is not a usable scale"):
        check(LINEAR.replace(good, struct.pack("<d", scale)))


def test_non_finite_constant() -> None:
    method = read_program(LINEAR).methods["forward"]
    bias = next(v for v in method.values if isinstance(v, Tensor) and v.data is not None and v.dtype == "float32")
    assert bias.data is not None
    broken = LINEAR.replace(bytes(bias.data), struct.pack("<f", float("nan")) + bytes(bias.data)[4:])
    with pytest.raises(FormatError, match=r"element 0 is nan|element 0: nan"):
        check(broken)


def test_other_backend() -> None:
    with pytest.raises(
        Unsupported, match=r"^file\.pte: its delegates are for the backend 'VulcanBackend', which runs in no"
    ):
        check(LINEAR.replace(b"VulkanBackend", b"VulcanBackend"))


def test_kernel_calls_between_delegates_are_listed() -> None:
    """A real export whose `asinh` no partitioner takes, here between two delegates with one op misspelt in each."""
    data = (ROOT / "tests" / "data" / "containers" / "two_delegates.pte").read_bytes()
    with pytest.raises(Unsupported, match=r"^file\.pte: instruction 1: aten::asinh\.out: no such op in webq8$"):
        check(data)
    with pytest.raises(Unsupported) as caught:
        check(data.replace(b"aten.relu.", b"aten.rule.").replace(b"aten.sigmoid.", b"aten.sigmiod."))
    text = str(caught.value)
    assert "3 problems" in text
    assert "instruction 1: aten::asinh.out: no such op in webq8" in text
    assert "delegate 0, node 0: aten.rule.default: no such op in webq8" in text
    assert "delegate 1, node 0: aten.sigmiod.default: no such op in webq8" in text


# --- files that say what cannot be true, or what is not supported


def refused(data: bytes, kind: type[Webq8Error]) -> str:
    """The message that a file is refused with, by the time that it is planned."""
    with pytest.raises(kind) as caught:
        planned(data)
    return str(caught.value)


def planned(data: bytes) -> ProgramPlan:
    graphs = {n: required(lower(m, "file.pte")) for n, m in read_program(data, "file.pte").methods.items()}
    return plan_program({n: rewrite(g) for n, g in graphs.items()}, Target(), "file.pte")


def added(p: Pte, inputs: list[int], data: bytes | None = None) -> bytes:
    """x + w · 1, x and w being values 0 and 1."""
    values = [p.tensor([2], data=data), p.tensor([2], data=bytes(8)), p.integer(1), p.tensor([2])]
    return p.file(p.method(values, [("aten::add.out", [0, 1, 2, 3, 3])], inputs, [3]))


def test_inputs_are_tensors_of_their_own() -> None:
    assert refused(added(Pte(), [0], bytes(8)), FormatError) == "file.pte: input 0: value 0 is a constant as well"
    assert refused(added(Pte(), [0, 0]), FormatError) == "file.pte: input 1: value 0 is an earlier input as well"
    p = Pte()
    nothing = p.file(p.method([p.none(), p.tensor([2]), p.tensor([2])], [("aten::relu.out", [1, 2, 2])], [0, 1], [2]))
    assert "input 0: None is no tensor, and the file holds no value for it" in refused(nothing, Unsupported)


def test_a_number_among_the_inputs_is_as_it_was_exported() -> None:
    """forward(x, n: int): the file holds n, and nothing else could be given."""
    p = Pte()
    values = [p.tensor([2]), p.integer(3), p.double(0.5), p.tensor([2])]
    data = p.file(p.method(values, [("aten::add.Scalar_out", [0, 1, 2, 3, 3])], [0, 1], [3]))
    program = drive(webq8.load(data, device="cpu"))
    assert str(program.methods["forward"]) == "(in0: float32 [2]) -> out0: float32 [2]"
    assert program.run(np.float32([1, 2])).tolist() == [2.5, 3.5]


def test_prepack_keeps_shape_and_dtype() -> None:
    op = "et_vk.prepack.default"
    for shape, dtype in (([3], "float32"), ([2], "int32")):
        data = one_call(op, lambda p, s=shape, d=dtype: [p.tensor([2], data=bytes(8)), p.tensor(s, d)], arguments=[0])
        assert "et_vk.prepack.default" in refused(data, FormatError if shape == [3] else Unsupported)


PER_CHANNEL = "quantized_decomposed.dequantize_per_channel.default"


@pytest.mark.parametrize(
    ("shape", "scales", "dim", "message"),
    [
        ([], 1, 0, "a scalar has no channels"),
        ([2, 3], 2, 1, r"size 2 is less than C = 3|C = \d disagrees with C = \d"),
        ([2, 3], 3, 5, "dim 5 is out of range for 2 dimensions"),
    ],
)
def test_per_channel(shape: list[int], scales: int, dim: int, message: str) -> None:
    def values(p: Pte) -> list[int]:
        x, s = p.tensor(shape, "int8", bytes(6)), p.tensor([scales], data=struct.pack("<f", 0.5) * scales)
        return [x, s, p.none(), p.integer(dim), p.none(), p.tensor(shape)]

    data = one_call(PER_CHANNEL, values, arguments=[0, 1, 2, 3, 4, 4, 4, 4])
    assert re.search(message, refused(data, FormatError))


def test_a_cat_of_nothing() -> None:
    data = one_call("aten::cat.out", lambda p: [p.tensors([]), p.integer(0), p.tensor([0])])
    assert "there must be a tensor" in refused(data, FormatError)


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 1e308, 1e-320])
def test_scales_of_a_map(scale: float) -> None:
    def values(p: Pte) -> list[int]:
        return [p.tensor([1, 1, 2, 2]), p.none(), p.doubles([scale, 1.0]), p.tensor([1, 1, 2, 2])]

    data = one_call("aten.upsample_nearest2d.vec", values, inputs=[0])
    assert "scales of [" in refused(data, FormatError)


def test_sizes_that_no_kernel_can_hold() -> None:
    def values(p: Pte) -> list[int]:
        maps = [p.tensor([1, 1, 4, 4]), p.tensor([1, 1, 1, 1], data=bytes(4)), p.none(), p.tensor([1, 1, 4, 4])]
        numbers = [p.integer(1), p.integer(0), p.integer(2**40)]
        return [*maps, *numbers, p.ints([4, 4]), p.ints([5, 5]), p.ints([6, 4])]

    data = one_call("aten::convolution.out", values, [0], [0, 1, 2, 7, 8, 9, 5, 8, 4], output=3)
    where = "file.pte: instruction 0: dilation height"
    assert refused(data, LimitError) == f"{where} = 1099511627776 does not fit 0…4294967295"


def test_problems_are_grouped() -> None:
    p = Pte()
    values = [p.tensor([2])] + [p.tensor([2]) for _ in range(15)]
    names = ["aten::nothing.out"] * 12 + ["aten::no\x1b[31mthing\n.out", "aten::" + "y" * 500, "aten::relu.out"]
    data = p.file(p.method(values, [(name, [0, i + 1, i + 1]) for i, name in enumerate(names)], [0], [1]))
    assert refused(data, Unsupported).splitlines() == [
        "file.pte: 14 problems:",
        "  - 12 × aten::nothing.out: no such op in webq8 (instruction 0; instruction 1, and 10 more)",
        "  - instruction 12: aten::no\\x1b[31mthing\\n.out: no such op in webq8",
        f"  - instruction 13: aten::{'y' * 93}…: no such op in webq8",
    ]


def test_no_list_is_endless() -> None:
    p = Pte()
    names = [f"aten::nothing{i}.out" for i in range(100)]
    data = p.file(p.method([p.tensor([2])] * 2, [(name, [0, 1, 1]) for name in names], [0], [1]))
    lines = refused(data, Unsupported).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  - … and 80 more of other kinds"


@pytest.mark.parametrize(("dtype", "sentence"), [("float16", "float16 is not supported: convert the model by")])
def test_one_sentence_of_the_whole_file(dtype: str, sentence: str) -> None:
    data = one_call("aten::nothing.out", lambda p: [p.tensor([2], dtype) for _ in range(9)], inputs=[0])
    text = refused(data, Unsupported)
    assert text.startswith(f"file.pte: {sentence}")
    assert "\n" not in text


def test_values_are_told_without_internals() -> None:
    def values(p: Pte) -> list[int]:
        return [p.tensor([2]), p.tensors([0, 0]), p.none(), p.tensor([2])]

    for argument, told in ((0, "a tensor float32 [2]"), (1, "a list of values"), (2, "None")):
        text = refused(one_call("aten::mul.Scalar_out", values, [0], [0, argument]), FormatError)
        assert text == f"file.pte: instruction 0: aten::mul.Scalar_out: other: expected a number, got {told}"


def test_methods_have_names_of_their_own() -> None:
    p = Pte()
    twice = [p.method([p.tensor([2])], [], [0], [0]) for _ in range(2)]
    assert refused(p.file(*twice), FormatError) == "file.pte: two methods have the name 'forward'"
