"""Upstream's goldens: single-op programs and whole models, loaded from their .pte files, on the GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.errors import Unsupported
from webq8.host import PythonPage

DATA = Path(__file__).parents[1] / "data"
SUPPORTED = ("quantize_per_tensor", "dequantize_per_tensor", "q8ta_linear", "q8ta_conv2d_transposed")
ROWS = json.loads((DATA / "goldens" / "manifest.json").read_text())
MODELS = json.loads((DATA / "models" / "manifest.json").read_text())


async def run(data, inputs, method=None):
    from webq8 import gpu

    with await webq8.load(data) as program:
        before = gpu.live()["submits"]
        outputs = await program(*inputs, method=method)
        submits = gpu.live()["submits"] - before
    return outputs, submits, gpu.live()


def array(folder: Path, spec: dict) -> np.ndarray:
    return np.fromfile(folder / spec["path"], spec["dtype"]).reshape(spec["shape"])


@pytest.mark.parametrize("row", [r for r in ROWS if r["op"] in SUPPORTED], ids=lambda r: r["pte"].removesuffix(".pte"))
def test_golden(webq8_page: PythonPage, row: dict) -> None:
    folder = DATA / "goldens"
    inputs = [array(folder, spec) for spec in row["inputs"]]
    got, submits, live = webq8_page.call(run, (folder / row["pte"]).read_bytes(), inputs)
    # float32 outputs are dequantized int8, so they too are equal to the byte
    np.testing.assert_array_equal(got, array(folder, row["golden"]))
    assert submits == 1
    assert live["buffers"] == 0


def test_the_seventeen() -> None:
    assert sum(r["op"] in SUPPORTED for r in ROWS) == 17


@pytest.mark.parametrize("row", [r for r in ROWS if r["op"] not in SUPPORTED], ids=lambda r: r["pte"])
def test_other_goldens_say_what_is_missing(row: dict) -> None:
    with pytest.raises(Unsupported, match=r"delegate 0, node \d+: .*: no such op in webq8"):
        webq8.runtime.drive(webq8.load(DATA / "goldens" / row["pte"], device="cpu"))


def test_mlp(webq8_page: PythonPage) -> None:
    folder, spec = DATA / "models", MODELS["mlp"]
    got, submits, _ = webq8_page.call(run, (folder / "mlp.pte").read_bytes(), [array(folder, spec["inputs"][0])])
    np.testing.assert_array_equal(got, array(folder, spec["output"]))
    assert submits == 1
