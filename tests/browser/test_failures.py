"""What goes wrong on the GPU side: each the right exception, and nothing left allocated."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import Browser, PythonPage
from webq8.errors import DeviceLost, FormatError, InputError, LimitError, NoAdapter, ShaderError

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
URL = "web/models/classifier.pte"
DIGIT = np.zeros((1, 64), np.float32)


async def load(source):
    with await webq8.load(source):
        pass


async def live():
    from webq8.backends.browser import gpu

    return gpu.live()


@pytest.fixture(autouse=True)
def nothing_left(webq8_page: PythonPage):
    yield
    left = webq8_page.call(live)
    assert (left["buffers"], left["bytes"]) == (0, 0)


def test_missing_file(webq8_page: PythonPage) -> None:
    with pytest.raises(InputError, match=r"models/nothing\.pte cannot be fetched: HTTP 404"):
        webq8_page.call(load, "models/nothing.pte")


def test_truncated_file(webq8_page: PythonPage) -> None:
    with pytest.raises(FormatError, match="the file is cut off"):
        webq8_page.call(load, CLASSIFIER.read_bytes()[:5000])


async def broken_shader(name, declaration, rows, sizes):
    """Linear layers in a row, where a kernel's text is not WGSL: one of its variables is declared with nonsense."""
    from itertools import pairwise

    import numpy as np
    from webq8 import ops
    from webq8.kernels import wgsl

    def forget():
        for cached in (wgsl._read, wgsl.kernel, wgsl.module_source):
            cached.cache_clear()

    path = wgsl.resource_dir("wgsl") / f"{name}.wgsl"
    text = path.read_text()
    assert declaration in text
    try:
        path.write_text(text.replace(declaration, declaration.split("=")[0] + "= nonsense;"))
        forget()
        x = np.zeros((rows, sizes[0]), np.int8)
        for k, n in pairwise(sizes):
            x = ops.q8ta_linear(x, 1.0, 0, np.ones((n, k), np.int8), None, np.ones(n, np.float32), 1.0, 0)
        await x.numpy()
    finally:
        path.write_text(text)
        forget()


def test_shader_that_does_not_compile(webq8_page: PythonPage) -> None:
    with pytest.raises(ShaderError, match=r"relayout\.wgsl: (.|\n)*line \d+: .*nonsense"):
        webq8_page.call(broken_shader, "relayout", "var out = 0u;", 3, [5, 5])


def test_two_pipelines_of_a_shader_that_does_not_compile(webq8_page: PythonPage) -> None:
    with pytest.raises(ShaderError, match=r"linear_gemv\.wgsl: (.|\n)*line \d+: .*nonsense"):
        webq8_page.call(broken_shader, "linear_gemv", "var acc = vec4<i32>();", 1, [16, 512, 5])


async def too_large():
    """More than the device's largest buffer, refused while planning: no bytes are needed for that."""
    from webq8.backends.browser import gpu
    from webq8.budget import Budget
    from webq8.ir.builder import Builder
    from webq8.ir.graph import Graph
    from webq8.ir.ops.quantize import Quantize
    from webq8.ir.types import PerTensor, Tensor
    from webq8.runtime.load import compile_graphs

    device = await gpu.device()
    n = device.target.max_storage_buffer_binding_size // 4 + 1
    builder = Builder(Budget(None, "large"))
    x = builder.add(Tensor((n,), "float32"))
    y = builder.emit(Quantize(x, "int8", -128, 127), PerTensor(0.1, 0))
    graph = Graph(tuple(builder.tensors), tuple(builder.nodes), (x,), (y,))
    await compile_graphs({"forward": graph}, "large")


def test_too_large_for_the_device(webq8_page: PythonPage) -> None:
    with pytest.raises(LimitError, match=r"large: inputs: a tensor float32 \[\d+\] needs [\d,]+ bytes; .* allows"):
        webq8_page.call(too_large)


async def limits():
    from webq8.backends.browser import gpu

    return (await gpu.device()).target.max_storage_buffer_binding_size


def test_the_adapters_limits_are_asked_for(webq8_page: PythonPage) -> None:
    assert webq8_page.call(limits) > 2**27


async def lose_device_while_running(url, x):
    import asyncio

    from webq8.backends.browser import gpu

    program = await webq8.load(url)
    try:
        await program(x)
        running = asyncio.ensure_future(program(x))
        await asyncio.sleep(0)
        (await gpu.device()).raw.destroy()
        await running
    finally:
        program.close()


def test_device_lost_mid_run_then_loaded_again(webq8_page: PythonPage) -> None:
    with pytest.raises(DeviceLost, match=r"the GPU device was lost \(destroyed"):
        webq8_page.call(lose_device_while_running, URL, DIGIT)
    webq8_page.call(load, URL)


async def start_running(url, x):
    import asyncio

    async def forever():
        with await webq8.load(url) as program:
            while True:
                await program(x)
                await asyncio.sleep(0.01)

    webq8.running = asyncio.ensure_future(forever())
    await asyncio.sleep(0.5)


async def wait_for_the_end():
    await webq8.running


def test_gpu_process_crashes() -> None:
    """Chromium's own way of killing its GPU process, while a program runs over and over."""
    with Browser(root=ROOT) as browser, browser.page() as page:
        page.call(start_running, URL, DIGIT)
        session = browser.wait(page.tab.context.browser.new_browser_cdp_session())
        browser.wait(session.send("Browser.crashGpuProcess"))
        with pytest.raises(DeviceLost, match="the GPU device was lost"):
            page.call(wait_for_the_end)
        assert page.call(live)["buffers"] == 0
        page.call(load, URL)


def test_no_adapter() -> None:
    no_gpu = ["--disable-gpu", "--disable-software-rasterizer"]
    with (
        Browser(extra_args=no_gpu, root=ROOT) as browser,
        browser.page() as page,
        pytest.raises(NoAdapter, match="gives no adapter"),
    ):
        page.call(load, URL)
