"""Ways to have the one adapter that is here behave as another."""

from collections.abc import Iterator

import pytest
from webq8.desktop.host import PythonPage
from webq8.handlers.tuning import TILES


async def use_packed_dot(wanted):
    """Turns `dot4I8Packed` on or off, as in a browser without that language feature; returns what it was."""
    import webq8
    from webq8.backends.browser import gpu

    device = await gpu.device()
    before, device.packed_dot = device.packed_dot, wanted
    webq8.ops.close()  # programs that were compiled with the other
    return before


async def set_limit(name, wanted):
    """Plans from now on as for a device with another limit; returns what it was."""
    from dataclasses import replace

    import webq8
    from webq8.backends.browser import gpu

    device = await gpu.device()
    before, device.limits = getattr(device.limits, name), replace(device.limits, **{name: wanted})
    webq8.ops.close()  # programs that were planned for the other
    return before


@pytest.fixture
def gpu_kernels(webq8_page: PythonPage) -> Iterator[None]:
    """Plans as for a real GPU: packed dot products, large tiles, K in slices, convolutions as matrix products."""
    before = webq8_page.call(set_limit, "software", False), webq8_page.call(use_packed_dot, True)
    assert before == (True, False), "the kernels for SwiftShader are tested as well"
    yield
    webq8_page.call(set_limit, "software", True)
    webq8_page.call(use_packed_dot, False)


@pytest.fixture
def plain_dot(webq8_page: PythonPage, gpu_kernels: None) -> None:
    """Plans as for a real GPU in a browser without packed dot products."""
    webq8_page.call(use_packed_dot, False)


async def use_tile(name):
    """Has matrix products on GPUs take one tile of `webq8.handlers.tuning`, or with None those of its rules again."""
    import webq8
    from webq8.handlers import tuning

    if name is None:
        tuning.tile = tuning.rules
    else:
        tuning.rules, tuning.tile = tuning.tile, lambda *_: tuning.TILES[name]
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
    from webq8.handlers import conv

    before = conv._FEWEST_PIXELS, conv._FEWEST_WORDS
    conv._FEWEST_PIXELS, conv._FEWEST_WORDS = limits
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
