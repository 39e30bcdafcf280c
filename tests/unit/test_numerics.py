"""Float32 functions of lookup tables against exact arithmetic of another kind."""

import math
import random
from array import array
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from exact import EXACT, exp, nearest
from webq8 import decimals, numerics
from webq8.backends.reference import run_graph
from webq8.backends.reference.numbers import dequantized, inverse, to_integers
from webq8.ir.graph import Graph, Node
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import Binary, Clamp, Elu, Hardshrink, LeakyRelu, Unary, UnaryFunction
from webq8.ir.types import PerTensor, Ref, Tensor, f32
from webq8.numerics import apply, requantizing_table

X = Ref(0)
_UNARY: tuple[UnaryFunction, ...] = get_args(UnaryFunction)


# --- arguments

# where results neither vanish nor overflow in float32, and where functions have them
_DOMAINS: dict[str, tuple[float, float]] = {
    "exp": (-100, 88.7),
    "expm1": (-20, 88.7),
    "sigmoid": (-100, 20),
    "silu": (-100, 20),
    "gelu": (-14, 8),
    "gelu_tanh": (-13, 8),
    "erf": (-4.2, 4.2),
    "tanh": (-10, 10),
    "hardswish": (-4, 8),
    "hardsigmoid": (-4, 8),
    "log": (0, 1e30),
    "log2": (0, 1e30),
    "log10": (0, 1e30),
    "log1p": (-1, 1e30),
    "sqrt": (0, 3e38),
    "rsqrt": (0, 3e38),
    "reciprocal": (-3e38, 3e38),
    "sin": (-3e38, 3e38),
    "cos": (-3e38, 3e38),
    "sinh": (-89.4, 89.4),
}


