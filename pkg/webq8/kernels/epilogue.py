"""What ends every sum of int8 products: scales, bias, activation and requantization."""

import struct
from array import array
from typing import NamedTuple

from webq8.dtypes import round_up
from webq8.ir.ops.conv import Conv2d
from webq8.ir.ops.linear import Linear
from webq8.ir.plan import Const, Param
from webq8.ir.types import PerChannel, PerTensor, f32
from webq8.kernels.edges import edges
from webq8.kernels.numbers import Numbers
from webq8.kernels.registry import Operand
from webq8.target import Target

__all__ = ["Products", "per_channel"]

_NOTHING: dict[str, Param] = dict.fromkeys(
    ("x_zero_point", "x_scale", "inv_y_scale", "y_zero_point", "activation_min", "y_min", "y_max", "table"), 0
)
_LOWEST = -struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


class Products(NamedTuple):
    """The tensors of an int8 linear layer or convolution, and the op: y = requantize(Σ x · weight), with a scale and a
    bias for each channel, an activation, bounds of the int8 results, and a table that these go through. With the
    `numbers` of x, which the kernel binds, y is float32: Σ x · weight, with the scales and the bias."""

    x: Operand
    weight: Operand
    bias: Operand | None
    y: Operand
    op: Linear | Conv2d
    target: Target
    numbers: Numbers | None = None

    def kernel(self, name: str) -> str:
        """The kernel of this name, for these results."""
        return f"{name}_dynamic" if self.numbers else name

    def bind(self) -> dict[str, int | Const]:
        """What all kernels of matrix products bind but weights and their sums."""
        bound: dict[str, int | Const] = {"x": self.x.id, "channel": self.channel(), "y": self.y.id}
        if self.numbers:
            bound |= {"x_scales": self.numbers.scales, "x_zero_points": self.numbers.zero_points}
        return bound

    @property
    def y_stride(self) -> int:
        """From a row of y to the next, in words."""
        return self.y.shape[-1] if self.numbers else self.y.layout.padded // 4

    def epilogue(self) -> dict[str, Param]:
        """The struct Epilogue of wgsl/parts/epilogue.wgsl. Without an activation it clamps at the lowest float32."""
        if self.numbers:
            return _NOTHING
        op, grid = self.op, self._grid
        return {
            "x_zero_point": self.x.zero_point,
            "x_scale": f32(self.x.scale),
            "inv_y_scale": f32(1.0 / grid.scale),
            "y_zero_point": grid.zero_point,
            "activation_min": 0.0 if op.activation == "relu" else _LOWEST,
            "y_min": op.bounds[0],
            "y_max": op.bounds[1],
            "table": self._room // 2,
        }

    def params(self, reads: bool = False) -> dict[str, Param]:
        """What all kernels of products have of Params; some quantize float32 as they read it."""
        return {"epilogue": self.epilogue(), **edges(self.y, self.x if reads else None)[0]}

    def overrides(self) -> dict[str, bool | int]:
        """Of the epilogue, and of what is read and written."""
        if self.numbers:
            return {
                "scale_words": self.numbers.params["scale_stride"] if self.numbers.by_channel else 0,
                "zero_point_words": self.numbers.params["zero_point_stride"] if self.numbers.by_channel else 0,
                "wide_scales": self.numbers.wide_scales,
            }
        chosen = {"through_table": self.op.through is not None, "integer_bias": self._integer_bias}
        return {**{name: True for name, value in chosen.items() if value}, **edges(self.y, self.x)[1]}

    def channel(self) -> Const:
        """What kernels bind as `channel`: scales and biases, then the table if there is one."""
        scales = _scales(self.weight)
        if self._integer_bias:
            x, y = f32(self.x.scale), f32(self._grid.scale)
            scales = array("f", (f32(f32(x * scale) / y) for scale in scales))
        channels = _interleaved(scales, self.bias, self._room)
        return Const(channels + self.op.through.table if self.op.through else channels)

    @property
    def _grid(self) -> PerTensor:
        """What results are quantized to, before they go through a table."""
        return self.op.through.grid if self.op.through else PerTensor(self.y.scale, self.y.zero_point)

    @property
    def _integer_bias(self) -> bool:
        return self.bias is not None and self.bias.dtype == "int32"

    @property
    def _room(self) -> int:
        """For how many channels there are scales: those that y has in its layout."""
        return round_up(self.y.shape[-1], 4) if self.numbers else self.y.layout.padded


def per_channel(weight: Operand, bias: Operand | None, padded: int) -> Const:
    """For each word of four channels their scales, then their biases, which are zero without `bias`; for `padded`
    channels, of which the last may be too many."""
    return Const(_interleaved(_scales(weight), bias, padded))


def _scales(weight: Operand) -> "array[float]":
    assert isinstance(weight.quantization, PerChannel), "kernels are chosen by quantization"
    return array("f", weight.quantization.scales[: 4 * weight.shape[0]])


def _interleaved(scales: "array[float]", bias: Operand | None, padded: int) -> bytes:
    out = array("I", bytes(8 * padded))
    for at, data in enumerate((scales.tobytes(), bias.data if bias else b"")):
        row = array("I", bytes(data[: 4 * len(scales)]))
        for lane in range(4):
            values = row[lane::4]
            out[4 * at + lane : 8 * len(values) : 8] = values
    return out.tobytes()
