"""The visitor's second page (`web/model.html`), as a visitor meets it: real files, real Python, real WebGPU."""

import io
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import webq8
from onnx_writer import Sizes, external, graph, model, node, one_node
from PIL import Image
from playwright.sync_api import Browser, Locator, Route, expect
from visits import START_MS, Handler, Visit, under_policy, visit
from webq8.desktop.host import PythonPage
from webq8.desktop.site import Site
from webq8.stages import drive

DATA = Path(__file__).parents[1] / "data"
CLASSIFIER = Path(__file__).parents[2] / "web" / "models" / "classifier.pte"
UNET = DATA / "networks" / "unet.pte"
RESIZE = DATA / "goldens_glue" / "kernel_calls" / "upsample_nearest2d_to_size__kernel.pte"  # of three channels
PADDED = DATA / "goldens_glue" / "indexing" / "padded__kernel.pte"  # takes 4 × 5 × 3
PRODUCT = DATA / "goldens_glue" / "kernel_calls" / "addmm__kernel.pte"  # of three inputs
UNSUPPORTED = DATA / "containers" / "two_delegates.pte"
SUM = DATA / "states" / "sum.pte"
INT8 = DATA / "tflite" / "cnn_int8.tflite"

# A file of each kind, and the arrays that it gave its own runtime; int8 results may be one quantum apart.
KINDS = [UNET, DATA / "tflite" / "unet_int8.tflite", DATA / "onnx" / "mobilenet_qdq_u8s8_pc.onnx"]


class Bench(Visit):
    def settle(self) -> None:
        expect(self.page.locator("#demo")).to_have_attribute("aria-busy", "false", timeout=START_MS)

    def open(self, *paths: Path) -> None:
        self.page.locator("#file").set_input_files(paths)
        self.settle()

    def run(self) -> None:
        self.page.get_by_role("button", name="Run").click()
        self.settle()

    def field(self, number: int = 0) -> Locator:
        return self.page.locator("fieldset").nth(number)

    def give(self, kind: str, file: Any = None, number: int = 0, **choices: str) -> None:
        self.field(number).get_by_label("From").select_option(label=kind)
        if file is not None:
            self.field(number).locator("input[type=file]").set_input_files(file)
            self.settle()
        for label, choice in choices.items():
            self.field(number).get_by_label(label).select_option(choice)
            self.settle()

    def outputs(self) -> dict[str, np.ndarray[Any, Any]]:
        """What the page gives to download."""
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Download as .npz").click()
        assert download.value.suggested_filename == f"{self.text('#model-name')}.npz"
        with np.load(download.value.path()) as archive:
            return dict(archive)

    def tab_to(self, selector: str, key: str = "Tab") -> None:
        """Presses a key until what has the focus is as the selector says."""
        for _ in range(40):
            self.page.keyboard.press(key)
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"no {selector} in 40 steps")

    def dispatches(self) -> int:
        """Those of the last run."""
        [count] = re.findall(r"(\d+) GPU dispatches", self.text("#cost"))
        return int(count)

    def trouble(self) -> str:
        alert = self.page.locator("#trouble")
        expect(alert).to_be_visible()
        return alert.inner_text()

    def rows(self) -> list[list[str]]:
        """The cells of the table of ops."""
        rows = self.page.locator("#ops tr").all_inner_texts()
        return [[cell.strip() for cell in row.split("\t")] for row in rows]

    def pixels(self, selector: str) -> np.ndarray[Any, Any]:
        """Red, green and blue of a canvas."""
        sizes, data = self.page.locator(selector).evaluate(
            """canvas => {
              const { width, height } = canvas;
              const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
              return [[height, width, 4], Array.from(data)];
            }"""
        )
        return np.array(data, np.uint8).reshape(sizes)[..., :3]


@pytest.fixture(scope="module")
def bench(chromium: Browser, site: Site) -> Iterator[Bench]:
    """The page once it is loaded; whatever the tests do with it, it must not complain, ask another origin, or send."""
    with visit(Bench, chromium, site, "model.html", viewport={"width": 1280, "height": 860}) as bench:
        sent = list[str]()
        bench.page.on("request", lambda request: sent.append(request.url) if request.method != "GET" else None)
        expect(bench.page.locator("#ready")).to_be_visible(timeout=START_MS)
        yield bench
        assert bench.complaints == []
        assert sent == []
        assert [url for url in bench.requests if not url.startswith((site.url, f"blob:{site.url}"))] == []