def arguments(function: str, count: int) -> list[float]:
    """float32 numbers of a function's domain, as many small ones as large ones, with the smallest of all."""
    rng = random.Random(function)
    low, high = _DOMAINS.get(function, (-300, 300))
    found = [rng.uniform(low, high) for _ in range(count)]
    found += [rng.choice((low, high)) * 2 ** rng.uniform(-140, 0) for _ in range(count)]
    found += [rng.choice((low, high)) * rng.uniform(0.8, 1) for _ in range(count)]
    found += [1.0 + rng.uniform(-1, 1) * 2 ** rng.uniform(-23, 0) for _ in range(count // 2)]
    found += [2.0**-149, 2.0**-126, 1.0, 0.5, 3.0, *([-(2.0**-149), -1.0, -3.0] if low < -3 else [])]
    return [x for x in array("f", found) if low <= x <= high and (x or not function.startswith(("log", "r")))]


def nearly_ties(op: Op, values: list[float], count: int) -> list[float]:
    """Those of some arguments whose results are the nearest to ties."""
    function = numerics._near(op) or numerics._in_double(op)
    assert function is not None

    def distance(x: float) -> float:
        y = function(x)
        unit = 2.0 ** max(math.frexp(y)[1] - 24, -149)
        return abs(math.fmod(abs(y) / unit, 1) - 0.5)

    return sorted(values, key=distance)[:count]


def check(op: Op, exact: Callable[[Fraction], Fraction], values: Sequence[float]) -> None:
    wanted = [nearest(exact(Fraction(x))) for x in values]
    differing = [(x, y, w) for x, y, w in zip(values, apply(op, values), wanted, strict=True) if y != w]
    assert not differing, f"{op}: {len(differing)} of {len(values)} differ, such as f(x), y, exact = {differing[0]}"


@pytest.fixture(params=["as-it-is", "by-decimals", "by-a-poor-library"])
def _how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is; with every result that is anywhere near a tie decided by decimals; with last bits that are wrong."""
    if request.param == "by-decimals":
        monkeypatch.setattr(numerics, "_ERROR", 2.0**-27)
    if request.param == "by-a-poor-library":
        rng = random.Random(4)
        for name, function in numerics._NEAR.items():
            poor = lambda x, f=function: f(x) * (1 + rng.uniform(-(2.0**-43), 2.0**-43))  # noqa: E731
            monkeypatch.setitem(numerics._NEAR, name, poor)


def test_every_function_has_an_oracle() -> None:
    assert EXACT.keys() == {*_UNARY} == numerics._UNARY_IN_DOUBLE.keys() | numerics._NEAR.keys()
    assert numerics._NEAR.keys() == decimals._FUNCTIONS.keys()


@pytest.mark.usefixtures("_how")
@pytest.mark.parametrize("function", _UNARY)
def test_correctly_rounded(function: UnaryFunction) -> None:
    op = Unary(X, function)
    check(op, EXACT[function], arguments(function, 10) + nearly_ties(op, arguments(function, 2000), 20))


@pytest.mark.usefixtures("_how")
def test_functions_with_parameters() -> None:
    values = arguments("elu", 20)
    check(LeakyRelu(X, 0.3), lambda x: x if x > 0 else x * Fraction(f32(0.3)), values)
    check(Hardshrink(X, 1.7), lambda x: Fraction(0) if abs(x) <= Fraction(f32(1.7)) else x, [1.7, f32(1.7), *values])
    check(Clamp(X, -1.3, 2.1), lambda x: min(max(x, Fraction(f32(-1.3))), Fraction(f32(2.1))), values)

    def elu(x: Fraction) -> Fraction:
        return Fraction(0.9) * (Fraction(1.7) * (exp(x * Fraction(0.4)) - 1) if x < 0 else x)

    op = Elu(X, alpha=1.7, scale=0.9, input_scale=0.4)
    check(op, elu, values + nearly_ties(op, arguments("elu", 2000), 20))


@pytest.mark.parametrize(
    ("op", "x", "exact"),
    [
        # odd numbers of 25 bits, of which the even neighbour is taken
        (Binary(X, X, "pow"), (4097.0, 2.0), 16785408.0),
        (Binary(X, X, "pow"), (4101.0, 2.0), 16818200.0),
        (Binary(X, X, "pow"), (103041.0, 1.5), 33076160.0),
        (Binary(X, X, "pow"), (321.0, 3.0), 33076160.0),
        (Binary(X, X, "mul"), (4097.0, 4097.0), 16785408.0),
        (Binary(X, X, "add"), (16777216.0, 1.0), 16777216.0),
        (Binary(X, X, "add"), (16777218.0, 1.0), 16777220.0),
        (Binary(X, X, "add", 0.5), (16777216.0, 2.0), 16777216.0),
        (Unary(X, "hardsigmoid"), (3 * 2.0**-24,), 0.5),
        (Unary(X, "hardsigmoid"), (9 * 2.0**-24,), 0.5 + 2.0**-23),
        (Unary(X, "round"), (2.5,), 2.0),
        (Unary(X, "round"), (-0.5,), -0.0),
        (Elu(X, alpha=1.0, scale=1.0 + 2.0**-24, input_scale=1.0), (1.0,), 1.0),
        (Elu(X, alpha=1.0, scale=1.0 + 3 * 2.0**-24, input_scale=1.0), (1.0,), 1.0 + 2.0**-22),
        (Elu(X, alpha=1.0, scale=1.0 + 2.0**-24 + 2.0**-52, input_scale=1.0), (1.0,), 1.0 + 2.0**-23),
        # the largest float32, and half way beyond it
        (Elu(X, alpha=1.0, scale=2.0 - 2.0**-24, input_scale=1.0), (2.0**127,), math.inf),
        (Elu(X, alpha=1.0, scale=2.0 - 2.0**-24 - 2.0**-52, input_scale=1.0), (2.0**127,), 2.0**128 - 2.0**104),
    ],
)
def test_ties(op: Op, x: tuple[float, ...], exact: float) -> None:
    (y,) = apply(op, *([v] for v in x))
    assert (y, math.copysign(1, y)) == (exact, math.copysign(1, exact))


def test_sums_round_products_first() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 500)).astype(np.float32)
    np.testing.assert_array_equal(apply(Binary(X, X, "add", 0.3), a.tolist(), b.tolist()), a + np.float32(0.3) * b)


def test_nothing_is_rounded_twice() -> None:
    """Products that double rounds to ties, where they lie beside them."""
    found = 0
    for factor in range(3, 200, 2):
        for odd in (1, 3):
            scale = (1.0 + odd * 2.0**-24) / factor
            (y,) = apply(Elu(X, alpha=1.0, scale=scale, input_scale=1.0), [float(factor)])
            assert y == nearest(Fraction(scale) * factor)
            found += y != f32(scale * factor)
    assert found > 20


@pytest.mark.parametrize("function", [*_UNARY, "pow"])
def test_special_values(function: str) -> None:
    numbers = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 3e38, -3e38, 2.0**-149, -(2.0**-149)]
    special = array("f", numbers).tolist()
    if function == "pow":
        op: Op = Binary(X, Ref(1), "pow")
        operands = [special * len(special), [v for v in special for _ in special]]
    else:
        op, operands = Unary(X, function), [special]
    inputs = tuple(Tensor((len(operands[0]),), "float32") for _ in operands)
    out = Ref(len(inputs))
    graph = Graph((*inputs, inputs[0]), (Node(op, (out,), ""),), tuple(map(Ref, range(out))), (out,))
    (wanted,) = run_graph(graph, [np.array(o, np.float32) for o in operands])
    found = np.array(apply(op, *operands), np.float32)
    np.testing.assert_array_max_ulp(found, wanted, 1)
    finite = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found[finite]), np.signbit(wanted[finite]))


# --- tables


def test_tables_of_bounds() -> None:
    """The bytes of float32 arithmetic in numpy, for scales and zero points of all sizes."""
    rng, codes = random.Random(5), np.arange(-128, 128, dtype=np.int8)
    for _ in range(300):
        x, y = (PerTensor(2 ** rng.uniform(-9, 9), rng.randint(-128, 127)) for _ in range(2))
        ops = [Clamp(X, rng.uniform(-99, 99), rng.uniform(-99, 99)) for _ in range(rng.randint(0, 2))]
        bounds = (rng.randint(-128, 0), rng.randint(0, 127))
        if rng.random() < 0.5:  # near ties
            y = PerTensor(x.scale * 2 ** rng.randint(-1, 4) / rng.choice((1, 3)), y.zero_point)
        v = dequantized(codes, x)
        for op in ops:
            v = np.minimum(np.maximum(v, np.float32(op.low)), np.float32(op.high))
        wanted = to_integers(v * inverse(y.scale), y.zero_point, *bounds)
        assert requantizing_table(x, ops, y, bounds) == wanted.tobytes()


def test_halves_become_even() -> None:
    table = requantizing_table(PerTensor(0.5, 0), [], PerTensor(1.0, 0))
    assert table[128:136] == bytes([0, 0, 1, 2, 2, 2, 3, 4])
    assert table[121:128] == bytes(-v & 255 for v in (4, 3, 2, 2, 2, 1, 0))


def test_tables_of_chains() -> None:
    """Each function rounds to float32 before the next one."""
    x, y = PerTensor(0.0371, 5), PerTensor(0.0123, -3)
    ops = [Unary(X, "hardswish"), Unary(X, "tanh"), Unary(X, "exp")]
    wanted = bytearray()
    for q in range(-128, 128):
        v = nearest(Fraction(q - 5) * Fraction(f32(0.0371)))
        for op in ops:
            v = nearest(EXACT[op.function](Fraction(v)))
        scaled = nearest(Fraction(v) * Fraction(f32(1 / 0.0123)))
        wanted.append(min(max(round(scaled) - 3, -128), 127) & 255)
    assert requantizing_table(x, ops, y) == bytes(wanted)


def test_nan_and_what_is_too_large() -> None:
    log = requantizing_table(PerTensor(1.0, 0), [Unary(X, "log")], PerTensor(0.1, 9))
    assert log[:130] == bytes([9]) * 128 + bytes([128, 9])
    exp = requantizing_table(PerTensor(1e30, 0), [Unary(X, "exp")], PerTensor(0.1, 9), (-128, 100))
    assert exp == bytes([9]) * 128 + bytes([19]) + bytes([100]) * 127
