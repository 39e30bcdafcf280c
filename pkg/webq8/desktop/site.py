"""The local web site that pages of desktop Python come from."""

import base64
import hashlib
import importlib.metadata
import io
import json
import secrets
import shutil
import threading
import urllib.parse
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Self

import webq8
from webq8.desktop import assets
from webq8.desktop.server import Desk, Server
from webq8.errors import HostError
from webq8.paths import resource_dir

__all__ = ["DEFAULT_PYODIDE", "PYODIDES", "Site", "zip_wheel"]


@dataclass(frozen=True)
class Runtime:
    """A Pyodide: the asset bundle it is, its folder on the site, and the bundles of wheels it needs."""

    bundle: str
    folder: str
    wheels: tuple[str, ...]


PYODIDES = {
    "0.27.7": Runtime("pyodide-0.27.7", "pyodide/", ("numpy", "flatbuffers")),
    "314.0.7": Runtime("pyodide-314.0.7", "pyodide-314/", ("flatbuffers",)),
}
DEFAULT_PYODIDE = "0.27.7"

PACKAGE = Path(webq8.__file__).parent
# What only desktop Python uses, or what the wheel takes from where it lies in a checkout; the rest runs in a page.
_NOT_IN_A_PAGE = ("desktop/", "web/", "wgsl/")


class Site:
    """Everything a page loads, from one origin: `web/`, Pyodide and the wheels under a prefix, and files added later.

    With a `root`, the user's files below that folder are served beside them. `runtime.json` under the prefix says, for
    each Pyodide version: {"pyodide": folder, "wheels": [files to load into it]}.
    """

    def __init__(self, port: int = 0, *, prefix: str = "/", root: Path | None = None) -> None:
        self.prefix, self._root = prefix, root and root.resolve()
        self._folders: dict[str, Path] = {"/": root} if root else {}
        self._folders[prefix] = resource_dir("web")
        self._files: dict[str, Path | bytes] = {f"{prefix}replay.js": PACKAGE / "backends" / "browser" / "replay.js"}
        self._runtimes: dict[str, dict[str, Any]] = {}
        try:
            self._server = Server(port, self.read)
        except (OSError, OverflowError) as error:
            raise HostError(f"cannot serve on port {port}: {getattr(error, 'strerror', None) or error}") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="webq8-site", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/"

    def add(self, path: str, content: Path | str | bytes) -> str:
        """Serve a file, or bytes, under a path such as "/files/model.pte"; returns its address."""
        path = "/" + path.lstrip("/")
        self._files[path] = content if isinstance(content, bytes) else Path(content)
        return self.url + urllib.parse.quote(path[1:], errors="surrogateescape")

    def add_runtime(self, pyodide: str = DEFAULT_PYODIDE) -> None:
        """Serve one version of Pyodide with its wheels, fetching what is not in the cache yet."""
        if pyodide in self._runtimes:
            return
        if pyodide not in PYODIDES:
            raise HostError(f"there is no Pyodide {pyodide!r} here; choose one of {', '.join(PYODIDES)}")
        runtime, bundles, wheels = PYODIDES[pyodide], assets.load_table(), list[str]()
        self._folders[self.prefix + runtime.folder] = assets.fetch(bundles[runtime.bundle])
        for bundle in runtime.wheels:
            folder = assets.fetch(bundles[bundle])
            for name in bundles[bundle].files:
                wheels.append(f"wheels/{pyodide}/{name}")
                self.add(self.prefix + wheels[-1], folder / name)
        name, wheel = own_wheel()
        wheels.append(f"wheels/{pyodide}/{name}")
        self.add(self.prefix + wheels[-1], wheel)
        self._runtimes[pyodide] = {"pyodide": runtime.folder, "wheels": wheels}
        self.add(f"{self.prefix}runtime.json", json.dumps(self._runtimes, indent=2).encode())

    def wheels(self) -> dict[str, dict[str, bytes]]:
        """The wheels of each version of Pyodide, by their path."""
        return {
            version: {path: self.read(path)[0] for path in (self.prefix + wheel for wheel in runtime["wheels"])}
            for version, runtime in self._runtimes.items()
        }

    def export(self, directory: Path) -> None:
        """Write the same site as plain files, for any static host."""
        for prefix, source in self._folders.items():
            for name, file in _files_below(source).items():
                _write(directory / prefix.strip("/") / name, file)
        for path, content in self._files.items():
            _write(directory / path.lstrip("/"), content)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, path: str) -> tuple[bytes, str]:
        """The bytes and the suffix of the file at a path; FileNotFoundError says where it was looked for."""
        content = self._files.get(path)
        if content is None:
            content = self._find(path)
        if isinstance(content, bytes):
            return content, PurePosixPath(path).suffix
        try:
            return content.read_bytes(), content.suffix
        except OSError as error:
            raise FileNotFoundError(f"{content} cannot be read: {error.strerror}") from error

    def _find(self, path: str) -> Path:
        prefix = max(filter(path.startswith, self._folders), key=len, default=None)
        if prefix is None:
            raise FileNotFoundError(f"there is no {path} here, where none of your files are served")
        folder, name = self._folders[prefix].resolve(), path.removeprefix(prefix)
        if not name or name.endswith("/"):
            name += "index.html"
        hidden = any(part.startswith(".") for part in name.split("/"))  # such as .git, .env, and ..
        with suppress(OSError, ValueError):  # a name that no file can have
            file = (folder / name).resolve()
            if not hidden and file.is_relative_to(folder) and file.is_file():
                return file
        unserved = "; hidden files, and links that lead out of it, are not served" if folder == self._root else ""
        raise FileNotFoundError(f"there is no file {name} in {folder}{unserved}")

    @contextmanager
    def open_desk(self) -> Iterator[Desk]:
        """A context with a new desk for one page."""
        desk = Desk(f"{self.prefix}desks/{secrets.token_urlsafe(16)}")
        self._server.desks[desk.path] = desk
        try:
            yield desk
        finally:
            del self._server.desks[desk.path]


def own_wheel() -> tuple[str, bytes]:
    """webq8 itself as a wheel for the page: name and bytes, the same bytes for the same files."""
    contents = {
        f"webq8/{name}": file.read_bytes()
        for name, file in _files_below(PACKAGE).items()
        if not name.startswith(_NOT_IN_A_PAGE)
    }
    contents |= {f"webq8/wgsl/{name}": file.read_bytes() for name, file in _files_below(resource_dir("wgsl")).items()}
    installed = importlib.metadata.distribution("webq8")
    info = f"webq8-{installed.version}.dist-info"
    contents[f"{info}/METADATA"] = (installed.read_text("METADATA") or "").encode()
    contents[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: webq8\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return f"webq8-{installed.version}-py3-none-any.whl", zip_wheel(contents | {f"{info}/RECORD": b""})


def zip_wheel(contents: dict[str, bytes]) -> bytes:
    """A wheel of these files, with its RECORD written anew; the same bytes for the same files."""
    own = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    lines = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, data in contents.items() if name != own]
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (contents | {own: "\n".join([*lines, f"{own},,", ""]).encode()}).items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return wheel.getvalue()


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _files_below(folder: Path) -> dict[str, Path]:
    """The files below a folder by relative name, in a fixed order, without hidden files and those that tools leave."""
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
    ignored = {"__pycache__", "node_modules"}
    return {
        name: file
        for name, file in files.items()
        if not any(part.startswith(".") or part in ignored for part in name.split("/"))
    }


def _write(target: Path, content: Path | bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        target.write_bytes(content)
    else:
        shutil.copyfile(content, target)
