"""Loading and calling programs, on the CPU: sources, input checks, methods, progress, closing, inspecting."""

import io
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.errors import ClosedError, FormatError, InputError, NoAdapter, Unsupported
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
DIGIT = np.zeros((1, 64), np.float32)


def load(source, **options) -> webq8.Program:
    return drive(webq8.load(source, device="cpu", **options))


@pytest.fixture
def classifier() -> webq8.Program:
    return load(CLASSIFIER)


def test_sources(tmp_path: Path) -> None:
    want = load(CLASSIFIER).run(DIGIT)
    data = CLASSIFIER.read_bytes()
    with CLASSIFIER.open("rb") as file:
        sources = [
            str(CLASSIFIER),
            data,
            bytearray(data),
            memoryview(data),
            io.BytesIO(data),
            file,
            CLASSIFIER.as_uri(),
        ]
        for source in sources:
            np.testing.assert_array_equal(load(source).run(DIGIT), want)


def test_bad_sources(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no_such\.pte does not exist"):
        load(tmp_path / "no_such.pte")
    with pytest.raises(InputError, match="a int is not a URL, path, bytes or binary file"):
        load(3)
    with pytest.raises(InputError, match="open the file in binary mode"):
        load(io.StringIO("text"))
    with pytest.raises(InputError, match="device: 'tpu' is not one of"):
        drive(webq8.load(CLASSIFIER, device="tpu"))
    with pytest.raises(NoAdapter, match="WebGPU is only there in a web page"):
        drive(webq8.load(CLASSIFIER))
    for name in (tmp_path, "a" * 5000, "\0.pte"):
        with pytest.raises(InputError, match=r"source: .* (cannot be read|does not exist)"):
            load(name)
    with CLASSIFIER.open() as text, pytest.raises(InputError, match="open in binary mode"):
        load(text)
    with pytest.raises(InputError, match="reading it fails: I/O operation on closed file"):
        load(text)
    shutil.copy(CLASSIFIER, tmp_path / "cut.pte")
    (tmp_path / "cut.pte").write_bytes(CLASSIFIER.read_bytes()[:999])
    with pytest.raises(FormatError, match=r"cut\.pte"):
        load(tmp_path / "cut.pte")


class Server(BaseHTTPRequestHandler):
    """404, an answer that breaks off, or one that is no HTTP."""

    def do_GET(self) -> None:
        match self.path:
            case "/missing.pte":
                self.send_error(404)
            case "/broken.pte":
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(b"too little")
            case "/nonsense.pte":
                self.wfile.write(b"nonsense\n")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("missing.pte", "HTTP 404"), ("broken.pte", "IncompleteRead"), ("nonsense.pte", "nonsense"), ("a b", "control")],
)
def test_what_servers_do(server: str, path: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"{server}/{path} cannot be fetched: .*{reason}"):
        load(f"{server}/{path}")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/a.pte", "nothing://a.pte", "http://[::1/a.pte", "http://127.0.0.1:port/", "file:///"]
)
def test_urls_that_lead_nowhere(url: str) -> None:
    with pytest.raises(InputError, match=r"cannot be fetched: \S"):
        load(url)


@pytest.mark.parametrize(
    "source", [ROOT, ROOT / "no_such.pte", "no_such.pte", "https://a/b.pte", 3, io.StringIO("text")]
)
def test_inspect_says_that_there_is_no_file(source: object) -> None:
    with pytest.raises(InputError, match=r"^source: "):
        webq8.inspect(source)


