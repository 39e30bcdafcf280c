"""Ops that put elements to other places, or call them something else."""

from dataclasses import replace

from webq8.ir.ops.core import Op, Types
from webq8.ir.types import PerTensor, Ref, Shape, Tensor

__all__ = ["Bitcast", "Reshape", "moved"]


def moved(x: Tensor, shape: Shape) -> Tensor:
    """The type of elements of x in another shape. One scale for all elements goes with them."""
    quantization = x.quantization if isinstance(x.quantization, PerTensor) else None
    return Tensor(shape, x.dtype, None, quantization)


class Bitcast(Op):
    """The same integers with another quantization, or as plain numbers; the node's result says which."""

    MOVES = True
    x: Ref

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (replace(types[self.x].type(), quantization=None),)


class Reshape(Op):
    """The elements of x in another shape."""

    MOVES = True
    x: Ref
    shape: Shape

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (moved(types[self.x], self.shape),)
