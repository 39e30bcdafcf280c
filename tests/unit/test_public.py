"""The table of a folder of models: what it says of results that are right, wrong or missing."""

import json
import shutil
from pathlib import Path

import numpy as np
import public
import pytest
from goldens import DATA


def folder_of(tmp_path: Path, **entries: dict[str, np.ndarray] | None) -> Path:
    """The digits network under each name, beside these arrays: two of its runs, stacked, where there are none."""
    with np.load(DATA / "tflite" / "cnn_int8.npz") as arrays:
        right = {name: arrays[name][:2] for name in ("in0", "out0")}
    for name, given in entries.items():
        shutil.copyfile(DATA / "tflite" / "cnn_int8.tflite", tmp_path / f"{name}.tflite")
        np.savez(tmp_path / f"{name}.npz", **right | (given or {}))
    (tmp_path / "manifest.json").write_text(json.dumps([{"name": name} for name in entries]))
    return tmp_path


def test_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert public.main([str(folder_of(tmp_path, digits=None))]) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert [row[0], row[1], *row[3:]] == ["digits", "2", "100.000%", "0.000%", "0", "npz"]


def test_one_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with np.load(DATA / "tflite" / "cnn_int8.npz") as arrays:
        wrong = arrays["out0"][:2] // 2 * 2 + 1
        share = (wrong == arrays["out0"][:2]).mean()
    assert public.main([str(folder_of(tmp_path, digits={"out0": wrong}))]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[3:6] == [f"{share:.3%}", f"{1 - share:.3%}", "1"]


def test_what_does_not_run_is_told_and_the_rest_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_of(tmp_path, wide={"in0": np.zeros((1, 9, 8, 1), np.int8)}, digits=None, damaged=None)
    (folder / "damaged.tflite").write_bytes(b"nothing")
    assert public.main([str(folder)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "1 of 3 ran on cpu"
    assert "wide did not run: InputError: " in err
    assert "expected int8 [1, 8, 8, 1], got int8 [1, 9, 8, 1]" in err
    assert "damaged did not run: FormatError: damaged.tflite: " in err


def test_a_folder_without_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert public.main([str(tmp_path)]) == 2
    assert "has no manifest.json" in capsys.readouterr().err
