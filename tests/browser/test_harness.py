"""Python functions called in real pages: on both threads and both Pyodides, and what happens when it goes wrong."""

import asyncio
import json
import os
import re
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.async_api import Error, Page
from webq8.desktop.host import PYODIDES, Browser, PythonPage, Thread
from webq8.errors import HostError, InputError, NoAdapter


@pytest.fixture(scope="module", params=[(version, thread) for version in PYODIDES for thread in ("worker", "main")])
def place(request: pytest.FixtureRequest, webq8_browser: Browser) -> Iterator[tuple[PythonPage, str, Thread]]:
    version, thread = request.param
    with webq8_browser.page(version, thread) as page:
        yield page, version, thread


async def where() -> tuple[bool, bool]:
    import importlib.util

    import js

    return hasattr(js, "document"), importlib.util.find_spec("numpy") is not None


def test_page_is_what_was_asked_for(place: tuple[PythonPage, str, Thread]) -> None:
    page, version, thread = place
    assert page.call(where) == (thread == "main", version == "0.27.7")
    assert page.call("def main(): import pyodide; return pyodide.__version__") == version


async def describe(x: Any, *, more: dict[str, Any]) -> dict[str, Any]:
    view = memoryview(x)
    return {"back": x, "shape": view.shape, "itemsize": view.itemsize, "more": more}


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32", "bool", "float64"])
def test_arrays_there_and_back(place: tuple[PythonPage, str, Thread], dtype: str) -> None:
    array = np.arange(12).reshape(3, 4).astype(dtype)
    reply = place[0].call(describe, array, more={"nan": float("nan"), "bytes": b"\x00\xff", "list": [1, (2,)]})
    assert (reply["back"].dtype, reply["back"].shape) == (array.dtype, array.shape)
    assert (reply["back"] == array).all()
    assert (reply["shape"], reply["itemsize"]) == ((3, 4), array.itemsize)
    assert np.isnan(reply["more"].pop("nan"))
    assert reply["more"] == {"bytes": b"\x00\xff", "list": [1, (2,)]}


def test_empty_array(place: tuple[PythonPage, str, Thread]) -> None:
    reply = place[0].call(describe, np.zeros((3, 0), np.float32), more={})
    assert reply["back"].size == 0
    assert reply["back"].dtype == np.float32


def test_64_mib(place: tuple[PythonPage, str, Thread]) -> None:
    array = np.random.default_rng(0).integers(-128, 127, 64 * 2**20, np.int8)
    start = time.monotonic()
    assert (place[0].call("def main(x): return x", array) == array).all()
    assert time.monotonic() - start < 20


async def fail() -> None:
    from webq8.errors import NoAdapter

    raise NoAdapter("none here")


def test_exceptions(place: tuple[PythonPage, str, Thread]) -> None:
    page, _, _ = place
    with pytest.raises(NoAdapter, match="none here") as caught:
        page.call(fail)
    assert "in fail" in caught.value.__notes__[0]
    with pytest.raises(ZeroDivisionError):
        page.call("def main(): 1 / 0")
    with pytest.raises(HostError, match=r"(?s)the page's Python failed:.*JsException"):
        page.call("def main(): import js; js.JSON.parse('{')")
    assert page.call("def main(): return 'still here'") == "still here"


def test_what_cannot_travel(place: tuple[PythonPage, str, Thread]) -> None:
    page, _, _ = place
    with pytest.raises(InputError):
        page.call("def main(x): return x", object())
    with pytest.raises(InputError):
        page.call("def main(): return {1, 2}")
    with pytest.raises(TypeError, match="cannot run in the page"):
        page.call(lambda: 1)


def test_adapter(place: tuple[PythonPage, str, Thread]) -> None:
    assert "swiftshader" in place[0].check_adapter()


def test_print_goes_to_stderr(place: tuple[PythonPage, str, Thread], capsys: pytest.CaptureFixture[str]) -> None:
    place[0].call("def main(): print('hello from the page')")
    time.sleep(0.2)  # it comes beside the answer
    out, err = capsys.readouterr()
    assert out == ""
    assert "hello from the page" in err


def test_nothing_from_elsewhere(place: tuple[PythonPage, str, Thread]) -> None:
    with pytest.raises(HostError, match="Failed to fetch"):
        place[0].call("async def main(): import js; await js.fetch('http://localhost:1/')")


@pytest.mark.parametrize("thread", ["worker", "main"])
def test_page_that_hangs(webq8_browser: Browser, thread: Thread) -> None:
    with webq8_browser.page("314.0.7", thread) as page:
        page.timeout = 1
        with pytest.raises(HostError, match="the page did not answer the call of main within 1 s"):
            page.call("def main():\n  while True: pass")
        with pytest.raises(HostError, match="can no longer be used: the page did not answer"):
            page.call("def main(): pass")


async def crash(tab: Page) -> None:
    async with tab.expect_event("crash"):
        with suppress(Error):
            await tab.goto("chrome://crash")


def test_page_that_crashes(webq8_browser: Browser) -> None:
    with webq8_browser.page("314.0.7") as page:
        webq8_browser.wait(crash(page.tab))
        for _ in range(2):
            with pytest.raises(HostError, match="the page crashed"):
                page.call("def main(): pass")


async def inside_an_event_loop() -> int:
    with Browser() as browser, browser.page("314.0.7", "main") as page:
        return int(page.call("def main(): return 5"))


