"""What the site server answers to requests that browsers do not make, byte for byte over a socket."""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from webq8.desktop import server
from webq8.desktop.server import HOSTS, MAX_BYTES, MAX_CONNECTIONS
from webq8.desktop.site import Site
from webq8.errors import HostError


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("user") / "project"
    (root / "models").mkdir(parents=True)
    (root / "models" / "mine.pte").write_bytes(b"mine")
    (root / ".env").write_text("secret")
    (root.parent / "outside.txt").write_text("outside")
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    return root


@pytest.fixture(scope="module")
def served(project: Path) -> Iterator[Site]:
    with Site(prefix="/.webq8/", root=project) as site:
        yield site


@pytest.fixture
def site(served: Site, capsys: pytest.CaptureFixture[str]) -> Iterator[Site]:
    """A site with a user's files; whatever it is asked, it prints nothing."""
    yield served
    assert capsys.readouterr() == ("", "")


def host(site: Site) -> str:
    return site.url.split("/")[2]


def talk(site: Site, request: bytes | str) -> str:
    """Everything that the server says until it ends the connection, as it must."""
    with socket.create_connection(("127.0.0.1", int(host(site).split(":")[1])), timeout=10) as connection:
        connection.sendall(request if isinstance(request, bytes) else request.encode("latin-1"))
        said = b""
        while part := connection.recv(65536):
            said += part
        return said.decode("latin-1")


LAST = "Connection: close"


def ask(site: Site, target: str = "/models/mine.pte", *lines: str, method: str = "GET") -> tuple[int, str]:
    """Status and everything said, in answer to a request with the site's own Host."""
    said = talk(site, "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host(site)}", *(lines or [LAST]), "", ""]))
    return int(said.split()[1]), said


def test_files_of_the_user(site: Site) -> None:
    status, said = ask(site)
    assert status == 200
    assert said.endswith("\r\n\r\nmine")


def test_404_says_where_was_looked(site: Site, project: Path) -> None:
    for target, why in {
        "/models/absent.pte": f"there is no file models/absent.pte in {project}",
        "/": f"there is no file index.html in {project}",
        "/.webq8/absent.js": "there is no file absent.js in ",
    }.items():
        status, said = ask(site, target)
        assert status == 404
        assert said.startswith(f"HTTP/1.1 404 {why}"), "browsers show this line as statusText"
        assert f"\n{why}" in said
    with Site(prefix="/.webq8/") as bare:
        assert "there is no /models/mine.pte here, where none of your files are served" in ask(bare)[1]


@pytest.mark.parametrize("target", ["/.env", "/link.txt", "/../outside.txt", "/%2e%2e/outside.txt", "/models"])
def test_not_served(site: Site, target: str) -> None:
    status, said = ask(site, target)
    assert status == 404
    assert "secret" not in said
    assert "hidden files, and links that lead out of it, are not served" in said


def test_own_hosts(site: Site) -> None:
    port = host(site).split(":")[1]
    for own in (*HOSTS, "LocalHost"):
        assert " 200 " in talk(site, f"GET /models/mine.pte HTTP/1.1\r\nHost: {own}:{port}\r\n{LAST}\r\n\r\n")
    absolute = f"GET {site.url}models/mine.pte HTTP/1.1\r\nHost: {host(site)}\r\n{LAST}\r\n\r\n"
    assert " 200 " in talk(site, absolute)


@pytest.mark.parametrize(
    "name", ["evil.example", "evil.example:PORT", "127.0.0.1", "localhost:1", "127.0.0.1.:PORT", ""]
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_other_hosts(site: Site, name: str, method: str) -> None:
    """A page whose name was made to lead to this machine names itself as the host."""
    named = name.replace("PORT", host(site).split(":")[1])
    with site.open_desk() as desk:
        said = talk(site, f"{method} {desk.path} HTTP/1.1\r\nHost: {named}\r\nContent-Length: 0\r\n\r\n")
        assert said.startswith("HTTP/1.1 421 ")
        assert site.url in said
        assert desk.answers.empty()


def test_more_hosts_or_none(site: Site) -> None:
    own = f"Host: {host(site)}"
    for head in ("", f"{own}\r\nHost: evil.example\r\n"):
        assert talk(site, f"GET /models/mine.pte HTTP/1.1\r\n{head}\r\n").startswith("HTTP/1.1 421 ")
    assert " 421 " in talk(site, f"GET http://evil.example/models/mine.pte HTTP/1.1\r\n{own}\r\n\r\n")


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/%00", 400),
        ("/models/mine.pte%00.js", 400),
        ("/a%0d%0aX-Injected:1", 400),
        ("http://[", 400),
        ("/" + "a" * 300, 404),
        ("/" + "a/" * 20_000, 404),
        ("/%ff%fe", 404),
        ("/" + "%F0%9F%A6%80", 404),
        ("/" + "a" * 70_000, 414),
    ],
    ids=lambda value: str(value)[:20],
)
def test_odd_addresses(site: Site, target: str, status: int) -> None:
    answer, said = ask(site, target)
    assert answer == status
    assert status != 404 or "there is no file" in said
    assert "\nX-Injected" not in said
    assert len(said.splitlines()[0]) < 600


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([], 411),
        (["Transfer-Encoding: chunked"], 411),
        (["Transfer-Encoding: chunked", "Content-Length: 1"], 411),
        (["Content-Length: x"], 400),
        (["Content-Length: -1"], 400),
        (["Content-Length: +1"], 400),
        (["Content-Length: 1_0"], 400),
        (["Content-Length: \u00b2"], 400),
        (["Content-Length:"], 400),
        (["Content-Length: 1", "Content-Length: 2"], 400),
        ([f"Content-Length: {MAX_BYTES + 1}"], 413),
        (["Content-Length: " + "9" * 5000], 413),
    ],
    ids=str,
)
def test_bad_lengths(site: Site, method: str, lines: list[str], status: int) -> None:
    """Refused before a byte of the body is read or room is made for it."""
    with site.open_desk() as desk:
        assert ask(site, desk.path, *lines, method=method)[0] == status
        assert desk.answers.empty()


