"""The desktop's GPU beside its numbers: errors, loss, profiles, waiting and not, and `webq8 run` on it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import machine
import numpy as np
import pytest
import webq8
from webq8 import ops
from webq8.backends import native
from webq8.backends.wgpu_device import WgpuDevice
from webq8.budget import Budget
from webq8.errors import DeviceError, DeviceLost, LimitError, ShaderError
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.ops.quantize import Quantize
from webq8.ir.types import PerTensor, Tensor
from webq8.kernels import wgsl
from webq8.plan import submits
from webq8.runtime.load import compile_graphs
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
UPSCALER = ROOT / "web" / "models" / "upscaler.pte"
STATEFUL = ROOT / "tests" / "data" / "containers" / "stateful.pte"
CNN = ROOT / "tests" / "data" / "networks" / "cnn.pte"
DIGITS = (np.load(ROOT / "web" / "models" / "digits.npz")["images"][:8] / 16).astype(np.float32).reshape(-1, 1, 64)
LOGITS = np.load(ROOT / "tests" / "data" / "digits_golden.npz")["logits"][:8]

pytestmark = pytest.mark.usefixtures("device")


def load(path: Path, **options: object) -> webq8.Program:
    return drive(webq8.load(path, device="native", **options))


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    ops.close()
    live = native.backend.live()
    assert (live["buffers"], live["bytes"]) == (0, 0)


@pytest.fixture
def own_device(monkeypatch: pytest.MonkeyPatch) -> WgpuDevice:
    """A device that a test may lose."""
    monkeypatch.setattr(native.backend, "_device", None)
    return drive(native.backend.device())


def test_description(device: WgpuDevice) -> None:
    with load(CLASSIFIER) as program:
        assert program.device == "native"
        assert program.adapter is device.adapter
        assert program.adapter.software
        assert repr(program).startswith(f"<webq8 program classifier.pte, on {program.adapter}\n")
        assert (program.dispatches(), program.lost) == (4, False)
        assert set(program.load_ms) == {"read", "parse", "device", "lower", "rewrite", "plan", "compile"}


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_overlapping_runs_take_their_inputs_at_the_call(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    if seconds:
        monkeypatch.setattr(submits, "_SECONDS", seconds)

    async def overlap() -> list[np.ndarray]:
        x, runs = np.empty_like(DIGITS[0]), []
        for digit in DIGITS:
            x[:] = digit
            runs.append(program(x))
        x[:] = np.nan
        return await asyncio.gather(*runs)

    with load(CLASSIFIER) as program:
        np.testing.assert_array_equal(np.concatenate(asyncio.run(overlap())), LOGITS)
        assert program.submits == len(DIGITS) * (4 if seconds else 1)


def test_a_run_under_way_outlives_closing() -> None:
    program = load(CLASSIFIER)
    running = program(DIGITS[0])
    program.close()
    np.testing.assert_array_equal(drive(running), LOGITS[:1])


def test_nothing_leaks() -> None:
    with load(CLASSIFIER) as program:
        program.run(DIGITS[0])
        before = native.backend.live()
        for _ in range(50):
            program.run(DIGITS[0])
        assert native.backend.live() == before | {"submits": before["submits"] + 50}


def test_profile() -> None:
    x = np.load(CNN.with_suffix(".npz"))["in0"][:1]
    with load(CNN) as program:
        found = drive(program.profile(x, runs=3))
        steps = program._plans["forward"].steps
    assert [(row.kernel, row.node) for row in found.rows] == [(step.kernel, step.node) for step in steps]
    assert all(row.microseconds > 0 for row in found.rows)
    assert max(row.microseconds for row in found.rows) < found.elapsed < 1e6
    assert found.ceilings.tops > 0
    assert found.ceilings.gbps > 0


def test_device_without_timestamps(device: WgpuDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "features", frozenset())
    with load(CLASSIFIER) as program, pytest.raises(DeviceError, match="has no timestamp queries here"):
        drive(program.profile(DIGITS[0]))


def test_shader_that_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    good = wgsl.module_source

    def broken(name: str, *args: object) -> str:
        return good(name, *args).replace("fn main(", "fn main(nonsense ")

    monkeypatch.setattr(wgsl, "module_source", broken)
    with pytest.raises(ShaderError, match=r"\w+\.wgsl: (.|\n)*parsing error: expected `:`(.|\n)*@builtin"):
        load(CLASSIFIER)
    monkeypatch.undo()
    load(CLASSIFIER).close()


def test_too_large_for_the_device(device: WgpuDevice) -> None:
    n = device.target.max_storage_buffer_binding_size // 4 + 1
    builder = Builder(Budget(None, "large"))
    x = builder.add(Tensor((n,), "float32"))
    y = builder.emit(Quantize(x, "int8", -128, 127), PerTensor(0.1, 0))
    graph = Graph(tuple(builder.tensors), tuple(builder.nodes), (x,), (y,))
    with pytest.raises(LimitError, match=r"large: inputs: a tensor float32 \[\d+\] needs [\d,]+ bytes; .* allows"):
        drive(compile_graphs({"forward": graph}, "large", "native"))


def test_loss(own_device: WgpuDevice) -> None:
    """A submit to a lost device would end the process."""
    program = load(CLASSIFIER)
    program.run(DIGITS[0])
    own_device.raw.destroy()
    for _ in range(2):
        with pytest.raises(DeviceLost, match=r"the GPU device was lost \(.*\); load the program again"):
            program.run(DIGITS[0])
    assert program.lost
    program.close()
    with load(CLASSIFIER) as again:
        np.testing.assert_array_equal(again.run(DIGITS[0]), LOGITS[:1])


def test_loss_while_idle_is_found_by_the_next_load(own_device: WgpuDevice) -> None:
    own_device.raw.destroy()
    with pytest.raises(DeviceLost):
        load(CLASSIFIER)
    load(CLASSIFIER).close()


def test_tensors_that_stay() -> None:
    """Three programs in a row, whose maps are never read between them, and ops on the last one's."""
    digit = DIGITS[0].reshape(1, 1, 8, 8)
    with load(CLASSIFIER) as classifier, load(UPSCALER) as upscaler:
        large = upscaler.run(digit, resident=True)
        shifted = ops.mul(large, webq8.tensor(np.full(large.shape, 0.5, np.float32)))
        small = ops.slice_copy(ops.slice_copy(shifted, 2, 0, None, 4), 3, 0, None, 4)
        flat = ops.view_copy(small, [1, 64])
        drive(flat.buffer("native"))
        logits = classifier.run(flat, resident=True)
        assert repr(logits) == f"<webq8 tensor float32 [1, 10], on {classifier.adapter}>"
        reference = [drive(webq8.load(path, device="cpu")) for path in (UPSCALER, CLASSIFIER)]
        want = reference[0].run(digit)
        np.testing.assert_array_equal(drive(large.numpy()), want)
        np.testing.assert_array_equal(
            drive(logits.numpy()), reference[1].run((want / 2)[:, :, ::4, ::4].reshape(1, 64))
        )
        before = native.backend.live()["buffers"]
        for tensor in (large, flat, logits):
            tensor.close()
        assert native.backend.live()["buffers"] == before - 3


