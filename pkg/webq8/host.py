"""Desktop Python's way into a page: a headless Chromium, and Python functions called inside its pages."""

import ast
import asyncio
import inspect
import logging
import os
import queue
import sys
import textwrap
import threading
import urllib.parse
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from webq8 import transport
from webq8.chrome import Gpu, find_chrome, launch_options
from webq8.errors import HostError, NoAdapter
from webq8.site import DEFAULT_PYODIDE, PYODIDES, Site

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

__all__ = ["DEFAULT_PYODIDE", "PYODIDES", "Browser", "Gpu", "PythonPage", "Site", "Thread", "find_chrome"]

Thread = Literal["worker", "main"]
T = TypeVar("T")

log = logging.getLogger("webq8.page")


class Browser:
    """A headless Chromium with WebGPU, and the site that its pages come from.

    >>> with Browser() as browser:
    ...     page = browser.page()
    ...     page.call("async def main(x): return x + 1", 1)
    2

    Playwright runs in a thread of its own, so this works inside a running event loop (a notebook) as well.
    """

    def __init__(
        self, *, chrome: str | os.PathLike[str] | None = None, gpu: Gpu = "swiftshader", extra_args: Sequence[str] = ()
    ) -> None:
        self.gpu = gpu
        self._options = launch_options(chrome, gpu, extra_args)

    def __enter__(self) -> Self:
        from playwright.async_api import async_playwright

        with ExitStack() as started:
            self.site = started.enter_context(Site())
            self._loop = started.enter_context(_loop_in_thread())
            playwright = self.wait(async_playwright().start())
            started.callback(lambda: self.wait(playwright.stop()))
            with _playwright_errors(f"{self._options['executable_path']} did not start"):
                self.chromium = self.wait(playwright.chromium.launch(**self._options))
            started.callback(lambda: self.wait(self.chromium.close()))
            self._ending = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    @property
    def version(self) -> str:
        return self.chromium.version

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine of Playwright's async API, such as `browser.chromium.new_page()`."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def page(self, pyodide: str = DEFAULT_PYODIDE, thread: Thread = "worker", timeout: float = 120) -> "PythonPage":
        """A new page whose Python runs in a module worker or on the main thread; `timeout` is seconds for each call."""
        self.site.add_runtime(pyodide)
        return PythonPage(self, pyodide, thread, timeout)


class PythonPage:
    """A page whose Python runs functions for desktop Python; `tab` is Playwright's side of it."""

    def __init__(self, browser: Browser, pyodide: str, thread: Thread, timeout: float) -> None:
        self.timeout = timeout
        self._browser = browser
        self._failure: str | None = None
        self._complaints: deque[str] = deque(maxlen=3)
        with ExitStack() as opened, _playwright_errors("the page did not open"):
            self._desk = opened.enter_context(browser.site.open_desk())
            self.tab = browser.wait(self._new_tab())
            opened.callback(lambda: browser.wait(self.tab.close()))
            query = urllib.parse.urlencode({"pyodide": pyodide, "thread": thread, "desk": self._desk.path})
            browser.wait(self.tab.goto(f"{browser.site.url}harness.html?{query}", timeout=timeout * 1000))
            self._await_answer(f"start Pyodide {pyodide}")
            self._ending = opened.pop_all()

    def call(self, function: Callable[..., Any] | str, /, *args: Any, **kwargs: Any) -> Any:
        """Run a function in the page and return what it returns.

        `function` is a module-level function of your own, `async` or not, of which only the source travels: it sees
        its arguments, `webq8`, and what it imports itself. Or it is source text that defines `main`. Arguments and
        results may hold numbers, strings, bytes, arrays, and lists, tuples and dicts of them. Arrays are numpy's here;
        in the page too, or `webq8.arrays.Array`s where it has no numpy. Exceptions of webq8 and built-in ones are
        raised here as they were there.
        """
        source, name = (textwrap.dedent(function), "main") if isinstance(function, str) else _source_of(function)
        request: transport.Request = {"source": source, "name": name, "args": list(args), "kwargs": kwargs}
        message = transport.pack(request)
        if self._failure:
            raise HostError(f"the page can no longer be used: {self._failure}")
        self._desk.calls.put(message)
        return transport.result(self._await_answer(f"answer the call of {name}"))

    def check_adapter(self) -> str:
        """The name of the page's adapter; NoAdapter where it is not of the kind that the browser was started for.

        A result from the wrong kind would be taken for the right one's.
        """
        name, software = self.call(_adapter)
        if self._browser.gpu == "hardware" and software:
            raise NoAdapter(f"the browser found no hardware adapter: it offers {name}, which computes on the CPU")
        if self._browser.gpu == "swiftshader" and "swiftshader" not in name.lower():
            raise NoAdapter(f"the browser does not use SwiftShader as asked: it offers {name}")
        return str(name)

    def close(self) -> None:
        self._failure = self._failure or "it was closed"
        self._ending.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _new_tab(self) -> "Page":
        tab = await self._browser.chromium.new_page()
        # Here, since only coroutines are in Playwright's thread, and `on` sends something, too.
        tab.on("console", self._on_console)
        tab.on("pageerror", lambda error: self._complain(str(error)))
        tab.on("crash", self._on_crash)
        return tab

    def _await_answer(self, task: str) -> bytearray:
        try:
            answer = self._desk.answers.get(timeout=self.timeout)
        except queue.Empty:
            raise self._failed(f"the page did not {task} within {self.timeout:g} s") from None
        except KeyboardInterrupt:  # the answer will still come, and must not be taken for the next call's
            self._failure = f"it was interrupted while it should {task}"
            raise
        if isinstance(answer, HostError):
            raise self._failed(str(answer))
        return answer

    def _failed(self, why: str) -> HostError:
        self._failure = ". The browser said: ".join([why, *self._complaints])
        return HostError(self._failure)

    def _on_console(self, message: "ConsoleMessage") -> None:
        if message.type == "log":  # what Python prints in the page; the rest is the browser's own talk
            print(message.text, file=sys.stderr)
        elif message.type == "error":
            self._complain(message.text)
        else:
            log.info("%s", message.text)

    def _on_crash(self, _: "Page") -> None:
        self._desk.answers.put(HostError("the page crashed"))

    def _complain(self, text: str) -> None:
        self._complaints.append(text)
        log.warning("%s", text)


@contextmanager
def _loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="webq8-playwright", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _adapter() -> tuple[str, bool]:
    """Runs in the page."""
    from webq8 import gpu

    adapter = (await gpu.device()).adapter
    return str(adapter), adapter.software


@contextmanager
def _playwright_errors(what: str) -> Iterator[None]:
    """Playwright's errors as ours, with the first line of what they say."""
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        raise HostError(f"{what}: {str(error).strip().splitlines()[0]}") from error


def _source_of(function: Callable[..., Any]) -> tuple[str, str]:
    """The function's own text without decorators, and its name."""
    function = inspect.unwrap(function)
    if not inspect.isfunction(function) or function.__name__ == "<lambda>" or function.__code__.co_freevars:
        raise TypeError(
            f"{function!r} cannot run in the page: pass a module-level function, or source that defines `main`"
        )
    source = textwrap.dedent(inspect.getsource(function))
    first = ast.parse(source).body[0]
    assert isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef)
    return "".join(source.splitlines(keepends=True)[first.lineno - 1 :]), function.__name__
