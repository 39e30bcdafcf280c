"""Products with constant weights."""

from typing import Literal

from webq8.dtypes import cast, numel
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.edges import Edges, Through
from webq8.ir.ops.rules import check_terms
from webq8.ir.types import BadArg, Dynamic, MaybeRef, PerChannel, Ref, Tensor

__all__ = ["INT8", "Activation", "Linear", "check_sums"]

Activation = Literal["none", "relu"]
INT8 = (-128, 127)


def check_sums(weight: Tensor, bias: Tensor | None, activation: Activation) -> None:
    """Raises BadArg where sums of int8 times weights, whose channels come first, could overflow int32, with a bias of
    integers that is added to them; and for such a bias that is not one number a channel, or stands beside an
    activation."""
    by = weight.quantization
    # less their zero points, weights are twice as large
    terms = numel(weight.shape[1:]) * (2 if isinstance(by, PerChannel) and any(by.zero_points) else 1)
    if bias is None or bias.dtype != "int32":
        check_terms(terms)
        return
    if bias.shape != weight.shape[:1] or bias.data is None or activation != "none":
        text = f"an int32 bias {list(bias.shape)} for {weight.shape[0]} channels, with the activation {activation!r}"
        raise BadArg(f'{text}: one constant a channel and "none" are expected')
    check_terms(terms, max(map(abs, cast(bias.data, "int32")), default=0))


class Linear(Op):
    """y[…, n] = activation(Σ_k x[…, k] · weight[n, k] + bias[n]): x [*B, K], weight [N, K], bias float32 [N].

    weight is int8, a scale and a zero point a channel. Where x is int8 as well, sums are exact in int32; where y is
    int8, its values are kept within `bounds` once they are quantized, and then go `through` a table if there is one.

    From int8 to int8 the bias may be int32, in units of x's scale times the weight's, as TFLite and ONNX have it: then
    y = round((Σ_k … + bias[n]) · (x's scale · weight's scale[n] / y's scale)), the factor rounded to float32 after each
    step, as XNNPACK computes it; without an activation but `bounds`.

    x may be int8 by numbers that the run computes (Dynamic), one for all or one for each row, which `x_scale` and
    `x_zero_point` name as well. Then y is float32.
    """

    CONSTANTS = frozenset(("weight", "bias"))
    FUSES_BOUNDS = True
    x: Ref
    weight: Ref
    bias: MaybeRef
    activation: Activation = "none"
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()
    x_scale: MaybeRef = None
    x_zero_point: MaybeRef = None

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, weight = self.edges.read(0, types[self.x]), types[self.weight]
        if isinstance(x.quantization, Dynamic):
            self._check_numbers(types, x)
        if not x.shape or weight.shape[1:] != x.shape[-1:]:
            raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
        if x.dtype == "int8":
            bias = None if self.bias is None else types[self.bias]
            check_sums(weight, bias, self.activation)
        return (Tensor((*x.shape[:-1], weight.shape[0]), "float32"),)

    def _check_numbers(self, types: Types, x: Tensor) -> None:
        """Raises BadArg where the numbers of x are not for all of it, or one for each row."""
        numbers = [types[ref] for ref in (self.x_scale, self.x_zero_point) if ref is not None]
        rows = 1 if isinstance(x.quantization, Dynamic) and x.quantization.axis is None else numel(x.shape[:-1])
        if len(numbers) < 2 or any(numel(t.shape) != rows for t in numbers):
            shapes = ", ".join(str(list(t.shape)) for t in numbers)
            raise BadArg(f"numbers {shapes} for x {list(x.shape)}: a scale and a zero point, or one of each a row")
