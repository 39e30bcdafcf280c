"""Arithmetic of dequantized tensors on the desktop's GPU, on int8 and in float32: the reference's bytes."""

import numpy as np
import pytest
from arithmetic import ALL, FLOAT, Arithmetic, inputs
from webq8.backends.reference import run_graph
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("arithmetic", [*ALL, *FLOAT], ids=lambda arithmetic: arithmetic.name)
def test_arithmetic(arithmetic: Arithmetic) -> None:
    graph = arithmetic.graph()
    arrays = inputs(graph)
    [want] = run_graph(graph, arrays)
    for optimizations in (None, []):
        compiled = compile_graphs({"forward": required(graph)}, "graph", "native", optimizations=optimizations)
        with drive(compiled) as program:
            np.testing.assert_array_equal(program.run(*arrays), want)
