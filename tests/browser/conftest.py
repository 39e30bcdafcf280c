"""Ways to have the one adapter that is here behave as another, and what visits to the pages in web/ need."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from webq8.desktop.bytecode import compile_wheels
from webq8.desktop.chrome import launch_options
from webq8.desktop.host import PythonPage
from webq8.desktop.site import Site
from webq8.kernels.select import TILES


async def use_packed_dot(wanted):
    """Turns `dot4I8Packed` on or off, as in a browser without that language feature; returns what it was."""
    import webq8
    from webq8.backends.browser import gpu

    device = await gpu.device()
    before, device.target = device.target.packed_dot, device.target.replace(packed_dot=wanted)
    webq8.ops.close()  # programs that were compiled with the other
    return before


async def set_limit(name, wanted):
    """Plans from now on as for a device with another limit; returns what it was."""
    import webq8
    from webq8.backends.browser import gpu

    device = await gpu.device()
    before, device.target = getattr(device.target, name), device.target.replace(**{name: wanted})
    webq8.ops.close()  # programs that were planned for the other
    return before


async def use_class(name):
    """Plans from now on as for a device of another class, a name in `webq8.target`; returns what it was."""
    import webq8
    from webq8 import target
    from webq8.backends.browser import gpu

    device = await gpu.device()
    before = next(name for name, kind in vars(target).items() if kind == device.target.kind)
    device.target = device.target.replace(kind=getattr(target, name))
    webq8.ops.close()
    return before


@pytest.fixture
def gpu_kernels(webq8_page: PythonPage) -> Iterator[None]:
    """Plans as for a real GPU: packed dot products, large tiles, K in slices, convolutions as matrix products."""
    before = webq8_page.call(use_class, "GPU"), webq8_page.call(use_packed_dot, True)
    assert before == ("SOFTWARE", False), "the kernels for SwiftShader are tested as well"
    yield
    webq8_page.call(use_class, "SOFTWARE")
    webq8_page.call(use_packed_dot, False)


@pytest.fixture
def plain_dot(webq8_page: PythonPage, gpu_kernels: None) -> None:
    """Plans as for a real GPU in a browser without packed dot products."""
    webq8_page.call(use_packed_dot, False)


async def use_tile(name):
    """Has matrix products on GPUs take one tile of `webq8.kernels.select`, or with None those of its rules again."""
    import webq8
    from webq8.kernels import select

    if name is None:
        select.tile = select.rules
    else:
        select.rules, select.tile = select.tile, lambda *_: select.TILES[name]
    webq8.ops.close()


@pytest.fixture(params=[name for name in TILES if not name.startswith("matrix")])
def tile(request: pytest.FixtureRequest, webq8_page: PythonPage, gpu_kernels: None) -> Iterator[str]:
    """Plans as for a real GPU, with each tile for every product; subgroup matrices need an adapter that has them."""
    webq8_page.call(use_tile, request.param)
    yield request.param
    webq8_page.call(use_tile, None)


async def use_four_pixels(limits):
    """Sets how many pixels of a row and words of results SwiftShader's threads of four pixels need; those before."""
    import webq8
    from webq8.kernels import select

    before = select._FEWEST_PIXELS, select._FEWEST_WORDS
    select._FEWEST_PIXELS, select._FEWEST_WORDS = limits
    webq8.ops.close()
    return before


@pytest.fixture
def four_pixels(webq8_page: PythonPage) -> Iterator[None]:
    """Convolutions by SwiftShader's kernels for larger ones, however small they are."""
    before = webq8_page.call(use_four_pixels, (0, 0))
    yield
    webq8_page.call(use_four_pixels, before)


@pytest.fixture
def narrow_grid(request: pytest.FixtureRequest, webq8_page: PythonPage) -> Iterator[None]:
    """Plans as if an axis of a grid ended at 200 workgroups, or the param's, so that many grids are folded."""
    before = webq8_page.call(set_limit, "max_compute_workgroups_per_dimension", getattr(request, "param", 200))
    yield
    webq8_page.call(set_limit, "max_compute_workgroups_per_dimension", before)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with Site() as site:
        site.add_runtime()
        compile_wheels(site)  # as `webq8 site` does
        yield site


@pytest.fixture(scope="module")
def chromium(pytestconfig: pytest.Config) -> Iterator[Browser]:
    chrome, gpu = pytestconfig.getoption("--webq8-chrome"), pytestconfig.getoption("--webq8-gpu")
    with sync_playwright() as playwright, playwright.chromium.launch(**launch_options(chrome, gpu)) as browser:
        yield browser
