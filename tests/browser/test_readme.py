"""The README's doors: its lines for a model of each kind, as they stand there, in a page."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from webq8.desktop.host import PythonPage

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
MODELS = {
    "model.tflite": DATA / "tflite" / "cnn_int8.tflite",
    "model.onnx": DATA / "onnx" / "cnn_qdq_u8s8_pc.onnx",
    "model.pte": DATA / "networks" / "cnn.pte",
}
DOORS = re.findall(r"^## I have an? (.*?) model$(.*?)(?=^## )", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)


async def run(code, image):
    """Runs in the page."""
    from pyodide.code import eval_code_async

    names = {"image": image}
    await eval_code_async(code, names)
    return names["scores"]


def test_there_are_three_doors() -> None:
    assert [kind for kind, _ in DOORS] == ["TFLite", "ONNX", "PyTorch"]


@pytest.mark.parametrize(("door", "name"), [*zip([text for _, text in DOORS], MODELS, strict=True)], ids=MODELS)
def test_door(webq8_page: PythonPage, door: str, name: str) -> None:
    """The last lines of a door; those before, of the PyTorch door, run where ExecuTorch is installed."""
    code = re.findall(r"^```python\n(.*?)^```$", door, re.M | re.S)[-1]
    assert code.count(f'"{name}"') == 1
    golden = np.load(MODELS[name].with_suffix(".npz"))
    code = code.replace(name, MODELS[name].relative_to(ROOT).as_posix())
    scores: np.ndarray[Any, Any] = webq8_page.call(run, code, golden["in0"][:1])
    want = golden["out0"][:1]
    assert scores.dtype == want.dtype
    quantum = 1 if want.dtype == np.int8 else np.diff(np.unique(want)).min()
    np.testing.assert_allclose(scores.astype(np.float64), want.astype(np.float64), atol=1.01 * quantum)
