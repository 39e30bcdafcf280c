"""Values that are kept between runs: read from files, lowered, and run by the reference as torch runs them."""

from pathlib import Path

import numpy as np
import pytest
from webq8.backends.reference import initial_states, run_graph
from webq8.formats.pte.lower import lower
from webq8.formats.pte.model import PteMethod
from webq8.formats.pte.read import read_program
from webq8.ir.graph import Graph
from webq8.passes import optimize, required

STATES = Path(__file__).parents[1] / "data" / "states"
INITIAL = {
    "sum": np.arange(6, dtype=np.float32).reshape(2, 3),
    "frames": np.zeros((1, 4, 5), np.float32),
    "twice": np.arange(3, dtype=np.float32),
}

pytestmark = pytest.mark.parametrize("name", INITIAL)


def method(name: str) -> PteMethod:
    return read_program((STATES / f"{name}.pte").read_bytes(), name).methods["forward"]


def graph(name: str) -> Graph:
    return lower(method(name), name)


def test_read(name: str) -> None:
    found = method(name)
    [state] = found.states
    wanted = INITIAL[name]
    value, new = found.values[state.value], found.values[state.next]
    assert (value.shape, value.dtype, value.data) == (wanted.shape, "float32", None)
    assert (new.shape, new.dtype) == (value.shape, value.dtype)
    assert (state.initial is None) == (name == "frames")
    assert state.initial is None or bytes(state.initial) == wanted.tobytes()
    assert state.value not in found.inputs


def test_lowered(name: str) -> None:
    lowered = graph(name)
    [state] = lowered.states
    assert state.value not in lowered.inputs
    assert len(lowered.inputs) == len(lowered.outputs) == 1
    computed = [ref for node in lowered.nodes for ref in node.outputs]
    assert state.next in computed
    assert state.value not in computed
    assert any(state.value in node.op.reads() for node in lowered.nodes)
    np.testing.assert_array_equal(initial_states(lowered)[0], INITIAL[name], strict=True)


@pytest.mark.parametrize("rewritten", [False, True], ids=["as it is", "rewritten"])
def test_runs(name: str, rewritten: bool) -> None:
    """Several runs in a row, and from the beginning again."""
    found = graph(name)
    if rewritten:
        found = optimize(required(found))
    golden = np.load(STATES / f"{name}.npz")
    for _ in range(2):
        states = initial_states(found)
        for x, wanted in zip(golden["inputs"], golden["outputs"], strict=True):
            [got] = run_graph(found, [x], states)
            np.testing.assert_allclose(got, wanted, 1e-5, 1e-6, strict=True)
        assert not np.array_equal(states[0], INITIAL[name])
    [first] = run_graph(found, [golden["inputs"][0]])
    np.testing.assert_allclose(first, golden["outputs"][0], 1e-5, 1e-6)
