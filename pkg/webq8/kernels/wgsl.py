"""Reads kernels, as wgsl/render.py leaves them, and what they declare (bindings, the struct Params, overrides,
constants, workgroup size).

The WGSL is the only description of a kernel's interface; whoever fills it does so by name.
"""

import math
import re
from collections.abc import Mapping
from functools import cache, cached_property
from struct import Struct, calcsize, error
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from webq8.dtypes import round_up
from webq8.errors import LimitError
from webq8.paths import resource_dir
from webq8.records import Record

if TYPE_CHECKING:
    from webq8.ir.plan import Params

__all__ = ["Binding", "Field", "Kernel", "kernel", "kernel_names", "module_source", "override_values", "pack_params"]

Fields: TypeAlias = "dict[str, Field | Fields]"

# "\n" in place of "^", which would be looked for at every letter
_DECLARATION = re.compile(
    r"\n(?:@group\(0\) @binding\((?P<index>\d+)\) var<(?P<space>[\w, ]+)> (?P<binding>\w+):"
    r"|override (?P<override>\w+):"
    r"|const (?P<constant>[A-Z]\w*) = (?P<value>\d+)u;"
    r"|struct (?P<struct>\w+) \{(?P<fields>[^}]*)\}"
    r"|@compute @workgroup_size\((?P<size>\d+)\))"
)
_FIELD = re.compile(r"\n  (?:@align\(16\) )?(\w+): (?:array<vec4<(\w+)>, (\d+)>|vec4<(\w+)>|(\w+)),")
_USES_DOT4 = "// uses dot4\n"
_SPACES = {"storage, read": "read-only-storage", "storage, read_write": "storage", "uniform": "uniform"}
_CODES = {"u32": "I", "i32": "i", "f32": "f"}
_RANGES = {"I": (0, 2**32 - 1), "i": (-(2**31), 2**31 - 1), "f": (-(2.0**128), 2.0**128)}


class Binding(Record):
    index: int
    name: str
    type: str  # GPUBufferBindingType: "read-only-storage", "storage" or "uniform"


class Field(NamedTuple):
    """A number in Params, or so many `vec4`s of them, whose spare numbers are zero."""

    code: str  # the letter of its type in formats of Python's module struct
    vectors: int  # 0 for a number


class Kernel(Record):
    name: str
    bindings: tuple[Binding, ...]
    params: Fields  # in order
    packing: Struct
    overrides: frozenset[str]
    constants: Mapping[str, int]
    workgroup_size: int

    @cached_property
    def written(self) -> frozenset[str]:
        """Names of the bindings that the kernel writes."""
        return frozenset(b.name for b in self.bindings if b.type == "storage")


@cache
def _read(name: str) -> str:
    return (resource_dir("wgsl") / f"{name}.wgsl").read_text("utf-8")


def kernel_names() -> list[str]:
    return sorted(file.stem for file in resource_dir("wgsl").glob("*.wgsl"))


@cache
def kernel(name: str) -> Kernel:
    """What a kernel's WGSL declares."""
    bindings, structs, overrides, constants, size = list[Binding](), dict[str, str](), list[str](), dict[str, int](), 0
    for found in _DECLARATION.finditer("\n" + _read(name)):
        match found.lastgroup:
            case "binding":
                bindings.append(Binding(int(found["index"]), found["binding"], _SPACES[found["space"]]))
            case "fields":
                structs[found["struct"]] = found["fields"]
            case "override":
                overrides.append(found["override"])
            case "value":
                constants[found["constant"]] = int(found["value"])
            case "size":
                size = int(found["size"])
    assert "Params" in structs, f"{name}.wgsl lacks struct Params"
    assert size, f"{name}.wgsl lacks a literal @workgroup_size"
    params = _fields(structs, "Params")
    bindings.sort(key=lambda b: b.index)
    packing = Struct("<" + _format(params))
    return Kernel(name, tuple(bindings), params, packing, frozenset(overrides), constants, size)


