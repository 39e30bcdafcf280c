"""Tensors that stay on the page's GPU: values, what a chain costs the browser, and when they are freed."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import PythonPage
from webq8.errors import ClosedError, DeviceLost, InputError
from webq8.stages import drive

MODELS = Path(__file__).parents[2] / "web" / "models"
DIGIT = (np.load(MODELS / "digits.npz")["images"][0] / 16).astype(np.float32)
URLS = "web/models/upscaler.pte", "web/models/classifier.pte"


async def held():
    import gc

    from webq8 import ops
    from webq8.backends.browser import gpu

    ops.close()
    gc.collect()
    return gpu.live()["buffers"]


@pytest.fixture(autouse=True)
def nothing_stays(webq8_page: PythonPage):
    yield
    assert webq8_page.call(held) == 0


async def chain(urls, digit, seconds):
    """An upscaled digit made small again and read, by programs and ops whose maps stay on the GPU; and each's costs."""
    import js
    from pyodide.ffi import create_proxy, to_js
    from webq8 import ops
    from webq8.plan import submits

    watched = [
        (js.GPUQueue, "submit"),
        (js.GPUQueue, "writeBuffer"),
        (js.GPUBuffer, "mapAsync"),
        (js.GPUCommandEncoder, "beginComputePass"),
    ]
    counts = {name: 0 for _, name in watched}
    originals = {name: js.Object.getOwnPropertyDescriptor(kind.prototype, name) for kind, name in watched}

    def counting(name):
        def counted(this, *args):
            counts[name] += 1
            return js.Reflect.apply(originals[name].value, this, to_js(args))

        return create_proxy(counted, capture_this=True)

    async def counted(work):
        before = counts.copy()
        return await work(), [counts[name] - before[name] for _, name in watched]

    async def run():
        large, costs = await counted(lambda: upscaler(digit.reshape(1, 1, 8, 8), resident=True))
        half = ops.slice_copy(ops.mul(large, large), 2, 0, None, 4)
        _, *more = await counted(lambda: half.buffer())
        flat = ops.view_copy(ops.slice_copy(half, 3, 0, None, 4), [1, 64])
        _, *rest = await counted(lambda: flat.buffer())
        logits, *last = await counted(lambda: classifier(flat, resident=True))
        values, *read = await counted(lambda: logits.buffer())
        found = [await large.buffer(), await flat.buffer(), values], [costs, *more, *rest, *last, *read], repr(logits)
        for tensor in (large, half, flat, logits):
            tensor.close()
        return found

    usual, submits._SECONDS = submits._SECONDS, seconds or submits._SECONDS
    try:
        upscaler, classifier = [await webq8.load(url) for url in urls]
    finally:
        submits._SECONDS = usual
    with upscaler, classifier:
        await run()
        for kind, name in watched:
            setattr(kind.prototype, name, counting(name))
        try:
            return await run(), str(classifier.adapter)
        finally:
            for kind, name in watched:
                js.Object.defineProperty(kind.prototype, name, originals[name])


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_a_chain_reads_nothing_on_its_way(webq8_page: PythonPage, seconds: float) -> None:
    (found, costs, shown), adapter = webq8_page.call(chain, URLS, DIGIT, seconds)
    upscaler, classifier = (drive(webq8.load(MODELS / Path(url).name, device="cpu")) for url in URLS)
    large = upscaler.run(DIGIT.reshape(1, 1, 8, 8))
    flat = (large * large)[:, :, ::4, ::4].reshape(1, 64)
    for got, want in zip(found, (large, flat, classifier.run(flat)), strict=True):
        np.testing.assert_array_equal(got, want)
    assert shown == f"<webq8 tensor float32 [1, 10], on {adapter}>"
    first, *_, last, read = costs
    if not seconds:
        # submits, writes, reads, passes
        assert costs == [[1, 1, 0, 1], [1, 0, 1, 1], [1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]]
    assert (first[1:3], last[1:3], read) == ([1, 0], [0, 0], [1, 0, 1, 0])


async def forget(url, digit):
    """Buffers beside the program's: of one result, of it and a second, of the second alone, and of none."""
    import gc

    from webq8.backends.browser import gpu

    with await webq8.load(url) as program:
        loaded, counts = gpu.live()["buffers"], []

        def count():
            gc.collect()
            counts.append(gpu.live()["buffers"] - loaded)

        first = await program(digit, resident=True)
        count()
        second = await program(digit, resident=True)
        count()
        del first
        count()
        second.close()
        second.close()
        count()
        running = program(digit, resident=True)
        running.close()
        del running
        count()
        return counts


def test_forgetting_and_closing(webq8_page: PythonPage) -> None:
    assert webq8_page.call(forget, URLS[1], DIGIT.reshape(1, 64)) == [1, 2, 1, 0, 0]


async def refused(url, digit, how):
    """Gives a program, or an op, a tensor that it cannot take."""
    from webq8 import ops
    from webq8.backends.browser import gpu

    with await webq8.load(url) as program:
        y = await program(digit, resident=True)
        try:
            if how == "closed":
                y.close()
                await ops.tanh(y).buffer()
            elif how == "lost":
                raw = (await gpu.device()).raw
                raw.destroy()
                await raw.lost
                await ops.tanh(y).buffer()
            elif how == "shape":
                await program(y)
            else:
                await ops.tanh(y).buffer("cpu")
        finally:
            y.close()


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("closed", ClosedError, "this tensor was closed; compute it again"),
        ("lost", DeviceLost, r"the GPU device that held this tensor was lost \(destroyed.*\); compute it again"),
        (
            "shape",
            InputError,
            r"expected float32 \[1, 64\], got float32 \[1, 10\] on the device, .*`await x\.numpy\(\)`",
        ),
        (
            "cpu",
            InputError,
            r"stays on another device \(.*swiftshader.*\) than the program's \(the CPU\); `await x\.num",
        ),
    ],
)
def test_refused(webq8_page: PythonPage, how: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        webq8_page.call(refused, URLS[1], DIGIT.reshape(1, 64), how)
