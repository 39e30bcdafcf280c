"""Means of int8: which of a graph's means run on int8, and their results, by exact fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from graphs import Builder, Params, Ref
from webq8.backends.reference import run_graph
from webq8.ir.graph import Graph
from webq8.passes import optimize, required

X, Y = (0.037, -7), (0.011, 17)
MEAN, AVG, ADAPTIVE = "aten.mean.dim", "aten.avg_pool2d.default", "aten._adaptive_avg_pool2d.default"


def kept(graph: Graph) -> list[str]:
    """What is left of a graph for the GPU."""
    found = optimize(required(graph))
    int8 = [found.tensors[node.outputs[0]].dtype == "int8" for node in found.nodes]
    return [type(node.op).__name__ + " int8" * of_int8 for node, of_int8 in zip(found.nodes, int8, strict=True)]


def int8(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).integers(-128, 128, shape, np.int8)


def mean(b: Builder, x: int, out: tuple[int, ...], dims: tuple[int, ...], keepdim: bool = False) -> int:
    return b.call(MEAN, Ref(x), dims, keepdim, None, out=(out, "float32"))


def wanted(terms: Sequence[int], divisor: int, x: Params = X, y: Params = Y) -> set[int]:
    """An int8 result by exact arithmetic; two of them, where it lies on a tie as nearly as float32 can tell."""
    scaled = Fraction(sum(terms) - len(terms) * x[1], divisor) * Fraction(x[0]) / Fraction(y[0])
    near = {round(scaled + Fraction(d)) for d in (-1e-5, 0, 1e-5)}
    return {min(max(n + y[1], -128), 127) for n in near}


def check(got: np.ndarray, windows: dict[tuple[int, ...], tuple[Sequence[int], int]]) -> None:
    """Every element of `got` against its window's terms and divisor."""
    assert {*np.ndindex(got.shape)} == windows.keys()
    for place, (terms, divisor) in windows.items():
        assert int(got[place]) in wanted(terms, divisor), place


def test_mean_over_a_map() -> None:
    b = Builder()
    y = mean(b, b.dequantize(b.input((2, 5, 4, 6), "int8"), X), (2, 5), (2, 3))
    graph, x = b.graph(b.quantize(y, Y)), int8(2, 5, 4, 6)
    assert kept(graph) == ["Mean int8"]
    [got] = run_graph(required(graph), [x])
    check(got, {(n, c): (x[n, c].ravel().tolist(), 24) for n, c in np.ndindex(2, 5)})


@pytest.mark.parametrize("counted", [True, False])
def test_average_of_windows(counted: bool) -> None:
    b = Builder()
    x = b.dequantize(b.input((1, 3, 5, 6), "int8"), X)
    y = b.call(AVG, Ref(x), (3, 3), (2, 2), (1, 1), False, counted, None, out=((1, 3, 3, 3), "float32"))
    graph, data = b.graph(b.quantize(y, Y)), int8(1, 3, 5, 6)
    assert kept(graph) == ["AvgPool2d int8"]
    windows = {}
    for c, i, j in np.ndindex(3, 3, 3):
        taps = [(2 * i + di, 2 * j + dj) for di, dj in product((-1, 0, 1), repeat=2)]
        terms = [int(data[0, c, h, w]) for h, w in taps if 0 <= h < 5 and 0 <= w < 6]
        padded = sum(h < 6 and w < 7 for h, w in taps)
        windows[0, c, i, j] = terms, padded if counted else len(terms)
    [got] = run_graph(required(graph), [data])
    check(got, windows)


def test_windows_that_divide_a_map() -> None:
    """A map without a batch as well: that is viewed as one of a batch of one."""
    b = Builder()
    x = b.dequantize(b.input((3, 7, 5), "int8"), X)
    y = b.call(ADAPTIVE, Ref(x), (3, 2), out=((3, 3, 2), "float32"))
    graph, data = b.graph(b.quantize(y, Y)), int8(3, 7, 5)
    assert kept(graph) == ["Reshape int8", "AdaptiveAvgPool2d int8", "Reshape int8"]
    rows, columns = ((0, 3), (2, 5), (4, 7)), ((0, 3), (2, 5))
    windows = {}
    for c, i, j in np.ndindex(3, 3, 2):
        terms = data[c, slice(*rows[i]), slice(*columns[j])].ravel().tolist()
        windows[c, i, j] = terms, len(terms)
    [got] = run_graph(required(graph), [data])
    check(got, windows)


def test_moves_and_bounds_on_the_way() -> None:
    b = Builder()
    x = b.call("aten.relu.default", Ref(b.dequantize(b.input((1, 8, 4, 4), "int8"), X)), out=((1, 8, 4, 4), "float32"))
    x = b.call("aten.permute_copy.default", Ref(x), (0, 2, 3, 1), out=((1, 4, 4, 8), "float32"))
    y = mean(b, x, (1, 1, 1, 8), (1, 2), keepdim=True)
    y = b.call("aten.hardtanh.default", Ref(y), 0.0, 1.0, out=((1, 1, 1, 8), "float32"))
    y = b.call("aten.view_copy.default", Ref(y), (1, 8), out=((1, 8), "float32"))
    graph, data = b.graph(b.quantize(y, Y)), int8(1, 8, 4, 4)
    assert "Mean int8" in kept(graph)
    assert "Mean" not in kept(graph)
    [got] = run_graph(required(graph), [data])
    top = round(1.0 / Y[0]) + Y[1]
    for c in range(8):
        terms = np.maximum(data[0, c], X[1]).ravel().tolist()
        assert int(got[0, c]) in {min(v, top) for v in wanted(terms, 16)}


