"""What all int8 ops with an accumulator share: scales, bias, activation and requantization of their results."""

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
    """What a sum of products is made of, whatever gathers them: y = requantize(Σ x · weight), with a scale and a bias a
    channel, an activation, and bounds of the int8 results."""

    x: Operand
    weight: Operand
    bias: Operand | None
    y: Operand
    activation: Activation
    bounds: tuple[int, int]
    target: Target

    def epilogue(self) -> dict[str, Param]:
        """Params of `requantize` in wgsl/prelude.wgsl. No activation is a maximum with the lowest float32."""
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
        return per_channel(self.weight, self.bias, channels, padded)


def per_channel(weight: Operand, bias: Operand | None, channels: int, padded: int = 0) -> Const:
    """Four scales, then the same channels' four biases (zero without), for each word of four channels.

    `padded`: channels to make room for.
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
