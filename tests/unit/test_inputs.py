"""Conversions of inputs: exact or refused, with numpy and without it; and what is said of what does not fit."""

import itertools
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import webq8
from webq8.errors import InputError
from webq8.runtime.inputs import fit

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES = [*INTEGERS, "bool", "float16", "float32", "float64"]


@pytest.fixture(params=["with numpy", "without numpy"])
def _numpy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without numpy":
        monkeypatch.setitem(sys.modules, "numpy", None)


def edges(dtype: str) -> np.ndarray:
    """The numbers of a dtype at which some other one ends."""
    wanted = {
        s * (2**p + d) for s, p, d in itertools.product((1, -1), (0, 7, 8, 11, 15, 16, 24, 31, 32, 53, 63), (-1, 0, 1))
    }
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return np.array(sorted(v for v in wanted | {info.min, info.max, 2**64 - 1} if info.min <= v <= info.max), dtype)
    if dtype == "bool":
        return np.array([False, True])
    extra = [0.5, -0.0, 0.1, 65504, 65520, 1e-8, 3.4028234663852886e38, 3.5e38, 1e300, np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        return np.array([*map(float, sorted(wanted)), *extra]).astype(dtype)


def holds(dtype: str, value: Any) -> bool:
    """Whether a dtype holds a number exactly, by whole and rational numbers alone."""
    if isinstance(value, float) and not math.isfinite(value):
        return dtype.startswith("float")
    exact = Fraction(value)
    if dtype == "bool":
        return exact in (0, 1)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return exact.denominator == 1 and info.min <= exact <= info.max
    info = np.finfo(dtype)
    smallest, bits = Fraction(float(info.smallest_subnormal)), info.nmant + 1
    exponent = abs(exact.numerator).bit_length() - exact.denominator.bit_length()  # or one less
    exponent -= abs(exact) < Fraction(2) ** exponent
    step = max(smallest, Fraction(2) ** (exponent + 1 - bits))
    return abs(exact) <= Fraction(float(info.max)) and (exact / step).denominator == 1


@pytest.mark.usefixtures("_numpy")
@pytest.mark.parametrize("own", DTYPES)
def test_values_convert_exactly_or_not_at_all(own: str) -> None:
    for dtype, value in itertools.product(DTYPES, edges(own)):
        x = np.array([value, value])
        if holds(dtype, value.item()):
            got = np.frombuffer(fit(x, (2,), dtype, "x"), dtype)
            assert all(g == value.item() or (g != g and np.isnan(value)) for g in got.tolist()), (dtype, value)
        else:
            with pytest.raises(InputError, match=r"x: .* at \[0\] is not exactly"):
                fit(x, (2,), dtype, "x")


@pytest.mark.usefixtures("_numpy")
@pytest.mark.parametrize("own", ["float32", "float64", "int64", "uint64"])
def test_the_first_that_does_not_convert_is_named(own: str) -> None:
    x = np.zeros((3, 4, 5), own)
    x[2, 0, 0] = x[1, 2, 3] = 300
    with pytest.raises(
        InputError, match=rf"x: 300.* \({own}\) at \[1, 2, 3\] is not exactly int8 \(whole numbers, -128…127\)"
    ):
        fit(x, x.shape, "int8", "x")


@pytest.mark.usefixtures("_numpy")
@pytest.mark.parametrize("order", "<>=")
@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_byte_orders(code: str, order: str) -> None:
    x = np.array([[1, 2, 3], [4, 5, 100]], f"{order}{code}")
    for dtype in ("float32", "int8", "int64"):
        np.testing.assert_array_equal(np.frombuffer(fit(x, (2, 3), dtype, "x"), dtype).reshape(2, 3), x)


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_formats_of_c(code: str) -> None:
    from array import array

    np.testing.assert_array_equal(np.frombuffer(fit(array(code, [1, 2]), (2, 1), "int64", "x"), "int64"), [1, 2])


def test_what_is_right_is_not_copied() -> None:
    x = np.zeros((2, 3), np.float32)
    assert np.shares_memory(np.frombuffer(fit(x, (2, 3), "float32", "x"), "float32"), x)


@pytest.mark.parametrize("x", [[1, 2.0, 0.5], (1, 2, float("nan")), [1, 2, float("inf")], [1.0, 2.0, 128]])
def test_lists_are_not_rounded_to_integers(x: Any) -> None:
    with pytest.raises(InputError, match=rf"x: {x[2]} at \[2\] is not exactly int8"):
        fit(x, (3,), "int8", "x")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1, 2, 3], [4, 5]], r"x: rows of a list differ: at \[0\] is \[3\], at \[1\] is \[2\]"),
        ([[1, 2, 3], 4], r"x: rows of a list differ: at \[0\] is \[3\], at \[1\] is \[\]"),
        ([[1, 2, 3], [4, "5", 6]], r"x, at \[1, 1\]: a str is neither a number nor an array"),
        ([[1, 2, 3], [4, None, 6]], r"x, at \[1, 1\]: a NoneType is neither a number nor an array"),
        ([b"123", [4, 5, 6]], r"x, at \[0\]: bytes among numbers"),
        ([[1, 2, 3], [4, 5, 2**24 + 1]], r"x: 16777217 at \[1, 2\] is not exactly float32"),
        ([[1, 2, 3], [4, 5, 10**400]], r"x: a number of some 401 digits at \[1, 2\] is not exactly float32"),
        ([[1, 2, 3], [4, 5, 1e39]], r"x: 1e\+39 at \[1, 2\] is not exactly float32"),
        ([np.arange(3), np.array([4, 5, 0.1])], r"x, at \[1\]: 0\.1 \(float64\) at \[2\] is not exactly float32"),
        ([np.ma.masked] * 3, r"x, at \[0\]: a masked array has elements without a value"),
        (CYCLE, "x: lists within lists, more than 32 deep"),
        (3.5, r"x: expected float32 \[2, 3\], got number; it takes 6"),
        (None, "x: a NoneType is neither a number nor an array; pass a numpy array, nested lists of numbers"),
        ({1: 2}, "x: a dict is neither a number nor an array"),
        (1j, "x: a complex is neither a number nor an array"),
        (np.array([1j]), "x: elements of type 'Zd' are not supported; use one of float32, int8"),
        (np.array([None]), "x: elements of type 'O' are not supported"),
        (np.array("2020", "M8"), "x: its elements cannot be read: cannot include dtype 'M'"),
        (np.zeros((4, 3)), r"got float64 \[4, 3\]; the model was exported for 2 at a time"),
        (np.zeros((3, 2)), r"its axes are in another order: pass np\.transpose\(x, \(1, 0\)\)$"),
        (memoryview(bytes(24)).cast("f"), r"pass memoryview\(x\)\.cast\('B'\)\.cast\('f', \(2, 3\)\)"),
        ([[[1, 2, 3, 4, 5, 6]]], r"got list of shape \[1, 1, 6\]; nest it as \[2, 3\]"),
    ],
)
def test_refused(x: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(x, (2, 3), "float32", "x")


@pytest.mark.parametrize(
    ("own", "shape", "hint"),
    [
        ((64,), (1, 64), r"pass x\.reshape\(1, 64\)"),
        ((8, 8), (1, 64), r"pass x\.reshape\(1, 64\)"),
        ((1, 64), (64,), r"pass x\.reshape\(64,\)"),
        ((3, 7, 9), (1, 3, 7, 9), r"pass x\.reshape\(1, 3, 7, 9\)"),
        ((7, 9, 3), (1, 3, 7, 9), r"pass np\.transpose\(x, \(2, 0, 1\)\)\.reshape\(1, 3, 7, 9\)"),
        ((9, 9, 3), (1, 3, 9, 9), r"pass np\.transpose\(x, \(2, 0, 1\)\)\.reshape\(1, 3, 9, 9\)"),
        ((1, 7, 9, 3), (1, 3, 7, 9), r"pass np\.transpose\(x, \(0, 3, 1, 2\)\)"),
        ((7, 1, 9), (9, 7), r"pass np\.transpose\(x, \(2, 0, 1\)\)\.reshape\(9, 7\)"),
    ],
)
def test_hints_on_shapes(own: tuple[int, ...], shape: tuple[int, ...], hint: str) -> None:
    x = np.arange(math.prod(own), dtype=np.float32).reshape(own)
    with pytest.raises(InputError, match=f"{hint}$") as caught:
        fit(x, shape, "float32", "x")
    passed = str(caught.value).rpartition("pass ")[2]
    assert eval(passed, {"np": np, "x": x}).shape == shape


def test_objects_that_give_numpy_arrays() -> None:
    class Frame:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
            if self.values is None:
                raise RuntimeError("values are on another device")
            return self.values

    assert bytes(fit(Frame(np.array([1, 2])), (2,), "int8", "x")) == b"\1\2"
    with pytest.raises(InputError, match="x: this Frame gives no numpy array: values are on another device"):
        fit(Frame(None), (2,), "int8", "x")
    with pytest.raises(InputError, match=r"x: .*this tensor is not computed yet: `await y"):
        fit(webq8.ops.quantize_per_tensor([1.0], 0.1, 0), (1,), "int8", "x")


def test_coroutines_are_not_values() -> None:
    async def later() -> None: ...

    coroutine = later()
    with pytest.raises(InputError, match="x: a coroutine has no value yet; await it first"):
        fit(coroutine, (2,), "int8", "x")
    coroutine.close()
