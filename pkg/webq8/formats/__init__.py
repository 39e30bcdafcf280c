"""Readers of model files: they parse a file into its own structures, and lower these to graphs of ops."""

from webq8.formats.base import File, FileMethod
from webq8.formats.pte import read_pte
from webq8.stages import Stage, Steps

__all__ = ["File", "FileMethod", "read_file"]


@Stage
def read_file(data: bytes | bytearray | memoryview, name: str = "program") -> Steps[File]:
    """Reads a whole file. `name` stands for it in messages.

    Raises FormatError where the file is damaged, or of a kind that webq8 cannot read. What is sound but not supported
    is found when a method is lowered.
    """
    return (yield from read_pte.steps(data, name))
