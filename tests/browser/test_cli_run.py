"""`webq8 run` as users meet it: another process, a real browser, exit statuses and files."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine
import numpy as np
import pytest
from webq8.desktop.chrome import find_chrome
from webq8.desktop.host import PYODIDES

ROOT = Path(__file__).parents[2]
CLASSIFIER = ROOT / "web" / "models" / "classifier.pte"
GOLDENS = ROOT / "tests" / "data" / "goldens"
CASES = {case["pte"]: case for case in json.loads((GOLDENS / "manifest.json").read_text())}


def read(spec: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.fromfile(GOLDENS / spec["path"], spec["dtype"]).reshape(spec["shape"])


class Run:
    """`webq8 run MODEL` in a folder of its own, with `inputs` and further options."""

    def __init__(
        self,
        folder: Path,
        model: Path,
        inputs: list[np.ndarray[Any, Any]],
        *options: object,
        environment: dict[str, str] | None = None,
    ) -> None:
        np.savez(folder / "in.npz", **{f"in{i}": array for i, array in enumerate(inputs)})
        files = ("--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
        command = [str(word) for word in (sys.executable, "-m", "webq8.desktop.cli", "run", model, *files, *options)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.files = sorted(path.name for path in folder.glob("*.npz*"))
        if "out.npz" in self.files:
            with np.load(folder / "out.npz") as archive:
                self.outputs = dict(archive)

    def check_failed(self, status: int, reason: str) -> None:
        """The reason in one line, and nothing written."""
        assert (self.status, self.out, self.files) == (status, "", ["in.npz"])
        assert self.err.startswith("webq8: ")
        assert self.err.count("\n") == 1
        assert reason in self.err


DIGIT = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 64)


@pytest.mark.parametrize("pyodide", PYODIDES)
def test_classifier(pyodide: str, tmp_path: Path) -> None:
    run = Run(tmp_path, CLASSIFIER, [DIGIT], "--repeat", 3, "--pyodide", pyodide)
    assert (run.status, run.err, run.files) == (0, "", ["in.npz", "out.npz"])
    assert run.out.count("\n") == 1
    report = json.loads(run.out)
    assert list(report) == ["model", "device", "adapter", "dispatches", "submits", "load_ms", "first_ms", "median_ms"]
    assert report["model"] == str(CLASSIFIER)
    assert report["device"] == "webgpu"
    assert "swiftshader" in report["adapter"]
    assert report["submits"] == 1
    assert report["dispatches"] >= 3
    assert 0 < report["median_ms"] < report["load_ms"] * 100

    reference = tmp_path / "reference"
    reference.mkdir()
    on_cpu = Run(reference, CLASSIFIER, [DIGIT], "--device", "cpu")
    assert list(run.outputs) == ["out0"]
    np.testing.assert_array_equal(run.outputs["out0"], on_cpu.outputs["out0"])


def test_profile(tmp_path: Path) -> None:
    run = Run(tmp_path, CLASSIFIER, [DIGIT], "--profile", "--trace", tmp_path / "trace.json")
    assert (run.status, run.err, run.files) == (0, "", ["in.npz", "out.npz"])
    first, _, *table = run.out.splitlines()
    report = json.loads(first)
    assert report["submits"] == 1
    assert table[0] == f"classifier.pte, forward, on {report['adapter']}"
    kernels = [line.split()[0] for line in table[-report["dispatches"] :]]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert kernels == [event["name"] for event in events if event["ph"] == "X"]


def test_model_without_inputs(tmp_path: Path) -> None:
    model = "dequantize_per_tensor__zp.pte"
    case = CASES[model]
    assert case["inputs"] == []
    run = Run(tmp_path, GOLDENS / model, [], "--method", "forward")
    assert (run.status, run.err) == (0, "")
    golden = read(case["golden"])
    assert run.outputs["out0"].dtype == golden.dtype
    np.testing.assert_allclose(run.outputs["out0"], golden, atol=case["atol"], rtol=case["rtol"])


def test_wrong_shape(tmp_path: Path) -> None:
    Run(tmp_path, CLASSIFIER, [DIGIT[:, :63]]).check_failed(2, "expected float32 [1, 64], got float32 [1, 63]")


def test_damaged_model(tmp_path: Path) -> None:
    model = tmp_path / "damaged.pte"
    model.write_bytes(CLASSIFIER.read_bytes()[:1000])
    Run(tmp_path, model, [DIGIT]).check_failed(2, "damaged.pte")


def test_no_adapter(tmp_path: Path) -> None:
    """A Chromium without WebGPU adapters: the flags that give it one are taken away."""
    chrome = tmp_path / "chrome-without-gpu"
    chrome.write_text(f"""#!/bin/sh
for flag do
  shift
  case $flag in
    --use-webgpu-adapter=* | --enable-unsafe-webgpu) ;;
    *) set -- "$@" "$flag" ;;
  esac
done
exec {shlex.quote(find_chrome())} "$@" --disable-gpu --disable-software-rasterizer
""")
    chrome.chmod(0o755)
    Run(tmp_path, CLASSIFIER, [DIGIT], "--chrome", chrome).check_failed(3, "adapter")


def test_software_adapter_is_no_hardware(tmp_path: Path) -> None:
    """Whatever Vulkan drivers this machine has, SwiftShader is forced on the browser, and they are hidden from it."""
    chrome = tmp_path / "chrome-on-swiftshader"
    chrome.write_text(f'#!/bin/sh\nexec {shlex.quote(find_chrome())} "$@" --use-webgpu-adapter=swiftshader\n')
    chrome.chmod(0o755)
    options = "--chrome", chrome, "--gpu", "hardware"
    run = Run(tmp_path, CLASSIFIER, [DIGIT], *options, environment=machine.environment())
    run.check_failed(3, "no hardware adapter")
