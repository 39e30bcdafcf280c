"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels import elementwise, linear, quantize
from webq8.kernels.registry import KERNELS, Call, Operand

__all__ = ["KERNELS", "Call", "Operand", "elementwise", "linear", "quantize"]
