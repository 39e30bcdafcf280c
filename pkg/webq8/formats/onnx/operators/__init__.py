"""What each ONNX operator becomes: functions that lower a call to typed ops, one module a family."""

from collections.abc import Callable
from importlib import import_module

from webq8.formats.onnx.call import OPERATORS, Call, Result

__all__ = ["find"]

_FAMILIES = (
    "boxes",
    "conv",
    "create",
    "elementwise",
    "flow",
    "indexing",
    "integer",
    "matmul",
    "move",
    "norm",
    "pool",
    "qlinear",
    "quantize",
    "recurrent",
    "reduce",
    "resize",
)


def find(domain: str, name: str) -> Callable[[Call], Result] | None:
    """The function that lowers calls of an operator."""
    if not OPERATORS:
        for family in _FAMILIES:
            import_module(f"{__name__}.{family}")
    return OPERATORS.get((domain, name))
