"""Upstream's goldens: single-op programs and whole models, loaded from their .pte files, on the GPU."""

import json

import numpy as np
import pytest
import webq8
from goldens import DATA, INT8_GOLDENS, Golden, array
from webq8.desktop.host import PythonPage

MODELS = json.loads((DATA / "models" / "manifest.json").read_text())


async def run(data, inputs):
    from webq8.backends.browser import gpu

    with await webq8.load(data) as program:
        before = gpu.live()["submits"]
        outputs = await program(*inputs)
        submits = gpu.live()["submits"] - before
    return outputs, submits, gpu.live()


@pytest.mark.parametrize("golden", INT8_GOLDENS, ids=lambda golden: golden.name)
def test_golden(webq8_page: PythonPage, golden: Golden) -> None:
    got, submits, live = webq8_page.call(run, golden.pte.read_bytes(), golden.inputs)
    golden.compare(got)
    assert submits == 1
    assert live["buffers"] == 0


def test_all_54() -> None:
    assert len(INT8_GOLDENS) == 54


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
