"""Reads wgsl/*.wgsl: source text, and what it declares (bindings, the struct Params, overrides, workgroup size).

The WGSL is the only description of a kernel's interface; whoever fills it does so by name.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

from webq8.errors import LimitError
from webq8.ir.plan import Param
from webq8.paths import resource_dir

__all__ = ["Binding", "Kernel", "kernel", "kernel_names", "module_source", "override_values", "pack_params"]

_BINDING = re.compile(r"@group\(0\)\s*@binding\((\d+)\)\s*var<([\w, ]+)>\s*(\w+)\s*:")
_STRUCT = re.compile(r"struct Params \{(.*?)\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*:\s*(?:array<vec4<(\w+)>, (\d+)>|(\w+))\s*,")
_OVERRIDE = re.compile(r"override\s+(\w+)\s*:")
_CONSTANT = re.compile(r"^const (\w+)(?:: u32)? = (\d+)u?;", re.MULTILINE)
_WORKGROUP = re.compile(r"@workgroup_size\((\d+)\)")
_CODES = {"u32": "I", "i32": "i", "f32": "f"}
_RANGES = {"I": (0, 2**32 - 1), "i": (-(2**31), 2**31 - 1), "f": (-(2.0**128), 2.0**128)}
_USES = re.compile(r"^// uses (\w+)\n", re.MULTILINE)
_DIRECTIVE = re.compile(r"^(?:enable|requires|diagnostic\().*\n", re.MULTILINE)
_SHARED = (
    "average",
    "prelude",
    "dot4_packed",
    "dot4_plain",
    "gemm_io",
    "gemm_groups",
    "indices",
    "quotient",
    "channels",
    "wide",
)


@dataclass(frozen=True)
class Binding:
    index: int
    name: str
    type: str  # GPUBufferBindingType: "read-only-storage", "storage" or "uniform"


class Field(NamedTuple):
    """A field of Params: a scalar, or `array<vec4<T>, N>`, filled with up to 4·N numbers (the rest is zero)."""

    code: str  # struct's
    vectors: int  # 0 for a scalar


@dataclass(frozen=True)
class Kernel:
    name: str
    source: str = field(repr=False)
    bindings: tuple[Binding, ...]
    params: Mapping[str, Field]  # in order
    overrides: frozenset[str]
    constants: Mapping[str, int]
    workgroup_size: int

    @cached_property
    def written(self) -> frozenset[str]:
        """Names of the bindings that the kernel writes."""
        return frozenset(b.name for b in self.bindings if b.type == "storage")


@cache
def _read(name: str) -> str:
    """wgsl/`name`.wgsl, with the files that it names by `// uses` lines in their place."""
    text = (resource_dir("wgsl") / f"{name}.wgsl").read_text("utf-8")
    return _USES.sub(lambda line: _read(line[1]), text)


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
    assert size, f"{name}.wgsl lacks a literal @workgroup_size"
    params = {n: Field(_CODES[v or s], int(count or 0)) for n, v, count, s in _FIELD.findall(struct_text[1])}
    return Kernel(
        name,
        source,
        tuple(sorted(bindings, key=lambda b: b.index)),
        params,
        frozenset(_OVERRIDE.findall(source)),
        {name: int(value) for name, value in _CONSTANT.findall(source)},
        int(size[1]),
    )


@cache
def module_source(name: str, packed_dot: bool, writable: tuple[str, ...] = ()) -> str:
    """The whole WGSL module of a kernel; `packed_dot`: the browser has `packed_4x8_integer_dot_product`.

    `writable` bindings are declared read_write although the kernel only reads them (see `ir.Step`).
    """
    source = _read(name)
    for variable in writable:
        source = source.replace(f"var<storage, read> {variable}:", f"var<storage, read_write> {variable}:")
    module = "\n".join([_read("dot4_packed" if packed_dot else "dot4_plain"), _read("prelude"), source])
    # WGSL wants these before anything else
    return "".join([*_DIRECTIVE.findall(module), _DIRECTIVE.sub("", module)])


def override_values(k: Kernel, constants: Mapping[str, int | float | bool | str]) -> dict[str, int | float | bool]:
    """Overrides as numbers; text names a constant of the kernel's WGSL, in upper or lower case."""
    return {name: k.constants[v.upper()] if isinstance(v, str) else v for name, v in constants.items()}


def pack_params(k: Kernel, values: Mapping[str, Param]) -> bytes:
    """Fills a kernel's Params by name; arrays are aligned to 16 bytes, and so is the whole."""
    if values.keys() != k.params.keys():
        raise KeyError(f"{k.name}.wgsl: params differ from those given: {sorted(values.keys() ^ k.params.keys())}")
    data = bytearray()
    for name, spec in k.params.items():
        value = values[name]
        if not spec.vectors:
            data += _packed(name, spec.code, (value,))
            continue
        assert isinstance(value, tuple), f"{k.name}.wgsl: {name} takes a tuple"
        assert len(value) <= 4 * spec.vectors, f"{k.name}.wgsl: {name} has no room for {len(value)} numbers"
        data += bytes(-len(data) % 16)
        data += _packed(name, spec.code, value).ljust(16 * spec.vectors, b"\0")
    return bytes(data + bytes(-len(data) % 16))


def _packed(name: str, code: str, values: tuple[Any, ...]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}{code}", *values)
    except (struct.error, OverflowError):
        low, high = _RANGES[code]
        for value in values:
            if not low <= value <= high:
                raise LimitError(f"{name.replace('_', ' ')} = {value} does not fit {low}…{high}") from None
        raise
