"""Profiling on the GPU, and methods that take several submits."""

import json
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8 import ops
from webq8.desktop.host import PythonPage
from webq8.errors import ClosedError, DeviceError, InputError
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
CNN = ROOT / "tests" / "data" / "networks" / "cnn.pte"
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
DIGIT = np.zeros((1, 64), np.float32)


async def profile(model, x, runs):
    """A profile's parts, the plan's steps, live objects before and after, and the output of a run afterwards."""
    from webq8.backends.browser import gpu

    with await webq8.load(model) as program:
        output = await program(x)
        before = gpu.live()
        found = await program.profile(x, runs=runs)
        assert isinstance(found, webq8.Profile)
        after = gpu.live()
        return {
            "rows": [[r.kernel, r.node, r.microseconds, r.operations, r.nbytes, r.tops, r.gbps] for r in found.rows],
            "sums": {r.kernel: r.microseconds for r in found.kernels},
            "microseconds": found.microseconds,
            "elapsed": found.elapsed,
            "resolution": found.resolution,
            "ceilings": [found.ceilings.tops, found.ceilings.gbps],
            "text": str(found),
            "html": found._repr_html_(),
            "trace": found.trace(),
            "adapter": str(program.adapter),
            "steps": [[s.kernel, s.node, s.operations, s.nbytes] for s in program._plans["forward"].steps],
            "live": [before, after],
            "submits": program.submits,
            "outputs": [output, await program(x)],
        }


def test_profile(webq8_page: PythonPage) -> None:
    x = np.load(CNN.with_suffix(".npz"))["in0"][:1]
    found = webq8_page.call(profile, CNN.read_bytes(), x, 3)
    assert [[kernel, node, *work] for kernel, node, _, *work, _, _ in found["rows"]] == found["steps"]
    times = np.array([row[2] for row in found["rows"]])
    assert np.isfinite(times).all()
    assert (times > 0).all()
    assert sum(found["sums"].values()) == pytest.approx(times.sum()) == found["microseconds"]
    assert set(found["sums"]) == {row[0] for row in found["rows"]}
    assert found["elapsed"] > times.max()
    assert 0 < found["resolution"] < 10
    assert all(0 < ceiling < np.inf for ceiling in found["ceilings"])
    products = [row for row in found["rows"] if row[3]]
    assert len(products) >= 3
    assert all(row[5] > 0 for row in products)
    assert all(row[6] > 0 for row in found["rows"])

    before, after = found["live"]
    assert (after["buffers"], after["bytes"]) == (before["buffers"], before["bytes"])
    assert after["submits"] - before["submits"] == 4  # one to warm up
    assert found["submits"] == 5
    np.testing.assert_array_equal(*found["outputs"])

    assert found["adapter"] in found["text"]
    assert found["adapter"] in found["html"]
    for kernel in found["sums"]:
        assert kernel in found["text"]
        assert f"<td>{kernel}</td>" in found["html"]
    trace = json.loads(json.dumps(found["trace"], allow_nan=False))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [[e["name"], e["args"]["node"]] for e in events] == [row[:2] for row in found["rows"]]
    begins, durations = (np.array([event[key] for event in events]) for key in ("ts", "dur"))
    assert begins[0] == 0
    assert (durations > 0).all()
    assert (begins[1:] >= (begins + durations)[:-1] - 1e-6).all()


async def without_timestamps(model, x):
    from webq8.backends.browser import gpu

    device = await gpu.device()
    had, device.features = device.features, frozenset()
    try:
        with await webq8.load(model) as program:
            await program.profile(x)
    finally:
        device.features = had


async def closed(model, x):
    program = await webq8.load(model)
    program.close()
    await program.profile(x)


async def wrong(model, x, runs):
    with await webq8.load(model) as program:
        await program.profile(x, runs=runs)


def test_errors(webq8_page: PythonPage) -> None:
    model = CLASSIFIER.read_bytes()
    with pytest.raises(DeviceError, match=r'has no timestamp queries here, .* WebGPU feature "timestamp-query"'):
        webq8_page.call(without_timestamps, model, DIGIT)
    with pytest.raises(ClosedError, match="was closed"):
        webq8_page.call(closed, model, DIGIT)
    with pytest.raises(InputError, match=r"input in0 of forward: expected float32 \[1, 64\], got float32 \[1, 63\]"):
        webq8_page.call(wrong, model, DIGIT[:, :63], 1)
    with pytest.raises(InputError, match="runs: 0 is less than 1"):
        webq8_page.call(wrong, model, DIGIT, 0)


