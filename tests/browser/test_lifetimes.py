"""What programs hold on the GPU, and for how long: whatever goes wrong or is forgotten, nothing stays."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import PythonPage
from webq8.errors import DeviceLost

ROOT = Path(__file__).parents[2]
URL = "web/models/classifier.pte"
DIGIT = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][0] / 16).astype(np.float32).reshape(1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:1]
WEIGHTS = np.random.default_rng(0).integers(-9, 9, (20, 5, 8)).astype(np.int8)
X = np.arange(24, dtype=np.int8).reshape(3, 8)


async def held():
    import gc

    from webq8 import ops
    from webq8.backends.browser import gpu

    ops.close()
    gc.collect()
    live = gpu.live()
    return live["buffers"], live["bytes"]


@pytest.fixture(autouse=True)
def nothing_stays(webq8_page: PythonPage):
    yield
    assert webq8_page.call(held) == (0, 0)


# --- programs of ops


async def products(x, weights):
    """x · wᵀ for each of some weights, all begun at once; and how many buffers are held then."""
    import asyncio

    import numpy as np
    from webq8 import ops
    from webq8.backends.browser import gpu

    scales = np.ones(len(weights[0]), np.float32)
    results = [ops.q8ta_linear(x, 1.0, 0, w, None, scales, 1.0, 0) for w in weights]
    return list(await asyncio.gather(*(r.numpy() for r in results))), gpu.live()["buffers"]


def expected(weights: np.ndarray) -> list[np.ndarray]:
    return [np.clip(X.astype(int) @ w.T.astype(int), -128, 127).astype(np.int8) for w in weights]


def test_equal_ops_at_once_are_one_program(webq8_page: PythonPage) -> None:
    [alone], buffers = webq8_page.call(products, X, WEIGHTS[:1])
    webq8_page.call(held)
    together, buffers_together = webq8_page.call(products, X, WEIGHTS[[0] * 8])
    np.testing.assert_array_equal(together, [alone] * 8)
    staging, results = 8 - 1, 8 - 1  # one for each run that overlaps, at most; each result stays where it was computed
    assert buffers_together <= buffers + staging + results


def test_more_ops_at_once_than_are_kept(webq8_page: PythonPage) -> None:
    results, _ = webq8_page.call(products, X, WEIGHTS)
    np.testing.assert_array_equal(results, expected(WEIGHTS))


async def close_while_computing(x, w):
    import asyncio

    import numpy as np
    from webq8 import ops
    from webq8.backends.browser import gpu

    y = ops.q8ta_linear(x, 1.0, 0, w, None, np.ones(len(w), np.float32), 1.0, 0)
    computing = asyncio.ensure_future(y.numpy())
    while not ops._programs:
        await asyncio.sleep(0)
    ops.close()
    return await computing, gpu.live()["buffers"]


def test_ops_closed_while_one_is_computed(webq8_page: PythonPage) -> None:
    result, left = webq8_page.call(close_while_computing, X, WEIGHTS[0])
    np.testing.assert_array_equal([result], expected(WEIGHTS[:1]))
    assert left == 1, "the result stays where it was computed, as long as somebody has it"


async def lose_device():
    from webq8.backends.browser import gpu

    raw = (await gpu.device()).raw
    raw.destroy()
    await raw.lost


def test_ops_work_again_after_a_loss(webq8_page: PythonPage) -> None:
    before, _ = webq8_page.call(products, X, WEIGHTS[:2])
    webq8_page.call(lose_device)
    after, _ = webq8_page.call(products, X, WEIGHTS[:2])
    np.testing.assert_array_equal(after, before)


# --- loading that ends early


async def fail_at_each_event(url):
    """Loads a program so often that `on_progress` fails at each of its events once; what is held after each."""
    from webq8.backends.browser import gpu

    class Stop(Exception):
        pass

    left, event = [], 0
    while True:
        remaining = [event]

        def on_progress(fraction, message, remaining=remaining):
            if not remaining[0]:
                raise Stop
            remaining[0] -= 1

        try:
            program = await webq8.load(url, on_progress=on_progress)
        except Stop:
            left.append(gpu.live()["buffers"])
            event += 1
        else:
            program.close()
            return left


def test_progress_that_fails_leaves_nothing(webq8_page: PythonPage) -> None:
    left = webq8_page.call(fail_at_each_event, URL)
    assert len(left) >= 4
    assert not any(left)


async def cancel_at_each_step(data):
    """Cancels loading after so many turns of the event loop, 0, 1, 2 and so on; what is held after each."""
    import asyncio

    from webq8.backends.browser import gpu

    left = []
    while True:
        loading = asyncio.ensure_future(webq8.load(data))
        for _ in range(len(left)):
            await asyncio.sleep(0)
        if loading.done():
            loading.result().close()
            return left
        loading.cancel()
        await asyncio.wait([loading])
        assert loading.cancelled()
        left.append(gpu.live()["buffers"])


def test_loading_that_is_cancelled_leaves_nothing(webq8_page: PythonPage) -> None:
    left = webq8_page.call(cancel_at_each_step, (ROOT / "web" / "models" / "classifier.pte").read_bytes())
    assert len(left) >= 3
    assert not any(left)


async def lose_device_while_loading(url):
    from webq8.backends.browser import gpu

    device = await gpu.device()

    def on_progress(fraction, message):
        if message.startswith("shader"):
            device.raw.destroy()

    await webq8.load(url, on_progress=on_progress)


def test_device_lost_while_loading(webq8_page: PythonPage) -> None:
    with pytest.raises(DeviceLost, match=r"the GPU device was lost \(destroyed.*load the program again"):
        webq8_page.call(lose_device_while_loading, URL)


# --- programs that are forgotten


async def forget(url, x):
    """What is held while a program is there, and when it was dropped: idle, and during a run."""
    import asyncio
    import gc

    from webq8.backends.browser import gpu

    program = await webq8.load(url)
    await program(x)
    held = [gpu.live()["buffers"]]
    del program
    gc.collect()
    held.append(gpu.live()["buffers"])
    running = asyncio.ensure_future((await webq8.load(url))(x))
    gc.collect()
    held.append(gpu.live()["buffers"])
    logits = await running
    del running
    gc.collect()
    return logits, [*held, gpu.live()["buffers"]]


def test_dropped_programs_are_freed(webq8_page: PythonPage) -> None:
    logits, (loaded, dropped, running, ended) = webq8_page.call(forget, URL, DIGIT)
    np.testing.assert_array_equal(logits, LOGITS)
    assert loaded >= 3
    assert dropped == 0
    assert running == loaded
    assert ended == 0


async def forget_ops(x, w):
    import gc

    import numpy as np
    from webq8 import ops
    from webq8.backends.browser import gpu

    await ops.q8ta_linear(x, 1.0, 0, w, None, np.ones(len(w), np.float32), 1.0, 0).numpy()
    held = gpu.live()["buffers"]
    ops._programs.clear()  # as if the module went away
    gc.collect()
    return held, gpu.live()["buffers"]


def test_dropped_programs_of_ops_are_freed(webq8_page: PythonPage) -> None:
    held, left = webq8_page.call(forget_ops, X, WEIGHTS[0])
    assert held
    assert left == 0


# --- errors that nobody sees


async def without_scopes(url, x):
    """Calls of WebGPU that were made outside of error scopes, in loading, running, overlapping, profiling, closing."""
    import asyncio

    import js
    from pyodide.ffi import create_proxy, to_js
    from webq8.backends.browser import gpu

    depth, outside, seen = [0], [], set()
    watched = {
        "GPUDevice": [
            "createBuffer",
            "createBindGroup",
            "createBindGroupLayout",
            "createPipelineLayout",
            "createShaderModule",
            "createComputePipelineAsync",
            "createQuerySet",
            "pushErrorScope",
            "popErrorScope",
        ],
        "GPUBuffer": ["mapAsync", "unmap"],
        "GPUQueue": ["submit", "writeBuffer"],
        "GPUCommandEncoder": ["copyBufferToBuffer", "finish", "resolveQuerySet"],
    }
    originals = []

    def watch(prototype, name):
        descriptor = js.Object.getOwnPropertyDescriptor(prototype, name)
        originals.append((prototype, name, descriptor))

        def called(this, *args):
            depth[0] += {"pushErrorScope": 1, "popErrorScope": -1}.get(name, 0)
            seen.add(name)
            if not depth[0] and name != "popErrorScope":
                outside.append(name)
            return js.Reflect.apply(descriptor.value, this, to_js(args))

        setattr(prototype, name, create_proxy(called, capture_this=True))

    (await gpu.device()).raw.destroy()  # so that its pipelines are not known
    await asyncio.sleep(0.1)
    for kind, names in watched.items():
        for name in names:
            watch(getattr(js, kind).prototype, name)
    try:
        with await webq8.load(url) as program:
            await asyncio.gather(*(program(x) for _ in range(3)))
            await asyncio.gather(*(program(x) for _ in range(3)))
            for _ in range(2):
                await program._loaded.profile("forward", [x])
    finally:
        for prototype, name, descriptor in originals:
            js.Object.defineProperty(prototype, name, descriptor)
    return outside, sorted({name for names in watched.values() for name in names} - seen)


def test_everything_is_done_within_error_scopes(webq8_page: PythonPage) -> None:
    outside, unseen = webq8_page.call(without_scopes, URL, DIGIT)
    assert outside == []
    assert unseen == []


async def unheard(url, x):
    """Errors that only the event loop is told of, while loading and running fail in many ways."""
    import asyncio
    import gc

    from pyodide.ffi import create_proxy
    from webq8 import ops
    from webq8.backends.browser import gpu

    told, failed = [], []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: told.append(str(context)))

    async def attempt(work):
        try:
            return await work
        except webq8.errors.Webq8Error as e:
            failed.append(type(e).__name__)

    def refuse(*_):
        raise ValueError("no")

    try:
        device = await gpu.device()
        for name in ("createComputePipelineAsync", "createShaderModule", "createBuffer", "createBindGroup"):
            setattr(device.raw, name, create_proxy(refuse))
            device._pipelines.clear()
            device.state.modules.clear()
            await attempt(webq8.load(url))
            delattr(device.raw, name)
        program = await attempt(webq8.load(url))
        running = [attempt(program(x)) for _ in range(3)]
        device.raw.destroy()
        await asyncio.gather(*running)
        await attempt(program(x))
        program.close()
        await attempt(webq8.load("models/nothing.pte"))
        del program, running
        gc.collect()
        await asyncio.sleep(0.1)
    finally:
        loop.set_exception_handler(None)
        ops.close()
    return told, failed


def test_the_event_loop_has_nothing_to_complain_of(webq8_page: PythonPage) -> None:
    told, failed = webq8_page.call(unheard, URL, DIGIT)
    assert told == []
    assert failed == ["ShaderError", "ShaderError", "DeviceError", "DeviceError", *["DeviceLost"] * 4, "InputError"]
