"""Ops that make tensors of numbers, and conversions of dtype."""

import math
import struct

from webq8.dtypes import FORMAT, ITEMSIZE
from webq8.errors import LimitError
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.rules import check_broadcast, check_rank
from webq8.ir.types import BadArg, Ref, Shape, Tensor

__all__ = ["Cast", "Fill", "Sequence", "element_bytes"]

_MOST_BYTES = 2**27  # of a sequence: what every device of WebGPU binds


def element_bytes(value: float, dtype: str, what: str) -> bytes:
    """Eight bytes of elements that hold a value, converted as torch does. Raises BadArg, which calls the value `what`,
    where the dtype has no such number."""
    if dtype == "bool":
        return bytes([value != 0]) * 8
    if dtype == "float32":
        try:
            return struct.pack("<f", value) * 2
        except OverflowError:
            return struct.pack("<f", math.copysign(math.inf, value)) * 2
    try:
        return struct.pack(f"<{FORMAT[dtype]}", int(value)) * (8 // ITEMSIZE[dtype])
    except (struct.error, ValueError, OverflowError):
        raise BadArg(f"{what} = {value} does not fit {dtype}") from None


class Fill(Op):
    """A tensor that holds a value everywhere."""

    shape: Shape
    dtype: str
    value: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        if min(self.shape, default=0) < 0:
            raise BadArg(f"size {list(self.shape)} has a negative size")
        element_bytes(self.value, self.dtype, "fill_value")
        return (Tensor(check_rank(self.shape), self.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class Sequence(Op):
    """`count` numbers start, start + step, start + 2 · step, …: integers of 64 bits, converted to a dtype."""

    start: int
    step: int
    count: int
    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        most = _MOST_BYTES // ITEMSIZE[self.dtype]
        if self.count > most:
            raise BadArg(f"{self.count:.4g} elements; at most {most:,} are supported here", LimitError)
        for n in (0, self.count - 1) if self.count else ():
            element_bytes(self.start + n * self.step, self.dtype, "an element")
        return (Tensor((self.count,), self.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class Cast(Op):
    """x in another dtype, broadcast to a shape. An int8 x is of plain integers.

    Fractions are cut off towards zero; what a smaller integer cannot hold wraps around; what int64 cannot hold of a
    float gives no useful integer.
    """

    x: Ref
    dtype: str
    shape: Shape

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        check_broadcast(types[self.x].shape, self.shape)
        return (Tensor(check_rank(self.shape), self.dtype),)

    def exact(self, types: Types) -> bool:
        return True
