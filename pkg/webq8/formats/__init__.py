"""Readers of model files: they parse a file into its own structures, and lower these to graphs of ops."""

from collections.abc import Callable
from typing import NamedTuple

from webq8.errors import FormatError
from webq8.formats.base import Asked, File, FileMethod, FileOp, Shapes
from webq8.formats.onnx import is_onnx, read_onnx
from webq8.formats.pte import is_pte, read_pte
from webq8.formats.sniff import what_it_is
from webq8.formats.tflite import is_tflite, read_tflite
from webq8.stages import Stage, Steps

__all__ = ["FORMATS", "Asked", "File", "FileMethod", "FileOp", "Format", "Shapes", "read_file"]


class Format(NamedTuple):
    """A kind of model files: `recognizes` tells one from all others by its bytes, `read` reads it whole."""

    name: str
    recognizes: Callable[[memoryview], bool]
    read: Callable[[memoryview, str, Asked], Steps[File]]


FORMATS = [
    Format(".pte", is_pte, read_pte.steps),
    Format(".tflite", is_tflite, read_tflite.steps),
    Format(".onnx", is_onnx, read_onnx.steps),  # the last: it has no mark of its own
]


@Stage
def read_file(data: bytes | bytearray | memoryview, name: str = "program", asked: Asked | None = None) -> Steps[File]:
    """Reads a whole file. `name` stands for it in messages.

    Raises FormatError where the file is damaged, or of a kind that webq8 cannot read. What is sound but not supported
    is found when a method is lowered.
    """
    view = memoryview(data).toreadonly().cast("B")
    for known in FORMATS:
        if known.recognizes(view):
            return (yield from known.read(view, name, asked or Asked()))
    raise FormatError(f"{name}: {what_it_is(view)}")