def test_a_resident_input_is_copied_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submits, "_SECONDS", 1e-12)
    with load(CLASSIFIER) as program:
        x = ops.mul(webq8.tensor(DIGITS[0]), webq8.tensor(np.ones((1, 64), np.float32)))
        drive(x.buffer("native"))
        run = program(x)
        x.close()
        np.testing.assert_array_equal(drive(run), LOGITS[:1])


def test_a_tensor_of_a_lost_device(own_device: WgpuDevice) -> None:
    with load(CLASSIFIER) as program:
        y = program.run(DIGITS[0], resident=True)
        own_device.raw.destroy()
        with pytest.raises(DeviceLost):
            drive(y.numpy())
    with (
        load(CLASSIFIER) as program,
        pytest.raises(DeviceLost, match=r"held this tensor was lost .*; compute it again"),
    ):
        program.run(y)


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_state(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """All runs are begun before the first is waited for, and a reset between them is in its place."""
    if seconds:
        monkeypatch.setattr(submits, "_SECONDS", seconds)
    golden = np.load(STATEFUL.with_suffix(".npz"))
    with load(STATEFUL) as program:
        runs = [program(x) for x in golden["in0"]]
        program.reset()
        runs += [program(x) for x in golden["in0"]]
        for i, (total, before) in enumerate(map(drive, runs)):
            np.testing.assert_array_equal(total, golden["out0"][i % 4])
            np.testing.assert_array_equal(before, golden["out1"][i % 4])
        drive(program.profile(golden["in0"][0], runs=2))  # which leaves the states as they are
        before = program.run(golden["in0"][0])[1]
        np.testing.assert_array_equal(before, np.maximum(golden["in0"][3], 0))


# --- another process


def python(code: str, *arguments: object, manifest: str | None = None) -> "subprocess.CompletedProcess[str]":
    environment = machine.environment(manifest or machine.need("lavapipe"))
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


MAIN = "import sys; from webq8.desktop.cli import main; status = main(); "


def test_run_command(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", in0=DIGITS[0])
    files = ("run", CLASSIFIER, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    options = ("--device", "native", "--repeat", 2, "--profile")
    done = python(f"{MAIN}assert 'playwright' not in sys.modules; sys.exit(status)", *files, *options)
    assert (done.returncode, done.stderr) == (0, "")
    first, _, title, *_ = done.stdout.splitlines()
    report = json.loads(first)
    assert (report["device"], report["dispatches"], report["submits"]) == ("native", 4, 1)
    assert "llvmpipe" in report["adapter"]
    assert title == f"classifier.pte, forward, on {report['adapter']}"
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["out0"], LOGITS[:1])


def test_without_a_driver(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", in0=DIGITS[0])
    files = ("run", CLASSIFIER, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    done = python(f"{MAIN}sys.exit(status)", *files, "--device", "native", manifest="/dev/null")
    assert (done.returncode, done.stdout) == (3, "")
    assert "wgpu finds no GPU here" in done.stderr
    assert "apt-get install mesa-vulkan-drivers" in done.stderr


def test_without_wgpu() -> None:
    code = (
        "import sys; sys.modules['wgpu'] = None\n"
        "import webq8\nfrom webq8.stages import drive\n"
        "try: drive(webq8.load(sys.argv[1], device='native'))\n"
        "except webq8.errors.NoAdapter as error: print(error)\n"
    )
    assert 'pip install "webq8[native]"' in python(code, CLASSIFIER).stdout


def test_after_others_have_used_wgpu() -> None:
    """They have chosen the instance, so that times may have any unit; programs run all the same."""
    code = (
        "import sys, wgpu; wgpu.gpu.enumerate_adapters_sync()\n"
        "import numpy as np, webq8\nfrom webq8.stages import drive\n"
        "program, x = drive(webq8.load(sys.argv[1], device='native')), np.zeros((1, 64), np.float32)\n"
        "print(program.run(x).shape)\n"
        "try: drive(program.profile(x))\n"
        "except webq8.errors.DeviceError as error: print(error)\n"
    )
    shape, error = python(code, CLASSIFIER).stdout.splitlines()
    assert shape == "(1, 10)"
    assert "has no timestamp queries here" in error
