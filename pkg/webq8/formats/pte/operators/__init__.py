"""ExecuTorch's operators, one module a family: the only place that knows their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.operators import create, indexing, linear, move
from webq8.formats.pte.schema import OVERLOADS

__all__ = ["OVERLOADS", "create", "indexing", "linear", "move"]
