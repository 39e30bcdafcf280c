"""What ends every sum of int8 products: scales, bias, activation and requantization."""

import struct
from array import array
from typing import NamedTuple

from webq8.dtypes import round_up
from webq8.ir.ops.linear import Activation
from webq8.ir.plan import Const, Param
from webq8.ir.types import PerChannel, f32
from webq8.kernels.registry import Operand
from webq8.target import Target

__all__ = ["Products", "per_channel"]

_LOWEST = -struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


class Products(NamedTuple):
    """The tensors and options of an int8 linear layer or convolution: y = requantize(Σ x · weight), with a scale and a
    bias for each channel, an activation, and bounds of the int8 results."""

    x: Operand
    weight: Operand
    bias: Operand | None
    y: Operand
    activation: Activation
    bounds: tuple[int, int]
    target: Target

    def epilogue(self) -> dict[str, Param]:
        """The struct Epilogue of wgsl/parts/epilogue.wgsl. Without an activation it clamps at the lowest float32."""
        return {
            "x_zero_point": self.x.zero_point,
            "x_scale": f32(self.x.scale),
            "inv_y_scale": f32(1.0 / self.y.scale),
            "y_zero_point": self.y.zero_point,
            "activation_min": 0.0 if self.activation == "relu" else _LOWEST,
            "y_min": self.bounds[0],
            "y_max": self.bounds[1],
        }

    def channel(self, channels: int, padded: int = 0) -> Const:
        """What kernels bind as `channel`: scales and biases."""
        return per_channel(self.weight, self.bias, channels, padded)


def per_channel(weight: Operand, bias: Operand | None, channels: int, padded: int = 0) -> Const:
    """For each word of four channels their scales, then their biases, which are zero without `bias`.

    `padded`: for how many channels there is room, if more than `channels`.
    """
    assert isinstance(weight.quantization, PerChannel), "kernels are chosen by quantization"
    padded = max(padded, round_up(channels, 4))
    out = array("f", bytes(8 * padded))
    for at, data in enumerate((weight.quantization.scales, bias.data if bias else b"")):
        row = array("f", bytes(data[: 4 * channels]))
        for lane in range(4):
            values = row[lane::4]
            out[4 * at + lane : 8 * len(values) : 8] = values
    return Const(out.tobytes())
