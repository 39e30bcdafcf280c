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
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from webq8 import transport
from webq8.desktop.chrome import Gpu, find_chrome, launch_options
from webq8.desktop.server import Desk
from webq8.desktop.site import DEFAULT_PYODIDE, PYODIDES, Site
from webq8.errors import ClosedError, HostError, InputError, NoAdapter
from webq8.paths import resource_dir
from webq8.runtime.specs import MethodSpec, TensorSpec, ValueSpec

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

__all__ = [
    "DEFAULT_PYODIDE",
    "PYODIDES",
    "Browser",
    "Gpu",
    "PageProgram",
    "PythonPage",
    "Site",
    "Thread",
    "find_chrome",
    "open_site",
    "page_address",
    "request",
]

Thread = Literal["worker", "main"]
T = TypeVar("T")

log = logging.getLogger("webq8.page")

# Our part of the site, where no file of a user can lie, since hidden ones are not served. What starts pages and workers
# lies beside it, because addresses in them are relative to their own, and should find the user's files.
OURS = "/.webq8/"
ENTRIES: dict[str, Path | bytes] = {
    "/.webq8.html": resource_dir("web") / "harness.html",
    "/.webq8.js": f'import "{OURS}python_worker.js";\n'.encode(),
}


def open_site(root: Path | None = None) -> Site:
    """The site that pages with Python come from, with the files below `root` beside it."""
    site = Site(prefix=OURS, root=root)
    for path, content in ENTRIES.items():
        site.add(path, content)
    return site


def page_address(site: Site, desk: Desk, pyodide: str, thread: Thread) -> str:
    """Where a browser finds a page whose Python answers the calls of a desk."""
    query = urllib.parse.urlencode({"pyodide": pyodide, "thread": thread, "desk": desk.path})
    return f"{site.url}.webq8.html?{query}"


def request(function: Callable[..., Any] | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, bytes]:
    """The name of a function, or of the `main` of source text, and the message that asks a page to call it."""
    if isinstance(function, str):
        source, name = textwrap.dedent(function), "main"
        place = {}
    else:
        source, name = _source_of(function)
        place = _place_of(function)
    asked: transport.Request = {"source": source, "name": name, "args": list(args), "kwargs": dict(kwargs)}
    return name, transport.pack(asked | place)


class Browser:
    """A headless Chromium with WebGPU, and the site that its pages come from.

    >>> with Browser() as browser:
    ...     page = browser.page()
    ...     page.call("async def main(x): return x + 1", 1)
    2

    With a `root`, pages are given the files below that folder: there "models/a.pte" is root/models/a.pte.

    Playwright runs in a thread of its own, so this works inside a running event loop (a notebook) as well.
    """

    def __init__(
        self,
        *,
        chrome: str | os.PathLike[str] | None = None,
        gpu: Gpu = "swiftshader",
        extra_args: Sequence[str] = (),
        root: Path | None = None,
    ) -> None:
        self.gpu, self.root = gpu, root
        self._options = launch_options(chrome, gpu, extra_args)

    def __enter__(self) -> Self:
        from playwright.async_api import async_playwright

        with ExitStack() as started:
            self.site = started.enter_context(open_site(self.root))
            self._loop = started.enter_context(_loop_in_thread())
            playwright = self._start(async_playwright().start()).result()
            started.callback(lambda: self._start(playwright.stop()).result())
            with _playwright_errors(f"{self._options['executable_path']} did not start"):
                self.chromium = self._start(playwright.chromium.launch(**self._options)).result()
            started.callback(lambda: self._start(self.chromium.close()).result())
            self._ending = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.close()

    @property
    def version(self) -> str:
        return self.chromium.version

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine of Playwright's async API, such as `browser.chromium.new_page()`."""
        started = self._start(coroutine)
        while not wait([started], timeout=0.5).done:
            if not self.chromium.is_connected():  # then some are never answered
                started.cancel()
                raise HostError("the browser ended")
        return started.result()

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

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
        self._started = False
        self._complaints: deque[str] = deque(maxlen=3)
        self._turn = threading.Lock()  # answers come in the order of calls, whichever thread has called
        self._dropped: list[int] = []  # programs that nobody here can call any more
        with ExitStack() as opened, _playwright_errors("the page did not open"):
            self._desk = opened.enter_context(browser.site.open_desk())
            self.tab = browser.wait(self._new_tab())
            opened.callback(lambda: browser.wait(self.tab.close()))
            address = page_address(browser.site, self._desk, pyodide, thread)
            browser.wait(self.tab.goto(address, timeout=timeout * 1000))
            self._await_answer(f"start Pyodide {pyodide}")
            self._started = True
            self._ending = opened.pop_all()

    def call(self, function: Callable[..., Any] | str, /, *args: Any, **kwargs: Any) -> Any:
        """Run a function in the page and return what it returns.

        `function` is a module-level function of your own, `async` or not, of which only the source travels: it sees
        its arguments, `webq8`, and what it imports itself. Or it is source text that defines `main`. Arguments and
        results may hold numbers, strings, bytes, arrays, and lists, tuples and dicts of them. Arrays are numpy's here;
        in the page too, or `webq8.arrays.Array`s where it has no numpy. Exceptions of webq8 and built-in ones are
        raised here as they were there.
        """
        __tracebackhide__ = True  # pytest shows the caller
        name, message = request(function, args, kwargs)
        with self._turn:
            if not self.alive:
                raise HostError(f"the page can no longer be used: {self._failure}")
            self._desk.calls.put(message)
            answer = self._await_answer(f"answer the call of {name}")
        return transport.result(answer)

    def load(self, source: str | os.PathLike[str] | bytes, **options: Any) -> "PageProgram":
        """Load a model in the page: its bytes, or a file, looked for below the browser's root (or the current folder).

        `options` are those of `webq8.load`.
        """
        __tracebackhide__ = True
        if not isinstance(source, bytes):
            folder = (self._browser.root or Path()).resolve()
            path = folder / source
            if not path.is_file():
                raise InputError(f"there is no file {os.fspath(source)} in {folder}")
            source = self._browser.site.add(f"{OURS}files/{path.as_posix().lstrip('/')}", path)
        dropped, self._dropped[:] = [*self._dropped], []
        return PageProgram(self, *self.call(_load, source, options, dropped))

    @property
    def alive(self) -> bool:
        """Whether calls can still be answered."""
        return self._failure is None

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
        tab.on("pageerror", self._on_error)
        tab.on("crash", lambda _: self._end("the page crashed"))
        tab.on("close", self._on_close)
        return tab

    def _await_answer(self, task: str) -> bytearray:
        __tracebackhide__ = True
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
        self._failure = self._failure or ". The browser said: ".join([why, *self._complaints])
        return HostError(self._failure)

    def _end(self, why: str) -> None:
        """Ends the waiting call, or the next one, with an error."""
        self._desk.answers.put(HostError(why))

    async def _on_close(self, _: "Page") -> None:
        await asyncio.sleep(0.1)  # until the browser's own end is known
        self._end("the page's tab was closed" if self._browser.chromium.is_connected() else "the browser ended")

    def _on_console(self, message: "ConsoleMessage") -> None:
        if message.type == "log":  # what Python prints in the page; the rest is the browser's own talk
            print(message.text, file=sys.stderr)
        elif message.type == "error":
            self._complain(message.text)
        else:
            log.info("%s", message.text)

    def _on_error(self, error: object) -> None:
        self._complain(str(error))
        if not self._started:
            self._end("the page failed")

    def _complain(self, text: str) -> None:
        self._complaints.append(text)
        log.warning("%s", text)


