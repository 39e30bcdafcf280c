"""Finding, installing and starting flags of the browser."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from webq8.errors import HostError

__all__ = ["Gpu", "apt_install", "chrome_args", "find_chrome", "install_chrome", "launch_options"]

Gpu = Literal["swiftshader", "hardware"]

CHROME_COMMANDS = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome")
CHROME_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    ),
}


def find_chrome(path: str | os.PathLike[str] | None = None) -> str:
    """The browser to run: `path`, else `$WEBQ8_CHROME`, else an installed Chrome or Chromium, else Playwright's own."""
    if chosen := path or os.environ.get("WEBQ8_CHROME"):
        found = shutil.which(chosen)
        if found is None:
            raise HostError(f"there is no program {os.fspath(chosen)!r} to use as Chrome")
        return found
    candidates = [*map(shutil.which, CHROME_COMMANDS), *map(shutil.which, CHROME_PLACES.get(sys.platform, ()))]
    found = next(filter(None, candidates), None) or _playwrights_own()
    if found is None:
        raise HostError(
            "found no Chrome or Chromium; install one with `playwright install chromium` or from your distribution "
            "(for example `apt-get install chromium`), or name it in the environment variable WEBQ8_CHROME"
        )
    return found


def install_chrome() -> str:
    """Install Chromium where this user may: from the distribution as root on Debian and its kin, else Playwright's."""
    apt_install("chromium")
    if any(map(shutil.which, CHROME_COMMANDS)):
        return find_chrome()
    _run([sys.executable, "-m", "playwright", "install", "chromium"])
    return find_chrome()


def apt_install(package: str) -> None:
    """Install a package of Debian and its kin, where this user may."""
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        _run([apt, "update"])
        _run([apt, "install", "--yes", "--no-install-recommends", package])


def _run(command: list[str]) -> None:
    """What it prints goes to stderr; whether it worked shows in what is installed afterwards."""
    print(f"webq8: {' '.join(command)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, stdout=sys.stderr, env=environment, check=False)


def _playwrights_own() -> str | None:
    from playwright.async_api import async_playwright

    async def ask() -> str:
        async with async_playwright() as playwright:
            return playwright.chromium.executable_path

    with ThreadPoolExecutor(1) as pool:  # the caller's thread may have an event loop running already
        return shutil.which(pool.submit(asyncio.run, ask()).result())


def launch_options(
    chrome: str | os.PathLike[str] | None = None, gpu: Gpu = "swiftshader", extra_args: Sequence[str] = ()
) -> dict[str, Any]:
    """What Playwright's `chromium.launch(**options)` takes for a browser with WebGPU."""
    return {
        "executable_path": find_chrome(chrome),
        "args": [*chrome_args(gpu), *extra_args],
        # Chromium refuses to run as root inside its sandbox.
        "chromium_sandbox": not (sys.platform == "linux" and os.geteuid() == 0),
    }


def chrome_args(gpu: Gpu) -> list[str]:
    args = [
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--enable-unsafe-webgpu",
    ]
    if gpu == "swiftshader":
        return [*args, "--use-webgpu-adapter=swiftshader"]
    # The last one lifts the rounding of GPU timestamps to 100 us.
    args += ["--ignore-gpu-blocklist", "--enable-webgpu-developer-features"]
    if sys.platform == "linux":
        args += ["--enable-features=Vulkan", "--use-vulkan=native", "--use-angle=vulkan", "--disable-vulkan-surface"]
    return args
