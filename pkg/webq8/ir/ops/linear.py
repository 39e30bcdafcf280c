"""Products with constant weights."""

from typing import Literal

from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.rules import check_terms
from webq8.ir.types import BadArg, MaybeRef, Ref, Tensor

__all__ = ["INT8", "Activation", "Linear"]

Activation = Literal["none", "relu"]
INT8 = (-128, 127)


class Linear(Op):
    """y[…, n] = activation(Σ_k x[…, k] · weight[n, k] + bias[n]): x [*B, K], weight [N, K], bias float32 [N].

    weight is int8, a scale a channel. Where x is int8 as well, sums are exact in int32; where y is int8, its values are
    kept within `bounds` once they are quantized.
    """

    CONSTANTS = frozenset(("weight", "bias"))
    FUSES_BOUNDS = True
    x: Ref
    weight: Ref
    bias: MaybeRef
    activation: Activation = "none"
    bounds: tuple[int, int] = INT8

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, weight = types[self.x], types[self.weight]
        if not x.shape or weight.shape[1:] != x.shape[-1:]:
            raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
        if x.dtype == "int8":
            check_terms(x.shape[-1])
        return (Tensor((*x.shape[:-1], weight.shape[0]), "float32"),)