async def chain(inputs, weight, scales, layers, seconds):
    """Linear layers one after another, for all inputs at once, in submits of so many estimated seconds (0: as usual).

    Returns outputs; the same, got while a profile was taken; its rows; submits of a run as planned, and as counted.
    """
    import asyncio

    from webq8 import ops
    from webq8.backends.browser import gpu
    from webq8.plan import submits

    def result(x):
        for _ in range(layers):
            x = ops.q8ta_linear(x, 0.05, 3, weight, None, scales, 0.05, -4)
        return x

    ops.close()
    usual, submits._SECONDS = submits._SECONDS, seconds or submits._SECONDS
    try:
        await result(inputs[0]).buffer()
    finally:
        submits._SECONDS = usual
    [program] = (compiled.program for compiled in ops._programs.values())
    before = program.submits, gpu.live()["submits"]
    outputs = await asyncio.gather(*(result(x).numpy() for x in inputs))
    counted = [program.submits - before[0], gpu.live()["submits"] - before[1]]
    profiled, *again = await asyncio.gather(program.profile(inputs[0], runs=1), *map(program, inputs))
    rows = [[row.kernel, row.microseconds] for row in profiled.rows]
    planned = len(program._plans["forward"].ends)
    ops.close()
    return list(outputs), again, rows, planned, [n / len(inputs) for n in counted]


async def close_meanwhile(x, weight, scales, seconds, profiling):
    """Closes a program while it runs or is profiled, in submits of so many estimated seconds."""
    import asyncio

    from webq8 import ops
    from webq8.backends.browser import gpu
    from webq8.plan import submits

    ops.close()
    for _ in range(12):
        x = ops.q8ta_linear(x, 0.05, 3, weight, None, scales, 0.05, -4)
    usual, submits._SECONDS = submits._SECONDS, seconds
    try:
        data = await x.buffer()
        x.close()
    finally:
        submits._SECONDS = usual
    [program] = (compiled.program for compiled in ops._programs.values())
    running = asyncio.ensure_future(program.profile(data) if profiling else program(data))
    before = gpu.live()["submits"]
    while gpu.live()["submits"] < before + 3:
        await asyncio.sleep(0.001)
    ops.close()
    try:
        await running
    except Exception as e:
        return type(e).__name__, str(e), gpu.live()
    return "", "", gpu.live()


@pytest.mark.parametrize(
    ("profiling", "seconds", "message"),
    [
        (False, 1e-12, "the program was closed during a run that takes several submits"),
        (True, 1e-12, "the program was closed during a run that takes several submits"),
        (True, 1, "webq8.ops was closed; load it again to run it"),
    ],
)
def test_closing_meanwhile(webq8_page: PythonPage, profiling: bool, seconds: float, message: str) -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.integers(-128, 128, (256, 256), np.int8), rng.integers(-128, 128, (256, 256), np.int8)
    scales = np.full(256, 0.01, np.float32)
    error, text, live = webq8_page.call(close_meanwhile, x, weight, scales, seconds, profiling)
    assert (error, text) == ("ClosedError", message)
    assert (live["buffers"], live["bytes"]) == (0, 0)


def expected(x: np.ndarray, weight: np.ndarray, scales: np.ndarray, layers: int) -> np.ndarray:
    for _ in range(layers):
        x = drive(ops.q8ta_linear(x, 0.05, 3, weight, None, scales, 0.05, -4).numpy("cpu"))
    return x


@pytest.mark.parametrize(
    ("rows", "size", "layers", "runs", "seconds", "submits"),
    [
        (5, 16, 12, 3, 1e-12, 12),  # each step by itself
        (5, 16, 12, 3, 0, 1),
        (512, 512, 24, 1, 0, 2),  # as long as a software adapter cuts
        (1, 16, 2060, 1, 0, 1),  # more timestamps than a query set holds
    ],
)
def test_chains(
    webq8_page: PythonPage, rows: int, size: int, layers: int, runs: int, seconds: float, submits: int
) -> None:
    rng = np.random.default_rng(size)
    inputs = [rng.integers(-128, 128, (rows, size), np.int8) for _ in range(runs)]
    weight, scales = rng.integers(-128, 128, (size, size), np.int8), np.full(size, 0.2 / size**0.5, np.float32)
    outputs, again, profiled, planned, counted = webq8_page.call(chain, inputs, weight, scales, layers, seconds)
    want = [expected(x, weight, scales, layers) for x in inputs]
    assert all(len(np.unique(w)) > 1 for w in want)
    np.testing.assert_array_equal(outputs, want)
    np.testing.assert_array_equal(again, want)
    assert planned == submits
    assert counted == [submits, submits]
    assert len(profiled) == layers
    assert all(kernel.startswith("linear") and us > 0 for kernel, us in profiled)
