"""Reflection of wgsl/*.wgsl and packing by name."""

import struct

import pytest
from webq8 import ceilings, wgsl
from webq8.handlers import REGISTRY, tuning


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_reflection(name: str) -> None:
    kernel = wgsl.kernel(name)
    assert [b.index for b in kernel.bindings] == list(range(len(kernel.bindings)))
    assert [b.type for b in kernel.bindings].count("uniform") == 1
    assert kernel.bindings[-1].name == "params"
    assert kernel.workgroup_size in (32, 64, 128, 256)
    assert "@compute" in wgsl.module_source(name, packed_dot=True)


def test_sources_differ_by_language_feature_only() -> None:
    packed, plain = wgsl.module_source("linear", True), wgsl.module_source("linear", False)
    assert "dot4I8Packed(" in packed
    assert "dot4I8Packed" not in plain
    assert packed.startswith("requires ")


def test_params_by_name() -> None:
    kernel = wgsl.kernel("quantize")
    values = {
        "words": 1,
        "channels": 2,
        "inner": 3,
        "channel_words": 4,
        "inv_scale": 0.5,
        "zero_point": -7,
        "qmin": -128,
    }
    data = wgsl.pack_params(kernel, values | {"qmax": 127})
    assert data == struct.pack("<4If3i", 1, 2, 3, 4, 0.5, -7, -128, 127)
    assert len(data) % 16 == 0
    with pytest.raises(KeyError, match="qmax"):
        wgsl.pack_params(kernel, values)
    with pytest.raises(KeyError, match="typo"):
        wgsl.pack_params(kernel, values | {"qmax": 127, "typo": 1})


def test_every_kernel_is_used() -> None:
    """Names in the text of those that launch kernels: one that no handler launches is dead."""
    import inspect

    modules = {inspect.getmodule(spec.handler) for spec in REGISTRY.values()} | {ceilings, tuning}
    text = "".join(map(inspect.getsource, modules))
    assert [name for name in wgsl.kernel_names() if f'"{name}"' not in text] == []
