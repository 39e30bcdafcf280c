"""Convolutions of maps."""

import math
from collections.abc import Sequence

from webq8.errors import Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.edges import Edges, Through
from webq8.ir.ops.linear import INT8, Activation, check_sums
from webq8.ir.types import BadArg, MaybeRef, Ref, Tensor

__all__ = ["Conv2d", "Convolution", "spatial_axes"]

Pair = tuple[int, int]  # height, width


class _Windows(Op):
    """What all convolutions have: y[oc, oh, ow] = Σ x[ic, ih, iw] · weight[oc, ic, kh, kw] + bias[oc], over all taps
    (kh, kw) and the channels ic of oc's group, with ih = oh·stride + kh·dilation − padding, columns alike; outside of
    the map x is zero.

    `transposed` ones let each element of x add to those of y that such a convolution would compute it of: ih = (oh +
    padding − kh·dilation) / stride, where that is a whole number within the map. All sizes are in elements.
    """

    x: Ref
    weight: Ref
    bias: MaybeRef
    stride: Pair = (1, 1)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)  # top, left, bottom, right
    dilation: Pair = (1, 1)
    groups: int = 1
    transposed: bool = False
    output_padding: Pair = (0, 0)  # rows and columns that transposed ones have more at the bottom and right

    def sizes(self, size: Sequence[int], kernel: Sequence[int]) -> Pair:
        """Height and width of y, by the formulas in the documentation of `torch.nn.Conv2d` and `ConvTranspose2d`."""
        around = self.padding[0] + self.padding[2], self.padding[1] + self.padding[3]
        reach = tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, kernel, strict=True))
        axes = zip(size, self.stride, around, reach, self.output_padding, strict=True)
        if self.transposed:
            height, width = ((x - 1) * step - pad + taps + extra for x, step, pad, taps, extra in axes)
            if min(height, width) < 0:
                raise BadArg(f"padding {self.padding} leaves a negative output size")
        else:
            height, width = ((x + pad - taps) // step + 1 for x, step, pad, taps, _ in axes)
            if min(height, width) < 1:
                raise BadArg(
                    f"a kernel that reaches {reach} on a map of {tuple(size)} with padding {self.padding} leaves an "
                    f"output of {(height, width)}"
                )
        if min(kernel) < 1:
            raise BadArg(f"a kernel of {tuple(kernel)} has no taps")
        return height, width


class Conv2d(_Windows):
    """A convolution with int8 weights: x int8 [N, IC, H, W], weight [OC, Kh, Kw, IC/groups] with a scale and a zero
    point a channel oc, bias float32 [OC].

    Outside of the map x is its zero point. Sums are exact in int32; activation(Σ …) is quantized, kept within `bounds`,
    and goes `through` a table if there is one. The bias may be int32, as that of a Linear.
    """

    CONSTANTS = frozenset(("weight", "bias"))
    FUSES_BOUNDS = True
    activation: Activation = "none"
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, weight = types[self.x].shape, types[self.weight].shape
        if len(x) != 4 or len(weight) != 4:
            raise BadArg(f"x {list(x)}, weight {list(weight)}: four dimensions each expected")
        (n, ic, *size), (oc, *kernel, depth) = x, weight
        out = self.sizes(size, kernel)
        if not ic or ic % self.groups or oc % self.groups:
            raise BadArg(f"groups = {self.groups} does not divide {ic} input and {oc} output channels")
        if depth * self.groups != ic:
            raise BadArg(f"weight {list(weight)} does not fit {ic} input channels in {self.groups} groups")
        bias = None if self.bias is None else types[self.bias]
        check_sums(types[self.weight], bias, self.activation)
        return (Tensor((n, oc, *out), "float32"),)


class Convolution(_Windows):
    """A convolution in float32: x [N, IC, H, W] or [N, IC, W], a map of height one; weight [OC, IC/groups, Kh, Kw],
    transposed [IC, OC/groups, Kh, Kw], or without Kh; bias [OC]. Results are clamped to low … high: high, where low is
    above it.
    """

    low: float = -math.inf
    high: float = math.inf

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, weight = types[self.x].shape, types[self.weight].shape
        axes = spatial_axes(x, weight)
        flat = (1,) * (2 - axes)
        ic, oc = weight[:2] if self.transposed else (weight[1] * self.groups, weight[0])
        oc *= self.groups if self.transposed else 1
        if x[1] != ic or ic % self.groups or oc % self.groups:
            raise BadArg(f"weight {list(weight)} does not fit {x[1]} input channels in {self.groups} groups")
        if self.bias is not None and types[self.bias].shape != (oc,):
            raise BadArg(f"bias {list(types[self.bias].shape)} does not fit {oc} output channels")
        out = self.sizes((*flat, *x[2:]), (*flat, *weight[2:]))
        return (Tensor((x[0], oc, *out[2 - axes :]), "float32"),)


def spatial_axes(x: Sequence[int], weight: Sequence[int]) -> int:
    """How many axes the maps of a Convolution have; raises BadArg where it cannot be of these shapes."""
    if len(x) not in (3, 4) or len(weight) != len(x):
        text = f"x {list(x)}, weight {list(weight)}: convolutions in one and two dimensions are supported"
        raise BadArg(text, Unsupported)
    return len(x) - 2
