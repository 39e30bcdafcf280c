"""What all int8 ops with an accumulator share: scales, bias, activation and requantization of their results."""

import struct
from array import array

from webq8.dtypes import round_up
from webq8.handlers.registry import Args, Operand, f32
from webq8.ir import Const

__all__ = ["epilogue_params", "per_channel"]

_LOWEST = -struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def epilogue_params(a: Args) -> dict[str, int | float]:
    """Params of `requantize` in wgsl/prelude.wgsl. No activation is a maximum with the lowest float32."""
    return {
        "x_zero_point": a.x_zero_point,
        "x_scale": f32(a.x_scale),
        "inv_y_scale": f32(1.0 / a.y_scale),
        "y_zero_point": a.y_zero_point,
        "activation_min": 0.0 if a.activation == "relu" else _LOWEST,
        "y_min": a.clamp[0],
        "y_max": a.clamp[1],
    }


def per_channel(scales: Operand, bias: Operand | None, channels: int, padded: int = 0) -> Const:
    """Four scales, then the same channels' four biases (zero without), for each word of four channels.

    Both may be longer than `channels` in the file: the rest is padding. `padded`: channels to make room for.
    """
    padded = max(padded, round_up(channels, 4))
    rows = []
    for operand in (scales, bias):
        row = array("f", operand.data[: 4 * channels].cast("f") if operand and channels else ())
        rows.append(row + array("f", [0.0] * (padded - channels if len(row) else padded)))
    out = array("f")
    for start in range(0, padded, 4):
        out += rows[0][start : start + 4] + rows[1][start : start + 4]
    return Const(out.tobytes())
