"""TFLite and ONNX files on the GPU of the desktop."""

import pytest
import webq8
from format_goldens import KINDS, Case, check, network_cases, op_cases, outputs_of, wakeword_cases
from webq8.backends import native
from webq8.stages import drive

OPS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in op_cases(kind)]
NETWORKS = [pytest.param(case, id=f"{kind}-{case.name}") for kind in KINDS for case in network_cases(kind, most=24)]

pytestmark = pytest.mark.usefixtures("kernels")


@pytest.mark.parametrize("case", [*OPS, *NETWORKS])
def test_case(case: Case) -> None:
    before = native.backend.live()["buffers"]
    with drive(webq8.load(case.model, device="native", shapes=case.shapes)) as program:
        check(case, outputs_of(program, case))
    assert native.backend.live()["buffers"] == before


@pytest.mark.parametrize("case", wakeword_cases(), ids=lambda case: case.name)
def test_state_begins_anew_where_it_is_reset(case: Case) -> None:
    with drive(webq8.load(case.model, device="native")) as program:
        check(case, outputs_of(program, case))
        program.reset()
        check(case, outputs_of(program, case))
