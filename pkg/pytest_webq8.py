"""A pytest plugin: fixtures that run Python in a real page.

    async def classify(image):
        program = await webq8.load("models/classifier.pte")  # below pytest's rootdir
        return await program(image)

    def test_model(webq8_page):
        scores = webq8_page.call(classify, image)

Where there is no browser or no adapter, tests that use a fixture fail; they are never skipped. Every pytest run imports
this module, which therefore lies outside the package and imports none of it until a fixture is used.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webq8.desktop.host import Browser, PythonPage

__all__ = ["webq8_browser", "webq8_page"]

GPUS = ("swiftshader", "hardware")  # webq8.desktop.chrome.Gpu
RAN_ON = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("webq8", "webq8: Python in a page, on the GPU")
    group.addoption("--webq8-chrome", metavar="PATH", help="the browser (default: $WEBQ8_CHROME, or an installed one)")
    group.addoption("--webq8-gpu", choices=GPUS, default="swiftshader", help="default: swiftshader")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RAN_ON] = set[str]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist, whose summary nobody sees, hands on what it ran on."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        ran_on = session.config.stash[RAN_ON]
        output["webq8_ran_on"] = list(ran_on)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[RAN_ON].update(getattr(node, "workeroutput", {}).get("webq8_ran_on", ()))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    ran_on = config.stash[RAN_ON]
    for name in sorted(ran_on):
        terminalreporter.write_line(f"webq8: ran on {name}")


@pytest.fixture(scope="session")
def webq8_browser(pytestconfig: pytest.Config) -> "Iterator[Browser]":
    """A headless Chromium with WebGPU, for pages of your own: `with webq8_browser.page("314.0.7", "main") as page`."""
    from webq8.desktop.host import Browser

    chrome, gpu = pytestconfig.getoption("--webq8-chrome"), pytestconfig.getoption("--webq8-gpu")
    with Browser(chrome=chrome, gpu=gpu, root=pytestconfig.rootpath) as browser:
        yield browser


@pytest.fixture(scope="session")
def webq8_page(webq8_browser: "Browser", pytestconfig: pytest.Config) -> "Iterator[PythonPage]":
    """A page with Python and numpy in a module worker, on the kind of adapter asked for (`--webq8-gpu`)."""
    with webq8_browser.page() as page:
        pytestconfig.stash[RAN_ON].add(f"{page.check_adapter()}, Chromium {webq8_browser.version}")
        yield page
