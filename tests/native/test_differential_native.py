"""Random graphs on the desktop's GPU against the reference, with and without rewrites: equal bytes."""

import numpy as np
import pytest
from random_graphs import random_method
from webq8.backends.reference import run_graph
from webq8.formats.pte.lower import lower
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive

BATCH = 25


def check_seed(seed: int) -> tuple[int, int]:
    """Dispatches with and without rewrites."""
    method, inputs = random_method(seed)
    graph, dispatches = lower(method, "graph"), list[int]()
    want = run_graph(graph, inputs)
    for optimizations in (None, []):
        compiled = compile_graphs({"forward": required(graph)}, "graph", "native", optimizations=optimizations)
        with drive(compiled) as program:
            outputs = program.run(*inputs)
            dispatches.append(program.dispatches())
        got = outputs if isinstance(outputs, tuple) else (outputs,)
        for n, (g, w) in enumerate(zip(got, want, strict=True)):
            np.testing.assert_array_equal(g, w, f"output {n} of seed {seed} with the rewrites {optimizations}")
    return dispatches[0], dispatches[1]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_seeds(first: int) -> None:
    counts = [check_seed(seed) for seed in range(first, first + BATCH)]
    assert sum(fused for fused, _ in counts) < sum(plain for _, plain in counts)
