"""Runtime files: taken from the first source that has the right ones, kept, and never anything else."""

import hashlib
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from webq8.desktop import assets
from webq8.desktop.assets import Bundle, Source
from webq8.desktop.site import Site
from webq8.errors import HostError

CONTENT = b"the right bytes"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NOWHERE = Source("url", "http://127.0.0.1:1/")


def bundle(*sources: Source, name: str = "thing.txt") -> Bundle:
    return Bundle("things", {name: SHA256}, sources)


def url(site: Site, name: str, content: bytes) -> Source:
    return Source("url", site.add(name, content).removesuffix("thing.txt"))


def test_url_is_fetched_once(tmp_path: Path) -> None:
    with Site() as site:
        wanted = bundle(url(site, "a/thing.txt", CONTENT))
        assert (assets.fetch(wanted, tmp_path) / "thing.txt").read_bytes() == CONTENT
    # the site is gone now
    assert assets.fetch(wanted, tmp_path) == tmp_path / "things"


def test_progress_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Site() as site:
        wanted = bundle(url(site, "a/thing.txt", CONTENT))
        assets.fetch(wanted, tmp_path)
    first = capsys.readouterr()
    assert first.out == ""
    assert "getting thing.txt from http://127.0.0.1" in first.err
    assets.fetch(wanted, tmp_path)
    assert capsys.readouterr() == ("", "")


def test_next_source_where_one_fails_or_has_another_file(tmp_path: Path) -> None:
    with Site() as site:
        sources = NOWHERE, url(site, "a/thing.txt", b"other bytes"), url(site, "b/thing.txt", CONTENT)
        folder = assets.fetch(bundle(*sources), tmp_path)
    assert (folder / "thing.txt").read_bytes() == CONTENT


def test_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "thing.txt").write_bytes(CONTENT[:5])
    with Site() as site:
        folder = assets.fetch(bundle(url(site, "a/thing.txt", CONTENT)), tmp_path)
    assert [file.read_bytes() for file in folder.iterdir()] == [CONTENT]


def test_error_names_every_source_and_leaves_nothing(tmp_path: Path) -> None:
    with Site() as site:
        other = url(site, "a/thing.txt", b"other bytes")
        with pytest.raises(HostError) as caught:
            assets.fetch(bundle(NOWHERE, other), tmp_path)
    message = str(caught.value)
    assert NOWHERE.name in message
    assert f"{other.name}: its thing.txt is another file" in message
    assert "webq8 setup" in message
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_npm_package(tmp_path: Path) -> None:
    package = tmp_path / "package-source"
    package.mkdir()
    (package / "package.json").write_text('{"name": "thing", "version": "1.0.0"}')
    (package / "thing.txt").write_bytes(CONTENT)
    folder = assets.fetch(bundle(Source("npm", str(package), "package/")), tmp_path / "cache")
    assert (folder / "thing.txt").read_bytes() == CONTENT


def test_missing_package_manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="the npm package thing: npm is not installed"):
        assets.fetch(bundle(Source("npm", "thing", "package/")), tmp_path)


def make_wheel(folder: Path) -> Path:
    wheel = folder / "thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing/assets/thing.txt", CONTENT)
        archive.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("thing-1.0.dist-info/RECORD", "")
    return wheel


def test_file_inside_a_wheel(tmp_path: Path) -> None:
    source = Source("pypi", str(make_wheel(tmp_path)), "thing/assets/")
    assert (assets.fetch(bundle(source), tmp_path) / "thing.txt").read_bytes() == CONTENT
    absent = Source("pypi", source.name, "elsewhere/")
    with pytest.raises(HostError, match=r"has no elsewhere/thing\.txt"):
        assets.fetch(bundle(absent), tmp_path / "other")


def test_wheel_itself(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
    folder = assets.fetch(Bundle("wheels", {wheel.name: sha256}, (Source("pypi", str(wheel)),)), tmp_path)
    assert (folder / wheel.name).read_bytes() == wheel.read_bytes()


def test_files_are_readable_as_the_user_wants(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with Site() as site:
            folder = assets.fetch(bundle(url(site, "a/thing.txt", CONTENT)), tmp_path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((folder / "thing.txt").stat().st_mode) == 0o640


def test_cache_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WEBQ8_CACHE", str(tmp_path))
    assert assets.cache_dir() == tmp_path
    monkeypatch.delenv("WEBQ8_CACHE")
    assert assets.cache_dir().parts[-1] == "webq8"


def test_numpy_is_the_one_that_pyodide_names() -> None:
    table = assets.load_table()
    lock = json.loads((assets.fetch(table["pyodide-0.27.7"]) / "pyodide-lock.json").read_text())
    numpy = lock["packages"]["numpy"]
    assert table["numpy"].files == {numpy["file_name"]: numpy["sha256"]}
