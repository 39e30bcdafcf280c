"""Every row of the op table by `device="cpu"`, against an oracle that shares no code with the package, and both against
torch."""

import ast
import sys
from pathlib import Path

import numpy as np
import oracle
import pytest
from cases import CASES, TORCH_GOLDENS, Case
from cpu import op_on_cpu
from oracle import ORACLE, expected
from webq8 import ops

MODULES = sorted(Path(oracle.__file__).parent.glob("*.py"))
# These choose one of two equal numbers, and no definition says which zero is the larger.
CHOOSING = ("relu", "clamp", "hardtanh", "aten.clamp.Tensor")


def compare(got: list[np.ndarray], want: list[np.ndarray], case: Case) -> None:
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want]
    for g, w in zip(got, want, strict=True):
        if case.rtol or case.atol:
            np.testing.assert_allclose(g, w, case.rtol, case.atol)
            continue
        np.testing.assert_array_equal(g, w)
        if g.dtype == np.float32 and case.op not in CHOOSING:
            np.testing.assert_array_equal(np.signbit(g) & (g == 0), np.signbit(w) & (w == 0), "signs of zeros")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_op(case: Case) -> None:
    compare(op_on_cpu(case.op, case.args()), expected(case.op, case.args()), case)


GOLDENS = pytest.mark.parametrize(
    ("case", "golden"), [pytest.param(case, golden, id=case.id) for case, golden in TORCH_GOLDENS]
)


@GOLDENS
def test_the_oracle_gives_what_torch_does(case: Case, golden: list[np.ndarray]) -> None:
    compare(expected(case.op, case.args()), golden, case)


@GOLDENS
def test_op_gives_what_torch_does(case: Case, golden: list[np.ndarray]) -> None:
    compare(op_on_cpu(case.op, case.args()), golden, case)


def test_every_op_has_a_golden_of_torch() -> None:
    assert {case.op for case, _ in TORCH_GOLDENS} == set(ORACLE)


def test_the_oracle_has_every_op() -> None:
    assert set(dir(ops)) - {"Tensor", "close", "tensor"} | {case.op for case in CASES} == set(ORACLE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_the_oracle_imports_nothing_of_the_package(path: Path) -> None:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module
            assert not node.level
            found.add(node.module.split(".")[0])
    assert found <= {"numpy", "oracle"} | sys.stdlib_module_names
    assert not {"importlib", "runpy", "subprocess"} & found
