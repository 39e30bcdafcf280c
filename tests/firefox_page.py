"""Firefox in the place of Chromium: a page whose Python answers calls as that of `webq8.desktop.host` does."""

import json
import queue
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import machine
from webq8 import transport
from webq8.desktop.host import DEFAULT_PYODIDE, Site, Thread, open_site, page_address, request
from webq8.errors import HostError

START_SECONDS, CALL_SECONDS = 120, 300
PREFERENCES = {
    "dom.webgpu.enabled": True,
    "dom.webgpu.workers.enabled": True,
    "gfx.webgpu.ignore-blocklist": True,
    "gfx.webgpu.force-enabled": True,
    # the GPU's process may not open Mesa's files otherwise
    "security.sandbox.gpu.level": 0,
    "security.sandbox.content.level": 0,
}


class FirefoxPage:
    """A page of a Firefox of its own, which runs on lavapipe, whatever else the machine has."""

    def __init__(self, site: Site, desk: Any, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.site, self._desk, self._process, self._log = site, desk, process, log
        self._answer(START_SECONDS)  # that Python is up

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Runs a module-level function in the page (see `webq8.desktop.host.PythonPage.call`)."""
        _, message = request(function, args, kwargs)
        self._desk.calls.put(message)
        return transport.result(self._answer(CALL_SECONDS))

    def _answer(self, seconds: float) -> bytearray:
        end = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < end:
            try:
                answer = self._desk.answers.get(timeout=1)
            except queue.Empty:
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer
        self._process.kill()  # a late answer must not be taken for the next call's
        said = self._log.read_text(errors="replace")[-2000:]
        raise HostError(f"Firefox ended, or gave no answer in {seconds} s; it said: {said}")


@contextmanager
def open_firefox(folder: Path, thread: Thread) -> Iterator[FirefoxPage]:
    preferences = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(preferences))
    log = folder / "firefox.log"
    with open_site() as site, site.open_desk() as desk, log.open("wb") as output:
        site.add_runtime()
        address = page_address(site, desk, DEFAULT_PYODIDE, thread)
        process = subprocess.Popen(
            [machine.need("firefox"), "--headless", "--no-remote", "--profile", str(folder), address],
            env=machine.environment(machine.need("lavapipe")) | {"HOME": str(folder)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield FirefoxPage(site, desk, process, log)
        finally:
            process.terminate()
            process.wait()
