"""Whether bytes are an `.onnx` file."""

from webq8.errors import FormatError
from webq8.formats.onnx.protobuf import fields

__all__ = ["is_onnx"]

_NUMBER = frozenset((1, 5))  # fields of a model that are numbers; all others are bytes
_TEXTS = frozenset((2, 3, 4, 6, 7, 8, 14, 20, 25, 26))
_ABOUT = frozenset((2, 3, 8))  # producer, its version, operator sets


def is_onnx(data: memoryview) -> bool:
    """Whether bytes are an `.onnx` file, which has no mark of its own: all fields up to the graph must be those of a
    model, or, where the file ends before, a version and what follows it."""
    seen = set[int]()
    try:
        for number, value in fields(data, ""):
            if number not in (_NUMBER if isinstance(value, int) else _TEXTS):
                return False
            seen.add(number)
            if number == 7:
                return True
    except FormatError:  # cut off, perhaps within the graph
        pass
    return 1 in seen and not seen.isdisjoint(_ABOUT)
