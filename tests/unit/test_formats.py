"""Reading .pte files: what real ones hold, and every way of being damaged."""

import random
import struct
from pathlib import Path

import pytest
import webq8
from webq8.errors import FormatError, Unsupported, Webq8Error
from webq8.formats import read_pte
from webq8.ir import Tensor
from webq8.plan import check_method

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "tests" / "data" / "goldens"
LINEAR = (GOLDENS / "q8ta_linear__basic.pte").read_bytes()
CLASSIFIER = (ROOT / "web" / "models" / "classifier.pte").read_bytes()


def check(data: bytes) -> None:
    for method in read_pte(data, "file.pte").methods.values():
        check_method(method, "file.pte")


def test_methods_share_constants() -> None:
    program = read_pte(CLASSIFIER)
    assert set(program.methods) == {"forward", "batch"}
    weights = [
        {bytes(v.data) for v in m.graph.values if isinstance(v, Tensor) and v.data is not None and v.dtype == "int8"}
        for m in program.methods.values()
    ]
    assert weights[0] == weights[1]
    assert {len(w) for w in weights[0]} == {8192, 640}


def test_calls_name_their_node() -> None:
    graph = read_pte(LINEAR).methods["forward"].graph
    assert [(c.node, c.op.split(".")[1]) for c in graph.calls] == [
        ("delegate 0, node 0", "quantize_per_tensor"),
        ("delegate 0, node 1", "q8ta_linear"),
        ("delegate 0, node 2", "dequantize_per_tensor"),
    ]


def test_named_data_and_padding() -> None:
    """Ten outputs, twelve scales: the exporter pads, webq8 reads the first ten."""
    spec = webq8.inspect(ROOT / "web" / "models" / "classifier.pte")["methods"]["forward"]
    assert spec["outputs"] == [{"shape": [1, 10], "dtype": "float32"}]
    assert not spec["unsupported"]
    assert spec["dispatches"] == 5


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.pte")), ids=lambda p: p.stem)
def test_every_golden_is_readable(path: Path) -> None:
    methods = read_pte(path.read_bytes(), path.name).methods
    assert methods["forward"].problems == ()
    assert methods["forward"].graph.calls


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
        check(LINEAR.replace(b"ET12", b"ET99"))
    with pytest.raises(FormatError, match="VH00"):
        check(LINEAR.replace(b"VH00", b"VH77"))
    with pytest.raises(FormatError, match="VK00"):
        check(LINEAR.replace(b"VK00", b"VK77"))
    with pytest.raises(FormatError, match="there is nothing in it"):
        check(b"")


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
    graph = read_pte(LINEAR).methods["forward"].graph
    bias = next(v for v in graph.values if isinstance(v, Tensor) and v.data is not None and v.dtype == "float32")
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
    """A real export whose `cumsum` no partitioner takes, here between two delegates with one op misspelt in each."""
    data = (ROOT / "tests" / "data" / "containers" / "two_delegates.pte").read_bytes()
    with pytest.raises(Unsupported, match=r"^file\.pte: instruction 1: aten::cumsum\.out: no such op in webq8$"):
        check(data)
    with pytest.raises(Unsupported) as caught:
        check(data.replace(b"aten.relu.", b"aten.rule.").replace(b"aten.sigmoid.", b"aten.sigmiod."))
    text = str(caught.value)
    assert "3 problems" in text
    assert "instruction 1: aten::cumsum.out: no such op in webq8" in text
    assert "delegate 0, node 0: aten.rule.default: no such op in webq8" in text
    assert "delegate 1, node 0: aten.sigmiod.default: no such op in webq8" in text
