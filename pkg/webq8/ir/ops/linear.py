"""Products with constant weights."""

from typing import Literal, NamedTuple

from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.rules import check_terms
from webq8.ir.types import BadArg, MaybeRef, PerTensor, Ref, Tensor

__all__ = ["INT8", "Activation", "Linear", "Through"]

Activation = Literal["none", "relu"]
INT8 = (-128, 127)


class Through(NamedTuple):
    """A table that int8 results go through: they are quantized to `grid`, and q becomes the byte table[q + 128], which
    is what y holds. So a function that followed the op is part of it."""

    grid: PerTensor
    table: bytes


class Linear(Op):
    """y[…, n] = activation(Σ_k x[…, k] · weight[n, k] + bias[n]): x [*B, K], weight [N, K], bias float32 [N].

    weight is int8, a scale a channel. Where x is int8 as well, sums are exact in int32; where y is int8, its values are
    kept within `bounds` once they are quantized, and then go `through` a table if there is one.
    """

    CONSTANTS = frozenset(("weight", "bias"))
    FUSES_BOUNDS = True
    x: Ref
    weight: Ref
    bias: MaybeRef
    activation: Activation = "none"
    bounds: tuple[int, int] = INT8
    through: Through | None = None

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, weight = types[self.x], types[self.weight]
        if not x.shape or weight.shape[1:] != x.shape[-1:]:
            raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
        if x.dtype == "int8":
            check_terms(x.shape[-1])
        return (Tensor((*x.shape[:-1], weight.shape[0]), "float32"),)
