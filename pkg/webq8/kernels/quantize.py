"""Quantizing to integers and dequantizing them, with one scale a tensor or a channel; and choosing scales."""

import struct
from array import array
from collections.abc import Iterator, Sequence

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.edges import Quantized
from webq8.ir.ops.quantize import RANGES, ChooseQparams, Dequantize, Quantize, Requantize
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import PerTensor, Tensor, f32
from webq8.kernels.edges import quantizing
from webq8.kernels.layouts import words_params
from webq8.kernels.numbers import numbers_of, words_of
from webq8.kernels.registry import Call, kernel
from webq8.plan.layout import LayoutName

_ROW_THREADS = 64  # of wgsl/choose_qparams.wgsl, a workgroup

__all__: list[str] = []


def _layout(integers: Tensor) -> LayoutName | None:
    """Row-major order for scales by channel: their kernels find the channel of an element by its number."""
    return None if isinstance(integers.quantization, PerTensor) else "plain"


def _of_result(op: Quantize, reads: Sequence[Tensor], results: Sequence[Tensor]) -> LayoutName | None:
    return _layout(results[0])


def _of_operand(op: Dequantize, reads: Sequence[Tensor], results: Sequence[Tensor]) -> LayoutName | None:
    return _layout(reads[0])


@kernel(Quantize, layout=_of_result)
def quantize(op: Quantize, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    if y.dtype != "int8" or not isinstance(y.quantization, PerTensor):
        yield _quantize_channels(op, call)
        return
    numbers = numel(x.shape)
    bind = {"x": x.id, "y": y.id}
    params: dict[str, Param] = {"by": quantizing(Quantized(y.per_tensor, op.low, op.high, op.divides))}
    constants = {"divides": True} if op.divides else {}
    if y.layout.plain and numbers % 16 == 0:
        yield Dispatch("quantize_flat", bind, {"groups": numbers // 16, **params}, numbers // 16, constants)
    else:
        yield Dispatch("quantize", bind, {"tensor": words_params(y.layout), **params}, y.layout.words, constants)


@kernel(Dequantize, layout=_of_operand)
def dequantize(op: Dequantize, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    if x.dtype != "int8" or not isinstance(x.quantization, PerTensor):
        yield _dequantize_channels(op, call)
        return
    numbers = numel(x.shape)
    bind = {"x": x.id, "y": y.id}
    params = {"scale": f32(x.scale), "zero_point": x.zero_point}
    if x.layout.plain and numbers % 4 == 0:
        yield Dispatch("dequantize_flat", bind, {"words": numbers // 4, **params}, threads=cdiv(numbers, 8))
    else:
        yield Dispatch("dequantize", bind, {"tensor": words_params(x.layout), **params}, threads=x.layout.words)


@kernel(Requantize, layout="plain")
def requantize(op: Requantize, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    count, size = numel(x.shape), ITEMSIZE[y.dtype]
    yield Dispatch(
        "requantize",
        {"x": x.id, "table": Const(array("i", op.numbers).tobytes()), "y": y.id},
        {"count": count, "x_least": RANGES[x.dtype][0], "y_least": RANGES[y.dtype][0]},
        threads=cdiv(count * size, 4),
        constants={"x_size": ITEMSIZE[x.dtype], "y_size": size},
    )


# --- any dtype, and numbers of channels


def _quantize_channels(op: Quantize, call: Call) -> Dispatch:
    """Into any dtype; a constant scale is handed over as its reciprocal."""
    x, y = call[op.x], call.out
    numbers = numbers_of(y, op.scale, op.zero_point, call)
    scales, one = numbers.scales, isinstance(y.quantization, PerTensor) and not op.divides
    if one:
        scales = Const(struct.pack("<f", f32(1.0 / y.scale)))
    return Dispatch(
        "quantize_channels",
        {"x": x.id, "scales": scales, "zero_points": numbers.zero_points, "y": y.id},
        {"count": numel(x.shape), "qmin": op.low, "qmax": op.high, "by_channel": numbers.params},
        threads=cdiv(numel(x.shape) * ITEMSIZE[y.dtype], 4),
        constants={
            "size": ITEMSIZE[y.dtype],
            "wide_scales": numbers.wide_scales,
            "reciprocals": one,
            "divides": op.divides,
        },
    )


def _dequantize_channels(op: Dequantize, call: Call) -> Dispatch:
    """From any dtype."""
    x, y = call[op.x], call.out
    numbers = numbers_of(x, op.scale, op.zero_point, call)
    return Dispatch(
        "dequantize_channels",
        {"x": x.id, "scales": numbers.scales, "zero_points": numbers.zero_points, "y": y.id},
        {"count": numel(x.shape), "by_channel": numbers.params},
        threads=numel(x.shape),
        constants={
            "size": ITEMSIZE[x.dtype],
            "is_signed": not x.dtype.startswith("u"),
            "wide_scales": numbers.wide_scales,
            "converts_first": not numbers.by_channel,
        },
    )


@kernel(ChooseQparams)
def choose_qparams(op: ChooseQparams, call: Call) -> Iterator[Dispatch]:
    x, (scales, zero_points) = call[op.x], call.outs
    rows = numel(scales.shape)
    bounds = {"qmin": op.low, "qmax": op.high, "steps": op.high - op.low, "eps": f32(op.eps)}
    yield Dispatch(
        "choose_qparams",
        {"x": x.id, "scales": scales.id, "zero_points": zero_points.id},
        {"rows": rows, "length": numel(x.shape) // max(rows, 1), **bounds},
        threads=rows * _ROW_THREADS,
        constants={
            "wide_scale": words_of(scales) == 2,
            "wide_zero_point": words_of(zero_points) == 2,
            "nearest": op.nearest,
        },
    )
