"""The visitor's page (`web/index.html`), as a visitor meets it: real Python, real models, real WebGPU."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Route, expect
from visits import POLICY, START_MS, Handler, Visit, under_policy, visit
from webq8.desktop.site import Site

ROOT = Path(__file__).parents[2]
SCANS = np.load(ROOT / "web/models/digits.npz")
GOLDEN = np.load(ROOT / "tests/data/digits_golden.npz")
FIRST_OF_EACH = [int(np.flatnonzero(SCANS["labels"] == digit)[0]) for digit in range(10)]


class Digits(Visit):
    def percents(self) -> list[float]:
        return [
            float(text.removesuffix(" %") or "nan") for text in self.page.locator("#scores .percent").all_inner_texts()
        ]

    def picture(self, name: str) -> np.ndarray:
        """The shades of a canvas, 0 to 255."""
        pixels = self.page.evaluate(
            """id => {
              const { width, height } = document.getElementById(id);
              const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
              copy.drawImage(document.getElementById(id), 0, 0);
              return copy.getImageData(0, 0, width, height).data.filter((_, i) => i % 4 === 3).join();
            }""",
            name,
        )
        shades = np.array(pixels.split(","), np.int16)
        return shades.reshape(int(shades.size**0.5), -1)

    def pick(self, index: int) -> None:
        self.page.locator("#scans input").nth(index).check(force=True)
        expect(self.page.locator("#truth")).to_have_text(f"This scan is labelled {SCANS['labels'][index]}")
        self.settle()

    def draw(self, *strokes: list[tuple[float, float]]) -> None:
        """Draws with the mouse; points are fractions of the pad."""
        pad = self.page.locator("#pad").bounding_box()
        assert pad
        for stroke in strokes:
            points = [(pad["x"] + x * pad["width"], pad["y"] + y * pad["height"]) for x, y in stroke]
            self.page.mouse.move(*points[0])
            self.page.mouse.down()
            for point in points[1:]:
                self.page.mouse.move(*point, steps=5)
            self.page.mouse.up()
        self.settle()

    def settle(self) -> None:
        """Waits until the worker has answered everything that was asked."""
        expect(self.page.locator("#scores")).to_have_attribute("aria-busy", "false")


@pytest.fixture(scope="module")
def ready(chromium: Browser, site: Site) -> Iterator[Digits]:
    """The page once it is loaded; whatever the tests do with it, it must not complain nor ask another origin."""
    with visit(Digits, chromium, site, viewport={"width": 1280, "height": 860}) as visitor:
        expect(visitor.page.locator("#answer")).to_contain_text("It reads", timeout=START_MS)
        yield visitor
        assert visitor.complaints == []
        assert [url for url in visitor.requests if not url.startswith(site.url)] == []


def test_progress_rises_to_the_end(ready: Digits) -> None:
    recorded = ready.page.evaluate("recorded")
    stages = list(dict.fromkeys(recorded["stages"]))
    assert stages == ["Python runtime", "numpy", "flatbuffers", "webq8", "models and shaders"]
    assert recorded["fractions"] == sorted(recorded["fractions"])
    assert len(set(recorded["fractions"])) > 10
    assert recorded["fractions"][-1] == 1
    assert not ready.page.locator("#loading").is_visible()


def test_adapter_is_named(ready: Digits, pytestconfig: pytest.Config) -> None:
    assert ready.text("#adapter").startswith(
        ready.page.evaluate("navigator.gpu.requestAdapter().then(adapter => adapter.info.vendor)")
    )
    software = pytestconfig.getoption("--webq8-gpu") == "swiftshader"
    assert ("swiftshader" in ready.text("#adapter")) == software
    warning = ready.page.locator("#software")
    assert warning.is_visible() == software
    expect(warning).to_contain_text("timings say nothing about a GPU")


@pytest.mark.parametrize("index", FIRST_OF_EACH)
def test_picked_scan(ready: Digits, index: int) -> None:
    ready.pick(index)
    logits = GOLDEN["logits"][index].astype(np.float64)
    expected = 100 * np.exp(logits) / np.exp(logits).sum()
    assert expected.argmax() == SCANS["labels"][index]
    np.testing.assert_allclose(ready.percents(), expected, atol=2)
    assert ready.text("#answer") == f"It reads a {SCANS['labels'][index]}"
    assert ready.text("#scores .top .digit") == str(SCANS["labels"][index])
    assert re.fullmatch(r"\d+\.\d ms, \d+ dispatches", ready.text("#classifier-cost"))
    assert re.fullmatch(r"\d+\.\d ms, \d+ dispatches", ready.text("#upscaler-cost"))
    np.testing.assert_allclose(ready.picture("scan"), SCANS["images"][index] / 16 * 255, atol=1)
    upscaled = GOLDEN["upscaled"][index][0].clip(0, 1) * 255
    np.testing.assert_allclose(ready.picture("upscale"), upscaled, atol=2)  # one step of int8, and rounding


def test_keys_go_through_the_scans(ready: Digits) -> None:
    ready.pick(0)
    ready.page.locator("#scans input").first.focus()
    ready.page.keyboard.press("ArrowRight")
    expect(ready.page.locator("#scans input").nth(1)).to_be_checked()
    expect(ready.page.locator("#truth")).to_have_text(f"This scan is labelled {SCANS['labels'][1]}")


ONE = [(0.5, 0.2), (0.5, 0.8)]
SEVEN = [(0.3, 0.2), (0.7, 0.2), (0.45, 0.8)]
BAR = [(0.4, 0.5), (0.65, 0.5)]


def test_drawn_digit(ready: Digits) -> None:
    ready.pick(FIRST_OF_EACH[0])
    percents, upscaled = ready.percents(), ready.picture("upscale")
    ready.draw(SEVEN, BAR)
    assert ready.text("#answer") == "It reads a 7"
    assert ready.text("#truth").strip() == ""
    assert ready.page.locator("#scans :checked").count() == 0
    assert ready.percents() != percents
    assert (ready.picture("upscale") != upscaled).any()


@pytest.mark.parametrize("size", [1, 0.3])
def test_drawing_is_scaled_as_the_scans_are(ready: Digits, size: float) -> None:
    ready.page.get_by_role("button", name="Clear").click()
    ready.draw([(x * size, y * size) for x, y in SEVEN])
    ink = ready.picture("scan") > 32
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert (rows[0], rows[-1]) == (0, 7)
    assert columns[0] == 7 - columns[-1]


def test_clear(ready: Digits) -> None:
    ready.draw(ONE)
    ready.page.get_by_role("button", name="Clear").click()
    assert ready.text("#answer") == "Draw a digit, or pick a scan"
    assert ready.page.locator("#scores .top").count() == 0
    assert np.isnan(ready.percents()).all()
    assert not any(ready.picture(name).any() for name in ("pad", "scan", "upscale"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(chromium: Browser, site: Site, scheme: str) -> None:
    viewport = {"width": 375, "height": 740}
    with visit(Digits, chromium, site, viewport=viewport, has_touch=True, is_mobile=True, color_scheme=scheme) as phone:
        assert phone.overflow() == 0
        expect(phone.page.locator("#answer")).to_contain_text("It reads", timeout=START_MS)
        assert phone.overflow() == 0
        phone.settle()
        scan = phone.picture("scan")
        phone.page.locator("#pad").tap()
        phone.settle()
        assert (phone.picture("scan") != scan).any()
        assert phone.complaints == []


def answer(**response: Any) -> Handler:
    return lambda route: route.fulfill(**response)


def blocked(route: Route) -> None:
    route.abort()


# The device goes away while the first digit is being read.
LOSE_DEVICE = """
const { requestDevice } = GPUAdapter.prototype;
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  const device = await requestDevice.call(this, descriptor);
  addEventListener("message", () => device.destroy());
  return device;
};
"""

PAGE = re.compile(r"/$")
TRUSTED_TYPES = f"{POLICY}; require-trusted-types-for 'script'"

FAILURES: dict[str, tuple[str | re.Pattern[str], Handler, str, str]] = {
    "damaged model": (
        "**/classifier.pte", answer(body="nonsense"), "A model file is broken", "classifier.pte",
    ),
    "missing model": (
        "**/upscaler.pte", answer(status=404), "could not be loaded", "models/upscaler.pte: the server answered 404",
    ),
    "blocked wheel": (
        "**/numpy*.whl", blocked, "could not be loaded", "wheels/0.27.7/numpy",
    ),
    "blocked runtime": (
        "**/pyodide.asm.wasm", blocked, "could not be loaded", "pyodide/pyodide.asm.wasm",
    ),
    "blocked worker": (
        "**/worker.js", blocked, "Python did not start", "",
    ),
    "no WebGPU": (
        "**/worker.js", under_policy("delete WorkerNavigator.prototype.gpu;"), "no WebGPU", "up-to-date Chrome",
    ),
    "no adapter": (
        "**/worker.js", under_policy("GPU.prototype.requestAdapter = async () => null;"), "no graphics adapter", "",
    ),
    "lost device": (
        "**/worker.js", under_policy(LOSE_DEVICE), "The GPU stopped answering", "lost",
    ),
    "policy without WebAssembly": (
        "**/worker.js", under_policy("", POLICY.replace("'wasm-unsafe-eval'", "")), "forbids what Python needs",
        "WebAssembly does not run here",
    ),
    "browser without WebAssembly": (
        "**/worker.js", under_policy("delete self.WebAssembly;"), "forbids what Python needs",
        "WebAssembly does not run here",
    ),
    "trusted types without ours": (
        PAGE, under_policy("", f"{TRUSTED_TYPES}; trusted-types other"), "forbids what Python needs", 'Policy "webq8"',
    ),
    "blocked page script": (
        "**/page.js", blocked, "could not be loaded", "page.js did not load",
    ),
    "damaged page script": (
        "**/page.js", answer(body="}", content_type="text/javascript"), "Something went wrong", "SyntaxError",
    ),
    "page script that throws": (
        "**/page.js", under_policy("throw new Error('thrown first');"), "Something went wrong", "thrown first",
    ),
    "page script that rejects": (
        "**/page.js", under_policy("Promise.reject(new Error('left alone'));"), "Something went wrong", "left alone",
    ),
    "worker that throws": (
        "**/worker.js", under_policy("throw new Error('thrown first');"), "Python did not start", "thrown first",
    ),
    "worker that rejects": (
        "**/worker.js", under_policy("setTimeout(() => Promise.reject(new Error('left alone')));"),
        "Something went wrong", "left alone",
    ),
    "blocked module of the worker": (
        "**/python.js", blocked, "Python did not start", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_failure_is_explained(chromium: Browser, site: Site, name: str) -> None:
    pattern, handler, problem, explanation = FAILURES[name]
    with visit(Digits, chromium, site, routes={pattern: handler}) as visitor:
        alert = visitor.page.get_by_role("alert")
        expect(alert).to_be_visible(timeout=START_MS)
        expect(alert).to_contain_text(problem)
        expect(alert).to_contain_text(explanation)
        expect(alert).not_to_contain_text("Traceback")
        expect(alert.get_by_role("button", name="Try again")).to_be_visible()
        assert not visitor.page.locator("#loading").is_visible()
        assert not visitor.page.locator("#demo").is_visible()


@pytest.mark.parametrize("pattern", ["**/problem.js", PAGE], ids=["blocked", "forbidden"])
def test_scripts_that_do_not_run(chromium: Browser, site: Site, pattern: str | re.Pattern[str]) -> None:
    """Nothing of ours can say so then but the page's own text, which shows after five seconds."""
    handler = under_policy("", "script-src 'none'") if pattern is PAGE else blocked
    with visit(Digits, chromium, site, routes={pattern: handler}) as visitor:
        text = visitor.page.locator("#stalled")
        assert not text.is_visible()
        expect(text).to_be_visible(timeout=START_MS)
        expect(text).to_contain_text("The scripts of this page do not run")
        expect(visitor.page.locator("#loading label")).to_have_css("visibility", "hidden")
        assert visitor.overflow() == 0


def test_trusted_types(chromium: Browser, site: Site) -> None:
    """The page runs under a policy that asks for them everywhere."""
    routes = {pattern: under_policy("", TRUSTED_TYPES) for pattern in (PAGE, "**/worker.js")}
    with visit(Digits, chromium, site, routes=routes) as visitor:
        expect(visitor.page.locator("#answer")).to_contain_text("It reads", timeout=START_MS)
        assert visitor.complaints == []
