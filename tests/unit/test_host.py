"""The site, webq8's own wheel, finding a browser, and the source of functions; no browser is started here."""

import base64
import csv
import functools
import hashlib
import http.client
import io
import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from webq8.desktop.chrome import chrome_args, find_chrome
from webq8.desktop.files import replacing
from webq8.desktop.host import _source_of
from webq8.desktop.site import PYODIDES, Site, own_wheel
from webq8.errors import HostError
from webq8.paths import resource_dir


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        for version in PYODIDES:
            site.add_runtime(version)
        yield site


def get(site: Site, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Exactly this path; urllib would tidy it up."""
    connection = http.client.HTTPConnection(site.url.split("/")[2])
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def test_page_at_the_root(site: Site) -> None:
    status, headers, body = get(site, "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert body == (resource_dir("web") / "index.html").read_bytes()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/harness.js", "text/javascript"),
        ("/pyodide/pyodide.mjs", "text/javascript"),
        ("/pyodide/pyodide.asm.wasm", "application/wasm"),
        ("/pyodide-314/pyodide.asm.mjs", "text/javascript"),
        ("/pyodide-314/python_stdlib.zip", "application/zip"),
        ("/runtime.json", "application/json"),
    ],
)
def test_types_and_headers(site: Site, path: str, kind: str) -> None:
    status, headers, _ = get(site, path + "?query=ignored")
    assert (status, headers["Content-Type"], headers["Cache-Control"]) == (200, kind, "no-cache")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "'unsafe-" not in policy
    assert "http" not in policy.replace("connect-src 'self' https: http:", "")  # models may come from anywhere


def test_runtime_json_names_files_that_are_there(site: Site) -> None:
    runtimes = json.loads(get(site, "/runtime.json")[2])
    assert list(runtimes) == list(PYODIDES)
    assert [Path(wheel).name.split("-")[0] for wheel in runtimes["0.27.7"]["wheels"]] == [
        "numpy",
        "flatbuffers",
        "webq8",
    ]
    assert [Path(wheel).name.split("-")[0] for wheel in runtimes["314.0.7"]["wheels"]] == ["flatbuffers", "webq8"]
    for runtime in runtimes.values():
        for path in [runtime["pyodide"] + "pyodide-lock.json", *runtime["wheels"]]:
            assert get(site, "/" + path)[0] == 200


def test_unknown_pyodide(site: Site) -> None:
    with pytest.raises(HostError, match=r"no Pyodide '1\.0' here; choose one of 0\.27\.7, 314\.0\.7"):
        site.add_runtime("1.0")


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/%2e%2e/pyproject.toml", "/pyodide/../../../etc/passwd", "//etc/passwd", "/absent.js"],
)
def test_nothing_else_is_served(site: Site, path: str) -> None:
    assert get(site, path)[0] == 404


def test_added_files(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"from a file")
    with urllib.request.urlopen(site.add("/files/a model.pte", tmp_path / "a")) as response:
        assert response.read() == b"from a file"
    with urllib.request.urlopen(site.add("/files/b", b"from memory")) as response:
        assert response.read() == b"from memory"


def test_head_has_no_body(site: Site) -> None:
    with urllib.request.urlopen(urllib.request.Request(site.url, method="HEAD")) as response:
        assert int(response.headers["Content-Length"]) > 0
        assert response.read() == b""


@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
def test_desk_that_does_not_exist(site: Site, method: str) -> None:
    request = urllib.request.Request(site.url + "desks/none", data=b"x", method=method)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    assert caught.value.code == 404
    caught.value.close()


def test_port_in_use(site: Site) -> None:
    port = int(site.url.rstrip("/").rpartition(":")[2])
    with pytest.raises(HostError, match=f"cannot serve on port {port}: Address already in use"):
        Site(port)


def test_export_writes_what_is_served(site: Site, tmp_path: Path) -> None:
    site.export(tmp_path)
    paths = [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()]
    assert {"index.html", "runtime.json", "pyodide/pyodide.mjs", "pyodide-314/pyodide.mjs"} <= set(paths)
    for path in paths:
        assert get(site, "/" + urllib.parse.quote(path))[2] == (tmp_path / path).read_bytes(), path


def test_own_wheel_is_the_same_for_the_same_files() -> None:
    assert own_wheel() == own_wheel()


def test_own_wheel_holds_what_runs_in_a_page() -> None:
    name, data = own_wheel()
    assert name == "webq8-0.1.0-py3-none-any.whl"
    names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    assert {"webq8/__init__.py", "webq8/errors.py", "webq8/backends/browser/replay.js", "webq8/transport.py"} <= names
    assert {f"webq8/wgsl/{file.name}" for file in resource_dir("wgsl").glob("*.wgsl")} <= names
    assert not any(name.startswith("webq8/desktop/") for name in names)
    assert not [other for other in names if other.startswith("webq8/web/") or "__pycache__" in other]


def test_own_wheel_has_a_true_record() -> None:
    with zipfile.ZipFile(io.BytesIO(own_wheel()[1])) as wheel:
        rows = list(csv.reader(wheel.read("webq8-0.1.0.dist-info/RECORD").decode().splitlines()))
        assert [row[0] for row in rows] == wheel.namelist()
        for name, sha256, size in rows[:-1]:
            content = wheel.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert (sha256, int(size)) == (f"sha256={digest}", len(content))


def test_own_wheel_can_be_installed(tmp_path: Path) -> None:
    name, data = own_wheel()
    (tmp_path / name).write_bytes(data)
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target]
    subprocess.run([*pip, tmp_path / name], check=True)
    code = (
        "import webq8, webq8.paths as p; print(webq8.__file__); print(len(list(p.resource_dir('wgsl').glob('*.wgsl'))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    where, shaders = done.stdout.split()
    assert where == str(target / "webq8" / "__init__.py")
    assert int(shaders) == len(list(resource_dir("wgsl").glob("*.wgsl")))


# --- the browser's program


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without browsers: an empty folder is all that programs are looked for in."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    monkeypatch.delenv("WEBQ8_CHROME", raising=False)
    return tmp_path


def program(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_no_browser(bare: Path) -> None:
    with pytest.raises(HostError, match=r"(?s)found no Chrome.*playwright install chromium.*WEBQ8_CHROME"):
        find_chrome()


def test_browser_on_the_path(bare: Path) -> None:
    chromium = program(bare / "chromium")
    assert find_chrome() == chromium
    assert find_chrome() == chromium


def test_browser_by_choice(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "chromium")
    in_environment, in_argument = program(bare / "environment"), program(bare / "argument")
    monkeypatch.setenv("WEBQ8_CHROME", in_environment)
    assert find_chrome() == in_environment
    assert find_chrome(in_argument) == in_argument


def test_chosen_browser_that_is_not_there(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "chromium")
    with pytest.raises(HostError, match="no program 'absent' to use as Chrome"):
        find_chrome("absent")
    monkeypatch.setenv("WEBQ8_CHROME", "gone")
    with pytest.raises(HostError, match="no program 'gone'"):
        find_chrome()


def test_adapter_flags() -> None:
    assert "--use-webgpu-adapter=swiftshader" in chrome_args("swiftshader")
    assert not [flag for flag in chrome_args("hardware") if "swiftshader" in flag]


# --- functions that travel


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@decorate
@decorate
async def decorated(x: int) -> int:
    """Doc."""
    return x + 1


def test_source_of_a_function() -> None:
    source, name = _source_of(decorated)
    assert name == "decorated"
    assert source == 'async def decorated(x: int) -> int:\n    """Doc."""\n    return x + 1\n'


def test_source_of_an_inner_function() -> None:
    def inner() -> int:
        return 1

    assert _source_of(inner) == ("def inner() -> int:\n    return 1\n", "inner")


def test_functions_that_cannot_travel() -> None:
    outer = 1

    def closure() -> int:
        return outer

    for function in (closure, lambda: 1, len, functools.partial(decorate, closure)):
        with pytest.raises(TypeError, match="cannot run in the page"):
            _source_of(function)


# --- files written whole


def test_replacing(tmp_path: Path) -> None:
    target = tmp_path / "file"
    with replacing(target) as file:
        file.write(b"one")
    with suppress(ZeroDivisionError), replacing(target) as file:
        file.write(b"half of tw")
        _ = 1 / 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"file": b"one"}