class PageProgram:
    """A model in a page: it takes and gives arrays as a `webq8.Program` does there, without `await`."""

    def __init__(self, page: PythonPage, number: int, name: str, adapter: str | None, methods: dict[str, Any]) -> None:
        self.name, self.adapter = name, adapter
        self.methods = {name: MethodSpec(*map(_specs, both)) for name, both in methods.items()}
        self._page, self._number = page, number
        self._forget = weakref.finalize(self, page._dropped.append, number)

    def __call__(self, /, *inputs: Any, method: str | None = None, **named: Any) -> Any:
        __tracebackhide__ = True
        if not self._forget.alive:
            raise ClosedError(f"{self.name} was closed; load it again to run it")
        return self._page.call(_run, self._number, inputs, named, method)

    def close(self) -> None:
        """Frees what the model holds in the page; closing twice is fine."""
        if self._forget.detach() and self._page.alive:
            self._page.call(_close, self._number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _specs(fields: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Specs of tensors and values, from the fields in which they travel."""
    return tuple(ValueSpec(**f) if "value" in f else TensorSpec(**f) for f in fields)


async def _load(source: str | bytes, options: dict[str, Any], dropped: list[int]) -> tuple[Any, ...]:
    """Runs in the page."""
    import webq8
    from webq8 import transport

    for number in dropped:
        transport.kept.pop(number).close()
    program = await webq8.load(source, **options)
    number = max(transport.kept, default=0) + 1
    transport.kept[number] = program
    methods = {
        name: [[*map(vars, method.inputs)], [*map(vars, method.outputs)]] for name, method in program.methods.items()
    }
    return number, program.name, str(program.adapter) if program.adapter else None, methods


async def _run(number: int, inputs: Sequence[Any], named: Mapping[str, Any], method: str | None) -> Any:
    """Runs in the page."""
    from webq8 import transport

    return await transport.kept[number](*inputs, method=method, **named)


def _close(number: int) -> None:
    """Runs in the page."""
    from webq8 import transport

    transport.kept.pop(number).close()


@contextmanager
def _loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    # When its browser is killed, Playwright raises where nobody catches; `PythonPage` tells who waits for an answer.
    loop.set_exception_handler(lambda _, context: log.debug("%s", context))
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
    from webq8.backends.browser import gpu

    adapter = (await gpu.device()).adapter
    return str(adapter), adapter.software


@contextmanager
def _playwright_errors(what: str) -> Iterator[None]:
    """A context that turns errors of Playwright into HostError, with the first line of their text."""
    from playwright.async_api import Error

    try:
        yield
    except Error as error:
        raise HostError(f"{what}: {str(error).strip().splitlines()[0]}") from error


def _source_of(function: Callable[..., Any]) -> tuple[str, str]:
    """The source of a function without decorators, and its name."""
    function = inspect.unwrap(function)
    if not inspect.isfunction(function) or function.__name__ == "<lambda>" or function.__code__.co_freevars:
        raise TypeError(
            f"{function!r} cannot run in the page: pass a module-level function, or source that defines `main`"
        )
    source = textwrap.dedent(inspect.getsource(function))
    first = ast.parse(source).body[0]
    assert isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef)
    return "".join(source.splitlines(keepends=True)[first.lineno - 1 :]), function.__name__


def _place_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The file of a function, and the line there at which `_source_of` begins."""
    function = inspect.unwrap(function)
    lines, first = inspect.getsourcelines(function)
    skipped = len(lines) - len(_source_of(function)[0].splitlines())
    return {"file": inspect.getfile(function), "line": first + skipped}
