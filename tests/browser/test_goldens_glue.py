"""Upstream's goldens of the ops that stand between quantized ones: each a .pte file, run on the GPU."""

import json
from pathlib import Path

import numpy as np
import pytest
from webq8.desktop.host import PythonPage

ROWS = [
    (manifest.parent, row)
    for manifest in sorted((Path(__file__).parents[1] / "data" / "goldens_glue").glob("*/manifest.json"))
    for row in json.loads(manifest.read_text())
]


async def run(data, inputs):
    import webq8

    with await webq8.load(data) as program:
        outputs = await program(*inputs)
        return outputs if isinstance(outputs, tuple | list) else [outputs]


def array(folder: Path, spec: dict) -> np.ndarray:
    return np.fromfile(folder / spec["path"], spec["dtype"]).reshape(spec["shape"])


@pytest.mark.parametrize(("folder", "row"), ROWS, ids=[f"{row['op']}-{row['case']}" for _, row in ROWS])
def test_golden(webq8_page: PythonPage, folder: Path, row: dict) -> None:
    inputs = [array(folder, spec) for spec in row["inputs"]]
    golden = row["golden"]
    got = webq8_page.call(run, (folder / row["pte"]).read_bytes(), inputs)[golden["output_index"]]
    want = array(folder, golden)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, row["rtol"], row["atol"])
