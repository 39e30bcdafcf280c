"""ExecuTorch's operators, one module a family: the only place that knows their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.operators import elementwise, linear, quantize
from webq8.formats.pte.schema import OVERLOADS

__all__ = ["OVERLOADS", "elementwise", "linear", "quantize"]