def _fields(structs: Mapping[str, str], name: str) -> Fields:
    return {
        field: Field(_CODES[array or vector or kind], int(count or bool(vector)))
        if array or vector or kind in _CODES
        else _fields(structs, kind)
        for field, array, count, vector, kind in _FIELD.findall(structs[name])
    }


def _format(fields: Fields) -> str:
    """The format of a WGSL struct in a uniform buffer, for Python's module struct. Structs and vectors within it begin
    at multiples of 16, which the WGSL asks for with @align(16), and its size is one as well."""
    text, size = "", 0
    for field in fields.values():
        if not isinstance(field, Field):
            inner = _format(field)
            text, size = f"{text}{-size % 16}x{inner}", round_up(size, 16) + calcsize(f"<{inner}")
        elif field.vectors:
            text, size = f"{text}{-size % 16}x{4 * field.vectors}{field.code}", round_up(size, 16) + 16 * field.vectors
        else:
            text, size = f"{text}{field.code}", size + 4
    return f"{text}{-size % 16}x"


@cache
def module_source(name: str, dot4: str, writable: tuple[str, ...] = ()) -> str:
    """The whole WGSL module of a kernel; `dot4` is the part with its dot products, as `Target.dot4` names it.

    `writable` bindings are declared read_write although the kernel only reads them (see Step in ir/plan.py).
    """
    source = _read(name)
    for variable in writable:
        source = source.replace(f"var<storage, read> {variable}:", f"var<storage, read_write> {variable}:")
    if not source.startswith(_USES_DOT4):
        return source
    return _read(f"parts/{dot4}") + source


def override_values(k: Kernel, given: Mapping[str, int | float | bool | str]) -> dict[str, int | float | bool]:
    """Overrides as numbers; text names a constant of the kernel's WGSL, in upper or lower case."""
    return {name: _constant(k, value) if isinstance(value, str) else value for name, value in given.items()}


def _constant(k: Kernel, name: str) -> int:
    if name.upper() not in k.constants:
        raise KeyError(f"{k.name}.wgsl has no constant {name.upper()}, only {sorted(k.constants)}")
    return k.constants[name.upper()]


def pack_params(k: Kernel, values: "Params") -> bytes:
    """The bytes of a kernel's Params, by the names that its WGSL declares: {"count": 3, "window": {"pad_width": 1, …},
    "axes": (2, 3, …), …}."""
    numbers = list[Any]()
    _collect(f"{k.name}.wgsl", k.params, values, numbers)
    try:
        return k.packing.pack(*numbers)
    except (error, OverflowError):
        _check_ranges(k.params, values)
        raise


def _collect(what: str, fields: Fields, values: "Params", numbers: list[Any]) -> None:
    """Adds the values of a struct to `numbers`, in the order of its fields; `what` names the struct, in messages."""
    if values.keys() != fields.keys():
        raise KeyError(f"{what}: params differ from those given: {sorted(values.keys() ^ fields.keys())}")
    for name, field in fields.items():
        value: Any = values[name]
        if not isinstance(field, Field):
            _collect(f"{what}, {name}", field, value, numbers)
        elif not field.vectors:
            numbers.append(value)
        else:
            spare = 4 * field.vectors - len(value)
            assert spare >= 0, f"{what}: {name} has no room for {len(value)} numbers"
            numbers += value
            numbers += [0] * spare


def _check_ranges(fields: Fields, values: "Params") -> None:
    """Raises LimitError for the first value that its type cannot hold."""
    for name, field in fields.items():
        value: Any = values[name]
        if not isinstance(field, Field):
            _check_ranges(field, value)
            continue
        low, high = _RANGES[field.code]
        for number in value if field.vectors else (value,):
            if not low <= number <= high and math.isfinite(number):  # floats hold the others
                raise LimitError(f"{name.replace('_', ' ')} = {number} does not fit {low}…{high}")
