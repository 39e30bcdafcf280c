"""Upstream's goldens: single-op programs and whole models, loaded from their .pte files, on the GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.host import PythonPage

DATA = Path(__file__).parents[1] / "data"
ROWS = json.loads((DATA / "goldens" / "manifest.json").read_text())
MODELS = json.loads((DATA / "models" / "manifest.json").read_text())
# their float32 results come from sums in float32, in another order than upstream's
FLOAT_SUMS = ("linear_qcs4w", "linear_q8ta_q8csw")


async def run(data, inputs):
    from webq8.backends.browser import gpu

    with await webq8.load(data) as program:
        before = gpu.live()["submits"]
        outputs = await program(*inputs)
        submits = gpu.live()["submits"] - before
    return outputs, submits, gpu.live()


def array(folder: Path, spec: dict) -> np.ndarray:
    return np.fromfile(folder / spec["path"], spec["dtype"]).reshape(spec["shape"])


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["pte"].removesuffix(".pte"))
def test_golden(webq8_page: PythonPage, row: dict) -> None:
    folder = DATA / "goldens"
    inputs = [array(folder, spec) for spec in row["inputs"]]
    got, submits, live = webq8_page.call(run, (folder / row["pte"]).read_bytes(), inputs)
    golden = array(folder, row["golden"])
    if row["op"] in FLOAT_SUMS:
        np.testing.assert_allclose(got, golden, row["rtol"], row["atol"])
    else:  # other float32 outputs are dequantized int8, so they too are equal to the byte
        np.testing.assert_array_equal(got, golden)
    assert submits == 1
    assert live["buffers"] == 0


def test_all_54() -> None:
    assert len(ROWS) == 54


@pytest.mark.parametrize("name", MODELS)
def test_model(webq8_page: PythonPage, name: str) -> None:
    folder, spec = DATA / "models", MODELS[name]
    got, submits, _ = webq8_page.call(run, (folder / f"{name}.pte").read_bytes(), [array(folder, spec["inputs"][0])])
    golden = array(folder, spec["output"])
    # the model's last quantum: the smallest step between its outputs
    quantum = np.diff(np.unique(golden)).min()
    assert (np.abs(got - golden) < quantum / 2).mean() >= 0.999
    assert np.abs(got - golden).max() < 1.5 * quantum
    assert submits == 1
