"""The files a page needs beside webq8 itself: Pyodide, and the wheels that run in it.

`assets.json` lists them with their sha256 and the sources that have them. A file is taken from wherever it is found
first, and only if its hash is the listed one, so it does not matter which source it came from.
"""

import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from webq8.desktop.files import replacing
from webq8.errors import HostError

CONNECT_SECONDS = 15
PACKAGE_MANAGER_SECONDS = 600


@dataclass(frozen=True)
class Source:
    """A place to look: `kind` is "url" (a folder), "npm" or "pypi" (a package and the folder `inside` it)."""

    kind: str
    name: str
    inside: str = ""

    def __str__(self) -> str:
        return self.name if self.kind == "url" else f"the {self.kind} package {self.name}"


@dataclass(frozen=True)
class Bundle:
    """Files that come from the same place: name -> sha256."""

    folder: str
    files: Mapping[str, str]
    sources: tuple[Source, ...]


Read = Callable[[str], bytes]


class SourceError(Exception):
    """One source could not give a file; the next one is tried."""


def load_table() -> dict[str, Bundle]:
    """The bundles by folder."""
    table = json.loads(Path(__file__).with_name("assets.json").read_text())
    return {
        entry["folder"]: Bundle(entry["folder"], entry["files"], tuple(Source(**source) for source in entry["sources"]))
        for entry in table
    }


def cache_dir() -> Path:
    """`$WEBQ8_CACHE`, or webq8's folder in the user's cache folder."""
    if chosen := os.environ.get("WEBQ8_CACHE"):
        return Path(chosen)
    try:
        return _users_cache() / "webq8"
    except RuntimeError:
        raise HostError("you have no home folder; name a folder in the environment variable WEBQ8_CACHE") from None


def _users_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@contextmanager
def _cached(folder: Path) -> Iterator[None]:
    """What goes wrong with the cache, as an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"cannot keep files in {folder}: {error.strerror or error}. Name a folder that you may write to in the "
            "environment variable WEBQ8_CACHE"
        ) from error


def fetch(bundle: Bundle, cache: Path | None = None) -> Path:
    """The folder that holds the bundle's files, every one with the right hash; missing ones are fetched."""
    folder = (cache or cache_dir()) / bundle.folder
    failures: list[str] = []
    with _cached(folder):
        missing = _missing(bundle, folder)
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()  # before anything is downloaded
    for source in bundle.sources if missing else ():
        print(f"webq8: getting {', '.join(missing)} from {source}", file=sys.stderr)
        try:
            with _opened(source) as read:
                for name in missing:
                    data = read(name)
                    with _cached(folder):
                        _store(folder / name, data, bundle.files[name])
        except SourceError as error:
            failures.append(f"{source}: {error}")
        missing = _missing(bundle, folder)
        if not missing:
            break
    if missing:
        raise HostError(
            f"could not get {', '.join(missing)}; tried " + "; ".join(failures) + ". Connect to one of these and run "
            f"`webq8 setup` again, or put the files into {folder} by hand"
        )
    return folder


def _missing(bundle: Bundle, folder: Path) -> list[str]:
    return [name for name, sha256 in bundle.files.items() if not _is_intact(folder / name, sha256)]


def _is_intact(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def _store(path: Path, data: bytes, sha256: str) -> None:
    if hashlib.sha256(data).hexdigest() != sha256:
        raise SourceError(f"its {path.name} is another file (its sha256 differs)")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(data)


@contextmanager
def _opened(source: Source) -> Iterator[Read]:
    """A function that reads a file of the source by name."""
    if source.kind == "url":
        yield lambda name: _download(source.name + name)
        return
    with tempfile.TemporaryDirectory() as folder:
        if source.kind == "npm":
            _run("npm", "pack", "--silent", source.name, cwd=folder)
            with tarfile.open(_only_file(folder)) as tar:
                yield lambda name: _from_tar(tar, source.inside + name)
        else:
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:")
            _run(*pip, source.name, cwd=folder)
            wheel = _only_file(folder)
            if source.inside:
                with zipfile.ZipFile(wheel) as archive:
                    yield lambda name: _from_zip(archive, source.inside + name)
            else:
                yield lambda _name: wheel.read_bytes()


def _download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=CONNECT_SECONDS) as response:
            data: bytes = response.read()
            return data
    except (OSError, http.client.HTTPException) as error:
        raise SourceError(f"{getattr(error, 'reason', error)}") from error


def _run(*command: str, cwd: str) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise SourceError(f"{command[0]} is not installed")
    try:
        done = subprocess.run(
            [program, *command[1:]], cwd=cwd, capture_output=True, text=True, timeout=PACKAGE_MANAGER_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"{command[0]} did not finish in {PACKAGE_MANAGER_SECONDS} s") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise SourceError(f"{Path(command[0]).name} failed: {' '.join(last)}")


def _only_file(folder: str) -> Path:
    found = list(Path(folder).iterdir())
    if len(found) != 1:
        raise SourceError(f"expected one downloaded file, found {len(found)}")
    return found[0]


def _from_tar(tar: tarfile.TarFile, name: str) -> bytes:
    try:
        member = tar.extractfile(name)
    except KeyError:
        member = None
    if member is None:
        raise SourceError(f"has no {name}")
    return member.read()


def _from_zip(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except KeyError:
        raise SourceError(f"has no {name}") from None
