"""TFLite and ONNX files by `device="cpu"`: single ops, and networks with what they were trained for."""

import numpy as np
import pytest
import webq8
from format_goldens import (
    KINDS,
    Case,
    answers,
    check,
    network_cases,
    op_cases,
    outputs_of,
    wakeword_cases,
)
from webq8.stages import drive

OPS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in op_cases(kind)]
NETWORKS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in network_cases(kind)]


def outputs(case: Case) -> list[list[np.ndarray]]:
    with drive(webq8.load(case.model, device="cpu", shapes=case.shapes)) as program:
        return outputs_of(program, case)


@pytest.mark.parametrize("case", OPS)
def test_op(case: Case) -> None:
    check(case, outputs(case))


@pytest.mark.parametrize("case", NETWORKS)
def test_network(case: Case) -> None:
    got = outputs(case)
    check(case, got)
    ours, theirs = ((answers(case, outputs) == case.right).mean() for outputs in (got, case.wanted))
    assert abs(ours - theirs) <= (0.002 if case.name.startswith("unet") else 0)  # of pixels, or of digits


@pytest.mark.parametrize("case", wakeword_cases(), ids=lambda case: case.name)
def test_state_begins_anew_where_it_is_reset(case: Case) -> None:
    with drive(webq8.load(case.model, device="cpu")) as program:
        check(case, outputs_of(program, case))
        with pytest.raises(AssertionError):  # it goes on
            check(case, outputs_of(program, case))
        program.reset()
        check(case, outputs_of(program, case))
