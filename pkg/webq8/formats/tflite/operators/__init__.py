"""TFLite's operators, one module a family: the only place that knows their names."""

from importlib import import_module

from webq8.formats.tflite.schema import OPERATORS, Lowering

__all__ = ["find_operator"]

# families that are not imported yet; popped from the end, where those are that most files use
_FAMILIES = [
    *(
        "recurrent",
        "state",
        "batches",
        "create",
        "resize",
        "indexing",
        "reduce",
        "elementwise",
        "quantize",
        "move",
        "linear",
        "conv",
    ),
]


def find_operator(name: str) -> Lowering | None:
    """How an operator is lowered. Imports families one by one until one has it, since each import takes pages time."""
    while name not in OPERATORS and _FAMILIES:
        import_module(f"{__name__}.{_FAMILIES.pop()}")
    return OPERATORS.get(name)