def test_a_mean_that_others_read_as_well() -> None:
    """Each quantize has a mean of its own scale; a float32 output keeps its float32 mean."""
    b = Builder()
    y = mean(b, b.dequantize(b.input((2, 5, 4, 4), "int8"), X), (2, 5), (2, 3))
    graph = b.graph(y, b.quantize(y, Y), b.quantize(y, (0.05, 3)))
    assert kept(graph).count("Mean int8") == 2
    data = int8(2, 5, 4, 4)
    floats, first, second = run_graph(required(graph), [data])
    exact = (data.astype(np.float64) - X[1]).mean((2, 3)) * X[0]
    np.testing.assert_allclose(floats, exact, 1e-6)
    assert np.abs(first - (exact / Y[0] + Y[1]).clip(-128, 127)).max() <= 0.501
    assert np.abs(second - (exact / 0.05 + 3).clip(-128, 127)).max() <= 0.501


def test_joined_averages() -> None:
    b = Builder()
    x = b.dequantize(b.input((1, 4, 4, 4), "int8"), X)
    parts = [
        mean(b, x, (1, 4, 1, 1), (2, 3), keepdim=True),
        b.call(ADAPTIVE, Ref(x), (1, 1), out=((1, 4, 1, 1), "float32")),
    ]
    y = b.call("aten.cat.default", b.list(*parts), 1, out=((1, 8, 1, 1), "float32"))
    graph, data = b.graph(b.quantize(y, Y)), int8(1, 4, 4, 4)
    assert sorted(kept(graph)) == ["AdaptiveAvgPool2d int8", "Concat int8", "Mean int8"]
    [got] = run_graph(required(graph), [data])
    check(got, {(0, c, 0, 0): (data[0, c % 4].ravel().tolist(), 16) for c in range(8)})


@pytest.mark.parametrize(
    ("op", "bounds", "function"),
    [
        ("aten.hardtanh.default", (0.0, 0.9), lambda v: v.clip(0, 0.9)),
        ("aten.clamp.default", (-1.01, None), lambda v: v.clip(-1.01)),
        ("aten.hardswish.default", (), lambda v: v * (v + 3).clip(0, 6) / 6),
        ("aten.hardsigmoid.default", (), lambda v: (v + 3).clip(0, 6) / 6),
    ],
)
def test_mean_of_a_function(
    op: str, bounds: tuple[float | None, ...], function: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Its values need not be int8 again: they are whole numbers of a finer unit."""
    b = Builder()
    x = b.dequantize(b.input((1, 40, 7, 7), "int8"), X)
    x = b.call(op, Ref(x), *bounds, out=((1, 40, 7, 7), "float32"))
    graph, data = b.graph(b.quantize(mean(b, x, (1, 40), (2, 3)), (0.003, 5))), int8(1, 40, 7, 7)
    assert kept(graph) == ["Mean int8"]
    [got] = run_graph(required(graph), [data])
    exact = function((data.astype(np.float64) - X[1]) * np.float32(X[0])).mean((2, 3)) / 0.003 + 5
    assert np.abs(got - exact.clip(-128, 127)).max() <= 0.5001


def test_what_is_no_mean_of_int8_stays_float32() -> None:
    """A function that no double arithmetic gives alike everywhere; scales too far apart; no quantize after it."""
    b = Builder()
    x = b.call(
        "aten.sigmoid.default", Ref(b.dequantize(b.input((1, 4, 4, 4), "int8"), X)), out=((1, 4, 4, 4), "float32")
    )
    assert "Mean" in kept(b.graph(b.quantize(mean(b, x, (1, 4), (2, 3)), Y)))
    for scale in (1e30, 1e37):
        for bounds in ((), (0.0, 1.0)):
            b = Builder()
            x = b.dequantize(b.input((1, 4, 4, 4), "int8"), (scale, 0))
            if bounds:
                x = b.call("aten.hardtanh.default", Ref(x), *bounds, out=((1, 4, 4, 4), "float32"))
            assert "Mean" in kept(b.graph(b.quantize(mean(b, x, (1, 4), (2, 3)), (1e-30, 0))))
    b = Builder()
    x = b.dequantize(b.input((1, 4, 4, 4), "int8"), X)
    assert kept(b.graph(mean(b, x, (1, 4), (2, 3)))) == ["Dequantize", "Mean"]


def test_long_chains_are_not_copied_again_and_again() -> None:
    b = Builder()
    y = mean(b, b.dequantize(b.input((2, 5, 4, 4), "int8"), X), (2, 5), (2, 3))
    for _ in range(300):
        y = b.call("aten.view_copy.default", Ref(y), (2, 5), out=((2, 5), "float32"))
    graph = b.graph(*(b.quantize(y, (0.01 + n / 1000, 0)) for n in range(300)))
    assert len(required(graph).nodes) <= len(graph.nodes)
