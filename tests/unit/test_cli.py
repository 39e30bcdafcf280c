"""The command line, as far as it needs no browser: exit statuses, messages, files."""

import importlib.metadata
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from webq8.desktop.cli import main
from webq8.formats.base import Names
from webq8.formats.pte import Method

GOLDENS = Path(__file__).parents[1] / "data" / "goldens"
MODEL = GOLDENS / "q8ta_linear__basic.pte"
CASE = next(case for case in json.loads((GOLDENS / "manifest.json").read_text()) if case["pte"] == MODEL.name)


def read(spec: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.fromfile(GOLDENS / spec["path"], spec["dtype"]).reshape(spec["shape"])


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    path = tmp_path / "in.npz"
    np.savez(path, **{f"in{i}": read(spec) for i, spec in enumerate(CASE["inputs"])})
    return path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def reason(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed: nothing but one line on stderr, and below it, where a file should be made again, how."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("webq8: ")
    assert err.endswith("\n")
    assert all(line.startswith("    ") or not line for line in err.splitlines()[1:])
    return err


def test_run_on_cpu(inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = tmp_path / "out.npz"
    assert run("run", MODEL, "--inputs", inputs, "--outputs", outputs, "--device", "cpu", "--repeat", 3) == 0
    with np.load(outputs) as arrays:
        assert arrays.files == ["out0"]
        golden = read(CASE["golden"])
        assert arrays["out0"].dtype == golden.dtype
        np.testing.assert_allclose(arrays["out0"], golden, atol=CASE["atol"], rtol=CASE["rtol"])
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    report = json.loads(out)
    assert list(report) == ["model", "device", "adapter", "dispatches", "submits", "load_ms", "first_ms", "median_ms"]
    assert (report["model"], report["device"], report["adapter"]) == (str(MODEL), "cpu", None)
    assert report["load_ms"] > 0


def test_arrays_have_the_names_of_inputs_and_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of any names, those that numpy and the call itself take for arguments included."""
    monkeypatch.setattr(Method, "names", lambda _: Names(("method", "a/b:0", "runs"), ("file",)))
    shapes = {"runs": 3, "a/b:0": (7, 3), "method": (5, 7)}
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive:
        for name, shape in shapes.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.full(shape, 2, np.float32))
    model = GOLDENS.parent / "goldens_glue" / "kernel_calls" / "addmm__kernel.pte"
    outputs = tmp_path / "out.npz"
    assert run("run", model, "--inputs", tmp_path / "in.npz", "--outputs", outputs, "--device", "cpu") == 0
    with np.load(outputs) as found:
        assert found.files == ["file"]
        np.testing.assert_array_equal(found["file"], np.full((5, 3), 2 * 28 + 0.5 * 2, np.float32))
    capsys.readouterr()
    assert run("inspect", model) == 0
    first = "forward: method: float32[5, 7], a/b:0: float32[7, 3], runs: float32[3] -> file: float32[5, 3]"
    assert capsys.readouterr().out.splitlines()[2] == first


def test_outputs_are_replaced_only_by_success(inputs: Path, tmp_path: Path) -> None:
    outputs = tmp_path / "out.npz"
    outputs.write_bytes(b"before")
    command = ("run", MODEL, "--inputs", inputs, "--outputs", outputs, "--device", "cpu")
    assert run(*command, "--method", "absent") == 2
    assert outputs.read_bytes() == b"before"
    assert run(*command) == 0
    assert np.load(outputs).files == ["out0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npz", "out.npz"]


@pytest.fixture(params=["fifo", "folder", "link to a device"])
def irregular(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Something that exists and is no regular file."""
    path = tmp_path / "irregular"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        path.symlink_to(os.devnull)
    return path


@pytest.mark.parametrize("option", ["--outputs", "--trace"])
def test_what_is_no_regular_file_is_not_replaced(
    option: str, irregular: Path, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = irregular.lstat()
    command = ("run", MODEL, "--inputs", inputs, "--outputs", tmp_path / "out.npz", "--device", "cpu")
    assert run(*command, option, irregular) == 2
    assert f"cannot write a file {irregular}: what lies there is no regular file" in reason(capsys)
    assert irregular.lstat() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.npz", "irregular"]


def test_outputs_through_a_link(inputs: Path, tmp_path: Path) -> None:
    """The link stays, and what it links to is replaced."""
    link, target = tmp_path / "link.npz", tmp_path / "target.npz"
    link.symlink_to(target)
    for _ in range(2):
        assert run("run", MODEL, "--inputs", inputs, "--outputs", link, "--device", "cpu") == 0
        assert link.is_symlink()
        assert np.load(target).files == ["out0"]


def test_no_file_of_the_command_is_written_over(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, outputs = tmp_path / "model.pte", tmp_path / "out.npz"
    model.write_bytes(MODEL.read_bytes())
    files = {path: path.read_bytes() for path in (model, inputs)}
    for other, (name, path) in {
        "MODEL": ("--outputs", model),
        "--inputs": ("--outputs", inputs),
        "--outputs": ("--trace", outputs),
    }.items():
        command = ("run", model, "--inputs", inputs, "--outputs", outputs, name, path)
        assert run(*command) == 2
        assert f"{name} would write over {other}: {path}" in reason(capsys)
    assert {path: path.read_bytes() for path in files} == files


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["run"], "required: MODEL, --inputs, --outputs"),
        (["run", "absent.pte", "--inputs", "IN", "--outputs", "OUT"], "there is no file absent.pte"),
        (["run", "MODEL", "--inputs", "absent.npz", "--outputs", "OUT"], "there is no file absent.npz"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "absent/out.npz"], "cannot write a file absent/out.npz"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "."], "cannot write a file ."),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--repeat", "0"], "'0' is not a whole number from 1"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--repeat", "x"], "'x' is not a whole number from 1"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--gpu", "none"], "invalid choice: 'none'"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--device", "tpu"], "invalid choice: 'tpu'"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--device", "cpu", "--method", "f"], "no method 'f'"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--trace", "absent/t"], "cannot write a file absent"),
        (["run", "MODEL", "--inputs", "IN", "--outputs", "OUT", "--device", "cpu", "--profile"], "measures the GPU"),
        (["run", "MODEL", "--inputs", "MODEL", "--outputs", "OUT"], "is not an .npz file of plain arrays"),
        (["run", "IN", "--inputs", "IN", "--outputs", "OUT", "--device", "cpu"], "in.npz"),
        (["inspect", "IN"], "in.npz"),
        (["inspect", "absent.pte"], "there is no file absent.pte"),
        (["serve", "--port", "x"], "invalid int value: 'x'"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"MODEL": str(MODEL), "IN": str(inputs), "OUT": str(tmp_path / "out.npz")}
    assert run(*[names.get(argument, argument) for argument in arguments]) == 2
    assert message in reason(capsys)
    assert not (tmp_path / "out.npz").exists()


