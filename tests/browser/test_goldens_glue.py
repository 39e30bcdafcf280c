"""Upstream's goldens of the ops that stand between quantized ones: each a .pte file, run on the GPU."""

import pytest
from goldens import GLUE_GOLDENS, Golden
from webq8.desktop.host import PythonPage


async def run(data, inputs):
    import webq8

    with await webq8.load(data) as program:
        outputs = await program(*inputs)
        return outputs if isinstance(outputs, tuple | list) else [outputs]


@pytest.mark.parametrize("golden", GLUE_GOLDENS, ids=lambda golden: golden.name)
def test_golden(webq8_page: PythonPage, golden: Golden) -> None:
    golden.compare(webq8_page.call(run, golden.pte.read_bytes(), golden.inputs)[golden.output_index])
