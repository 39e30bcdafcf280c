"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels import conv, conv_float, elementwise, linear, matmul, quantize
from webq8.kernels.registry import Call, KERNELS, Operand

__all__ = ["Call", "KERNELS", "Operand", "conv", "conv_float", "elementwise", "linear", "matmul", "quantize"]