X = np.zeros((4, 16), np.float32)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X}, "forward has no input 'x'; it has in0: float32 [4, 16]"),
        ({"in1": X}, "forward has no input 'in1'"),
        ({"in0": X, "in1": X}, "takes 1 inputs"),
        ({}, "takes 1 inputs"),
        ({"in0": X[:3]}, "expected float32 [4, 16], got float32 [3, 16]"),
        ({"in0": X.astype(np.float64) + 0.1}, "0.1 (float64) at [0, 0] is not exactly float32"),
        ({"in0": X.astype(np.complex64)}, "not supported"),
        ({"in0": np.array([{}], object)}, "is not an .npz file of plain arrays"),
    ],
)
def test_bad_inputs(arrays: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", **arrays)
    outputs = tmp_path / "out.npz"
    assert run("run", MODEL, "--inputs", tmp_path / "in.npz", "--outputs", outputs, "--device", "cpu") == 2
    assert message in reason(capsys)
    assert not outputs.exists()


@pytest.mark.parametrize(
    ("arrays", "message"), [([X[:3]], "expected float32 [4, 16]"), ([X, X], "takes 1 inputs"), ([], "takes 1 inputs")]
)
def test_wrong_inputs_are_told_before_a_browser_starts(
    arrays: list[Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "in.npz", **{f"in{i}": array for i, array in enumerate(arrays)})
    command = ("run", MODEL, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", "--chrome", "absent")
    assert run(*command) == 2
    assert message in reason(capsys)


@pytest.mark.parametrize("size", [0, 1, 30, 200])
def test_truncated_model(size: int, inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "short.pte"
    model.write_bytes(MODEL.read_bytes()[:size])
    assert run("run", model, "--inputs", inputs, "--outputs", tmp_path / "out.npz", "--device", "cpu") == 2
    assert "short.pte" in reason(capsys)


def test_browser_that_is_not_there(inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("run", MODEL, "--inputs", inputs, "--outputs", tmp_path / "out.npz")
    assert run(*command, "--chrome", tmp_path / "absent") == 1
    assert f"there is no program '{tmp_path / 'absent'}'" in reason(capsys)


def test_program_that_is_no_browser(inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    false = shutil.which("false")
    assert run("run", MODEL, "--inputs", inputs, "--outputs", tmp_path / "out.npz", "--chrome", false) == 1
    assert f"{false} did not start" in reason(capsys)


def test_inspect_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("inspect", MODEL, "--json") == 0
    method = json.loads(capsys.readouterr().out)["methods"]["forward"]
    assert method["inputs"] == [{"name": "in0", "shape": [4, 16], "dtype": "float32"}]
    assert method["outputs"] == [{"name": "out0", "shape": [4, 8], "dtype": "float32"}]
    assert method["ops"]["et_vk.q8ta_linear.default"] == 1
    assert method["unsupported"] == []


def test_lines_of_code_stay_lines(inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What to do about a file of another kind can be copied from the terminal."""
    assert run("inspect", inputs) == 2
    code = reason(capsys).partition("\n")[2]
    compile(textwrap.dedent(code), "export", "exec")
    assert code.startswith("    import torch\n")


def test_reader_that_has_seen_enough() -> None:
    """As `webq8 ops --markdown | head -1`: no complaint."""
    command = [sys.executable, "-m", "webq8.desktop.cli", "ops", "--markdown"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_inspect_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("inspect", MODEL) == 0
    assert capsys.readouterr().out == (
        f"{MODEL}\n\n"
        "forward: in0: float32[4, 16] -> out0: float32[4, 8]\n"
        "     1 x et_vk.q8ta_linear.default                           int8 kernel\n"
        "     1 x quantized_decomposed.dequantize_per_tensor.default  int8 kernel\n"
        "     1 x quantized_decomposed.quantize_per_tensor.default    int8 kernel\n"
        "  can run, in 1 GPU dispatches, 0 of them to change a layout\n"
        "  activations take 384 bytes (384 are live at once)\n"
    )


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    assert "inspect" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--version")
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"webq8 {importlib.metadata.version('webq8')}\n"


def test_setup_finds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("setup") == 0
    assert "browser: " in capsys.readouterr().out


def test_setup_without_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEBQ8_CHROME", str(tmp_path / "absent"))
    assert run("setup", "--install-chromium") == 1
    assert "absent" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_stopped(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "webq8.desktop.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        assert served.stderr is not None
        url = served.stdout.readline().split()[2]
        with urllib.request.urlopen(url + "runtime.json") as response:
            assert json.loads(response.read())
        served.send_signal(number)
        assert served.wait(20) == 0
        assert served.stderr.read() == ""


def test_cache_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A home folder that keeps nothing, as it is for service users and in containers."""
    home = tmp_path / "home"
    home.write_text("no folder")
    for name in ("WEBQ8_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    assert run("setup") == 1
    said = reason(capsys)
    assert f"cannot keep files in {home / '.cache' / 'webq8'}" in said
    assert "WEBQ8_CACHE" in said
