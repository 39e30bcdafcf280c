"""`webq8 site`, and the bytecode that its wheels hold."""

import base64
import csv
import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import webq8
from webq8.desktop.bytecode import compile_wheels
from webq8.desktop.cli import main
from webq8.desktop.host import PYODIDES, Browser
from webq8.paths import resource_dir


def test_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "site"
    assert main(["site", str(folder)]) == 0
    assert str(folder) in capsys.readouterr().out
    assert {"index.html", "runtime.json", "wheels", "pyodide"} <= {path.name for path in folder.iterdir()}
    wheels = sorted(folder.glob("wheels/*/*.whl"))
    assert [path.parent.name for path in wheels] == ["0.27.7"] * 3 + ["314.0.7"] * 2
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            assert any(name.endswith("/__init__.pyc") for name in names)
            assert not any(name.endswith(".py") for name in names)
            [record] = [name for name in names if name.endswith("/RECORD")]
            rows = list(csv.reader(wheel.read(record).decode().splitlines()))
            assert sorted(row[0] for row in rows) == sorted(names)
            for name, checksum, _ in rows:
                digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                assert checksum == ("" if name == record else f"sha256={digest}")


async def classify(image):
    """Runs in the page."""
    with await webq8.load("/models/classifier.pte") as program:
        return webq8.__file__, await program(image)


def test_pages_run_bytecode() -> None:
    with Browser(root=resource_dir("web")) as browser:
        for version in PYODIDES:
            browser.site.add_runtime(version)
        compile_wheels(browser.site)
        for version in PYODIDES:
            with browser.page(version) as page:
                file, scores = page.call(classify, np.zeros((1, 64), np.float32))
                assert file.endswith("/webq8/__init__.pyc")
                assert scores.shape == (1, 10)
