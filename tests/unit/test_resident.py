"""Tensors that stay on a device: what they cost, who takes them, and when they are freed, counted on the null GPU."""

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8 import ops
from webq8.backends import null
from webq8.backends.null import Null, Refused
from webq8.errors import ClosedError, DeviceLost, InputError
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.runtime.program import Program
from webq8.stages import drive

MODELS = Path(__file__).parents[2] / "web" / "models"
DIGIT = np.zeros((1, 64), np.float32)
LAYER = (1.0, 0, np.ones((64, 64), np.int8), None, np.ones(64, np.float32), 1.0, 0)
X = np.zeros((3, 64), np.int8)


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each call of the GPU was made."""
    monkeypatch.setattr(null.backend, "_device", None)
    gpu: Null = drive(null.backend.device()).raw
    counted: Counter[str] = Counter()
    gpu.refuse = lambda kind: counted.update([kind])
    yield counted
    ops.close()
    gc.collect()
    assert null.backend.live()["buffers"] == 0


def load(name: str = "classifier", device: str = "null") -> Program:
    path = MODELS / f"{name}.pte"
    methods = read_program(path.read_bytes(), name).methods
    return drive(compile_graphs({n: required(lower(m, n)) for n, m in methods.items()}, name, device))


def change(calls: Counter[str], work) -> tuple[object, dict[str, int]]:
    before = calls.copy()
    result = work()
    return result, {kind: n for kind, n in (calls - before).items() if kind in ("write", "map", "submit", "buffer")}


def test_a_resident_result_is_not_read_until_asked_for(calls: Counter[str]) -> None:
    with load() as program:
        program.run(DIGIT, method="forward")
        y, made = change(calls, lambda: program.run(DIGIT, method="forward", resident=True))
        assert made == {"write": 1, "submit": 1, "buffer": 1}
        assert isinstance(y, webq8.Tensor)
        assert (y.shape, y.dtype) == ((1, 10), "float32")
        assert repr(y) == "<webq8 tensor float32 [1, 10], on null>"
        values, made = change(calls, lambda: drive(y.numpy()))
        assert made == {"submit": 1, "buffer": 1, "map": 1}
        np.testing.assert_array_equal(values, np.zeros((1, 10), np.float32))
        assert change(calls, lambda: drive(y.numpy()))[1] == {}
        np.testing.assert_array_equal(np.asarray(y), values)


def test_programs_take_resident_tensors_without_a_read(calls: Counter[str]) -> None:
    with load("upscaler") as upscaler:
        image = upscaler.run(np.zeros((1, 1, 8, 8), np.float32), resident=True)
        shape = image.shape
    quantized = ops.quantize_per_tensor(image, 0.1, 0)
    _, made = change(calls, lambda: drive(quantized.buffer("null")))
    assert quantized.shape == shape
    assert (made["submit"], made["map"]) == (1, 1)
    ops.close()
    again = ops.quantize_per_tensor(image, 0.1, 0)
    drive(again.buffer("null"))
    third = ops.dequantize_per_tensor(again, 0.1, 0)
    drive(third.buffer("null"))
    same = ops.quantize_per_tensor(image, 0.1, 0)  # by a program that is kept
    assert change(calls, lambda: drive(same.buffer("null")))[1] == {"submit": 1, "map": 1, "buffer": 1}


def test_ops_read_the_result_alone(calls: Counter[str]) -> None:
    """Only the first takes anything from Python, and each reads but what was asked for."""

    def chain() -> list[dict[str, int]]:
        x, made = X, []
        for _ in range(3):
            x = ops.q8ta_linear(x, *LAYER)
            made.append(change(calls, lambda x=x: drive(x.buffer("null")))[1])
        return made

    chain()
    first, *later = chain()
    assert (first["write"], first["submit"], first["map"]) == (1, 1, 1)
    assert later == [{"submit": 1, "map": 1, "buffer": 1}] * 2


def test_ops_take_what_stayed_after_their_programs_are_gone() -> None:
    y = ops.q8ta_linear(X, *LAYER)
    drive(y.buffer("null"))
    ops.close()
    assert null.backend.live()["buffers"] == 1
    drive(ops.q8ta_linear(y, *LAYER).buffer("null"))


def test_closing_and_forgetting() -> None:
    with load() as program:
        loaded = null.backend.live()["buffers"]
        tensors = [program.run(DIGIT, method="forward", resident=True) for _ in range(3)]
        assert null.backend.live()["buffers"] == loaded + 3
        drive(tensors[0].buffer())
        for _ in range(2):
            tensors[0].close()
            tensors[1].close()
        assert null.backend.live()["buffers"] == loaded + 1
        np.testing.assert_array_equal(drive(tensors[0].buffer()), np.zeros((1, 10), np.float32))
        with pytest.raises(ClosedError, match="this tensor was closed; compute it again"):
            drive(tensors[1].buffer())
        assert repr(tensors[1]) == "<webq8 tensor float32 [1, 10], gone>"
        with pytest.raises(ClosedError, match="this tensor was closed"):
            drive(ops.tanh(tensors[1]).buffer("null"))
        ops.close()
        del tensors
        gc.collect()
        assert null.backend.live()["buffers"] == loaded


def test_a_tensor_outlives_its_program() -> None:
    with load() as program:
        y = program.run(DIGIT, method="forward", resident=True)
    assert null.backend.live()["buffers"] == 1
    np.testing.assert_array_equal(drive(y.numpy()), np.zeros((1, 10), np.float32))


def test_a_run_that_is_never_awaited_keeps_nothing() -> None:
    with load() as program:
        loaded = null.backend.live()["buffers"]
        run = program(DIGIT, method="forward", resident=True)
        assert null.backend.live()["buffers"] == loaded + 1
        run.close()
        del run
        gc.collect()
        assert null.backend.live()["buffers"] == loaded


@pytest.mark.parametrize("read", [False, True])
def test_another_device(monkeypatch: pytest.MonkeyPatch, read: bool) -> None:
    """What was read is taken from Python; what is on another device alone is refused, by programs and ops alike."""
    with load("upscaler") as upscaler:
        y = upscaler.run(np.zeros((1, 1, 8, 8), np.float32), resident=True)
    if read:
        drive(y.buffer())
    name = r"another device \(null\) than the program's \({}\); `await x\.numpy\(\)` reads it"
    cpu = ops.quantize_per_tensor(y, 0.1, 0)
    with monkeypatch.context() as patched:
        patched.setattr(null.backend, "_device", None)
        other = ops.quantize_per_tensor(y, 0.1, 0)
        if read:
            drive(other.buffer("null"))
            np.testing.assert_array_equal(drive(cpu.buffer("cpu")), np.zeros(y.shape, np.int8))
        else:
            with pytest.raises(InputError, match="in0 of forward: this tensor stays on " + name.format("null")):
                drive(other.buffer("null"))
            with pytest.raises(InputError, match="in0 of forward: this tensor stays on " + name.format("the CPU")):
                drive(cpu.buffer("cpu"))
        other.close()
        ops.close()


def test_lost_device() -> None:
    def refuse(kind: str) -> None:
        raise Refused("Parent device is lost")

    with load() as program:
        y, read = (program.run(DIGIT, method="forward", resident=True) for _ in range(2))
        drive(read.buffer())
        drive(null.backend.device()).raw.refuse = refuse
        message = r"held this tensor was lost \(Parent device is lost\); compute it again"
        with pytest.raises(DeviceLost):
            drive(y.buffer())
        with pytest.raises(DeviceLost, match=message):
            drive(y.buffer())
        with pytest.raises(DeviceLost, match=message):
            drive(ops.relu(y).buffer("null"))
        drive(ops.relu(read).buffer("null"))


def test_shape_and_dtype_are_checked() -> None:
    with load() as program:
        y = program.run(DIGIT, method="forward", resident=True)
        with pytest.raises(InputError, match=r"expected float32 \[1, 64\], got float32 \[1, 10\] on the device, where"):
            program.run(y, method="forward")


def test_on_the_cpu_a_tensor_has_its_values_at_once() -> None:
    y = load(device="cpu").run(DIGIT, method="forward", resident=True)
    assert repr(y) == "<webq8 tensor float32 [1, 10]>"
    np.testing.assert_array_equal(np.asarray(y), load(device="cpu").run(DIGIT, method="forward"))
    y.close()


def test_what_is_not_read_is_no_array() -> None:
    with load() as program:
        y = program.run(DIGIT, method="forward", resident=True)
        with pytest.raises(InputError, match=r"stays on its device: `await y\.numpy\(\)` reads it"):
            np.asarray(y)
