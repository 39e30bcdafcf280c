"""Whole networks on the GPU: what they were trained for, agreement with the eager quantized models, dispatches, memory.

Upstream's own delegate refuses most of them: fused "relu", maps whose width is not a multiple of 4.
"""

from pathlib import Path

import networks
import numpy as np
import pytest
import webq8
from webq8.desktop.host import PythonPage
from webq8.stages import drive

DATA = Path(__file__).parents[1] / "data" / "networks"
# the step between neighbouring int8 outputs, as their last quantize has it
LARGE = ("mobilenet_v2", "resnet18")


async def run_each(url, inputs):
    import numpy as np

    with await webq8.load(url) as program:
        outputs = [await program(x) for x in inputs]
        return np.concatenate(outputs), program.dispatches(), program.load_ms


def outputs_of(page: PythonPage, path: Path, inputs: np.ndarray) -> tuple[np.ndarray, int]:
    got, dispatches, _ = page.call(run_each, path.read_bytes(), [inputs[i : i + 1] for i in range(len(inputs))])
    return got, dispatches


def agreement(got: np.ndarray, golden: np.ndarray) -> float:
    """The share of outputs within one quantum of the eager model's."""
    quantum = np.diff(np.unique(golden)).min()
    return float((np.abs(got - golden) < 1.5 * quantum).mean())


def psnr(got: np.ndarray, target: np.ndarray) -> float:
    error = np.clip(got, 0, 1).astype(np.float64) - target / 255
    return float(np.mean([-10 * np.log10((e**2).mean()) for e in error]))


def test_cnn(webq8_page: PythonPage) -> None:
    golden = np.load(DATA / "cnn.npz")
    got, dispatches = outputs_of(webq8_page, DATA / "cnn.pte", golden["in0"])
    assert agreement(got, golden["out0"]) >= 0.999
    accuracy = (got.argmax(1) == golden["labels"]).mean()
    assert accuracy >= golden["float_accuracy"] - 0.005
    assert dispatches <= 14


def test_superres(webq8_page: PythonPage) -> None:
    golden = np.load(DATA / "superres.npz")
    got, _ = outputs_of(webq8_page, DATA / "superres.pte", golden["in0"])
    assert agreement(got, golden["out0"]) >= 0.999
    ours = psnr(got[:, 0], golden["targets"])
    assert ours >= golden["float_psnr"] - 0.3
    assert ours > golden["bicubic_psnr"]


def test_unet(webq8_page: PythonPage) -> None:
    golden = np.load(DATA / "unet.npz")
    got, _ = outputs_of(webq8_page, DATA / "unet.pte", golden["in0"])
    assert agreement(got, golden["out0"]) >= 0.999
    mask, target = got > 0, golden["targets"] > 0
    assert (mask & target).sum() / (mask | target).sum() >= golden["float_iou"] - 0.01


@pytest.fixture(scope="module")
def large() -> Path:
    return networks.large_networks()


@pytest.mark.parametrize(("name", "most"), [("mobilenet_v2", 70), ("resnet18", 45)])
def test_large(webq8_page: PythonPage, large: Path, name: str, most: int) -> None:
    golden = np.load(large / f"{name}.npz")
    got, dispatches = outputs_of(webq8_page, large / f"{name}.pte", golden["in0"])
    for a, b in zip(got.astype(np.float64), golden["out0"].astype(np.float64), strict=True):
        assert a @ b / (np.linalg.norm(a) * np.linalg.norm(b)) >= 0.999
    assert dispatches <= most


@pytest.mark.parametrize("name", ["cnn", "superres", "unet", *LARGE])
def test_equal_to_the_reference(webq8_page: PythonPage, large: Path, name: str) -> None:
    """To the bit: on the way from int8 to int8 nothing is left to a device, means over maps least of all."""
    folder = large if name in LARGE else DATA
    inputs = np.load(folder / f"{name}.npz")["in0"][: 1 if name in LARGE else 3]
    got, _ = outputs_of(webq8_page, folder / f"{name}.pte", inputs)
    reference = drive(webq8.load(folder / f"{name}.pte", device="cpu"))
    want = np.concatenate([reference.run(inputs[i : i + 1]) for i in range(len(inputs))])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", LARGE)
def test_memory(large: Path, name: str) -> None:
    found = webq8.inspect(large / f"{name}.pte")["methods"]["forward"]
    assert found["dispatches"] <= {"mobilenet_v2": 70, "resnet18": 60}[name]
    assert found["peak_bytes"] <= 1.15 * found["live_bytes"]
    assert found["unsupported"] == []