def on_cpu(path: Path, *inputs: Any) -> tuple[np.ndarray[Any, Any], ...]:
    results = drive(webq8.load(path, device="cpu")).run(*inputs)
    return results if isinstance(results, tuple) else (results,)


def npy(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    np.save(file, array)
    return {"name": "array.npy", "mimeType": "", "buffer": file.getvalue()}


def npz(**arrays: np.ndarray[Any, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return {"name": "arrays.npz", "mimeType": "", "buffer": file.getvalue()}


def png(pixels: np.ndarray[Any, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return {"name": "picture.png", "mimeType": "image/png", "buffer": file.getvalue()}


PICTURE = np.random.default_rng(0).integers(0, 256, (7, 5, 3), np.uint8)  # of the size that RESIZE takes


async def dispatches(data):
    """Runs in a page of the same kind."""
    with await webq8.load(data) as program:
        return program.dispatches()


@pytest.mark.parametrize("path", KINDS, ids=lambda path: path.suffix)
def test_a_file_runs(bench: Bench, path: Path, webq8_page: PythonPage) -> None:
    bench.open(path)
    found = webq8.inspect(path)["methods"]
    [(_, method)] = found.items()
    assert bench.rows() == [[row["op"], row["runs"], str(row["count"])] for row in method["runs"]]
    for spec in (*method["inputs"], *method["outputs"]):
        assert f"{spec['name']} {spec['dtype']} [{', '.join(map(str, spec['shape']))}]" in bench.text("#specs")
    x = np.load(path.with_suffix(".npz"))["in0"][:1]
    bench.give("File (.npy, .npz)", npy(x))
    bench.run()
    [want] = on_cpu(path, x)
    outputs = bench.outputs()
    assert list(outputs) == [spec["name"] for spec in method["outputs"]]
    np.testing.assert_array_equal(outputs[method["outputs"][0]["name"]], want)
    assert re.fullmatch(r"\d+\.\d ms from arrays to arrays; \d+ GPU dispatches on .+", bench.text("#cost"))
    assert bench.dispatches() == webq8_page.call(dispatches, path.read_bytes())
    assert bench.text("#adapter") in bench.text("#cost")
    bench.run()
    assert "the fastest of 2 runs" in bench.text("#cost")


def test_nothing_leaves_the_device_and_it_says_so(bench: Bench) -> None:
    expect(bench.page.locator("#private")).to_contain_text("Nothing leaves this device")


def test_where_an_op_stands(bench: Bench) -> None:
    bench.open(CLASSIFIER)
    row = bench.page.locator("#ops tr").first
    places = row.get_by_text("delegate 0, node 1, delegate 0, node 2, delegate 0, node 3")
    expect(places).not_to_be_visible()
    row.locator("summary").click()
    expect(places).to_be_visible()


def test_methods(bench: Bench) -> None:
    bench.open(CLASSIFIER)
    assert bench.page.locator("#method").input_value() == "forward"
    bench.page.locator("#method").select_option("batch")
    bench.settle()
    assert "in0 float32 [60, 64]" in bench.text("#specs")
    bench.give("Zeros")
    bench.run()
    assert bench.outputs()["out0"].shape == (60, 10)


def test_inputs_of_an_archive_by_name(bench: Bench) -> None:
    bench.open(PRODUCT)
    rng = np.random.default_rng(0)
    arrays = {name: rng.random(shape, np.float32) for name, shape in (("in1", (7, 3)), ("in0", (5, 7)))}
    bench.give("File (.npy, .npz)", npz(**arrays), number=0)
    bench.give("File (.npy, .npz)", npz(**arrays), number=1)
    bench.give("Zeros", number=2)
    bench.run()
    [want] = on_cpu(PRODUCT, arrays["in0"], arrays["in1"], np.zeros(3, np.float32))
    np.testing.assert_allclose(bench.outputs()["out0"], want, rtol=1e-5)


def test_zeros_and_noise(bench: Bench) -> None:
    bench.open(RESIZE)
    bench.give("Zeros")
    bench.run()
    assert not bench.outputs()["out0"].any()
    bench.give("Noise")
    results = []
    for _ in range(2):
        bench.run()
        results.append(bench.outputs()["out0"])
    assert (results[0] != results[1]).mean() > 0.9
    assert 0.5 < results[0].std() < 2


SCALES = {
    "0 to 1": lambda x: x / 255,
    "−1 to 1": lambda x: x / 127.5 - 1,
    "0 to 255": lambda x: x,
    "−128 to 127": lambda x: x - 128.0,
    "ImageNet’s mean and deviation": lambda x: (x / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225],
}


@pytest.mark.parametrize("scale", SCALES)
def test_image_with_channels_first(bench: Bench, scale: str) -> None:
    bench.open(RESIZE)
    bench.give("Image", png(PICTURE), Values=scale)
    bench.run()
    x = np.moveaxis(SCALES[scale](PICTURE.astype(np.float64)), -1, 0)[None].astype(np.float32)
    np.testing.assert_array_equal(bench.outputs()["out0"], *on_cpu(RESIZE, x))
    assert (bench.pixels("fieldset canvas") == PICTURE).all()


def test_image_with_channels_last(bench: Bench) -> None:
    bench.open(PADDED)
    bench.give("Image", png(PICTURE[:4]), Values="0 to 255")
    assert bench.field().get_by_label("Layout").locator("option").all_inner_texts() == ["NHWC", "NCHW"]
    bench.run()
    want = on_cpu(PADDED, PICTURE[:4].astype(np.float32))
    for got, array in zip(bench.outputs().values(), want, strict=True):
        np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("fit", ["cover", "fill"])
def test_image_of_another_shape(bench: Bench, fit: str) -> None:
    """Its left and right thirds are cut off, or all of it is made narrower."""
    wide = np.zeros((70, 150, 3), np.uint8)
    wide[:, :50, 0] = wide[:, 50:100, 1] = wide[:, 100:, 2] = 255
    bench.open(RESIZE)
    bench.give("Image", png(wide), Fit=fit)
    colors = bench.pixels("fieldset canvas")
    assert colors.shape == (7, 5, 3)
    assert colors[3].argmax(-1).tolist() == {"cover": [1] * 5, "fill": [0, 0, 1, 2, 2]}[fit]


def test_gray_image(bench: Bench) -> None:
    x = np.random.default_rng(1).integers(0, 256, (36, 44), np.uint8)
    bench.open(UNET)
    bench.give("Image", png(x))
    bench.run()
    [want] = on_cpu(UNET, (x / 255).astype(np.float32).reshape(1, 1, 36, 44))
    np.testing.assert_array_equal(bench.outputs()["out0"], want)


def test_image_for_integers_that_are_quantized(bench: Bench) -> None:
    """Pixels become the values that are chosen, and these the integers that stand for them; outputs are shown as what
    theirs stand for."""
    x = np.random.default_rng(2).integers(0, 256, (8, 8), np.uint8)
    bench.open(INT8)
    spec = webq8.inspect(INT8)["methods"]["main"]
    [takes], [gives] = spec["inputs"], spec["outputs"]
    assert f"stands for (q + {-takes['zero_point']}) · {takes['scale']:.6g}" in bench.text("#specs")
    for scale in ("0 to 1", "−1 to 1"):
        bench.give("Image", png(x), Values=scale)
        bench.run()
        q = np.round(SCALES[scale](x.astype(np.float64)) / takes["scale"] + takes["zero_point"])
        [want] = on_cpu(INT8, q.clip(-128, 127).astype(np.int8).reshape(1, 8, 8, 1))
        np.testing.assert_array_equal(bench.outputs()["Identity"], want)
        values = np.sort((want.astype(np.float64).ravel() - gives["zero_point"]) * gives["scale"])[::-1]
        shown = bench.page.locator("#outputs .bars .value").all_inner_texts()
        assert shown == [f"{value:.5g}" for value in values]


def test_state(bench: Bench) -> None:
    golden = np.load(SUM.with_suffix(".npz"))
    bench.open(SUM)
    bench.give("File (.npy, .npz)", npy(golden["inputs"][0]))
    results = []
    for reset in (False, False, True):
        if reset:
            bench.page.get_by_role("button", name="Reset state").click()
            bench.settle()
        bench.run()
        results.append(bench.outputs()["out0"])
    np.testing.assert_array_equal(results[0], results[2])
    assert (results[0] != results[1]).any()
    bench.open(UNET)
    expect(bench.page.get_by_role("button", name="Reset state")).not_to_be_visible()


def test_outputs_as_largest_values_and_as_a_table(bench: Bench) -> None:
    bench.open(CLASSIFIER)
    bench.run()
    scores = bench.outputs()["out0"][0]
    best = np.argsort(-scores, kind="stable")
    rows = [row.split("\n") for row in bench.page.locator("#outputs .bars li").all_inner_texts()]
    assert rows == [[str(i), f"{scores[i]:.5g}"] for i in best]
    bench.page.locator("#outputs").get_by_label("Show").select_option("table")
    bench.settle()
    cells = bench.page.locator("#outputs td").all_inner_texts()
    assert cells == [f"{score:.5g}" for score in scores]


def test_outputs_as_image_and_as_heat_map(bench: Bench) -> None:
    bench.open(RESIZE)
    bench.give("Image", png(PICTURE), Values="0 to 255")
    bench.run()
    y = bench.outputs()["out0"][0]
    assert (bench.pixels("#outputs canvas") == np.moveaxis(y, 0, -1)).all()
    bench.page.locator("#outputs").get_by_label("Show").select_option("heat")
    bench.page.locator("#outputs").get_by_label("Plane").fill("2")
    bench.page.locator("#outputs").get_by_label("Plane").press("Enter")
    bench.settle()
    heat = bench.pixels("#outputs canvas").astype(int)
    assert tuple(heat[np.unravel_index(y[2].argmin(), y[2].shape)]) == (68, 1, 84)
    assert tuple(heat[np.unravel_index(y[2].argmax(), y[2].shape)]) == (253, 231, 37)
    greens = heat[..., 1][np.unravel_index(y[2].argsort(axis=None), y[2].shape)]
    assert (np.diff(greens) >= 0).all(), "it gets greener as values grow"
    expect(bench.page.locator("#outputs")).to_contain_text(f"from {y[2].min():.5g} to {y[2].max():.5g}")


def test_profile(bench: Bench) -> None:
    bench.open(CLASSIFIER)
    bench.run()
    count = bench.dispatches()
    assert count > 1
    bench.page.get_by_role("button", name="Profile").click()
    bench.settle()
    expect(bench.page.locator("#times-about")).to_contain_text(f"µs in {count} dispatches")
    bars = bench.page.locator("#bars > ol li")
    widths = [float(bar.evaluate("bar => bar.style.getPropertyValue('--score')")) for bar in bars.locator(".bar").all()]
    assert widths[0] == 1
    assert widths == sorted(widths, reverse=True)
    bench.page.get_by_text("Each dispatch, in order").click()
    steps = bench.page.locator("#bars details li")
    expect(steps).to_have_count(count)
    expect(steps.filter(has_text="linear_gemv, delegate 0, node 1")).to_have_count(1)


def test_sizes_that_a_model_leaves_open(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "sum.onnx"
    takes: dict[str, tuple[str, Sizes]] = {"x": ("float32", ["batch", 4]), "y/bias:0": ("float32", None)}
    path.write_bytes(model(graph([node("Add", list(takes), ["z"])], takes, {"z": ("float32", ["batch", 4])})))
    bench.open(path)
    expect(bench.page.locator("#call")).not_to_be_visible()
    expect(bench.page.locator("#ops-title")).not_to_be_visible()
    sizes = bench.page.locator("#sizes")
    for batch, bias in (("3", "1, 4"), ("2", "4")):
        sizes.get_by_label("batch").fill(batch)
        sizes.get_by_label("y/bias:0").fill(bias)
        sizes.get_by_role("button").click()
        bench.settle()
        for number in (0, 1):
            bench.give("Noise", number=number)
        bench.run()
        assert bench.outputs()["z"].shape == (int(batch), 4)
        expect(bench.page.locator("#fields")).to_contain_text(f"y/bias:0 float32 [{bias}]")
    sizes.get_by_label("y/bias:0").fill("3, 3")
    sizes.get_by_role("button").click()
    bench.settle()
    wrong(bench, "cannot run", "node 0: Add: the shapes [2, 4] and [3, 3] do not broadcast")
    expect(sizes).to_be_visible()
    bench.open(UNET)
    expect(sizes).not_to_be_visible()


def test_weights_in_a_file_of_their_own(bench: Bench, tmp_path: Path) -> None:
    weights, x = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((3, 4), np.float32)
    path, beside = tmp_path / "a.onnx", tmp_path / "a.data"
    path.write_bytes(one_node("Add", {"x": x}, {"y": "float32"}, {"c": external("c", weights, beside.name)}))
    beside.write_bytes(weights.tobytes())
    bench.open(path)
    assert "a.data" in bench.trouble()
    bench.open(beside, path)
    bench.give("File (.npy, .npz)", npy(x))
    bench.run()
    np.testing.assert_array_equal(bench.outputs()["y"], weights + x)


def test_address(bench: Bench, site: Site) -> None:
    address = bench.page.get_by_label("Or its address")
    for given in ("models/classifier.pte", f"{site.url}models/classifier.pte"):
        address.fill(given)
        address.press("Enter")
        bench.settle()
        assert bench.text("#model-name") == "classifier.pte"
        assert f"{CLASSIFIER.stat().st_size:,} bytes, loaded in" in bench.text("#model-about")


def test_example(bench: Bench) -> None:
    bench.open(UNET)
    bench.page.get_by_role("button", name="Try an example").click()
    bench.settle()
    assert bench.text("#model-name") == "classifier.pte"


def test_dropped_file(bench: Bench) -> None:
    bench.open(UNET)
    dropped = bench.page.evaluate_handle(
        """bytes => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], "dropped.pte"));
          return transfer;
        }""",
        [*CLASSIFIER.read_bytes()],
    )
    bench.page.dispatch_event("body", "dragover", {"dataTransfer": dropped})
    expect(bench.page.locator("#drop")).to_have_class("over")
    bench.page.dispatch_event("body", "drop", {"dataTransfer": dropped})
    bench.settle()
    assert bench.text("#model-name") == "dropped.pte"
    expect(bench.page.locator("#drop")).to_have_class("")


def test_by_keyboard(bench: Bench) -> None:
    """From the address to the outputs, and back to choosing a file, which shows that it has the focus."""
    keys = bench.page.keyboard
    bench.page.locator("#address").focus()
    keys.press("ControlOrMeta+a")
    keys.type("models/upscaler.pte")
    keys.press("Enter")
    bench.settle()
    assert bench.text("#model-name") == "upscaler.pte"
    bench.tab_to("select")
    keys.type("Noise")
    bench.tab_to("button.main")
    keys.press("Enter")
    bench.settle()
    expect(bench.page.locator("#outputs canvas")).to_be_visible()
    bench.tab_to("#file", "Shift+Tab")
    assert bench.page.locator("#drop").evaluate("label => getComputedStyle(label).outlineStyle") == "solid"


def wrong(bench: Bench, title: str, *texts: str) -> None:
    said = bench.trouble()
    for text in (title, *texts):
        assert text in said
    assert "Traceback" not in said
    assert bench.page.evaluate("document.activeElement.id") == "trouble", "which is read out"


def test_file_that_is_no_model(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "nonsense.pte").write_bytes(b"nonsense")
    (tmp_path / "cut.pte").write_bytes(CLASSIFIER.read_bytes()[:9999])
    for name in ("nonsense.pte", "cut.pte"):
        bench.open(tmp_path / name)
        wrong(bench, "A model file is broken", f"{name}: ")
        expect(bench.page.locator("#model")).not_to_be_visible()
    bench.open(CLASSIFIER)
    expect(bench.page.locator("#trouble")).not_to_be_visible()


def test_what_cannot_run_is_listed(bench: Bench) -> None:
    bench.open(UNSUPPORTED)
    wrong(bench, "holds something that webq8 cannot run", "instruction 1: aten::asinh.out: no such op in webq8")
    assert bench.rows() == [
        ["aten::asinh.out", "unsupported\nno such op in webq8", "1"],
        ["aten.relu.default", "supported", "1"],
        ["aten.sigmoid.default", "supported", "1"],
    ]
    expect(bench.page.locator("#call")).not_to_be_visible()


def test_address_without_a_model(bench: Bench, site: Site) -> None:
    for given, texts in {
        "models/absent.pte": ("The address could not be read", "404"),
        "http://127.0.0.1:1/x.pte": ("The address could not be read", "http://127.0.0.1:1/x.pte cannot be fetched"),
        "model.html": ("A model file is broken", "this is an HTML page"),
    }.items():
        bench.page.locator("#address").fill(given)
        bench.page.get_by_role("button", name="Fetch").click()
        bench.settle()
        wrong(bench, *texts)
    bench.requests[:] = [url for url in bench.requests if not url.startswith("http://127.0.0.1:1/")]
    bench.complaints[:] = [text for text in bench.complaints if not re.search("Failed to load|violates", text)]


class OtherSite(SimpleHTTPRequestHandler):
    """A site that has models, and lets all others read those below "open"."""

    def do_GET(self) -> None:
        data = CLASSIFIER.read_bytes()
        self.send_response(200)
        if self.path.startswith("/open/"):
            self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def test_address_of_another_site(chromium: Browser, site: Site) -> None:
    """Under this site's own policy; what the other site does not let be read is said so."""
    policies: dict[Any, Handler] = {re.compile(r"/(model\.html|worker\.js)$"): Route.continue_}
    with ThreadingHTTPServer(("127.0.0.1", 0), OtherSite) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with visit(Bench, chromium, site, "model.html", routes=policies) as bench:
            expect(bench.page.locator("#ready")).to_be_visible(timeout=START_MS)
            address = bench.page.get_by_label("Or its address")
            address.fill(f"http://127.0.0.1:{other.server_port}/open/of%20others.pte?raw=1")
            address.press("Enter")
            bench.settle()
            assert bench.text("#model-name") == "of others.pte"
            address.fill(f"http://127.0.0.1:{other.server_port}/closed/model.pte")
            address.press("Enter")
            bench.settle()
            wrong(bench, "The address could not be read", "(CORS)", "/closed/model.pte cannot be fetched")
        other.shutdown()


def test_inputs_that_do_not_fit(bench: Bench) -> None:
    bench.open(CLASSIFIER)
    for given, texts in [
        (None, ("Choose a file for in0",)),
        (npy(np.zeros((1, 63), np.float32)), ("expected float32 [1, 64], got float32 [1, 63]",)),
        (npy(np.full((1, 64), 0.1)), ("0.1 (float64) at [0, 0] is not exactly float32",)),
        (npz(a=np.zeros(1), b=np.zeros(1)), ("arrays.npz has no array 'in0'; it holds a, b",)),
        ({"name": "x.npy", "mimeType": "", "buffer": b"nonsense"}, ("x.npy is no .npy or .npz file",)),
    ]:
        bench.give("Noise")
        bench.give("File (.npy, .npz)", given)
        bench.run()
        wrong(bench, "What was given does not fit", *texts)
        expect(bench.page.locator("#results")).not_to_be_visible()
    bench.open(UNET)
    bench.give("Image", {"name": "x.png", "mimeType": "image/png", "buffer": b"nonsense"})
    wrong(bench, "What was given does not fit", "x.png is no picture that this browser reads")
    bench.give("Zeros")
    bench.run()
    expect(bench.page.locator("#results")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(chromium: Browser, site: Site, scheme: str) -> None:
    viewport = {"width": 390, "height": 800}
    with visit(
        Bench, chromium, site, "model.html", viewport=viewport, has_touch=True, is_mobile=True, color_scheme=scheme
    ) as phone:
        expect(phone.page.locator("#ready")).to_be_visible(timeout=START_MS)
        phone.open(UNET)
        phone.give("Image", png(PICTURE))
        phone.page.get_by_role("button", name="Run").tap()
        phone.settle()
        phone.page.get_by_role("button", name="Profile").tap()
        phone.settle()
        for view in ("picture", "heat", "top", "table"):
            phone.page.locator("#outputs").get_by_label("Show").select_option(view)
            phone.settle()
            assert phone.overflow() == 0
        phone.open(UNSUPPORTED)
        assert phone.overflow() == 0
        assert phone.complaints == []


NO_ADAPTER = "GPU.prototype.requestAdapter = async () => null;"
LOSE_DEVICE = """
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  const device = await requestDevice.call(this, descriptor);
  addEventListener("message", ({ data }) => data.method === "run" && device.destroy());
  return device;
};
"""


def test_no_adapter(chromium: Browser, site: Site) -> None:
    with visit(Bench, chromium, site, "model.html", routes={"**/worker.js": under_policy(NO_ADAPTER)}) as bench:
        alert = bench.page.locator("#error")
        expect(alert).to_be_visible(timeout=START_MS)
        expect(alert).to_contain_text("no graphics adapter")


def test_lost_device(chromium: Browser, site: Site) -> None:
    with visit(Bench, chromium, site, "model.html", routes={"**/worker.js": under_policy(LOSE_DEVICE)}) as bench:
        expect(bench.page.locator("#ready")).to_be_visible(timeout=START_MS)
        bench.open(CLASSIFIER)
        bench.page.get_by_role("button", name="Run").click()
        alert = bench.page.locator("#error")
        expect(alert).to_contain_text("The GPU stopped answering")
        expect(alert.get_by_role("button", name="Try again")).to_be_visible()
        assert not bench.page.locator("#demo").is_visible()


def test_views_link_to_each_other(bench: Bench, site: Site) -> None:
    with bench.page.context.new_page() as page:
        page.goto(f"{site.url}model.html")
        page.get_by_role("link", name="Handwriting").click()
        expect(page.locator("h2#answer")).to_be_attached()
        page.get_by_role("link", name="Your model").click()
        expect(page.locator("#choose-title")).to_be_attached()
