"""Fixtures in the place of those of Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import gpu_kernels
from firefox_page import FirefoxPage, open_firefox

__all__ = ["gpu_kernels"]


@pytest.fixture(scope="session")
def webq8_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirefoxPage]:
    """In the place of the plugin's: Python in a module worker."""
    with open_firefox(tmp_path_factory.mktemp("profile"), "worker") as page:
        yield page


@pytest.fixture
def main_thread(tmp_path: Path) -> Iterator[FirefoxPage]:
    with open_firefox(tmp_path, "main") as page:
        yield page


@pytest.fixture(params=["software", "gpu"])
def kernels(request: pytest.FixtureRequest) -> str:
    """The kernels that a software adapter gets, and those that a GPU gets."""
    if request.param == "gpu":
        request.getfixturevalue("gpu_kernels")
    return str(request.param)
