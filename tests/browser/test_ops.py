"""Every row of the op table on the GPU, against the reference, to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CASES, Case
from webq8 import ops
from webq8.desktop.host import PythonPage
from webq8.stages import drive


async def run(op, args):
    import webq8

    result = getattr(webq8.ops, op)(*args)
    return [await y.buffer() for y in (result if isinstance(result, tuple) else (result,))]


async def free():
    import webq8
    from webq8.backends.browser import gpu

    webq8.ops.close()
    return gpu.live()


def compare(got: list[np.ndarray], want: list[np.ndarray], case: Case) -> None:
    for g, w in zip(got, want, strict=True):
        if case.rtol or case.atol:
            np.testing.assert_allclose(g, w, case.rtol, case.atol, err_msg=case.id)
        else:
            np.testing.assert_array_equal(g, w, case.id)


def expected(case: Case) -> list[np.ndarray]:
    """All outputs, by the reference."""
    result = getattr(ops, case.op)(*case.args())
    return [drive(y.numpy("cpu")) for y in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_op(webq8_page: PythonPage, case: Case) -> None:
    got, want = webq8_page.call(run, case.op, list(case.args())), expected(case)
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
    compare(got, want, case)


async def run_reference(op, args):
    import webq8

    result = getattr(webq8.ops, op)(*args)
    return [await y.buffer("cpu") for y in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("op", sorted({case.op for case in CASES}))
def test_reference_in_a_page(webq8_page: PythonPage, op: str) -> None:
    """It computes constants there as well, where numpy's own integers have 32 bits; functions may round apart."""
    for case in [case for case in CASES if case.op == op][::4]:
        got, want = webq8_page.call(run_reference, op, list(case.args())), expected(case)
        compare(got, want, replace(case, rtol=max(case.rtol, 1e-5), atol=max(case.atol, 1e-6)))


INT8 = pytest.mark.parametrize("case", [c for c in CASES if c.op.startswith("q8ta")], ids=lambda case: case.id)


@pytest.mark.usefixtures("plain_dot")
@INT8
def test_op_without_packed_dot(webq8_page: PythonPage, case: Case) -> None:
    np.testing.assert_array_equal(webq8_page.call(run, case.op, list(case.args())), expected(case))


@pytest.mark.usefixtures("gpu_kernels")
@INT8
def test_op_by_kernels_for_gpus(webq8_page: PythonPage, case: Case) -> None:
    np.testing.assert_array_equal(webq8_page.call(run, case.op, list(case.args())), expected(case))


PRODUCTS = [c for c in CASES if c.op.startswith(("q8ta_linear", "q8ta_conv2d")) and c.op != "q8ta_conv2d_dw"]


@pytest.mark.parametrize("case", PRODUCTS, ids=lambda case: case.id)
def test_product_by_each_tile(webq8_page: PythonPage, tile: str, case: Case) -> None:
    np.testing.assert_array_equal(webq8_page.call(run, case.op, list(case.args())), expected(case), tile)


CONVOLUTIONS = [c for c in CASES if c.op.startswith("q8ta_conv2d") and c.op != "q8ta_conv2d_pw"]


@pytest.mark.usefixtures("four_pixels")
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=lambda case: case.id)
def test_convolution_by_threads_of_four_pixels(webq8_page: PythonPage, case: Case) -> None:
    np.testing.assert_array_equal(webq8_page.call(run, case.op, list(case.args())), expected(case))


def test_every_op_has_cases() -> None:
    for name in vars(ops)["_SHORT"]:
        count = sum(case.op == name for case in CASES)
        int8 = name.startswith(("q8ta", "linear_q", "quantize", "dequantize_per_tensor"))
        assert count >= (20 if int8 else 12), f"{name} has {count}"


SOME = [c for c in CASES if c.op.startswith(("q8ta", "quantize", "dequantize", "cat", "add", "mean", "max_pool"))][::5]


@pytest.mark.usefixtures("narrow_grid")
@pytest.mark.parametrize("case", SOME, ids=lambda case: case.id)
def test_op_in_a_folded_grid(webq8_page: PythonPage, case: Case) -> None:
    compare(webq8_page.call(run, case.op, list(case.args())), expected(case), case)


# as few workgroups an axis as the conversions of inputs and outputs allow
FOLDED = [
    pytest.param(case, 100 if case.id == "q8ta_linear-many-tiles" else 20, id=case.id)
    for case in PRODUCTS
    if "tiles" in case.id or "wide" in case.id
]


@pytest.mark.usefixtures("gpu_kernels", "narrow_grid")
@pytest.mark.parametrize(("case", "narrow_grid"), FOLDED, indirect=["narrow_grid"])
def test_product_for_gpus_in_a_folded_grid(webq8_page: PythonPage, case: Case) -> None:
    compare(webq8_page.call(run, case.op, list(case.args())), expected(case), case)


def test_compiled_programs_are_freed(webq8_page: PythonPage) -> None:
    webq8_page.call(run, CASES[0].op, list(CASES[0].args()))
    live = webq8_page.call(free)
    assert (live["buffers"], live["bytes"]) == (0, 0)


def test_without_numpy(webq8_browser) -> None:
    """Pyodide 314 without numpy, on the main thread."""
    with webq8_browser.page("314.0.7", "main") as page:
        page.check_adapter()
        for case in CASES:
            compare(page.call(run, case.op, list(case.args())), expected(case), case)
