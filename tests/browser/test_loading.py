"""Loading: turns for the page, downloads that fail, much memory, and GPU errors that say where."""

from pathlib import Path

import networks
import numpy as np
import pytest
import webq8
from webq8.desktop.host import Browser, PythonPage
from webq8.errors import DeviceError, FormatError, InputError, ShaderError

ROOT = Path(__file__).parents[2]
URL = "web/models/classifier.pte"
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
DIGIT = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][0] / 16).astype(np.float32).reshape(1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:1]


# --- turns


async def longest_wait(data):
    """Loads a file; the most milliseconds that something else had to wait, and those that Python worked."""
    import asyncio
    import time

    waits, loading = [], asyncio.ensure_future(webq8.load(data))
    while not loading.done():
        start = time.perf_counter()
        await asyncio.sleep(0)
        waits.append((time.perf_counter() - start) * 1e3)
    program = loading.result()
    program.close()
    return max(waits), sum(program.load_ms[stage] for stage in ("parse", "lower", "rewrite", "plan"))


def test_pages_have_turns_while_a_network_loads(webq8_page: PythonPage) -> None:
    """On a machine that is busy, waits are held against all of the work."""
    data = (networks.large_networks() / "mobilenet_v2.pte").read_bytes()
    found = [webq8_page.call(longest_wait, data) for _ in range(4)]
    assert any(wait <= max(50, 0.3 * work) for wait, work in found[1:]), found  # the first one compiles


# --- downloads


async def load_what_comes(kind):
    """Loads an answer of `fetch` that no server of the tests gives."""
    import js
    from pyodide.ffi import create_proxy, to_js

    def breaks_off(controller):
        if pulled:
            controller.error(js.TypeError.new("network error"))
        else:
            controller.enqueue(js.Uint8Array.new(1000))
        pulled.append(1)

    pulled = []
    source = js.Object.new()
    source.pull = create_proxy(breaks_off)
    headers = to_js({"headers": {"content-length": "many"}}, dict_converter=js.Object.fromEntries)
    responses = {
        "nothing": lambda: js.Response.new(None),
        "breaks off": lambda: js.Response.new(js.ReadableStream.new(source), headers),
        "no length": lambda: js.Response.new("some text", headers),
    }
    original = js.globalThis.fetch
    js.globalThis.fetch = create_proxy(lambda *_: js.Promise.resolve(responses[kind]()))
    try:
        await webq8.load("models/odd.pte")
    finally:
        js.globalThis.fetch = original


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("nothing", InputError, r"models/odd\.pte cannot be fetched: it has no content"),
        ("breaks off", InputError, r"models/odd\.pte cannot be fetched after 1,000 bytes: network error"),
        ("no length", FormatError, r"odd\.pte: "),
    ],
)
def test_odd_answers(webq8_page: PythonPage, kind: str, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        webq8_page.call(load_what_comes, kind)


async def load(source):
    with await webq8.load(source):
        pass


@pytest.mark.parametrize("url", ["https://127.0.0.1:1/a.pte", "http://[/a.pte", "nothing://a.pte"])
def test_urls_that_lead_nowhere(webq8_page: PythonPage, url: str) -> None:
    with pytest.raises(InputError, match=r"cannot be fetched: \S"):
        webq8_page.call(load, url)


# --- memory


async def above_2_gib(data, url, x):
    """Loads and runs where all memory that is left lies above 2 GiB."""
    import asyncio
    import ctypes
    import gc

    import numpy as np

    def address(buffer):
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))

    kept = []
    for size in (2**27, 2**20, 2**14, 2**11):
        while not kept or address(memoryview(kept[-1])) < 2**31:
            kept.append(np.empty(size, np.uint8))
        kept.append(np.empty(1, np.uint8))
    x = x.copy()
    assert address(bytearray(5000)) > 2**31
    programs = [await webq8.load(source) for source in (bytes(data), url)]
    results = []
    for program in programs:
        results += await asyncio.gather(program(x), program(x))
        await program.profile(x, runs=1)
        program.close()
    results = [result.tolist() for result in results]
    del kept
    gc.collect()
    return results


def test_memory_above_2_gib(webq8_browser: Browser) -> None:
    with webq8_browser.page() as page:
        results = page.call(above_2_gib, CLASSIFIER.read_bytes(), URL, DIGIT)
    np.testing.assert_array_equal(results, [LOGITS.tolist()] * 4)


# --- errors of the GPU


async def broken(method, label, url, x):
    """Loads and runs where a method of the device is asked for what cannot be, for descriptors with a label."""
    from pyodide.ffi import create_proxy
    from webq8.backends.browser import gpu

    device = (await gpu.device()).raw
    original = getattr(device, method)

    def ask(descriptor):
        if label in descriptor.label:
            if method == "createBuffer":
                descriptor.usage = 0
            else:
                descriptor.entries.pop()
        return original(descriptor)

    setattr(device, method, create_proxy(ask))
    try:
        with await webq8.load(url) as program:
            await program(x)
    finally:
        delattr(device, method)


@pytest.mark.parametrize(
    ("method", "label", "message"),
    [
        (
            "createBuffer",
            "tensor",
            r"^[\w ,]+: a tensor \w+ \[[\d, ]+\], in a buffer of [\d,]+ bytes: GPUValidationError: ",
        ),
        (
            "createBuffer",
            "constant",
            r"^delegate 0, node \d+: a constant, in a buffer of [\d,]+ bytes: GPUValidationError: ",
        ),
        ("createBuffer", "results", r"^the results, in a buffer of 48 bytes: GPUValidationError: "),
        ("createBindGroup", "node 2", r"^delegate 0, node 2, \w+: GPUValidationError: "),
    ],
)
def test_errors_say_where(webq8_page: PythonPage, method: str, label: str, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        webq8_page.call(broken, method, label, URL, DIGIT)


async def wrong_pipeline(url, x):
    with await webq8.load(url) as program:
        replay = program._loaded.replays["forward"]
        replay.pipelines[2] = replay.pipelines[0]
        await program(x)


def test_errors_of_a_run_say_where(webq8_page: PythonPage) -> None:
    with pytest.raises(DeviceError, match=r"^delegate 0, node \d+, \w+: GPUValidationError: "):
        webq8_page.call(wrong_pipeline, URL, DIGIT)


async def refused_module(url):
    """Loads on a new device whose browser throws where it should make a shader module."""
    import js
    from webq8.backends.browser import gpu

    device = await gpu.device()
    device._pipelines.clear()
    device.state.modules.clear()
    device.raw.createShaderModule = js.JSON.parse.bind(js.JSON, "nonsense")
    try:
        await webq8.load(url)
    finally:
        del device.raw.createShaderModule


def test_shader_module_that_is_refused(webq8_page: PythonPage) -> None:
    with pytest.raises(ShaderError, match=r"^\w+\.wgsl: .*nonsense") as caught:
        webq8_page.call(refused_module, URL)
    assert len(str(caught.value)) < 200
    webq8_page.call(load, URL)


async def live():
    import webq8
    from webq8.backends.browser import gpu

    webq8.ops.close()
    return gpu.live()["buffers"]


@pytest.fixture(autouse=True)
def nothing_left(webq8_page: PythonPage):
    yield
    assert webq8_page.call(live) == 0