def test_inputs_are_taken_at_the_call(classifier: webq8.Program) -> None:
    x = DIGIT.copy()
    run = classifier(x)
    x[:] = 1
    np.testing.assert_array_equal(drive(run), classifier.run(DIGIT))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), r"forward takes 1 inputs \(in0: float32 \[1, 64\]\), got 0"),
        ((DIGIT, DIGIT), "forward takes 1 inputs .* got 2"),
        (
            (DIGIT[0],),
            r"input in0 of forward: expected float32 \[1, 64\], got float32 \[64\]; pass x\.reshape\(1, 64\)",
        ),
        (([0.0] * 64,), r"input in0 of forward: expected float32 \[1, 64\], got list of shape \[64\]; pass \[x\]"),
    ],
)
def test_inputs_are_checked(classifier: webq8.Program, inputs: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classifier.run(*inputs)


@pytest.fixture
def product() -> webq8.Program:
    """Half a bias and twice a product: three inputs, of which no two have the same shape."""
    return load(ROOT / "tests" / "data" / "goldens_glue" / "kernel_calls" / "addmm__kernel.pte")


A, B, BIAS = (np.random.default_rng(0).random(shape, np.float32) for shape in ((5, 7), (7, 3), (3,)))


def test_inputs_by_name(product: webq8.Program) -> None:
    want = product.run(A, B, BIAS)
    by_name = {"in2": BIAS, "in0": A, "in1": B}
    for got in (product.run(**by_name), product.run(by_name), product.run(A, in2=BIAS, in1=B)):
        np.testing.assert_array_equal(got, want)
    product.check(**by_name)
    assert [spec.name for spec in product.spec().inputs] == ["in0", "in1", "in2"]
    assert [spec.name for spec in product.spec("forward").outputs] == ["out0"]


@pytest.mark.parametrize(
    ("inputs", "named", "message"),
    [
        ((A, B), {"bias": BIAS}, r"^forward has no input 'bias'; it has in0: float32 \[5, 7\], in1: .*, in2: "),
        (({"in0": A, "in1": B, 7: BIAS},), {}, "^forward has no input 7; it has in0"),
        ((), {"in1": B}, r"^forward lacks in0: float32 \[5, 7\], in2: float32 \[3\]$"),
        (({},), {}, r"^forward lacks in0: float32 \[5, 7\], in1: "),
        ((A, B), {"in1": B, "in2": BIAS}, "^input in1 of forward is given twice$"),
        (({"in0": A, "in1": B},), {"in1": B, "in2": BIAS}, "^input in1 of forward is given twice$"),
        ((A, B, BIAS, BIAS), {"in2": BIAS}, "^forward takes 3 inputs .* got 4$"),
        ((A, {"in1": B, "in2": BIAS}), {}, "^forward takes 3 inputs .* got 2$"),
        ((A, B), {"in2": A}, r"^input in2 of forward: expected float32 \[3\], got float32 \[5, 7\]"),
    ],
)
def test_names_are_checked(product: webq8.Program, inputs: tuple, named: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        product.run(*inputs, **named)


def test_any_values_are_allowed(classifier: webq8.Program) -> None:
    strange = np.full((1, 64), np.nan, np.float32)
    strange[0, :3] = np.inf, -np.inf, 1e38
    assert np.isfinite(classifier.run(strange)).all()


def test_strided_inputs(classifier: webq8.Program) -> None:
    wide = np.random.default_rng(0).random((64, 2), np.float32)
    np.testing.assert_array_equal(classifier.run(wide.T[:1]), classifier.run(wide.T[:1].copy()))


def test_methods(classifier: webq8.Program) -> None:
    assert {name: str(spec) for name, spec in classifier.methods.items()} == {
        "batch": "(in0: float32 [60, 64]) -> out0: float32 [60, 10]",
        "forward": "(in0: float32 [1, 64]) -> out0: float32 [1, 10]",
    }
    assert classifier.run(np.zeros((60, 64), np.float32), method="batch").shape == (60, 10)
    with pytest.raises(InputError, match="has no method 'backward'; it has batch, forward"):
        classifier.run(DIGIT, method="backward")


def test_repr(classifier: webq8.Program) -> None:
    assert repr(classifier) == (
        "<webq8 program classifier.pte, on cpu\n"
        "  batch(in0: float32 [60, 64]) -> out0: float32 [60, 10]\n"
        "  forward(in0: float32 [1, 64]) -> out0: float32 [1, 10]>"
    )


def test_closing() -> None:
    with load(CLASSIFIER) as program:
        program.run(DIGIT)
    program.close()
    with pytest.raises(ClosedError, match=r"classifier\.pte was closed"):
        program.run(DIGIT)
    assert "closed" in repr(program)


def test_progress_ends_at_one() -> None:
    events: list[tuple[float, str]] = []
    load(CLASSIFIER, on_progress=lambda fraction, message: events.append((fraction, message)))
    assert events[-1] == (1.0, "ready")


def test_inspect() -> None:
    rows = {
        "et_vk.q8ta_linear.default": (1, 2, 3),
        "quantized_decomposed.dequantize_per_tensor.default": (4,),
        "quantized_decomposed.quantize_per_tensor.default": (0,),
    }
    methods = webq8.inspect(CLASSIFIER)["methods"]
    assert methods["batch"] == {
        "inputs": [{"name": "in0", "shape": [60, 64], "dtype": "float32"}],
        "outputs": [{"name": "out0", "shape": [60, 10], "dtype": "float32"}],
        "ops": {
            "quantized_decomposed.quantize_per_tensor.default": 1,
            "et_vk.q8ta_linear.default": 3,
            "quantized_decomposed.dequantize_per_tensor.default": 1,
        },
        "runs": [
            {
                "op": op,
                "runs": "int8 kernel",
                "reason": "",
                "count": len(at),
                "nodes": [*map("delegate 0, node {}".format, at)],
            }
            for op, at in rows.items()
        ],
        "unsupported": [],
        "states": 0,
        "dispatches": 3,
        "relayouts": 0,
        "peak_bytes": 60 * (4 * 64 + 2 * 64),
        "live_bytes": 60 * (4 * 64 + 2 * 64),
    }
    json.dumps(methods)


def test_inspect_says_what_is_missing() -> None:
    found = webq8.inspect(ROOT / "tests" / "data" / "containers" / "two_delegates.pte")["methods"]["forward"]
    assert found["unsupported"] == [{"node": "instruction 1", "op": "aten::asinh.out", "reason": "no such op in webq8"}]
    assert found["dispatches"] is None
    with pytest.raises(Unsupported, match=r"two_delegates\.pte: instruction 1: aten::asinh\.out"):
        load(ROOT / "tests" / "data" / "containers" / "two_delegates.pte")


def test_views_that_the_exporter_left_out() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)
    program = load(ROOT / "tests" / "data" / "containers" / "elided_view.pte")
    np.testing.assert_array_equal(program.run(x), np.maximum(x, 0).reshape(6, 20) + np.float32(1))


def test_a_list_of_outputs_that_comes_twice() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)
    program = load(ROOT / "tests" / "data" / "containers" / "repeated_list.pte")
    for got, want in zip(program.run(x), np.split(x + np.float32(1), [3], -1), strict=True):
        np.testing.assert_array_equal(got, want)


