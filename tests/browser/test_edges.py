"""Kernels that quantize what they read and dequantize what they write, in a page, with the kernels of each class."""

import numpy as np
import pytest
from cases import Case
from edges import ROWS, arguments, places, run, wanted
from webq8.desktop.host import PythonPage

SOME = pytest.mark.parametrize("case", ROWS[::3], ids=lambda case: case.id)


@SOME
def test_row(webq8_page: PythonPage, case: Case) -> None:
    operands, y_at = places(case)
    np.testing.assert_array_equal(webq8_page.call(run, case.op, arguments(case), operands, y_at), wanted(case))


@pytest.mark.usefixtures("gpu_kernels")
@SOME
def test_row_by_kernels_for_gpus(webq8_page: PythonPage, case: Case) -> None:
    test_row(webq8_page, case)
