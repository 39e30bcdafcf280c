"""The device that a page gets: which adapters compute on the CPU."""

import pytest
from webq8.desktop.host import PythonPage


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