CONTAINERS = ROOT / "tests" / "data" / "containers"


def test_constant_methods_return_what_the_file_has() -> None:
    program = load(CONTAINERS / "methods.pte")
    names = ("get_n", "get_scale", "is_quantized", "get_name", "get_sizes")
    got = [program.run(method=name) for name in names]
    assert got == [7, 0.5, True, "cnn", (1, 2)]
    assert [type(v) for v in got] == [int, float, bool, str, tuple]
    np.testing.assert_array_equal(program.run(method="get_table"), np.arange(6, dtype=np.float32).reshape(2, 3))
    assert "get_n() -> out0: 7" in repr(program)
    found = webq8.inspect(CONTAINERS / "methods.pte")["methods"]["get_n"]
    assert (found["outputs"], found["dispatches"]) == ([{"name": "out0", "value": 7}], 0)


def test_a_method_that_cannot_run_blocks_no_other() -> None:
    program = load(CONTAINERS / "methods.pte")
    np.testing.assert_array_equal(program.run(-np.ones((2, 3), np.float32)), np.zeros((2, 3), np.float32))
    for _ in range(2):
        with pytest.raises(Unsupported, match=r"method 'running': instruction 0: aten::asinh\.out: no such op"):
            program.run(np.ones((2, 3), np.float32), method="running")
    assert "running(in0: float32 [2, 3]) -> out0: float32 [2, 3], which cannot run" in repr(program)


def test_outputs_that_are_inputs_constants_or_other_outputs() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    y = np.maximum(x + table, 0)
    for got, want in zip(load(CONTAINERS / "passed_on.pte").run(x), (y, x, table, y), strict=True):
        np.testing.assert_array_equal(got, want)


def test_int64_that_a_delegate_narrows() -> None:
    x = np.arange(12, dtype=np.int64).reshape(1, 12) - 5
    y = x.reshape(3, 4)
    wanted = (y.astype(np.float32) / 2, y.T, np.concatenate([y, y]))
    for got, want in zip(load(CONTAINERS / "narrowed.pte").run(x), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["channels_last", "transposed", "valid"])
def test_exports_agree_with_torch(name: str) -> None:
    """Weights in the order NHWC; a delegate that hands on what it takes; a padding that is a list of one element."""
    golden = np.load(CONTAINERS / f"{name}.npz")
    got = load(CONTAINERS / f"{name}.pte").run(golden["in0"])
    # the exporter leaves out what quantizes the transposed convolution's input and output
    quantum = np.diff(np.unique(golden["out0"])).min() if name == "transposed" else 0
    np.testing.assert_allclose(got, golden["out0"], rtol=1e-6, atol=1e-6 + 2 * quantum)
