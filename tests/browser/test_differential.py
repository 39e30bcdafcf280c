"""Random graphs on the GPU against the reference, with and without optimizations: equal bytes. See `make soak`."""

import numpy as np
import pytest
from graphs import run_graph_in_page, sendable
from random_graphs import random_method
from webq8.backends.reference import run_graph
from webq8.desktop.host import PythonPage
from webq8.formats.pte.lower import lower

BATCH = 20


def check_seed(page: PythonPage, seed: int) -> tuple[int, int]:
    """Raises AssertionError that tells how to reproduce it; returns dispatches with and without optimizations."""
    method, inputs = random_method(seed)
    again = f"reproduce: .venv/bin/python tests/soak.py --seed {seed}"
    want, sent, dispatches = run_graph(lower(method, "graph"), inputs), sendable(method), []
    for optimizations in (None, []):
        try:
            got, count = page.call(run_graph_in_page, sent, inputs, optimizations)
        except Exception as e:
            e.add_note(again)
            raise
        dispatches.append(count)
        for n, (g, w) in enumerate(zip(got, want, strict=True)):
            kind = "without optimizations" if optimizations == [] else "with optimizations"
            np.testing.assert_array_equal(g, w, f"output {n} of seed {seed}, {kind}; {again}")
    return dispatches[0], dispatches[1]


@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_seeds(webq8_page: PythonPage, first: int) -> None:
    counts = [check_seed(webq8_page, seed) for seed in range(first, first + BATCH)]
    assert sum(fused for fused, _ in counts) < sum(plain for _, plain in counts)


@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("first", range(200, 260, BATCH))
def test_seeds_by_kernels_for_gpus(webq8_page: PythonPage, first: int) -> None:
    for seed in range(first, first + BATCH):
        check_seed(webq8_page, seed)
