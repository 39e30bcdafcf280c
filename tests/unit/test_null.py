"""What programs hold on a device, whatever fails or is forgotten: objects counted on a GPU that computes nothing."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from webq8 import ops
from webq8.backends import null
from webq8.backends.null import Null, Refused
from webq8.errors import ClosedError, DeviceError, DeviceLost, ShaderError, Unsupported
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program
from webq8.passes import required
from webq8.plan import submits
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.runtime.load import compile_graphs
from webq8.runtime.program import Program
from webq8.stages import drive
from webq8.target import Target

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
FILES = sorted([CLASSIFIER, *(DATA / "networks").glob("*.pte"), *(DATA / "goldens").glob("*.pte")])
CONTAINERS = sorted(path for path in (DATA / "containers").glob("*.pte") if path.stem != "two_delegates")  # cannot run
DIGIT = np.zeros((1, 64), np.float32)
CACHED = ("pipeline", "pipeline layout", "shader module", "bind group layout")  # the device's, not a program's


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Null]:
    monkeypatch.setattr(null.backend, "_device", None)
    found: Null = drive(null.backend.device()).raw
    gc.freeze()  # so that collecting what tests make is quick
    yield found
    ops.close()
    assert held(found) == {}
    gc.unfreeze()


def held(gpu: Null) -> dict[str, int]:
    """What is alive beside what the device keeps compiled; and the backend counts as the device does."""
    gc.collect()
    live = null.backend.live()
    assert live["buffers"] == gpu.alive["buffer"]
    assert bool(live["bytes"]) == bool(live["buffers"])
    return {kind: n for kind, n in gpu.alive.items() if n and kind not in CACHED}


def load(path: Path) -> Program:
    graphs = {}
    for name, method in read_program(path.read_bytes(), path.name).methods.items():
        with suppress(Unsupported):
            graphs[name] = required(lower(method, name))
    return drive(compile_graphs(graphs, path.name, "null"))


def run(program: Program) -> None:
    for name, method in program.methods.items():
        program.run(*(np.zeros(spec.shape, spec.dtype) for spec in method.inputs), method=name)


class Refusal:
    """Refuses one object or call, by its number, and none after it."""

    def __init__(self, gpu: Null, number: int) -> None:
        self.rest, self.refused = number, ""
        gpu.refuse = self

    def __call__(self, kind: str) -> None:
        self.rest -= 1
        if self.rest == -1:
            self.refused = kind
            raise Refused(f"no {kind}")


@pytest.mark.parametrize("path", FILES[:: len(FILES) // 8], ids=lambda path: path.stem)
def test_preparing_that_fails_at_any_step_leaves_nothing(gpu: Null, path: Path) -> None:
    methods = read_program(path.read_bytes(), path.name).methods.items()
    planned = plan_program({name: rewrite(required(lower(method, name))) for name, method in methods}, Target())
    refused = set[str]()
    for number in range(10_000):
        null.backend._device = None
        device = drive(null.backend.device())
        gpu, refusal = device.raw, Refusal(device.raw, number)
        try:
            drive(device.load(planned, lambda *_: None)).close()
        except DeviceError as error:
            told = str(error), isinstance(error, ShaderError)
        else:
            break
        refused.add(refusal.refused)
        assert f"no {refusal.refused}" in told[0]
        assert told[1] == (refusal.refused in CACHED[:3])
        assert held(gpu) == {}
        drive(device.load(planned, lambda *_: None)).close()  # the same device can load it after that
        assert held(gpu) == {}
    assert not refusal.refused
    computes = any(plan.steps for plan in planned.plans.values())  # some are a constant
    assert refused == {"buffer", "write"} | ({*CACHED, "bind group"} if computes else set())


def test_running_that_fails_at_any_step_leaves_nothing_more(gpu: Null) -> None:
    program = load(CLASSIFIER)
    before, refused = held(gpu), set[str]()
    for resident in (False, True):
        for number in range(100):
            refusal = Refusal(gpu, number)
            try:
                result = program.run(DIGIT, method="forward", resident=resident)
            except DeviceError as error:
                told = str(error)
            else:
                break
            refused.add(refusal.refused)
            assert f"no {refusal.refused}" in told
        del result
    assert refused == {"buffer", "write", "encoder", "submit", "map"}
    assert held(gpu) == {**before, "buffer": before["buffer"] + 1}  # the staging buffer that the next run takes
    program.close()


def test_nothing_compiles_twice(gpu: Null) -> None:
    probed = gpu.made["shader module"]
    for _ in range(2):
        programs = [load(path) for path in FILES]
        made = gpu.made["pipeline"]
        variants = {
            (s.kernel, s.constants, s.writable) for p in programs for plan in p._plans.values() for s in plan.steps
        }
        assert made == len(variants)
        assert gpu.made["shader module"] - probed == len({(kernel, writable) for kernel, _, writable in variants})
        for program in programs:
            program.close()


@pytest.mark.parametrize("path", [*FILES, *CONTAINERS], ids=lambda path: path.stem)
def test_every_object_is_freed(gpu: Null, path: Path) -> None:
    program = load(path)
    run(program)
    run(program)
    program.close()
    assert held(gpu) == {}


def test_overlapping_runs_share_what_they_can(gpu: Null) -> None:
    program = load(CLASSIFIER)
    loaded = held(gpu)["buffer"]

    async def overlap(n: int) -> None:
        await asyncio.gather(*(program(DIGIT) for _ in range(n)))

    for n in (1, 3, 2, 3):
        asyncio.run(overlap(n))
    assert held(gpu)["buffer"] == loaded + 3
    assert null.backend.live()["submits"] >= 9
    program.close()


@pytest.mark.parametrize("seconds", [0, 1e-12], ids=["one submit", "several submits"])
def test_closing_during_a_run(gpu: Null, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    if seconds:
        monkeypatch.setattr(submits, "_SECONDS", seconds)
    program = load(CLASSIFIER)
    before = null.backend.live()["submits"]
    running = [program(DIGIT) for _ in range(2)]
    program.close()
    assert held(gpu)["buffer"] == 2  # to read from
    for result in map(drive, running):
        np.testing.assert_array_equal(result, np.zeros((1, 10), np.float32))
    assert held(gpu) == {}
    assert null.backend.live()["submits"] - before == 2 * (3 if seconds else 1)
    with pytest.raises(ClosedError):
        program(DIGIT)


def test_a_run_that_nobody_waits_for_holds_nothing(gpu: Null) -> None:
    program = load(CLASSIFIER)
    loaded = held(gpu)["buffer"]
    for _ in range(3):
        program._loaded.start("forward", [bytes(256)])
        assert held(gpu)["buffer"] == loaded + 1
    program.close()


def test_a_program_that_is_forgotten_holds_nothing(gpu: Null) -> None:
    program = load(CLASSIFIER)
    assert held(gpu)["buffer"] >= 3
    running = program(DIGIT)
    del program
    assert held(gpu)["buffer"] >= 4
    drive(running)
    del running
    assert held(gpu) == {}


def test_loss(gpu: Null) -> None:
    def refuse(kind: str) -> None:
        raise Refused("Parent device is lost")

    program = load(CLASSIFIER)
    gpu.refuse = refuse
    for _ in range(2):
        with pytest.raises(DeviceLost, match=r"the GPU device was lost \(Parent .*\); load the program again"):
            program.run(DIGIT)
    assert program.lost
    again = load(CLASSIFIER)
    assert not again.lost
    program.close()
    again.close()
    assert null.backend.live()["buffers"] == 0
