"""The pytest plugin in projects of users, each run by a pytest of its own."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from pytest_webq8 import GPUS
from webq8.desktop.chrome import Gpu

ROOT = Path(__file__).parents[2]
UPSCALER = ROOT / "web" / "models" / "upscaler.pte"
QUANTIZED = ROOT / "tests" / "data" / "goldens" / "q8ta_linear__basic.pte"


def test_choices_are_those_of_the_browser() -> None:
    assert get_args(Gpu) == GPUS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose models have the names of those of the demo page, and are others."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "classifier.pte").write_bytes(QUANTIZED.read_bytes())
    (tmp_path / "models" / "caf\u00e9 100%.pte").write_bytes(UPSCALER.read_bytes())
    (tmp_path / "tests").mkdir()
    return tmp_path


def run_pytest(project: Path, test: str, *options: str) -> tuple[int, str]:
    """Status and output of a pytest run of one test file, from its folder."""
    (project / "tests" / "test_user.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=project / "tests", capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


PASSES = """
import gc

import numpy as np
import pytest
from webq8.errors import ClosedError, InputError

X = np.ones((4, 16), np.float32)


async def work(source, x):
    import webq8

    with await webq8.load(source) as program:
        return await program(x)


def count_kept():
    from webq8 import transport

    return len(transport.kept)


@pytest.mark.parametrize("thread", ["worker", "main"])
def test_paths_are_those_of_the_project(webq8_browser, thread, pytestconfig):
    model = (pytestconfig.rootpath / "models" / "classifier.pte").read_bytes()
    with webq8_browser.page(thread=thread) as page:
        expected = page.call(work, model, X)
        assert expected.shape == (4, 8)
        for path in ("models/classifier.pte", "/models/classifier.pte"):
            assert (page.call(work, path, X) == expected).all()


def test_load(webq8_page, pytestconfig):
    path = pytestconfig.rootpath / "models" / "classifier.pte"
    results = []
    for source in ("models/classifier.pte", path, path.read_bytes()):
        with webq8_page.load(source) as program:
            assert str(program.methods["forward"]) == "(in0: float32 [4, 16]) -> out0: float32 [4, 8]"
            results.append(program(X))
            assert (program(in0=X) == results[-1]).all()
        program.close()
        with pytest.raises(ClosedError, match="was closed"):
            program(X)
    assert all((result == results[0]).all() for result in results)
    with pytest.raises(InputError, match="expected float32"):
        webq8_page.load(path)(X[:3])


def test_load_names_the_file(webq8_page):
    program = webq8_page.load("models/caf\u00e9 100%.pte", optimizations=[])
    assert program.name == "caf\u00e9 100%.pte"
    assert "swiftshader" in program.adapter
    assert program(np.zeros((1, 1, 8, 8), np.float32)).shape == (1, 1, 32, 32)


def test_dropped_programs_are_closed(webq8_page):
    gc.collect()
    with webq8_page.load("models/classifier.pte"):
        assert webq8_page.call(count_kept) == 1
"""


def test_project_that_passes(project: Path) -> None:
    status, out = run_pytest(project, PASSES)
    assert status == 0, out
    assert out.count("webq8: ran on google swiftshader") == 1


FAILS = """async def divide(by):
    # a comment, and a line that is longer than it should be
    return 1 / by


def test_in_the_page(webq8_page):
    webq8_page.call(divide, 0)


def test_that_is_decorated(webq8_page):
    @staticmethod
    def inner(path):
        raise LookupError(path)
    webq8_page.call(inner.__func__, "nowhere")


async def load(path):
    await webq8.load(path)


def test_missing(webq8_page):
    webq8_page.call(load, "models/absent.pte")


def test_missing_here(webq8_page):
    webq8_page.load("absent.pte")


def test_closed(webq8_page):
    webq8_page.load("models/classifier.pte")(1, 2)
"""


def test_failures_are_shown_where_the_test_has_them(project: Path) -> None:
    status, out = run_pytest(project, FAILS)
    file = project / "tests" / "test_user.py"
    lines = FAILS.splitlines()
    assert status == 1
    assert "5 failed" in out
    assert "site-packages" not in out
    assert "host.py:" not in out
    assert "transport.py" not in out
    for text in ("webq8_page.call(divide, 0)", 'webq8_page.call(inner.__func__, "nowhere")', '"absent.pte")', "(1, 2)"):
        [at] = [i for i, line in enumerate(lines, 1) if line.endswith(text)]
        assert f"test_user.py:{at}: " in out, "the last frame is the test's own"
    for name, text in {
        "divide": "return 1 / by",
        "inner": "raise LookupError(path)",
        "load": "await webq8.load(path)",
    }.items():
        [at] = [i for i, line in enumerate(lines, 1) if line.endswith(text)]
        assert f'File "{file}", line {at}, in {name}' in out
        assert f"    {text}\n" in out
    assert f"HTTP 404 there is no file models/absent.pte in {project}" in out
    assert f"there is no file absent.pte in {project}" in out


def test_names_the_adapter_once_under_xdist(project: Path) -> None:
    status, out = run_pytest(project, "def test(webq8_page): webq8_page.check_adapter()\n", "-n2", "--dist=each")
    assert status == 0, out
    assert "2 passed" in out
    assert out.count("webq8: ran on google swiftshader") == 1


def test_without_a_browser_it_fails(project: Path) -> None:
    status, out = run_pytest(project, "def test_user(webq8_page): pass\n", "--webq8-chrome=absent")
    assert status == 1
    assert "there is no program 'absent' to use as Chrome" in out
    assert "skipped" not in out


def test_nothing_is_imported_before_a_fixture_is_used(project: Path) -> None:
    test = "import sys\ndef test_user():\n    assert not {'webq8', 'numpy', 'playwright'} & sys.modules.keys()\n"
    status, out = run_pytest(project, test)
    assert status == 0, out
    assert "webq8: ran on" not in out
