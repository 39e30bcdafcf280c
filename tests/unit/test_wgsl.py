"""Reflection of wgsl/*.wgsl, packing by name, and what every browser's compiler and the weakest devices take."""

import re
import struct

import pytest
from webq8.kernels import KERNELS, gemm, layouts, select, wgsl
from webq8.runtime import ceilings


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_reflection(name: str) -> None:
    kernel = wgsl.kernel(name)
    assert [b.index for b in kernel.bindings] == list(range(len(kernel.bindings)))
    assert [b.type for b in kernel.bindings].count("uniform") == 1
    assert kernel.bindings[-1].name == "params"
    assert "@compute" in wgsl.module_source(name, packed_dot=True)


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_limits_of_compatibility_devices(name: str) -> None:
    """WebGPU's limits for `featureLevel: "compatibility"`, which are those of core devices or below."""
    kernel = wgsl.kernel(name)
    assert kernel.workgroup_size <= 128  # maxComputeInvocationsPerWorkgroup
    assert len(kernel.bindings) - 1 <= 8  # maxStorageBuffersPerShaderStage
    params = sum(16 * f.vectors or 4 for f in kernel.params.values())
    assert params + 16 * len(kernel.params) <= 2**14  # maxUniformBufferBindingSize


def overrides_in_workgroup_arrays(source: str) -> list[str]:
    """Workgroup variables whose type has an override in it, whatever constants and aliases it goes through."""
    named = re.findall(r"(?:const|override|alias)\s+(\w+)[^=;]*=([^;]*);|struct\s+(\w+)\s*\{([^}]*)\}", source)
    definitions = {a or c: b or d for a, b, c, d in named}
    overrides = set(re.findall(r"override\s+(\w+)", source))

    def reached(text: str) -> set[str]:
        found, new = set[str](), set(re.findall(r"\w+", text))
        while new := new - found:
            found |= new
            new = {word for name in new for word in re.findall(r"\w+", definitions.get(name, ""))}
        return found

    variables = re.findall(r"var<workgroup>\s*(\w+)\s*:([^;]*);", source)
    return [name for name, kind in variables if reached(kind) & overrides]


@pytest.mark.parametrize("name", wgsl.kernel_names())
def test_no_override_in_a_workgroup_array(name: str) -> None:
    """Firefox's compiler may die of one, and Safari's does not put in its value."""
    source = re.sub(r"//.*", "", wgsl.module_source(name, packed_dot=True))
    assert overrides_in_workgroup_arrays(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "override n: u32 = 4u; var<workgroup> a: array<u32, n>;",
        "override n = 4u; const m = 2u * n; var<workgroup> a: array<array<u32, 3>, m + 1u>;",
        "override n = 4u; alias Row = array<u32, n>; struct Tile { rows: Row } var<workgroup> a: Tile;",
    ],
)
def test_overrides_in_workgroup_arrays_are_found(source: str) -> None:
    assert overrides_in_workgroup_arrays(source) == ["a"]


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
    """Names in the text of those that launch kernels: one that nothing launches is dead."""
    import inspect

    modules = {inspect.getmodule(kernel.dispatches) for kernel in KERNELS.values()} | {ceilings, gemm, layouts, select}
    text = "".join(map(inspect.getsource, modules))
    assert [name for name in wgsl.kernel_names() if f'"{name}"' not in text] == []
