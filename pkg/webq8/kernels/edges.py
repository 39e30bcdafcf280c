"""What kernels on int8 are told of float32 that they quantize as they read it, or dequantize as they write it."""

from collections.abc import Mapping

from webq8.ir.ops.edges import Quantized
from webq8.ir.plan import Param
from webq8.ir.types import f32
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Operand

__all__ = ["edges", "quantizing"]

_WORDS = dict.fromkeys(("words", "channels", "inner", "channel_words"), 0)
_NOT_WRITTEN: Mapping[str, Param] = {"scale": 0.0, "zero_point": 0, "tensor": _WORDS}


def quantizing(by: Quantized | None) -> dict[str, Param]:
    """The struct Quantizing of wgsl/parts/quantized.wgsl."""
    if by is None:
        return _NOTHING
    scale, zero_point = by.grid.scale, by.grid.zero_point
    numbers: dict[str, Param] = {"scale": f32(scale), "inv_scale": f32(1.0 / scale), "zero_point": zero_point}
    return numbers | {"low": by.low, "high": by.high}


_NOTHING: dict[str, Param] = dict.fromkeys(("scale", "inv_scale", "zero_point", "low", "high"), 0)


def edges(y: Operand, x: Operand | None = None) -> tuple[dict[str, Param], dict[str, bool]]:
    """The structs Written of wgsl/parts/written.wgsl and, for kernels that read by it, Read of
    wgsl/parts/steps_of_x.wgsl; and the overrides of both."""
    params: dict[str, Param] = {"written": _NOT_WRITTEN}
    overrides = {}
    if y.edge:
        overrides["dequantizes"] = True
        params["written"] = {"scale": f32(y.scale), "zero_point": y.zero_point, "tensor": words_params(y.layout)}
    if x is not None:
        params["read"] = {"tensor": words_params(x.layout) if x.edge else _WORDS, "by": quantizing(x.edge)}
        chosen = {"quantizes": x.edge is not None, "divides": x.edge is not None and x.edge.divides}
        overrides |= {name: True for name, value in chosen.items() if value}
    return params, overrides
