"""The README's tables of inputs and sources, row by row: in pages with and without numpy, and on the desktop."""

import re
from pathlib import Path

import numpy as np
import pytest
from webq8.desktop.host import Browser, PythonPage
from webq8.errors import InputError
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
DIGIT = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][:1] / 16).astype(np.float32).reshape(1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:1]
README = (ROOT / "README.md").read_text("utf-8")


def rows(first: str) -> list[list[str]]:
    """The rows of the README's table whose first column has this title."""
    [lines] = re.findall(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", README, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines.splitlines()]


INPUTS = [
    pytest.param(example.strip("`"), spec, what, id=example.strip("`")) for _, example, spec, what in rows("Value")
]
SOURCES = [pytest.param(example.strip("`| "), id=example.strip("`| ")) for _, example in rows("Source")]


async def take(example, shape, dtype, device):
    """What a program of one input, which it returns, makes of an example."""
    import struct
    from array import array

    import webq8
    from webq8.ir.graph import Graph
    from webq8.ir.types import Tensor
    from webq8.runtime.load import compile_graphs

    names = {"array": array, "struct": struct, "webq8": webq8}
    for name in ("js", "numpy", "PIL.Image"):
        try:
            module = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        names[{"numpy": "np", "PIL.Image": "Image"}.get(name, name)] = module
    graph = Graph((Tensor(shape, dtype),), (), (0,), (0,))
    with await compile_graphs({"forward": graph}, "clone", device) as program:
        return await program(eval(example, names))


def check_row(run, spec: str, what: str) -> None:
    """`run` takes an example's spec and gives the result: the numbers from 0 up, or the error that the row quotes."""
    dtype, sizes = re.fullmatch(r"(\w+) \[(.*)\]", spec).groups()
    shape = tuple(int(size) for size in sizes.split(", "))
    if what.startswith("refused"):
        [quoted] = re.findall("`(.*)`", what)
        with pytest.raises(InputError, match=rf"input in0 of forward.*{re.escape(quoted)}"):
            run(shape, dtype)
    else:
        got = run(shape, dtype)
        want = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("example", "spec", "what"), [row for row in INPUTS if not row.id.startswith("Image.")])
def test_input(webq8_page: PythonPage, example: str, spec: str, what: str) -> None:
    check_row(lambda shape, dtype: webq8_page.call(take, example, shape, dtype, "webgpu"), spec, what)


@pytest.mark.parametrize(("example", "spec", "what"), [row for row in INPUTS if "js." not in row.id])
def test_input_on_the_desktop(example: str, spec: str, what: str) -> None:
    check_row(lambda shape, dtype: drive(take(example, shape, dtype, "cpu")), spec, what)


@pytest.fixture(scope="module")
def plain_page(webq8_browser: Browser):
    """Pyodide 314 without numpy."""
    with webq8_browser.page("314.0.7", "main") as page:
        page.check_adapter()
        yield page


WITHOUT_NUMPY = [row for row in INPUTS if "np." not in row.id and not row.id.startswith("Image.")]


@pytest.mark.parametrize(("example", "spec", "what"), WITHOUT_NUMPY)
def test_input_without_numpy(plain_page: PythonPage, example: str, spec: str, what: str) -> None:
    check_row(lambda shape, dtype: plain_page.call(take, example, shape, dtype, "webgpu"), spec, what)


@pytest.mark.parametrize(
    ("example", "shape", "dtype", "message"),
    [
        (
            "[js.Uint8Array.of(0, 1, 2), js.Float32Array.of(3, 4, 0.5)]",
            (2, 3),
            "int8",
            r"at \[1\]: 0\.5 \(float32\) at \[2\]",
        ),
        (
            "js.JSON.parse('[[0, 1, 2], [3, null, 5]]')",
            (2, 3),
            "int8",
            r"at \[1, 1\]: a \w+ is neither a number nor an array",
        ),
        ("js.Float32Array.new(5)", (2, 3), "float32", r"expected float32 \[2, 3\], got Float32Array of 5; it takes 6"),
        ("js.Float32Array.new(6).buffer.transfer().slice(1)", (2, 3), "float32", "which is 24 bytes, got 23 bytes"),
        ("(lambda x: (x.buffer.transfer(), x))(js.Float32Array.new(6))[1]", (2, 3), "float32", "Float32Array"),
        ("js.Object.new()", (2, 3), "float32", "a JavaScript Object is neither a number nor an array"),
        ("js.OffscreenCanvas.new(2, 3)", (2, 3), "float32", "a JavaScript OffscreenCanvas is neither a number nor"),
    ],
)
def test_values_of_javascript_that_are_refused(
    webq8_page: PythonPage, example: str, shape: tuple[int, ...], dtype: str, message: str
) -> None:
    with pytest.raises(InputError, match=f"input in0 of forward.*{message}"):
        webq8_page.call(take, example, shape, dtype, "webgpu")


async def classify(example, file, x):
    """Loads from an example's source."""
    from pathlib import Path

    import js
    import webq8

    Path("classifier.pte").write_bytes(file)
    names = {"js": js, "Path": Path}
    exec(f"async def source():\n return {example}", names)
    with await webq8.load(await names["source"]()) as program:
        return await program(x), program.name


@pytest.mark.parametrize("example", SOURCES)
def test_source(webq8_page: PythonPage, example: str) -> None:
    served = example.replace("models/", "web/models/")  # pages of the tests are served from the project's root
    logits, name = webq8_page.call(classify, served, CLASSIFIER.read_bytes(), DIGIT)
    np.testing.assert_array_equal(logits, LOGITS)
    assert name in ("classifier.pte", "program")


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ('await js.fetch("absent.pte")', r"absent\.pte cannot be fetched: HTTP 404"),
        ("js.Response.new()", "source: this Response cannot be read"),
        (
            "(lambda response: (response.text(), response)[1])(js.Response.new('model'))",
            "source: this Response cannot be read",
        ),
        ("js.Object.new()", "source: a JavaScript Object is not the bytes of a file"),
        ('js.fetch("models/classifier.pte")', "source: a PyodideFuture is not .*; await it first"),
        ("3", "source: a int is not a URL"),
    ],
)
def test_bad_sources(webq8_page: PythonPage, example: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        webq8_page.call(classify, example, b"", DIGIT)
