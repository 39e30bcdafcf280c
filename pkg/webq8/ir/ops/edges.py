"""What ops on int8 do besides: they quantize float32 as they read it, look their results up, and dequantize them."""

from typing import NamedTuple

from webq8.ir.ops.core import Op
from webq8.ir.types import PerTensor, Tensor

__all__ = ["Edges", "Quantized", "Through", "edges_of"]


class Through(NamedTuple):
    """A table that int8 results go through: they are quantized to `grid`, and q becomes the byte table[q + 128], which
    is what y holds. So a function that followed the op is part of it."""

    grid: PerTensor
    table: bytes


class Quantized(NamedTuple):
    """How float32 becomes int8: to `grid`, with the fields of Quantize."""

    grid: PerTensor
    low: int = -128
    high: int = 127
    divides: bool = False


class Edges(NamedTuple):
    """What an op on int8 has in float32. It quantizes operands as it reads them: `quantizes` is in the order of
    `Op.reads`, and has None, or ends, where they are taken as they are. It dequantizes its result from `dequantizes`.
    So the op computes the bytes that it would with a Quantize before it and a Dequantize after it."""

    quantizes: tuple[Quantized | None, ...] = ()
    dequantizes: PerTensor | None = None

    def quantized(self, place: int) -> Quantized | None:
        """How the operand at a place is quantized."""
        return self.quantizes[place] if place < len(self.quantizes) else None

    def read(self, place: int, tensor: Tensor) -> Tensor:
        """What the op computes with for an operand."""
        by = self.quantized(place)
        return Tensor(tensor.shape, "int8", None, by.grid) if by else tensor

    def made(self, tensor: Tensor) -> Tensor:
        """The result as the op has it before it dequantizes it."""
        return Tensor(tensor.shape, "int8", None, self.dequantizes) if self.dequantizes else tensor


_NONE = Edges()


def edges_of(op: Op) -> Edges:
    """The edges of any op."""
    edges: Edges = op.__dict__.get("edges", _NONE)
    return edges
