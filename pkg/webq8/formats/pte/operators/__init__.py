"""ExecuTorch's operators, one module a family: the only place that knows their names. Importing them fills OVERLOADS."""

from webq8.formats.pte.operators import conv, conv_float, elementwise, linear, matmul, quantize
from webq8.formats.pte.schema import OVERLOADS

__all__ = ["OVERLOADS", "conv", "conv_float", "elementwise", "linear", "matmul", "quantize"]
