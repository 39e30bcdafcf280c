"""The two models trained on real scans: accuracy and agreement with the eager quantized models."""

from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import PythonPage
from webq8.stages import drive

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "web" / "models"
DIGITS = np.load(MODELS / "digits.npz")
GOLDEN = np.load(ROOT / "tests" / "data" / "digits_golden.npz")


async def run_each(data, inputs, method="forward"):
    import numpy as np

    with await webq8.load(data) as program:
        return np.concatenate([await program(x, method=method) for x in inputs])


def pixels() -> np.ndarray:
    return (DIGITS["images"] / 16).astype(np.float32)


@pytest.mark.parametrize(("method", "batch"), [("forward", 1), ("batch", 60)])
def test_classifier(webq8_page: PythonPage, method: str, batch: int) -> None:
    inputs = list(pixels().reshape(-1, batch, 64))
    logits = webq8_page.call(run_each, (MODELS / "classifier.pte").read_bytes(), inputs, method)
    np.testing.assert_array_equal(logits, GOLDEN["logits"])
    accuracy = (logits.argmax(1) == DIGITS["labels"]).mean()
    assert accuracy >= 0.97
    assert accuracy == pytest.approx(float(GOLDEN["int8_accuracy"]))


def test_upscaler(webq8_page: PythonPage) -> None:
    golden = GOLDEN["upscaled"]
    inputs = list(pixels()[: len(golden), None, None])
    upscaled = webq8_page.call(run_each, (MODELS / "upscaler.pte").read_bytes(), inputs)
    reference = drive(webq8.load(MODELS / "upscaler.pte", device="cpu"))
    np.testing.assert_array_equal(upscaled[:60], np.concatenate([reference.run(x) for x in inputs[:60]]))
    # torch multiplies in float, so a tie may round the other way, and again in the layers after it
    quanta = np.abs(upscaled - golden) / np.float32(0.00484859338)
    assert (quanta < 0.5).mean() >= 0.999
    assert quanta.max() < 2.5


def test_int8_is_close_to_float() -> None:
    assert GOLDEN["float_accuracy"] - GOLDEN["int8_accuracy"] <= 0.005
    assert GOLDEN["float_psnr"] - GOLDEN["int8_psnr"] <= 0.5
    assert GOLDEN["int8_psnr"] > GOLDEN["bilinear_psnr"]
