"""ExecuTorch's operators, one module a family: the only place that knows their names."""

from collections.abc import Mapping
from importlib import import_module

from webq8.formats.pte.schema import OVERLOADS, Overload

__all__ = ["all_overloads", "find_overload"]

# families that are not imported yet; popped from the end, where those are that most files use
_FAMILIES = [
    *("sample", "sort", "indexing", "norm", "resize", "matmul", "conv_float", "create", "average", "reduce", "pool"),
    *("elementwise", "move", "linear", "conv", "quantize"),
]


def find_overload(name: str) -> Overload | None:
    """The overload of a full name. Imports families one by one until one has it, since each import takes pages time."""
    while name not in OVERLOADS and _FAMILIES:
        import_module(f"{__name__}.{_FAMILIES.pop()}")
    return OVERLOADS.get(name)


def all_overloads() -> Mapping[str, Overload]:
    """The overloads of all families, by full name."""
    while _FAMILIES:
        import_module(f"{__name__}.{_FAMILIES.pop()}")
    return OVERLOADS
