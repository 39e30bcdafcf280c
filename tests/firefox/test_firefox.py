"""webq8 in Firefox, on lavapipe: goldens, networks, a sample of the op table, and the page.

All but the page runs twice: with the kernels of software adapters, and with those of GPUs.
"""

from itertools import groupby

import browser.test_ops as table
import pytest
from browser.test_goldens import test_golden, test_model
from browser.test_networks import large, test_cnn, test_large, test_superres, test_unet
from cases import CASES, Case
from firefox_page import FirefoxPage

__all__ = ["large", "test_cnn", "test_golden", "test_large", "test_model", "test_superres", "test_unet"]

pytestmark = pytest.mark.usefixtures("kernels")

# of each op every tenth case, of those on int8 every fourth
SAMPLE = [
    case
    for op, group in groupby(sorted(CASES, key=lambda c: c.op), lambda c: c.op)
    for case in list(group)[:: 4 if op.startswith("q8ta") else 10]
]


async def adapter():
    from webq8.backends.browser import gpu
    from webq8.target import SOFTWARE

    device = await gpu.device()
    return device.adapter.software, device.target.kind == SOFTWARE, device.target.packed_dot


def test_adapter(webq8_page: FirefoxPage, kernels: str) -> None:
    software, *planned_for = webq8_page.call(adapter)
    assert software
    assert planned_for == ([True, False] if kernels == "software" else [False, True])


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_sample(webq8_page: FirefoxPage, case: Case) -> None:
    table.test_op(webq8_page, case)
