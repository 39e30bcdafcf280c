"""Quantizing to integers and dequantizing them, with one scale a tensor or a channel; and choosing scales."""

import struct
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.edges import Quantized
from webq8.ir.ops.quantize import RANGES, ChooseQparams, Dequantize, Quantize, Requantize
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import Dynamic, MaybeRef, PerTensor, Tensor, f32
from webq8.kernels.edges import quantizing
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Call, Operand, kernel
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


class _Numbers(NamedTuple):
    """Scales and zero points, one of each or one for each channel, as kernels by channel bind them."""

    scales: int | Const
    zero_points: int | Const
    params: dict[str, int]  # the struct ByChannel of wgsl/parts/channels.wgsl
    wide_scales: bool  # float64
    by_channel: bool


def _numbers(integers: Operand, scale: MaybeRef, zero_point: MaybeRef, call: Call) -> _Numbers:
    quantization, shape = integers.quantization, integers.shape
    assert quantization is not None, "kernels are chosen by quantization"
    axis = None if isinstance(quantization, PerTensor) else quantization.axis
    size, inner = (1, 1) if axis is None else (shape[axis], numel(shape[axis + 1 :]))
    params = {"channels": max(size, 1), "inner": max(inner, 1)}
    if isinstance(quantization, Dynamic):
        assert scale is not None, "an op reads what its quantization names"
        assert zero_point is not None, "an op reads what its quantization names"
        scales, zeros = call[scale], call[zero_point]
        params |= {"scale_stride": _words(scales), "zero_point_stride": _words(zeros)}
        return _Numbers(scales.id, zeros.id, params, scales.dtype == "float64", axis is not None)
    if isinstance(quantization, PerTensor):
        params |= {"scale_stride": 0, "zero_point_stride": 0}
        one, zero = Const(struct.pack("<f", quantization.scale)), Const(struct.pack("<i", quantization.zero_point))
        return _Numbers(one, zero, params, False, False)
    params |= {"scale_stride": 1, "zero_point_stride": 1 if quantization.zero_points else 0}
    zero_points = Const(quantization.zero_points or bytes(4))
    return _Numbers(Const(quantization.scales), zero_points, params, False, True)


def _words(numbers: Operand) -> int:
    """Words from the scale or zero point of a channel to that of the next."""
    return ITEMSIZE[numbers.dtype] // 4


def _quantize_channels(op: Quantize, call: Call) -> Dispatch:
    """Into any dtype; a constant scale is handed over as its reciprocal."""
    x, y = call[op.x], call.out
    numbers = _numbers(y, op.scale, op.zero_point, call)
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
    numbers = _numbers(x, op.scale, op.zero_point, call)
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
            "wide_scale": _words(scales) == 2,
            "wide_zero_point": _words(zero_points) == 2,
            "nearest": op.nearest,
        },
    )
