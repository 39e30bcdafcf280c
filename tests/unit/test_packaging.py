"""What the package says of itself to installers and indexes, and the oldest dependencies that it allows."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import webq8
from packaging.requirements import Requirement
from webq8.desktop import assets
from webq8.desktop.assets import Bundle, Source
from webq8.paths import resource_dir

ROOT = Path(__file__).parents[2]
METADATA = importlib.metadata.metadata("webq8")
FLATBUFFERS = next(r for r in map(Requirement, importlib.metadata.requires("webq8") or ()) if r.name == "flatbuffers")
OLDEST = Bundle(
    "flatbuffers-24.3.6",
    {"flatbuffers-24.3.6-py2.py3-none-any.whl": "0bc1a9d968c0ba996f97b8c255214ec005cf21b962ef60157f7aa2fc647481f1"},
    (Source("pypi", "flatbuffers==24.3.6"),),
)


def test_version() -> None:
    assert webq8.__version__ == METADATA["Version"]


def test_license() -> None:
    assert METADATA["License-Expression"] == "BSD-3-Clause"
    assert METADATA.get_all("License-File") == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License\n")


def test_author() -> None:
    assert METADATA["Author"] == "webq8 developers"


def test_links_of_the_readme_work_everywhere() -> None:
    """An index shows the README without the files beside it."""
    links = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not link.startswith("https://")] == []


INSPECT = """
import json, pathlib, sys
import flatbuffers, webq8
found = {str(path): webq8.inspect(path) for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.pte"))}
print(json.dumps([flatbuffers.__file__, found]))
"""


def test_every_flatbuffers_of_the_range() -> None:
    """The oldest one that is allowed reads the same out of every file as the one that is developed with."""
    assert FLATBUFFERS.specifier.contains("24.3.6")
    assert not FLATBUFFERS.specifier.contains("23.5.26")
    wheel = assets.fetch(OLDEST) / next(iter(OLDEST.files))
    read = {}
    for path in (str(wheel), ""):
        command = [sys.executable, "-c", INSPECT, str(ROOT / "tests" / "data")]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
        )
        file, read[path] = json.loads(done.stdout)
        assert (str(wheel) in file) == bool(path)
    assert len(read[""]) > 50
    assert read[str(wheel)] == read[""]


def test_wheel_holds_what_its_metadata_names(tmp_path: Path) -> None:
    """Built as for an index: the package, the plugin beside it, and the data that `paths.resource_dir` looks for."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, capture_output=True, check=True)
    [path] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
    assert {name.split("/")[0] for name in names} == {
        "pytest_webq8.py",
        "webq8",
        f"webq8-{webq8.__version__}.dist-info",
    }
    for entry in importlib.metadata.distribution("webq8").entry_points:
        module = entry.module.replace(".", "/")
        assert f"{module}.py" in names, entry
    for name in ("wgsl", "web"):
        folder = resource_dir(name)
        files = {f"webq8/{name}/{file.relative_to(folder).as_posix()}" for file in folder.rglob("*") if file.is_file()}
        assert {file for file in files if "__pycache__" not in file} <= names
    assert not [name for name in names if name.endswith((".jinja", "render.py", "build_hook.py"))]
