"""Browsers that lack a part of WebGPU, refuse a request or never answer: what is there works, the rest says why not."""

from pathlib import Path

import numpy as np
import pytest
import webq8  # in the page's functions
from webq8.desktop.host import PythonPage
from webq8.errors import DeviceError, NoAdapter, ShaderError

ROOT = Path(__file__).parents[2]
URL = "web/models/classifier.pte"
DIGIT = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][0] / 16).astype(np.float32).reshape(1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:1]


async def without(parts, url, x):
    """Loads and runs on a new device where some properties, as "GPUAdapter.info", are missing: logits and adapter."""
    import js
    from webq8.backends.browser import gpu

    originals = []
    for part in parts:
        kind, _, name = part.rpartition(".")
        owner = getattr(js, kind).prototype if kind else js.globalThis
        while not js.Object.getOwnPropertyDescriptor(owner, name):
            owner = js.Object.getPrototypeOf(owner)
        originals.append((owner, name, js.Object.getOwnPropertyDescriptor(owner, name)))
        assert js.Reflect.deleteProperty(owner, name), part
    gpu._device = None
    try:
        with await webq8.load(url) as program:
            return await program(x), str(program.adapter)
    finally:
        for original in originals:
            js.Object.defineProperty(*original)
        gpu._device = None


@pytest.mark.parametrize(
    "part",
    [
        "GPU.wgslLanguageFeatures",
        "GPUAdapter.info",
        "GPUAdapterInfo.description",
        "GPUShaderModule.getCompilationInfo",
        "scheduler",
    ],
)
def test_runs_without(webq8_page: PythonPage, part: str) -> None:
    logits, name = webq8_page.call(without, [part], URL, DIGIT)
    np.testing.assert_array_equal(logits, LOGITS)
    assert (name == "unnamed GPU") == (part == "GPUAdapter.info")


async def answered(method, answer, seconds):
    """Has a method of WebGPU answer as a lesser browser's may, and needs it: raises what comes of that."""
    import asyncio

    import js
    from pyodide.ffi import create_proxy
    from webq8.backends.browser import gpu
    from webq8.kernels import wgsl

    # pages here may not evaluate text as JavaScript
    replaced = {
        "throws": js.JSON.parse.bind(js.JSON, "nonsense"),
        "rejects": js.WebAssembly.compile,
        "is silent": create_proxy(lambda *_: js.Promise.new(create_proxy(lambda *_: None))),
        "gives nothing": create_proxy(lambda *_: js.Promise.resolve(None)),
        "is missing": None,
    }
    kind, name = method.split(".")
    prototype = getattr(js, kind).prototype
    original = js.Object.getOwnPropertyDescriptor(prototype, name)
    device = await gpu.device()
    before = gpu._PATIENCE, gpu._device, wgsl.module_source
    setattr(prototype, name, replaced[answer])
    try:
        if kind == "GPUShaderModule":
            wgsl.module_source = lambda *_: f"nonsense, {answer}"
            await device.pipeline(("relayout", (), ()))
        gpu._PATIENCE, gpu._device = seconds, None
        outcomes = await asyncio.gather(gpu.device(), gpu.device(), return_exceptions=True)
        assert outcomes[0] is outcomes[1], "asked once for both"
        raise outcomes[0]
    finally:
        gpu._PATIENCE, gpu._device, wgsl.module_source = before
        js.Object.defineProperty(prototype, name, original)


@pytest.mark.parametrize("answer", ["is missing", "throws", "rejects", "gives nothing"])
def test_shader_that_does_not_compile_without_details(webq8_page: PythonPage, answer: str) -> None:
    with pytest.raises(ShaderError, match=r"^relayout\.wgsl: \w+"):
        webq8_page.call(answered, "GPUShaderModule.getCompilationInfo", answer, 0.2)


@pytest.mark.parametrize(
    ("method", "answer", "error", "message"),
    [
        ("GPU.requestAdapter", "throws", NoAdapter, "refuses an adapter of WebGPU (.*nonsense.*): "),
        ("GPU.requestAdapter", "rejects", NoAdapter, r"refuses an adapter of WebGPU \(WebAssembly.* buffer source\): "),
        ("GPU.requestAdapter", "is silent", NoAdapter, "has not given an adapter of WebGPU within 0.2 seconds: "),
        ("GPU.requestAdapter", "gives nothing", NoAdapter, "has WebGPU but gives no adapter: "),
        (
            "GPUAdapter.requestDevice",
            "rejects",
            DeviceError,
            r"refuses a device of WebGPU \(WebAssembly.* buffer source\): ",
        ),
        ("GPUAdapter.requestDevice", "is silent", DeviceError, "has not given a device of WebGPU within 0.2 seconds: "),
    ],
)
def test_request_that_fails(webq8_page: PythonPage, method: str, answer: str, error: type, message: str) -> None:
    with pytest.raises(error, match=f"^the browser {message}.*check chrome://gpu"):
        webq8_page.call(answered, method, answer, 0.2)
    logits, _ = webq8_page.call(without, [], URL, DIGIT)
    np.testing.assert_array_equal(logits, LOGITS)


async def patience():
    from webq8.backends.browser import gpu

    return gpu._PATIENCE


def test_requests_end_after_15_seconds(webq8_page: PythonPage) -> None:
    assert webq8_page.call(patience) == 15


async def without_webgpu():
    import js
    from webq8.backends.browser import gpu

    original = js.Object.getOwnPropertyDescriptor(js.WorkerNavigator.prototype, "gpu")
    assert js.Reflect.deleteProperty(js.WorkerNavigator.prototype, "gpu")
    gpu._device = None
    try:
        await webq8.load("web/models/classifier.pte")
    finally:
        js.Object.defineProperty(js.WorkerNavigator.prototype, "gpu", original)


def test_no_webgpu(webq8_page: PythonPage) -> None:
    with pytest.raises(NoAdapter, match="this browser has no WebGPU here; use Chrome"):
        webq8_page.call(without_webgpu)
