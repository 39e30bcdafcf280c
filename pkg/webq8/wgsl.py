"""Reads wgsl/*.wgsl: source text, and what it declares (bindings, the struct Params, overrides, workgroup size).

The WGSL is the only description of a kernel's interface; whoever fills it does so by name.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from webq8.paths import resource_dir

__all__ = ["Binding", "Kernel", "kernel", "kernel_names", "module_source", "pack_params"]

_BINDING = re.compile(r"@group\(0\)\s*@binding\((\d+)\)\s*var<([\w, ]+)>\s*(\w+)\s*:")
_STRUCT = re.compile(r"struct Params \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*:\s*(\w+)\s*,")
_OVERRIDE = re.compile(r"override\s+(\w+)\s*:")
_WORKGROUP = re.compile(r"@workgroup_size\((\d+)\)")
_CODES = {"u32": "I", "i32": "i", "f32": "f"}
_SHARED = ("prelude", "dot4_packed", "dot4_plain")


@dataclass(frozen=True)
class Binding:
    index: int
    name: str
    type: str  # GPUBufferBindingType: "read-only-storage", "storage" or "uniform"


@dataclass(frozen=True)
class Kernel:
    name: str
    source: str = field(repr=False)
    bindings: tuple[Binding, ...]
    params: Mapping[str, str]  # name -> struct code, in order
    overrides: frozenset[str]
    workgroup_size: int


@cache
def _read(name: str) -> str:
    return (resource_dir("wgsl") / f"{name}.wgsl").read_text("utf-8")


def kernel_names() -> list[str]:
    return sorted(p.stem for p in resource_dir("wgsl").glob("*.wgsl") if p.stem not in _SHARED)


@cache
def kernel(name: str) -> Kernel:
    """Reflects wgsl/`name`.wgsl."""
    source = _read(name)
    types = {"storage, read": "read-only-storage", "storage, read_write": "storage", "uniform": "uniform"}
    bindings = [Binding(int(i), var, types[space]) for i, space, var in _BINDING.findall(source)]
    struct_text, size = _STRUCT.search(source), _WORKGROUP.search(source)
    assert struct_text, f"{name}.wgsl lacks struct Params"
    assert size, f"{name}.wgsl lacks @workgroup_size"
    params = {n: _CODES[t] for n, t in _FIELD.findall(struct_text[1])}
    return Kernel(
        name,
        source,
        tuple(sorted(bindings, key=lambda b: b.index)),
        params,
        frozenset(_OVERRIDE.findall(source)),
        int(size[1]),
    )


def module_source(name: str, packed_dot: bool) -> str:
    """The whole WGSL module of a kernel; `packed_dot`: the browser has `packed_4x8_integer_dot_product`."""
    return "\n".join([_read("dot4_packed" if packed_dot else "dot4_plain"), _read("prelude"), _read(name)])


def pack_params(k: Kernel, values: Mapping[str, int | float]) -> bytes:
    """Fills a kernel's Params by name; uniform buffers are sized in 16 bytes."""
    if values.keys() != k.params.keys():
        raise KeyError(f"{k.name}.wgsl: params differ from those given: {sorted(values.keys() ^ k.params.keys())}")
    data = struct.pack("<" + "".join(k.params.values()), *(values[n] for n in k.params))
    return data.ljust(-(-len(data) // 16) * 16, b"\0")
