"""The HTTP side of a site: which requests are answered, how large, and how many at once."""

import io
import logging
import queue
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from webq8.errors import HostError
from webq8.transport import MAX_BYTES

__all__ = ["Desk", "Server"]

log = logging.getLogger("webq8.desktop.site")

HOSTS = ("127.0.0.1", "localhost")
MAX_CONNECTIONS = 128  # a page keeps six at most, and there may be many pages
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n"

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
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https: http:; "
    "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


class Desk:
    """Where desktop Python leaves calls for one page, and the page its answers.

    A GET of its path waits for the next call, a POST is an answer, a PUT says why there will be no more answers. A GET
    of "lifeline" below it is never answered: its connection ends with the Python that asked, however busy that is.
    """

    POLL_SECONDS = 10.0
    GRACE_SECONDS = 0.3  # in which who sees the browser may tell more

    def __init__(self, path: str) -> None:
        self.path = path
        self.calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bytearray | HostError] = queue.SimpleQueue()


class Server(ThreadingHTTPServer):
    """Serves what `read` gives for a path, its bytes and suffix, and the desks, to programs on this machine.

    `read` raises OSError or ValueError, which say why, where there is nothing. A request that names another host is
    refused: it comes from a page elsewhere whose name was made to lead here (DNS rebinding).
    """

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, port: int, read: Callable[[str], tuple[bytes, str]]) -> None:
        self.read = read
        self.desks: dict[str, Desk] = {}
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(("127.0.0.1", port), _Handler)
        self.port = self.server_address[1]
        self.hosts = {f"{host}:{self.port}" for host in HOSTS} | ({*HOSTS} if self.port == 80 else set())

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            request.sendall(BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread took it
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if isinstance(sys.exception(), OSError):  # the client went away
            log.debug("connection lost", exc_info=True)
        else:
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    rfile: io.BufferedReader
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a client may say nothing
    wbufsize = -1  # head and body in one packet: otherwise the body waits 40 ms for the head's acknowledgement

    size = 0  # of the body
    unread = False

    def parse_request(self) -> bool:
        return super().parse_request() and self._check_target() and self._check_body()

    def _check_target(self) -> bool:
        try:
            target = urllib.parse.urlsplit(self.path)
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST, "the address cannot be read")
        hosts = [*self.headers.get_all("Host", []), *filter(None, [target.netloc])]
        if not hosts or any(host.strip().lower() not in self.server.hosts for host in hosts):
            return self._refuse(
                HTTPStatus.MISDIRECTED_REQUEST, f"this site is http://127.0.0.1:{self.server.port}/ and no other"
            )
        self.target = urllib.parse.unquote(target.path, errors="surrogateescape")
        if any(ord(letter) < 32 for letter in self.target):
            return self._refuse(HTTPStatus.BAD_REQUEST, "the address holds control characters")
        return True

    def _check_body(self) -> bool:
        sizes = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or (not sizes and self.command in ("POST", "PUT")):
            return self._refuse(HTTPStatus.LENGTH_REQUIRED, "say the length of the body as Content-Length")
        if not sizes:
            return True
        [size, *others] = sizes
        if others or not (size.isascii() and size.isdigit()):
            return self._refuse(HTTPStatus.BAD_REQUEST, "Content-Length must be one whole number")
        if len(size) > 18 or int(size) > MAX_BYTES:
            return self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {MAX_BYTES:,} bytes")
        self.size = int(size)
        if self.size and self.command not in ("POST", "PUT"):  # an unread body must not be taken for the next request
            self.close_connection = self.unread = True
        return True

    def do_GET(self) -> None:
        folder, _, name = self.target.rpartition("/")
        if desk := self.server.desks.get(self.target):
            self._hand_out(desk)
        elif name == "lifeline" and (desk := self.server.desks.get(folder)):
            self._hold(desk)
        else:
            self._serve()

    def do_HEAD(self) -> None:
        if self.target in self.server.desks:
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "a desk has calls, and no head")
        else:
            self.do_GET()

    def do_POST(self) -> None:
        self._take_in(lambda message: message)

    def do_PUT(self) -> None:
        self._take_in(lambda message: HostError(f"the page failed: {message.decode(errors='replace')}"))

    def _serve(self) -> None:
        try:
            body, suffix = self.server.read(self.target)
        except (OSError, ValueError) as error:
            self._reply(HTTPStatus.NOT_FOUND, f"{error}\n".encode(errors="replace"), ".txt", reason=str(error))
        else:
            self._reply(HTTPStatus.OK, body, suffix)

    def _hand_out(self, desk: Desk) -> None:
        try:
            self._reply(HTTPStatus.OK, desk.calls.get(timeout=Desk.POLL_SECONDS))
        except queue.Empty:
            self._reply(HTTPStatus.NO_CONTENT)

    def _hold(self, desk: Desk) -> None:
        self.close_connection = True
        self.connection.settimeout(None)
        with suppress(OSError):
            self.rfile.read(1)
        time.sleep(Desk.GRACE_SECONDS)
        desk.answers.put(HostError("the page's Python went away: its worker, its page or the browser ended"))

    def _take_in(self, read: Callable[[bytearray], bytearray | HostError]) -> None:
        desk = self.server.desks.get(self.target)
        if desk is None:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such desk")
            return
        message = bytearray(self.size)
        if self.rfile.readinto(message) < len(message):
            self._refuse(HTTPStatus.BAD_REQUEST, "the body is shorter than its Content-Length")
            return
        desk.answers.put(read(message))
        self._reply(HTTPStatus.NO_CONTENT)

    def _reply(self, status: int, body: bytes = b"", suffix: str = "", reason: str = "") -> None:
        self.send_response(status, _one_line(reason) or None)
        self.send_header("Content-Type", CONTENT_TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, why: str) -> bool:
        """Answers, and ends the connection, since an unread body may follow. Returns False, for `parse_request`."""
        self.close_connection = self.unread = True
        self._reply(status, f"{why}\n".encode(errors="replace"), ".txt", reason=why)
        return False

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answers requests that http.server refuses: too long lines and heads, and unknown methods."""
        self._refuse(code, message or HTTPStatus(code).phrase)

    def finish(self) -> None:
        """Reads a little of an unread body, since closing the connection before would discard the answer, too."""
        super().finish()
        if self.unread:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_WR)
                self.connection.settimeout(0.5)
                for _ in range(16):
                    if not self.connection.recv(65536):
                        break

    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


def _one_line(text: str) -> str:
    """A text as the reason of a status line, which pages see as `statusText`: printable ASCII, cut where it is long."""
    return "".join(letter if " " <= letter <= "~" else ascii(letter)[1:-1] for letter in text)[:500]
