"""The device that a page gets: which adapters compute on the CPU."""

import pytest
import webq8
from webq8.desktop.host import PythonPage
from webq8.errors import NoAdapter


async def is_software(info):
    from types import SimpleNamespace

    from webq8.backends.browser import gpu

    names = dict.fromkeys(("vendor", "architecture", "device", "description"), "")
    return gpu.adapter_of(SimpleNamespace(**(names | info))).software


@pytest.mark.parametrize(
    ("info", "software"),
    [
        ({"vendor": "google", "architecture": "swiftshader"}, True),
        ({"isFallbackAdapter": True}, True),  # all that Firefox tells of lavapipe
        ({"vendor": "mesa", "description": "llvmpipe (LLVM 15.0.6, 256 bits)"}, True),
        ({"vendor": "llvmpipe", "device": "llvmpipe (LLVM 15.0.6, 256 bits)"}, True),
        ({"vendor": "microsoft", "description": "Microsoft Basic Render Driver"}, True),
        ({"vendor": "nvidia", "description": "NVIDIA H200"}, False),
        ({"vendor": "mesa", "description": "Mesa Intel(R) Graphics", "isFallbackAdapter": False}, False),
    ],
    ids=str,
)
def test_adapters_on_the_cpu(webq8_page: PythonPage, info: dict, software: bool) -> None:
    assert webq8_page.call(is_software, info) is software


async def load_native(data):
    await webq8.load(data, device="native")


def test_the_desktops_devices_are_not_in_a_page(webq8_page: PythonPage) -> None:
    with pytest.raises(NoAdapter, match=r'device="native" is of the desktop\'s Python; a page has device="webgpu"'):
        webq8_page.call(load_native, b"")
