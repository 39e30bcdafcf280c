"""The dispatches that ops become for a target; importing the families fills KERNELS."""

from webq8.kernels import create, indexing, linear, move
from webq8.kernels.registry import KERNELS, Call, Operand

__all__ = ["KERNELS", "Call", "Operand", "create", "indexing", "linear", "move"]
