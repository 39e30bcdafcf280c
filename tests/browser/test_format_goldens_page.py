"""TFLite and ONNX files in the page: ops, networks, and state over many runs."""

import numpy as np
import pytest
import webq8
from format_goldens import KINDS, Case, check, network_cases, op_cases, wakeword_cases
from webq8.desktop.host import PythonPage

OPS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in op_cases(kind)]
NETWORKS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in network_cases(kind, most=24)]


async def run_each(model, runs, shapes):
    """Inputs that a run lacks are what the run before gave, zeros at first."""
    import numpy as np

    with await webq8.load(model, shapes=shapes) as program:
        inputs = next(iter(program.methods.values())).inputs
        kept, found = [np.zeros(s.shape, s.dtype) for s in inputs[len(runs[0]) :]], []
        for run in runs:
            got = await program(*run, *kept)
            given = list(got) if isinstance(got, tuple) else [got]
            found.append(given[: len(given) - len(kept)])
            kept = given[len(given) - len(kept) :]
        return found


def outputs(page: PythonPage, case: Case) -> list[list[np.ndarray]]:
    model = case.model if isinstance(case.model, bytes) else case.model.read_bytes()
    return page.call(run_each, model, [list(run) for run in case.runs], dict(case.shapes))


@pytest.mark.parametrize("case", [*OPS, *NETWORKS])
def test_case(webq8_page: PythonPage, case: Case) -> None:
    check(case, outputs(webq8_page, case))


async def run_twice(model, runs):
    with await webq8.load(model) as program:
        first = [await program(*run) for run in runs]
        program.reset()
        return [[y] for y in first], [[await program(*run)] for run in runs]


@pytest.mark.parametrize("case", wakeword_cases(), ids=lambda case: case.name)
def test_wakewords_twice(webq8_page: PythonPage, case: Case) -> None:
    for got in webq8_page.call(run_twice, case.model.read_bytes(), [list(run) for run in case.runs]):
        check(case, got)
