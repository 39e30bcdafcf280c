"""What loading and running ask of the browser, counted by watching the methods of its WebGPU objects."""

from pathlib import Path

import pytest
from webq8.desktop.host import PythonPage

ROOT = Path(__file__).parents[2]
CLASSIFIER = (ROOT / "web" / "models" / "classifier.pte").read_bytes()
GEMV = (ROOT / "tests" / "data" / "goldens" / "q8ta_linear__gemv.pte").read_bytes()
SUPERRES = (ROOT / "tests" / "data" / "networks" / "superres.pte").read_bytes()


async def watch_compiling(*files):
    """For each file, loaded one after another on a new device: what became of its pipelines, in order."""
    import webq8
    from pyodide.ffi import create_proxy
    from webq8.backends.browser import gpu

    webq8.ops.close()
    old = (await gpu.device()).raw
    old.destroy()
    await old.lost
    device, events = (await gpu.device()).raw, []
    original, done = device.createComputePipelineAsync, create_proxy(lambda _: events.append("done"))

    def watched(descriptor):
        events.append(f"begun {descriptor.label}")
        promise = original(descriptor)
        promise.then(done, done)
        return promise

    found = []
    device.createComputePipelineAsync = create_proxy(watched)
    try:
        for file in files:
            (await webq8.load(file)).close()
            found.append(events.copy())
            events.clear()
    finally:
        del device.createComputePipelineAsync
    return found


def test_all_shaders_compile_at_once(webq8_page: PythonPage) -> None:
    [events] = webq8_page.call(watch_compiling, SUPERRES)
    pipelines = events.count("done")
    assert pipelines >= 6
    assert events[-pipelines:] == ["done"] * pipelines
    assert len(events) == 2 * pipelines


def test_nothing_compiles_twice(webq8_page: PythonPage) -> None:
    alone, again, other = webq8_page.call(watch_compiling, CLASSIFIER, CLASSIFIER, GEMV)
    assert "begun linear_gemv" in alone
    assert again == []
    assert "begun linear_gemv" not in other


async def count_calls(file, runs):
    """How often a program's run calls each of some methods."""
    import asyncio

    import js
    import numpy as np
    import webq8
    from pyodide.ffi import create_proxy, to_js

    methods = [
        (js.GPUQueue, "submit"),
        (js.GPUQueue, "writeBuffer"),
        (js.GPUQueue, "onSubmittedWorkDone"),
        (js.GPUCommandEncoder, "beginComputePass"),
        (js.GPUBuffer, "mapAsync"),
        (js.GPUDevice, "createBuffer"),
        (js.GPUDevice, "createBindGroup"),
    ]
    counts = {name: 0 for _, name in methods}
    originals = {name: js.Object.getOwnPropertyDescriptor(kind.prototype, name) for kind, name in methods}

    def counting(name):
        def counted(this, *args):
            counts[name] += 1
            return js.Reflect.apply(originals[name].value, this, to_js(args))

        return create_proxy(counted, capture_this=True)

    with await webq8.load(file) as program:
        [spec] = program.methods["forward"].inputs
        x = np.zeros(spec.shape, spec.dtype)
        await program(x)
        for kind, name in methods:
            setattr(kind.prototype, name, counting(name))
        try:
            for _ in range(runs):
                await program(x)
            after = counts.copy()
            await asyncio.sleep(0.05)
        finally:
            for kind, name in methods:
                js.Object.defineProperty(kind.prototype, name, originals[name])
    return after, counts


def test_a_run_is_one_pass_one_submit_one_wait(webq8_page: PythonPage) -> None:
    after, later = webq8_page.call(count_calls, SUPERRES, 5)
    assert after == later
    assert after == {
        "submit": 5,
        "writeBuffer": 5,
        "onSubmittedWorkDone": 0,
        "beginComputePass": 5,
        "mapAsync": 5,
        "createBuffer": 0,
        "createBindGroup": 0,
    }


@pytest.mark.usefixtures("gpu_kernels")
def test_a_gpu_is_nudged_while_a_run_is_young(webq8_page: PythonPage) -> None:
    """At most once a tenth of a millisecond for 2.5 ms, and no longer than the run."""
    after, later = webq8_page.call(count_calls, SUPERRES, 5)
    assert 1 <= after["onSubmittedWorkDone"] <= 5 * 25
    assert after == later
    assert (after["submit"], after["beginComputePass"], after["mapAsync"]) == (5, 5, 5)
