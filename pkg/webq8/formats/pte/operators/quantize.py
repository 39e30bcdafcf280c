"""Quantizing and dequantizing: by numbers, by tensors of one element, and by channels."""

from array import array
from typing import Any

from webq8.dtypes import cast, numel
from webq8.errors import Unsupported
from webq8.formats.pte.model import EValue
from webq8.formats.pte.schema import (
    F32,
    SCALE,
    Argument,
    Choice,
    Int,
    Number,
    Scalar,
    TensorArg,
    TensorList,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.move import Reshape
from webq8.ir.ops.quantize import RANGES, ChooseQparams, Dequantize, Quantize, check_range
from webq8.ir.ops.rules import axis as checked_axis
from webq8.ir.types import BadArg, Dynamic, PerChannel, PerTensor, Ref, Shape, check_scale, f32

_DTYPES = tuple(RANGES)
_NUMBERS = dict(enumerate(("uint8", "int8", "int16", "int32")))  # torch's numbers of dtypes


class _Dtype(Scalar):
    """A dtype by torch's number or by name; null where the tensor has it."""

    def convert(self, value: EValue) -> str | None:
        name = value if isinstance(value, str) else _NUMBERS.get(value)  # type: ignore[arg-type]  # any key may miss
        if value is not None and name not in _DTYPES:
            allowed = ", ".join(f"{number} ({dtype})" for number, dtype in _NUMBERS.items())
            raise BadArg(f"{value!r} is not supported; one of {allowed} is", Unsupported)
        return name


class _Bound(Int):
    """An integer; null for what the dtype can hold."""

    def convert(self, value: EValue) -> int | None:
        return None if value is None else super().convert(value)


_DTYPE = _Dtype(default=None)
_BOUND = _Bound(default=None)
_FLOAT32 = Choice((None, 6), default=None)
_FLOATS = F32("*S")
_CODES, _RESULT = TensorArg(_DTYPES, "*S"), TensorArg(_DTYPES, "*S", like="dtype")


def _quantize(
    x: Argument, dtype: str, qmin: int | None, qmax: int | None, scale: Ref | None = None, zero_point: Ref | None = None
) -> Quantize:
    lowest, highest = RANGES[dtype]
    low, high = lowest if qmin is None else qmin, highest if qmax is None else qmax
    return Quantize(x.ref, dtype, low, high, scale, zero_point)


def _check_codes(x: Argument, qmin: int | None, qmax: int | None, dtype: str | None) -> None:
    """Raises BadArg where a call that dequantizes states a dtype or bounds that do not fit the integers it reads."""
    if dtype not in (None, x.dtype):
        raise BadArg(f"dtype: {dtype} is not that of the tensor, {x.dtype}")
    for name, bound in (("qmin", qmin), ("qmax", qmax)):
        if bound is not None:
            check_range(name, bound, x.dtype)


def _result_dtype(g: Builder, dtype: str | None) -> str:
    declared = g.declared_dtype(dtype or _DTYPES[0])
    if dtype not in (None, declared):
        raise BadArg(f"dtype: {dtype} is not that of the tensor, {declared}")
    return declared


# --- one scale and zero point


@lowers(
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed::quantize_per_tensor.out",
    x=_FLOATS,
    scale=SCALE,
    zero_point=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_RESULT,
)
def quantize_per_tensor(
    g: Builder, x: Argument, scale: float, zero_point: int, qmin: int | None, qmax: int | None, dtype: str | None
) -> Ref:
    """q = clamp(round(x · 1/scale) + zero_point, qmin, qmax), half to even; NaN gives the zero point.

    The reciprocal is taken in double and rounded to float32, as torch's `quantize_per_tensor` does. dtype is that of
    q, int8 where it is null; qmin and qmax are its bounds, where they are null.
    """
    kind = _result_dtype(g, dtype)
    check_range("zero_point", zero_point, kind)
    return g.emit(_quantize(x, kind, qmin, qmax), PerTensor(scale, zero_point))


@lowers(
    "quantized_decomposed.dequantize_per_tensor.default",
    "quantized_decomposed::dequantize_per_tensor.out",
    x=_CODES,
    scale=SCALE,
    zero_point=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
)
def dequantize_per_tensor(
    g: Builder,
    x: Argument,
    scale: float,
    zero_point: int,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
    out_dtype: int | None,
) -> Ref:
    """y = float32(x − zero_point) · scale."""
    _check_codes(x, qmin, qmax, dtype)
    check_range("zero_point", zero_point, x.dtype)
    return g.emit(Dequantize(g.quantized(x.ref, PerTensor(scale, zero_point))))


# --- numbers in tensors: one for all elements, or one a channel

_SCALES = TensorArg(("float32",), "C", values="scales")
_ZERO_POINTS = TensorArg(("int64", "int32"), "C")
_SCALE_TENSOR = TensorArg(("float32", "float64"), "*T")
_ZERO_TENSOR = TensorArg(("int64", "int32"), "*Z")


def _check_zero_points(zero_points: Argument | None, dtype: str) -> None:
    if zero_points is not None and zero_points.values is not None:
        lowest, highest = RANGES[dtype]
        for i, value in enumerate(cast(zero_points.values, zero_points.dtype)):
            if not lowest <= value <= highest:
                raise BadArg(f"{zero_points.name}: element {i} is {value}, outside of {dtype}: {lowest}…{highest}")


def _single(scale: Argument, zero_point: Argument, dtype: str) -> PerTensor | Dynamic:
    """What two tensors of one element say: numbers, where they are constants."""
    for number in (scale, zero_point):
        if numel(number.shape) != 1:
            shape = list(number.shape)
            raise BadArg(f"{number.name}: one element is expected, {shape} has {numel(number.shape)}")
    if scale.values is not None:
        check_scale(cast(scale.values, scale.dtype)[0], "scale: ")
    _check_zero_points(zero_point, dtype)
    if scale.data is None or zero_point.data is None:
        return Dynamic(scale.ref, zero_point.ref)
    return PerTensor(cast(scale.data, scale.dtype)[0], cast(zero_point.data, zero_point.dtype)[0])


def _refs(quantization: PerTensor | PerChannel | Dynamic) -> tuple[Ref | None, Ref | None]:
    """The tensors from which an op reads scales and zero points."""
    return (quantization.scale, quantization.zero_point) if isinstance(quantization, Dynamic) else (None, None)


@lowers(
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed::quantize_per_tensor.Tensor_out",
    "quantized_decomposed::quantize_per_tensor.tensor_out",
    x=_FLOATS,
    scale=_SCALE_TENSOR,
    zero_point=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_RESULT,
)
def quantize_by_tensors(
    g: Builder,
    x: Argument,
    scale: Argument,
    zero_point: Argument,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
) -> Ref:
    """q = `quantize_per_tensor` by a scale and a zero point in tensors of one element, as dynamic quantization does."""
    kind = _result_dtype(g, dtype)
    quantization = _single(scale, zero_point, kind)
    return g.emit(_quantize(x, kind, qmin, qmax, *_refs(quantization)), quantization)


@lowers(
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed::dequantize_per_tensor.Tensor_out",
    "quantized_decomposed::dequantize_per_tensor.tensor_out",
    x=_CODES,
    scale=_SCALE_TENSOR,
    zero_point=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
)
def dequantize_by_tensors(
    g: Builder,
    x: Argument,
    scale: Argument,
    zero_point: Argument,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
    out_dtype: int | None,
) -> Ref:
    """y = `dequantize_per_tensor` with scale and zero point in tensors of one element."""
    _check_codes(x, qmin, qmax, dtype)
    quantization = _single(scale, zero_point, x.dtype)
    return g.emit(Dequantize(g.quantized(x.ref, quantization), *_refs(quantization)))


def _channel_axis(x: Argument, axis: int) -> int:
    if not x.shape:
        raise BadArg("x: a scalar has no channels")
    return checked_axis(axis, len(x.shape))


def _by_channel(
    g: Builder, scales: Argument, zero_points: Argument | None, axis: int, channels: int
) -> PerChannel | Dynamic:
    """What tensors with a number a channel, and maybe more, say: numbers, where they are constants."""
    if scales.data is None or (zero_points and zero_points.data is None):
        zeros = zero_points.ref if zero_points else g.constant(bytes(4 * channels), (channels,), "int32")
        return Dynamic(scales.ref, zeros, axis)
    numbers = b""
    if zero_points and zero_points.data is not None:
        numbers = array("i", cast(zero_points.data, zero_points.dtype)[:channels]).tobytes()
    return PerChannel(bytes(scales.data[: 4 * channels]), axis, numbers)


@lowers(
    "quantized_decomposed.quantize_per_channel.default",
    "quantized_decomposed::quantize_per_channel.out",
    x=_FLOATS,
    scales=_SCALES,
    zero_points=_ZERO_POINTS,
    axis=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_RESULT,
)
def quantize_per_channel(
    g: Builder,
    x: Argument,
    scales: Argument,
    zero_points: Argument,
    axis: int,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
) -> Ref:
    """q = `quantize_per_tensor` with a scale and a zero point for each index along `axis`."""
    at, kind = _channel_axis(x, axis), _result_dtype(g, dtype)
    channels = x.shape[at]
    if scales.shape != (channels,):
        raise BadArg(f"C = {channels} disagrees with C = {scales.shape[0]} of scales")
    _check_zero_points(zero_points, kind)
    quantization = _by_channel(g, scales, zero_points, at, channels)
    return g.emit(_quantize(x, kind, qmin, qmax, *_refs(quantization)), quantization)


@lowers(
    "quantized_decomposed.dequantize_per_channel.default",
    "quantized_decomposed::dequantize_per_channel.out",
    x=_CODES,
    scales=TensorArg(("float32", "float64"), "C+"),
    zero_points=TensorArg(("int64", "int32", "int8"), "C+", optional=True),
    axis=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
)
def dequantize_per_channel(
    g: Builder,
    x: Argument,
    scales: Argument,
    zero_points: Argument | None,
    axis: int,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
    out_dtype: int | None,
) -> Ref:
    """y = float32(x − zero_points[c]) · scales[c] for each index c along `axis`; no zero points are zeros.

    Of constants it is computed at load."""
    at = _channel_axis(x, axis)
    channels = x.shape[at]
    tensors = [t for t in (x, scales, zero_points) if t]
    constant = all(t.data is not None for t in tensors)
    for numbers, dtype_of_constants in ((scales, "float64"), (zero_points, "int8")):
        if numbers:
            numbers.check_size(0, channels, "C")
            if numbers.dtype == dtype_of_constants and not constant:
                raise BadArg(f"{numbers.name}: {numbers.dtype} is for constants only", Unsupported)
    _check_zero_points(zero_points, x.dtype)
    _check_codes(x, qmin, qmax, dtype)
    if constant:
        inner = numel(x.shape[at + 1 :])
        return g.constant(_dequantized(channels, inner, *map(_elements, tensors)), x.shape, "float32")
    quantization = _by_channel(g, scales, zero_points, at, channels)
    return g.emit(Dequantize(g.quantized(x.ref, quantization), *_refs(quantization)))


def _elements(constant: Argument) -> "memoryview[Any]":
    assert constant.data is not None, "the caller asks for constants"
    return cast(constant.data, constant.dtype)


def _dequantized(
    channels: int,
    inner: int,
    x: "memoryview[Any]",
    scales: "memoryview[Any]",
    zero_points: "memoryview[Any] | None" = None,
) -> bytes:
    """The float32 numbers that integers stand for; each channel has `inner` integers in a row."""
    zeros = bytes(channels) if zero_points is None else zero_points
    rounded = f32 if x.itemsize == 4 else int
    out = array("f")
    for run in range(len(x) // max(inner, 1)):
        scale, zero = scales[run % channels], zeros[run % channels]
        out.extend([rounded(v - zero) * scale for v in x[run * inner : (run + 1) * inner]])
    return out.tobytes()


# --- choosing scale and zero point

_CHOSEN = TensorList((TensorArg(("float64", "float32"), "*Q"), TensorArg(("int64", "int32"), "*Q")))


@lowers(
    "quantized_decomposed.choose_qparams.tensor",
    "quantized_decomposed::choose_qparams.Tensor_out",
    x=_FLOATS,
    qmin=Int(),
    qmax=Int(),
    eps=Number(default=2.0**-23),
    dtype=_DTYPE,
    out=_CHOSEN,
)
def choose_qparams(g: Builder, x: Argument, qmin: int, qmax: int, eps: float, dtype: str | None) -> tuple[Ref, ...]:
    """The scale, at least eps, and the zero point by which qmin…qmax hold all of x, and 0."""
    name = dtype or _DTYPES[0]
    lowest, highest = RANGES[name]
    if not lowest <= qmin < qmax <= highest:
        raise BadArg(f"qmin {qmin} and qmax {qmax} are no range of {name}: {lowest}…{highest}")
    return g.emit_all(ChooseQparams(x.ref, qmin, qmax, eps, *_dtypes_of_chosen(g)))


@lowers(
    "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
    "quantized_decomposed::choose_qparams_per_token_asymmetric.out",
    x=_FLOATS,
    dtype=_DTYPE,
    out=_CHOSEN,
)
def choose_qparams_per_token_asymmetric(g: Builder, x: Argument, dtype: str | None) -> tuple[Ref, ...]:
    """The scale, at least 2⁻²³, and the zero point by which int8 hold each row of x [*B, K], and 0; both [*B, 1].

    The zero point is that of the end of the range which is rounded less."""
    if dtype not in (None, "int8"):
        raise BadArg(f"dtype: {dtype} is not supported", Unsupported)
    return g.emit_all(ChooseQparams(x.ref, -128, 127, 2.0**-23, *_dtypes_of_chosen(g), by_row=True, nearest=True))


def _dtypes_of_chosen(g: Builder) -> tuple[str, str]:
    return g.declared_dtype("float64"), g.declared_dtype("int64", 1)


def _by_token(x: Argument, scales: Argument, zero_points: Argument) -> tuple[Shape, Dynamic]:
    """A number for each row: the shape with an axis that counts these, and the numbers along it."""
    lead = x.shape[:-1]
    rows = numel(lead)
    for numbers in (scales, zero_points):
        if numel(numbers.shape) != rows:
            raise BadArg(f"{numbers.name}: {list(numbers.shape)} is not a number for each row of {list(x.shape)}")
    if rows in lead:
        return x.shape, Dynamic(scales.ref, zero_points.ref, lead.index(rows))
    return (rows, *x.shape[-1:]), Dynamic(scales.ref, zero_points.ref, 0)


@lowers(
    "quantized_decomposed.quantize_per_token.default",
    "quantized_decomposed::quantize_per_token.out",
    x=_FLOATS,
    scales=_SCALE_TENSOR,
    zero_points=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_RESULT,
)
def quantize_per_token(
    g: Builder,
    x: Argument,
    scales: Argument,
    zero_points: Argument,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
) -> Ref:
    """q = `quantize_per_tensor` with a scale and a zero point for each row of x [*B, K]."""
    kind = _result_dtype(g, dtype)
    shape, by = _by_token(x, scales, zero_points)
    rows = _reshaped(g, x.ref, shape)
    y = g.emit(_quantize(x.replace(ref=rows), kind, qmin, qmax, *_refs(by)), by)
    return y if shape == x.shape else _reshaped(g, g.quantized(y, None), x.shape)


@lowers(
    "quantized_decomposed.dequantize_per_token.default",
    "quantized_decomposed::dequantize_per_token.out",
    x=_CODES,
    scales=_SCALE_TENSOR,
    zero_points=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
)
def dequantize_per_token(
    g: Builder,
    x: Argument,
    scales: Argument,
    zero_points: Argument,
    qmin: int | None,
    qmax: int | None,
    dtype: str | None,
    out_dtype: int | None,
) -> Ref:
    """y = `dequantize_per_tensor` with a scale and a zero point for each row of x [*B, K]."""
    _check_codes(x, qmin, qmax, dtype)
    shape, by = _by_token(x, scales, zero_points)
    rows = x.ref if shape == x.shape else _reshaped(g, g.quantized(x.ref, None), shape)
    return _reshaped(g, g.emit(Dequantize(g.quantized(rows, by), *_refs(by))), x.shape)


def _reshaped(g: Builder, x: Ref, shape: Shape) -> Ref:
    return x if g.type(x).shape == shape else g.emit(Reshape(x, shape))
