"""The local web site that pages of desktop Python come from."""

import base64
import hashlib
import importlib.metadata
import io
import json
import logging
import queue
import secrets
import shutil
import threading
import urllib.parse
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from webq8 import assets
from webq8.errors import HostError
from webq8.paths import resource_dir

__all__ = ["DEFAULT_PYODIDE", "PYODIDES", "Desk", "Site", "zip_wheel"]

log = logging.getLogger("webq8.site")


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

# Modules that only desktop Python uses; the rest of the package is what runs in a page.
DESKTOP_ONLY = {"assets.json", "assets.py", "bytecode.py", "chrome.py", "cli.py", "host.py", "site.py"}

CONTENT_TYPES = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
}

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class Site:
    """Everything a page loads, from one origin: `web/` at the root, Pyodide, the wheels, and files added later.

    `runtime.json` on it says, for each Pyodide version: {"pyodide": folder, "wheels": [files to load into it]}.
    """

    def __init__(self, port: int = 0) -> None:
        self._folders: dict[str, Path] = {"/": resource_dir("web")}
        self._files: dict[str, Path | bytes] = {"/replay.js": Path(__file__).with_name("replay.js")}
        self._runtimes: dict[str, dict[str, Any]] = {}
        self._desks: dict[str, Desk] = {}
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"site": self}))
        except OSError as error:
            raise HostError(f"cannot serve on port {port}: {error.strerror or error}") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="webq8-site", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    def add(self, path: str, content: Path | str | bytes) -> str:
        """Serve a file, or bytes, under a path such as "/files/model.pte"; returns its address."""
        path = "/" + path.lstrip("/")
        self._files[path] = content if isinstance(content, bytes) else Path(content)
        return self.url + urllib.parse.quote(path[1:])

    def add_runtime(self, pyodide: str = DEFAULT_PYODIDE) -> None:
        """Serve one version of Pyodide with its wheels, fetching what is not in the cache yet."""
        if pyodide in self._runtimes:
            return
        if pyodide not in PYODIDES:
            raise HostError(f"there is no Pyodide {pyodide!r} here; choose one of {', '.join(PYODIDES)}")
        runtime, bundles, wheels = PYODIDES[pyodide], assets.load_table(), list[str]()
        self._folders["/" + runtime.folder] = assets.fetch(bundles[runtime.bundle])
        for bundle in runtime.wheels:
            folder = assets.fetch(bundles[bundle])
            for name in bundles[bundle].files:
                wheels.append(f"wheels/{pyodide}/{name}")
                self.add(wheels[-1], folder / name)
        name, wheel = own_wheel()
        wheels.append(f"wheels/{pyodide}/{name}")
        self.add(wheels[-1], wheel)
        self._runtimes[pyodide] = {"pyodide": runtime.folder, "wheels": wheels}
        self.add("runtime.json", json.dumps(self._runtimes, indent=2).encode())

    def wheels(self) -> dict[str, dict[str, bytes]]:
        """The wheels of each version of Pyodide, by their path."""

        def read(path: str) -> bytes:
            content = self._files[f"/{path}"]
            return content if isinstance(content, bytes) else content.read_bytes()

        return {version: {path: read(path) for path in r["wheels"]} for version, r in self._runtimes.items()}

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

    def find(self, path: str) -> Path | bytes | None:
        """What lies under a path of the site."""
        if path in self._files:
            return self._files[path]
        if path.endswith("/"):
            path += "index.html"
        for prefix, folder in sorted(self._folders.items(), reverse=True):  # the longest prefix first
            if path.startswith(prefix):
                file = (folder / path.removeprefix(prefix)).resolve()
                return file if file.is_relative_to(folder.resolve()) and file.is_file() else None
        return None

    @contextmanager
    def open_desk(self) -> Iterator["Desk"]:
        """A new desk for one page, for as long as the page is used."""
        desk = Desk(f"/desks/{secrets.token_urlsafe(16)}")
        self._desks[desk.path] = desk
        try:
            yield desk
        finally:
            del self._desks[desk.path]

    def desk(self, path: str) -> "Desk | None":
        return self._desks.get(path)


class Desk:
    """Where desktop Python leaves calls for one page, and the page its answers.

    A GET of its path waits for the next call, a POST is an answer, a PUT says why there will be no more answers.
    """

    POLL_SECONDS = 10.0

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bytearray | HostError] = queue.SimpleQueue()


class _Handler(BaseHTTPRequestHandler):
    site: Site
    rfile: io.BufferedReader
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: otherwise the body waits 40 ms for the head's acknowledgement

    def do_GET(self) -> None:
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if desk := self.site.desk(path):
            self._hand_out(desk)
            return
        found = self.site.find(path)
        if found is None:
            self._reply(HTTPStatus.NOT_FOUND, b"not found\n", ".txt")
        elif isinstance(found, bytes):
            self._reply(HTTPStatus.OK, found, Path(path).suffix)
        else:
            self._reply(HTTPStatus.OK, found.read_bytes(), found.suffix)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self._take_in(lambda message: message)

    def do_PUT(self) -> None:
        self._take_in(lambda message: HostError(f"the page failed: {message.decode()}"))

    def _hand_out(self, desk: Desk) -> None:
        try:
            self._reply(HTTPStatus.OK, desk.calls.get(timeout=Desk.POLL_SECONDS))
        except queue.Empty:
            self._reply(HTTPStatus.NO_CONTENT)

    def _take_in(self, read: Callable[[bytearray], bytearray | HostError]) -> None:
        message = bytearray(int(self.headers["Content-Length"]))
        self.rfile.readinto(message)
        desk = self.site.desk(self.path)
        if desk is None:
            self._reply(HTTPStatus.NOT_FOUND)
        else:
            desk.answers.put(read(message))
            self._reply(HTTPStatus.NO_CONTENT)

    def _reply(self, status: HTTPStatus, body: bytes = b"", suffix: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


def own_wheel() -> tuple[str, bytes]:
    """webq8 itself as a wheel for the page: name and bytes, the same bytes for the same files."""
    package = Path(__file__).parent
    contents = {
        f"webq8/{name}": file.read_bytes()
        for name, file in _files_below(package).items()
        if name not in DESKTOP_ONLY and not name.startswith(("web/", "wgsl/"))
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
    """Its files by relative name, in a fixed order, without hidden ones and what tools leave behind."""
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
