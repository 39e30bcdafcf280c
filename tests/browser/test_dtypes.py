"""Data types of inputs and outputs: carried as they are, or refused by name."""

import numpy as np
import pytest
from graphs import Builder, Ref, run_graph_in_page, sendable
from webq8.desktop.host import PythonPage
from webq8.errors import Unsupported

DTYPES = ["float32", "int8", "uint8", "int32", "int64", "bool"]


def clone_of(dtype: str, shape: tuple[int, ...]) -> Builder:
    b = Builder()
    x = b.input(shape, dtype)
    b.call("aten.clone.default", Ref(x), None, out=(shape, dtype))
    return b


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 5, 7), (0, 3), ()], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_carried(webq8_page: PythonPage, dtype: str, shape: tuple[int, ...]) -> None:
    b = clone_of(dtype, shape)
    x = np.random.default_rng(3).integers(-(2**40), 2**40, shape).astype(dtype)
    method = b.method(len(b.values) - 1)
    [y], _ = webq8_page.call(run_graph_in_page, sendable(method), [x], None)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(y, x)


def test_an_input_as_output(webq8_page: PythonPage) -> None:
    b = Builder()
    x = b.input((3, 5), "int8")
    b.inputs.append(b.tensor((2,), "int64"))
    arrays = [np.arange(15, dtype=np.int8).reshape(3, 5), np.array([2**40, -1])]
    got, dispatches = webq8_page.call(run_graph_in_page, sendable(b.method(b.inputs[1], x)), arrays, None)
    np.testing.assert_array_equal(got[0], arrays[1])
    np.testing.assert_array_equal(got[1], arrays[0])
    assert dispatches == 0


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_refused(webq8_page: PythonPage, dtype: str) -> None:
    b = clone_of(dtype, (3,))
    with pytest.raises(Unsupported, match=rf"aten\.clone\.default: x: expected float32 or .*, got {dtype} \[3\]"):
        webq8_page.call(run_graph_in_page, sendable(b.method(len(b.values) - 1)), [np.zeros(3, dtype)], None)


def test_a_constant_as_output(webq8_page: PythonPage) -> None:
    b = Builder()
    b.input((3, 5), "int8")
    constant = np.arange(10, dtype=np.int8).reshape(2, 5)
    [got], dispatches = webq8_page.call(
        run_graph_in_page, sendable(b.method(b.const(constant))), [np.zeros((3, 5), np.int8)], None
    )
    np.testing.assert_array_equal(got, constant)
    assert dispatches == 0
