"""The pytest plugin in projects of users, each run by a pytest of its own."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from pytest_webq8 import GPUS
from webq8.chrome import Gpu

CLASSIFIER = Path(__file__).parents[2] / "web" / "models" / "classifier.pte"


def run_pytest(folder: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, folder]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_choices_are_those_of_the_browser() -> None:
    assert get_args(Gpu) == GPUS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.pte").write_bytes(CLASSIFIER.read_bytes())
    return tmp_path


METHODS = """
async def methods(model):
    program = await webq8.load(model)
    return list(program.methods)
"""


def test_passes_and_names_the_adapter(project: Path) -> None:
    (project / "test_user.py").write_text(
        METHODS + "def test_user(webq8_page):\n"
        f"    assert webq8_page.call(methods, open({str(CLASSIFIER)!r}, 'rb').read()) == ['batch', 'forward']\n"
    )
    status, out = run_pytest(project)
    assert status == 0, out
    assert "webq8: ran on google swiftshader" in out


def test_names_the_adapter_once_under_xdist(project: Path) -> None:
    for name in ("one", "two"):
        (project / f"test_{name}.py").write_text(f"def test_{name}(webq8_page):\n    webq8_page.check_adapter()\n")
    status, out = run_pytest(project, "-n2", "--dist=loadfile")
    assert status == 0, out
    assert out.count("webq8: ran on google swiftshader") == 1


def test_without_a_browser_it_fails(project: Path) -> None:
    (project / "test_user.py").write_text("def test_user(webq8_page): pass\n")
    status, out = run_pytest(project, "--webq8-chrome=absent")
    assert status == 1
    assert "there is no program 'absent' to use as Chrome" in out
    assert "skipped" not in out


def test_nothing_is_imported_before_a_fixture_is_used(project: Path) -> None:
    (project / "test_user.py").write_text(
        "import sys\ndef test_user():\n    assert not {'webq8', 'numpy', 'playwright'} & sys.modules.keys()\n"
    )
    status, out = run_pytest(project)
    assert status == 0, out
    assert "webq8: ran on" not in out
