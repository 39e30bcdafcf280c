"""A loaded program in a page: progress, both ways of calling, overlapping runs, closing, threads, no numpy."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import Browser, PythonPage
from webq8.errors import CannotBlock, ClosedError, InputError
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
DIGITS = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][:8] / 16).astype(np.float32).reshape(-1, 1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:8]
URL = "web/models/classifier.pte"


async def load_and_watch(url):
    events = []
    program = await webq8.load(url, on_progress=lambda *event: events.append(event))
    program.close()
    return events, program.load_ms


def test_progress(webq8_page: PythonPage) -> None:
    events, load_ms = webq8_page.call(load_and_watch, URL)
    fractions = [fraction for fraction, _ in events]
    assert fractions == sorted(fractions)
    assert events[-1] == (1.0, "ready")
    assert any("bytes" in message for _, message in events)
    assert any("shader" in message for _, message in events)
    assert set(load_ms) == {"read", "parse", "lower", "device", "rewrite", "plan", "compile"}


async def run_blocking(url, x):
    with await webq8.load(url) as program:
        return program.run(x)


def test_run_without_await(webq8_page: PythonPage) -> None:
    np.testing.assert_array_equal(webq8_page.call(run_blocking, URL, DIGITS[0]), LOGITS[:1])


async def run_where_nothing_can_block(url, x):
    """A timer calls Python from JavaScript that is not prepared to wait."""
    import asyncio

    import js
    from pyodide.ffi import create_once_callable

    with await webq8.load(url) as program:
        outcome = asyncio.get_running_loop().create_future()

        def call():
            try:
                outcome.set_result(program.run(x))
            except Exception as e:
                outcome.set_exception(e)

        js.setTimeout(create_once_callable(call), 0)
        return await outcome


def test_run_where_nothing_can_block(webq8_page: PythonPage) -> None:
    with pytest.raises(CannotBlock, match="await program"):
        webq8_page.call(run_where_nothing_can_block, URL, DIGITS[0])


async def overlap(url, inputs):
    import asyncio

    with await webq8.load(url) as program:
        return list(await asyncio.gather(*(program(x) for x in inputs)))


def test_overlapping_runs(webq8_page: PythonPage) -> None:
    np.testing.assert_array_equal(np.concatenate(webq8_page.call(overlap, URL, list(DIGITS))), LOGITS)


async def refill(url, inputs, seconds):
    """Overlapping runs from one array, filled anew after each call; submits of so many estimated seconds (0: usual)."""
    import asyncio

    import numpy as np
    from webq8.plan import submits

    usual, submits._SECONDS = submits._SECONDS, seconds or submits._SECONDS
    try:
        program = await webq8.load(url)
    finally:
        submits._SECONDS = usual
    x, runs = np.empty_like(inputs[0]), []
    for given in inputs:
        x[:] = given
        runs.append(program(x))
    x[:] = np.nan
    before = program.submits
    results = list(await asyncio.gather(*runs))
    program.close()
    return results, before


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_inputs_are_taken_at_the_call(webq8_page: PythonPage, seconds: float) -> None:
    results, submits = webq8_page.call(refill, URL, list(DIGITS), seconds)
    np.testing.assert_array_equal(np.concatenate(results), LOGITS)
    assert submits == len(DIGITS) * (4 if seconds else 1)


async def written_by_a_profile(url, x):
    """What is written to the GPU by a profile whose input is refilled after the call."""
    import js
    from pyodide.ffi import create_proxy, to_js

    written = []
    original = js.Object.getOwnPropertyDescriptor(js.GPUQueue.prototype, "writeBuffer")

    def write(this, *args):
        written.append(args[2].to_bytes())
        return js.Reflect.apply(original.value, this, to_js(args))

    with await webq8.load(url) as program:
        await program.profile(x)  # measures the device
        js.GPUQueue.prototype.writeBuffer = create_proxy(write, capture_this=True)
        try:
            profiling = program.profile(x, runs=2)
            x.fill(-1)
            await profiling
        finally:
            js.Object.defineProperty(js.GPUQueue.prototype, "writeBuffer", original)
    return [data for data in written if len(data) == x.nbytes]


def test_a_profile_takes_its_inputs_at_the_call(webq8_page: PythonPage) -> None:
    assert webq8_page.call(written_by_a_profile, URL, DIGITS[0]) == [DIGITS[0].tobytes()] * 3


async def many_runs(url, x):
    from webq8.backends.browser import gpu

    program = await webq8.load(url)
    await program(x)
    before = gpu.live()
    for _ in range(100):
        await program(x)
    after = gpu.live()
    program.close()
    return before, after, gpu.live()


def test_nothing_leaks(webq8_page: PythonPage) -> None:
    before, after, closed = webq8_page.call(many_runs, URL, DIGITS[0])
    assert after["buffers"] == before["buffers"]
    assert after["bytes"] == before["bytes"]
    assert after["submits"] == before["submits"] + 100
    assert (closed["buffers"], closed["bytes"]) == (0, 0)


async def close_while_running(url, x):
    import asyncio

    from webq8.backends.browser import gpu

    program = await webq8.load(url)
    running = asyncio.ensure_future(program(x))
    await asyncio.sleep(0)
    program.close()
    return await running, gpu.live()


def test_a_run_under_way_outlives_closing(webq8_page: PythonPage) -> None:
    logits, live = webq8_page.call(close_while_running, URL, DIGITS[0])
    np.testing.assert_array_equal(logits, LOGITS[:1])
    assert live["buffers"] == 0


async def run_after_closing(url, x):
    program = await webq8.load(url)
    program.close()
    program.close()
    await program(x)


def test_closed(webq8_page: PythonPage) -> None:
    with pytest.raises(ClosedError, match=r"classifier\.pte was closed; load it again to run it"):
        webq8_page.call(run_after_closing, URL, DIGITS[0])


async def wrong_input(url):
    with await webq8.load(url) as program:
        await program(b"1234")


def test_inputs_are_checked(webq8_page: PythonPage) -> None:
    with pytest.raises(InputError, match=r"input in0 of forward: expected float32 \[1, 64\], which is 256 bytes, got"):
        webq8_page.call(wrong_input, URL)


async def describe(url):
    with await webq8.load(url) as program:
        adapter = program.adapter
        return {
            "repr": repr(program),
            "name": str(adapter),
            "software": adapter.software,
            "device": program.device,
            "dispatches": program.dispatches(),
        }


def test_description(webq8_page: PythonPage) -> None:
    told = webq8_page.call(describe, URL)
    assert "swiftshader" in told["name"]
    assert told["software"] is True
    assert told["device"] == "webgpu"
    assert told["dispatches"] == 4
    assert told["repr"].startswith(f"<webq8 program classifier.pte, on {told['name']}")


async def without_numpy(data, x):
    from pyodide.ffi import create_proxy

    try:
        import numpy
    except ImportError:
        pass
    else:
        raise AssertionError(f"numpy {numpy.__version__} is here")
    with await webq8.load(data) as program:
        y = await program(x)
        buffer = create_proxy(y).getBuffer()
        return {
            "values": memoryview(y),
            "lists": y.tolist(),
            "kind": (y.dtype, y.shape, y.format, y.nbytes),
            "items": [y[0, 7], y[0][7], y[0].tolist()[7]],
            "js": (buffer.format, list(buffer.data)),
            "repr": repr(y),
        }


@pytest.mark.parametrize("thread", ["worker", "main"])
def test_pyodide_314_without_numpy(webq8_browser: Browser, thread: str) -> None:
    with webq8_browser.page("314.0.7", thread) as page:
        page.check_adapter()
        told = page.call(without_numpy, CLASSIFIER.read_bytes(), DIGITS[0])
        np.testing.assert_array_equal(told["values"], LOGITS[:1])
        assert told["lists"] == LOGITS[:1].tolist()
        assert told["kind"] == ("float32", (1, 10), "f", 40)
        assert told["items"] == [LOGITS[0, 7]] * 3
        assert told["js"] == ("f", LOGITS[0].tolist())
        shown = ", ".join(f"{x:.6g}" for x in LOGITS[0].tolist())
        assert told["repr"] == f"<webq8 array float32 [1, 10]: [[{shown}]]>"


async def with_numpy(data, x):
    with await webq8.load(data) as program:
        return await program(x)


def test_main_thread(webq8_browser: Browser) -> None:
    with webq8_browser.page("0.27.7", "main") as page:
        page.check_adapter()
        np.testing.assert_array_equal(page.call(with_numpy, CLASSIFIER.read_bytes(), DIGITS[0]), LOGITS[:1])


async def run_methods(data, inputs, methods):
    with await webq8.load(data) as program:
        results = [await program(*inputs, method=method) for method in methods]
        return [list(r) if isinstance(r, tuple) else [r] for r in results], program.device


CONTAINERS = ROOT / "tests" / "data" / "containers"
INPUTS = {
    "methods": (np.arange(-3, 3, dtype=np.float32).reshape(2, 3),),
    "passed_on": (np.arange(-3, 3, dtype=np.float32).reshape(2, 3),),
    "narrowed": (np.arange(-5, 7, dtype=np.int64).reshape(1, 12),),
}
CONSTANT = ("get_n", "get_scale", "is_quantized", "get_name", "get_sizes", "get_table")


@pytest.mark.parametrize("name", ["methods", "passed_on", "narrowed", "channels_last", "transposed", "valid"])
def test_ways_of_the_container(webq8_page: PythonPage, name: str) -> None:
    """Constant methods; outputs that are inputs or constants; int64 narrowed; NHWC; lists of one element."""
    path = CONTAINERS / f"{name}.pte"
    inputs = INPUTS.get(name) or (np.load(path.with_suffix(".npz"))["in0"],)
    reference = drive(webq8.load(path, device="cpu"))
    for given, methods in ((inputs, ("forward",)), ((), CONSTANT if name == "methods" else ())):
        results, device = webq8_page.call(run_methods, path.read_bytes(), list(given), list(methods))
        assert device == "webgpu"
        for method, result in zip(methods, results, strict=True):
            want = reference.run(*given, method=method)
            for got, wanted in zip(result, want if isinstance(want, tuple) else (want,), strict=True):
                assert type(got) is type(wanted)
                if isinstance(got, str):
                    assert got == wanted
                else:
                    np.testing.assert_allclose(got, wanted, 1e-6, 1e-6, strict=isinstance(got, np.ndarray))


async def run_stateful(data, inputs, seconds):
    """Two rounds of runs, all begun at once, with a reset between them; then one after a profile."""
    import asyncio

    from webq8.plan import submits

    usual, submits._SECONDS = submits._SECONDS, seconds or submits._SECONDS
    try:
        program = await webq8.load(data)
    finally:
        submits._SECONDS = usual
    with program:
        runs = [program(x) for x in inputs]
        program.reset()
        runs += [program(x) for x in inputs]
        results = [list(pair) for pair in await asyncio.gather(*runs)]
        await program.profile(inputs[0], runs=1)
        return results, (await program(inputs[0]))[1]


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_state(webq8_page: PythonPage, seconds: float) -> None:
    golden = np.load(CONTAINERS / "stateful.npz")
    results, last = webq8_page.call(
        run_stateful, (CONTAINERS / "stateful.pte").read_bytes(), list(golden["in0"]), seconds
    )
    for i, (total, before) in enumerate(results):
        np.testing.assert_array_equal(total, golden["out0"][i % 4])
        np.testing.assert_array_equal(before, golden["out1"][i % 4])
    np.testing.assert_array_equal(last, np.maximum(golden["in0"][3], 0))  # a profile leaves the states as they are