def test_body_that_ends_early(site: Site) -> None:
    with site.open_desk() as desk, socket.create_connection(("127.0.0.1", int(host(site).split(":")[1]))) as connection:
        connection.sendall(f"POST {desk.path} HTTP/1.1\r\nHost: {host(site)}\r\nContent-Length: 9\r\n\r\nhalf".encode())
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")
        assert desk.answers.empty()


def test_answers_and_reasons(site: Site) -> None:
    with site.open_desk() as desk:
        for method, body in (("POST", b"answer"), ("PUT", b"why\xff")):
            lines = f"Host: {host(site)}", LAST, f"Content-Length: {len(body)}", "", ""
            head = "\r\n".join([f"{method} {desk.path} HTTP/1.1", *lines])
            assert talk(site, head.encode() + body).startswith("HTTP/1.1 204 ")
        assert desk.answers.get_nowait() == b"answer"
        reason = desk.answers.get_nowait()
        assert isinstance(reason, HostError)
        assert str(reason) == "the page failed: why\ufffd"


def test_asking_for_the_head_of_a_desk_takes_no_call(site: Site) -> None:
    with site.open_desk() as desk:
        desk.calls.put(b"call")
        assert ask(site, desk.path, method="HEAD")[0] == 405
        assert desk.calls.get_nowait() == b"call"


def test_body_of_a_get_is_no_second_request(site: Site) -> None:
    second = f"GET /models/mine.pte HTTP/1.1\r\nHost: {host(site)}\r\n\r\n"
    said = talk(site, f"GET / HTTP/1.1\r\nHost: {host(site)}\r\nContent-Length: {len(second)}\r\n\r\n{second}")
    assert said.count("HTTP/1.1 ") == 1


@pytest.mark.parametrize("request_line", ["", "x", "GET / HTTP/9.9.9", "\x00\xff", "FLY / HTTP/1.1", "GET /"])
def test_no_http(site: Site, request_line: str) -> None:
    said = talk(site, f"{request_line}\r\n\r\n")
    assert " 200 " not in said


def test_connections_are_bounded(site: Site) -> None:
    port, before = int(host(site).split(":")[1]), threading.active_count()
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(MAX_CONNECTIONS + 20)]
        for connection in idle[MAX_CONNECTIONS:]:
            connection.settimeout(10)
            assert connection.recv(1000).startswith(b"HTTP/1.1 503 ")
        assert threading.active_count() - before <= MAX_CONNECTIONS
    deadline = time.monotonic() + 10
    while " 200 " not in ask(site)[1]:
        assert time.monotonic() < deadline, "those who left make room"
        time.sleep(0.05)


def test_a_client_that_goes_away(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """The connection is reset while the answer is written: no traceback, and the next one is served."""
    site.add("/large", bytes(64 * 2**20))
    with caplog.at_level(logging.DEBUG, logger="webq8.desktop.site"):
        connection = socket.create_connection(("127.0.0.1", int(host(site).split(":")[1])))
        connection.sendall(f"GET /large HTTP/1.1\r\nHost: {host(site)}\r\n\r\n".encode())
        connection.recv(10)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.close()
        deadline = time.monotonic() + 10
        while "connection lost" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.02)
    assert "connection lost" in caplog.text
    assert ask(site)[0] == 200


def test_a_client_that_says_nothing_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", int(host(site).split(":")[1])), timeout=10) as connection:
        assert connection.recv(1) == b""


def test_file_that_went_away(site: Site, tmp_path: Path) -> None:
    site.add("/gone", tmp_path / "gone")
    status, said = ask(site, "/gone")
    assert status == 404
    assert f"{tmp_path / 'gone'} cannot be read: No such file" in said


def test_names_that_are_no_text(site: Site, project: Path, tmp_path: Path) -> None:
    """File names are bytes; an address holds all of them."""
    name = os.fsdecode(b"caf\xe9 100%?#.pte")
    (project / name).write_bytes(b"odd")
    (tmp_path / "added").write_bytes(b"added")
    for address in (site.add(f"/files/{name}", tmp_path / "added"), site.url + "caf%E9%20100%25%3F%23.pte"):
        assert ask(site, address.removeprefix(site.url.rstrip("/")))[0] == 200