def test_inside_an_event_loop() -> None:
    assert asyncio.run(inside_an_event_loop()) == 5


def test_page_that_does_not_start(webq8_browser: Browser) -> None:
    with pytest.raises(HostError, match=r"the page did not start Pyodide 0\.27\.7 within 0\.01 s|did not open"):
        webq8_browser.page(timeout=0.01)
    with pytest.raises(HostError, match=re.escape("no Pyodide '0.1'")):
        webq8_browser.page("0.1")


def test_closed_page(webq8_browser: Browser) -> None:
    page = webq8_browser.page("314.0.7")
    page.close()
    with pytest.raises(HostError, match="it was closed"):
        page.call("def main(): pass")


def test_wheel_that_does_not_load() -> None:
    with Browser() as browser:
        browser.site.add_runtime("314.0.7")
        with urllib.request.urlopen(f"{browser.site.url}.webq8/runtime.json") as response:
            wheel = json.load(response)["314.0.7"]["wheels"][0]
        browser.site.add(f".webq8/{wheel}", b"not a wheel")
        with pytest.raises(HostError, match=r"the page failed: .*flatbuffers"):
            browser.page("314.0.7")


# --- what ends while a call waits


async def sleep_for_ever() -> None:
    import asyncio

    await asyncio.sleep(3600)


def spin_for_ever() -> None:
    while True:
        pass


def close_this_worker() -> None:
    import js

    js.close()


def processes_below(parent: int) -> dict[int, str]:
    """Command lines of the processes that another one has started, and those that they have."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found[int(folder.name)] = (folder / "cmdline").read_text()
                found |= processes_below(int(folder.name))
    return found


@contextmanager
def own_browser() -> Iterator[tuple[Browser, Callable[[str], None]]]:
    """A browser, and what kills it ("--headless") or the driver that holds it ("run-driver")."""
    others = processes_below(os.getpid())

    def kill(what: str) -> None:
        started = {pid: line for pid, line in processes_below(os.getpid()).items() if pid not in others}
        [pid] = [pid for pid, line in started.items() if what in line and "--type=" not in line]
        os.kill(pid, signal.SIGKILL)

    with Browser() as browser:
        yield browser, kill


def check_that_calls_end(page: PythonPage, end: Callable[[], Any], reason: str) -> None:
    """Calls of two threads: one is being answered, the other waits for its turn."""
    ended: list[tuple[str, float]] = []

    def wait_for(function: Callable[[], object]) -> None:
        with pytest.raises(HostError) as caught:
            page.call(function)
        ended.append((str(caught.value), time.monotonic()))

    waiting = [threading.Thread(target=wait_for, args=(f,)) for f in (spin_for_ever, sleep_for_ever)]
    for thread in waiting:
        thread.start()
        time.sleep(0.2)
    start = time.monotonic()
    end()
    for thread in waiting:
        thread.join(10)
    assert len(ended) == 2
    assert all(re.search(reason, said) and at - start < 2 for said, at in ended), (ended, start)
    with pytest.raises(HostError, match=reason):
        page.call(where)


ENDINGS_OF_A_PAGE: dict[str, tuple[Callable[[Page], Coroutine[Any, Any, Any]], str]] = {
    "closed": (lambda tab: tab.close(), "closed"),
    "crashed": (lambda tab: crash(tab), "the page crashed"),
    "left": (lambda tab: tab.goto("about:blank"), "the page failed: it was left, reloaded or closed"),
    "reloaded": (lambda tab: tab.reload(), "the page failed: it was left, reloaded or closed"),
}


@pytest.mark.parametrize("name", ENDINGS_OF_A_PAGE)
def test_page_that_ends(webq8_browser: Browser, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    end, reason = ENDINGS_OF_A_PAGE[name]
    with webq8_browser.page("314.0.7") as page:
        check_that_calls_end(page, lambda: webq8_browser.wait(end(page.tab)), reason)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("--headless", "the browser ended"),
        # which of them is heard of first is chance
        ("run-driver", "went away: its worker, its page or the browser ended|it was left, reloaded or closed"),
    ],
)
def test_browser_that_is_killed(what: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with own_browser() as (browser, kill), browser.page("314.0.7") as page:
        check_that_calls_end(page, lambda: kill(what), reason)
    assert capfd.readouterr().err == ""


def test_browser_that_is_killed_while_a_page_starts() -> None:
    with own_browser() as (browser, kill):
        threading.Timer(0.3, kill, ["--headless"]).start()
        with pytest.raises(HostError, match=r"the browser ended|did not open|went away"):
            browser.page("314.0.7")


def test_worker_that_ends(webq8_browser: Browser) -> None:
    with webq8_browser.page("314.0.7") as page:
        start = time.monotonic()
        with pytest.raises(HostError, match="the page's Python went away: its worker"):
            page.call(close_this_worker)
        assert time.monotonic() - start < 2


@pytest.mark.parametrize("thread", ["worker", "main"])
def test_script_that_does_not_start(thread: Thread) -> None:
    """A script of the page throws at its first line: the page fails at once, not after its timeout."""
    with Browser() as browser:
        browser.site.add(".webq8/python.js", b"throw new Error('no Python today'); export const startPython = 0;")
        with pytest.raises(HostError, match=r"the page failed\..*no Python today"):
            browser.page("314.0.7", thread)
