"""A pytest plugin: fixtures that run Python in a real page.

    async def classify(image):
        program = await webq8.load("model.pte")
        return await program(image)

    def test_model(webq8_page):
        scores = webq8_page.call(classify, image)

Where there is no browser or no adapter, tests that use a fixture fail; they are never skipped.
"""

from typing import TYPE_CHECKING, Any, get_args

import pytest

from webq8.chrome import Gpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webq8.host import Browser, PythonPage

__all__ = ["webq8_browser", "webq8_page"]

ADAPTER = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("webq8", "webq8: Python in a page, on the GPU")
    group.addoption("--webq8-chrome", metavar="PATH", help="the browser (default: $WEBQ8_CHROME, or an installed one)")
    group.addoption("--webq8-gpu", choices=get_args(Gpu), default="swiftshader", help="default: swiftshader")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if ADAPTER in config.stash:
        terminalreporter.write_line(f"webq8: ran on {config.stash[ADAPTER]}")


@pytest.fixture(scope="session")
def webq8_browser(request: pytest.FixtureRequest) -> "Iterator[Browser]":
    """A headless Chromium with WebGPU, for pages of your own: `with webq8_browser.page("314.0.7", "main") as page`."""
    from webq8.host import Browser

    gpu: Gpu = request.config.getoption("--webq8-gpu")
    with Browser(chrome=request.config.getoption("--webq8-chrome"), gpu=gpu) as browser:
        yield browser


@pytest.fixture(scope="session")
def webq8_page(webq8_browser: "Browser", pytestconfig: pytest.Config) -> "Iterator[PythonPage]":
    """A page with Python and numpy in a module worker, on the kind of adapter asked for (`--webq8-gpu`)."""
    with webq8_browser.page() as page:
        pytestconfig.stash[ADAPTER] = f"{page.check_adapter()}, Chromium {webq8_browser.version}"
        yield page
