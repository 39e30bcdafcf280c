"""The dispatches that ops become for a target, one module a family."""

from importlib import import_module

from webq8.ir.ops.core import Op
from webq8.kernels.registry import KERNELS, Call, Kernel, LayoutChoice, Operand

__all__ = ["Call", "LayoutChoice", "Operand", "kernel_of"]

_SPLIT = {"conv": ("conv", "conv_float")}  # families of ops whose kernels are more than one module


def kernel_of(kind: type[Op]) -> Kernel:
    """What makes dispatches of ops of a kind. Its family is imported with the first of them: each takes pages time."""
    if kind not in KERNELS:
        family = kind.__module__.rpartition(".")[2]
        for module in _SPLIT.get(family, (family,)):
            import_module(f"{__name__}.{module}")
    return KERNELS[kind]
