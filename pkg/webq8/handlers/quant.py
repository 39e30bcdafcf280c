"""Between floats and integers, one scale and zero point a tensor or a channel; and between layouts of int8 tensors."""

import struct
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from webq8.dtypes import ITEMSIZE, cast, cdiv, numel
from webq8.errors import Unsupported
from webq8.handlers.registry import (
    F32,
    SCALE,
    Args,
    BadArg,
    Choice,
    Int,
    Number,
    Operand,
    Scalar,
    TensorArg,
    TensorList,
    axis,
    check_scale,
    f32,
    folds,
    op,
)
from webq8.ir import Const, Dispatch, Param, Tensor, Value
from webq8.plan.layout import Layout

__all__ = ["relayout"]

# the least and the largest value of each dtype that torch quantizes to
_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}
_DTYPES = tuple(_RANGES)
_NUMBERS = dict(enumerate(("uint8", "int8", "int16", "int32")))  # torch's numbers of dtypes


class _Dtype(Scalar):
    """A dtype by torch's number or by name; null where the tensor has it."""

    def convert(self, value: Value) -> str | None:
        name = value if isinstance(value, str) else _NUMBERS.get(value)  # type: ignore[arg-type]  # any key may miss
        if value is not None and name not in _DTYPES:
            allowed = ", ".join(f"{number} ({dtype})" for number, dtype in _NUMBERS.items())
            raise BadArg(f"{value!r} is not supported; one of {allowed} is", Unsupported)
        return name


class _Bound(Int):
    """An integer; null for what the dtype can hold."""

    def convert(self, value: Value) -> int | None:  # type: ignore[override]
        return None if value is None else super().convert(value)


_DTYPE = _Dtype(default=None)
_BOUND = _Bound(default=None)
_FLOAT32 = Choice((None, 6), default=None)
_FLOATS = F32("*S")
# channels have their numbers where they lie in row-major order
_CODES, _CHANNEL_CODES = TensorArg(_DTYPES, "*S"), TensorArg(_DTYPES, "*S", "plain")
_RESULT, _CHANNEL_RESULT = TensorArg(_DTYPES, "*S", like="dtype"), TensorArg(_DTYPES, "*S", "plain", like="dtype")


def _dtype(a: Args) -> str:
    """The dtype of the integers."""
    codes = a.x if a.x.tensor.dtype != "float32" else vars(a).get("out")
    return str(codes.tensor.dtype if codes else a.dtype or _DTYPES[0])


def _bounds(a: Args) -> Mapping[str, int]:
    lowest, highest = _RANGES[_dtype(a)]
    return {
        "low": lowest if a.qmin is None else a.qmin,
        "high": highest if a.qmax is None else a.qmax,
    }


def _check_bounds(a: Args) -> None:
    dtype = _dtype(a)
    lowest, highest = _RANGES[dtype]
    if a.dtype not in (None, dtype):
        raise BadArg(f"dtype: {a.dtype} is not that of the tensor, {dtype}")
    for name, value in (("qmin", a.low), ("qmax", a.high), ("zero_point", vars(a).get("zero_point", lowest))):
        if isinstance(value, int) and not lowest <= value <= highest:
            raise BadArg(f"{name}: {value} is outside of {dtype}: {lowest}…{highest}")


# --- one scale and zero point


@op(
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed::quantize_per_tensor.out",
    x=_FLOATS,
    scale=SCALE,
    zero_point=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_RESULT,
    derive=_bounds,
    check=_check_bounds,
)
def quantize_per_tensor(a: Args) -> Iterator[Dispatch]:
    """q = clamp(round(x · 1/scale) + zero_point, qmin, qmax), half to even; NaN gives the zero point.

    The reciprocal is taken in double and rounded to float32, as torch's `quantize_per_tensor` does. dtype is that of
    q, int8 where it is null; qmin and qmax are its bounds, where they are null.
    """
    if a.out.tensor.dtype != "int8":
        yield _quantize(a, _float(1.0 / a.scale), _int(a.zero_point))
        return
    y: Layout = a.out.layout
    bind, numbers = {"x": a.x.id, "y": a.out.id}, numel(a.S)
    params = {"inv_scale": f32(1.0 / a.scale), "zero_point": a.zero_point, "qmin": a.low, "qmax": a.high}
    if y.plain and numbers % 16 == 0:
        yield Dispatch("quantize_flat", bind, {"groups": numbers // 16, **params}, threads=numbers // 16)
    else:
        yield Dispatch("quantize", bind, {**_layout_params(y), **params}, threads=y.words)


@op(
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
    derive=_bounds,
    check=_check_bounds,
)
def dequantize_per_tensor(a: Args) -> Iterator[Dispatch]:
    """y = float32(x − zero_point) · scale."""
    if a.x.tensor.dtype != "int8":
        yield _dequantize(a, _float(a.scale), _int(a.zero_point))
        return
    x: Layout = a.x.layout
    bind, numbers = {"x": a.x.id, "y": a.out.id}, numel(a.S)
    params = {"scale": f32(a.scale), "zero_point": a.zero_point}
    if x.plain and numbers % 4 == 0:
        yield Dispatch("dequantize_flat", bind, {"words": numbers // 4, **params}, threads=cdiv(numbers, 8))
    else:
        yield Dispatch("dequantize", bind, {**_layout_params(x), **params}, threads=x.words)


# --- numbers in tensors: one for all elements, or one a channel


class _Channels(NamedTuple):
    """How many have numbers of their own, and how many neighbouring elements each has in a row."""

    size: int
    inner: int


_ALL = _Channels(1, 1)
_SCALES = TensorArg(("float32",), "C", values="scales")
_ZERO_POINTS = TensorArg(("int64", "int32"), "C")
_SCALE_TENSOR = TensorArg(("float32", "float64"), "*T")
_ZERO_TENSOR = TensorArg(("int64", "int32"), "*Z")


def _check_zero_points(a: Args, zeros: Operand | None, name: str) -> None:
    if zeros is not None and zeros.tensor.data is not None:
        lowest, highest = _RANGES[_dtype(a)]
        for i, value in enumerate(cast(zeros.data, zeros.tensor.dtype)):
            if not lowest <= value <= highest:
                raise BadArg(f"{name}: element {i} is {value}, outside of {_dtype(a)}: {lowest}…{highest}")
    _check_bounds(a)


def _check_single(a: Args) -> None:
    for name, shape in (("scale", a.T), ("zero_point", a.Z)):
        if numel(shape) != 1:
            raise BadArg(f"{name}: one element is expected, {list(shape)} has {numel(shape)}")
    if a.scale.tensor.data is not None:
        check_scale(cast(a.scale.data, a.scale.tensor.dtype)[0], "scale: ")
    _check_zero_points(a, a.zero_point, "zero_point")


@op(
    "quantized_decomposed.quantize_per_tensor.tensor",
    "quantized_decomposed::quantize_per_tensor.Tensor_out",
    "quantized_decomposed::quantize_per_tensor.tensor_out",
    x=_FLOATS,
    scale=_SCALE_TENSOR,
    zero_point=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_CHANNEL_RESULT,
    derive=_bounds,
    check=_check_single,
)
def quantize_by_tensors(a: Args) -> Iterator[Dispatch]:
    """`quantize_per_tensor` with scale and zero point in tensors of one element, as dynamic quantization has them."""
    yield _quantize(a, a.scale, a.zero_point)


@op(
    "quantized_decomposed.dequantize_per_tensor.tensor",
    "quantized_decomposed::dequantize_per_tensor.Tensor_out",
    "quantized_decomposed::dequantize_per_tensor.tensor_out",
    x=_CHANNEL_CODES,
    scale=_SCALE_TENSOR,
    zero_point=_ZERO_TENSOR,
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
    derive=_bounds,
    check=_check_single,
)
def dequantize_by_tensors(a: Args) -> Iterator[Dispatch]:
    """`dequantize_per_tensor` with scale and zero point in tensors of one element."""
    yield _dequantize(a, a.scale, a.zero_point)


def _channels(a: Args) -> Mapping[str, Any]:
    if not a.S:
        raise BadArg("x: a scalar has no channels")
    at = axis(a.axis, len(a.S))
    return {**_bounds(a), "C": a.S[at], "channels": _Channels(a.S[at], numel(a.S[at + 1 :]))}


@op(
    "quantized_decomposed.quantize_per_channel.default",
    "quantized_decomposed::quantize_per_channel.out",
    x=_FLOATS,
    scales=_SCALES,
    zero_points=_ZERO_POINTS,
    axis=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out=_CHANNEL_RESULT,
    derive=_channels,
    check=lambda a: _check_zero_points(a, a.zero_points, "zero_points"),
)
def quantize_per_channel(a: Args) -> Iterator[Dispatch]:
    """`quantize_per_tensor` with a scale and a zero point for each index along `axis`."""
    yield _quantize(a, a.scales, a.zero_points, a.channels)


def _dequantized(a: Args) -> Tensor:
    x, scales = (cast(t.data, t.tensor.dtype) for t in (a.x, a.scales))
    zeros = bytes(a.C) if a.zero_points is None else cast(a.zero_points.data, a.zero_points.tensor.dtype)
    rounded = f32 if a.x.tensor.dtype == "int32" else int
    inner, out = a.channels.inner, array("f")
    for run in range(len(x) // max(inner, 1)):
        scale, zero = scales[run % a.C], zeros[run % a.C]
        out.extend([rounded(v - zero) * scale for v in x[run * inner : (run + 1) * inner]])
    return Tensor(a.S, "float32", memoryview(out.tobytes()))


def _check_weights(a: Args) -> None:
    constant = all(t is None or t.tensor.data is not None for t in (a.x, a.scales, a.zero_points))
    for name, tensor, dtype in (("scales", a.scales, "float64"), ("zero_points", a.zero_points, "int8")):
        if tensor is not None and tensor.tensor.dtype == dtype and not constant:
            raise BadArg(f"{name}: {dtype} is for constants only", Unsupported)
    _check_zero_points(a, a.zero_points, "zero_points")


@op(
    "quantized_decomposed.dequantize_per_channel.default",
    "quantized_decomposed::dequantize_per_channel.out",
    x=_CHANNEL_CODES,
    scales=TensorArg(("float32", "float64"), "C+"),
    zero_points=TensorArg(("int64", "int32", "int8"), "C+", optional=True),
    axis=Int(),
    qmin=_BOUND,
    qmax=_BOUND,
    dtype=_DTYPE,
    out_dtype=_FLOAT32,
    out=_FLOATS,
    derive=_channels,
    check=_check_weights,
)
@folds(_dequantized)
def dequantize_per_channel(a: Args) -> Iterator[Dispatch]:
    """y = float32(x − zero_points[c]) · scales[c] for each index c along `axis`; no zero points are zeros.

    Of constants it is computed at load."""
    yield _dequantize(a, a.scales, a.zero_points or _int(0), a.channels)


def _float(value: float) -> Const:
    return Const(struct.pack("<f", value))


def _int(value: int) -> Const:
    return Const(struct.pack("<i", value))


def _step(numbers: Operand | Const) -> int:
    """Words between the numbers of neighbouring channels; a constant is one number for all of them."""
    return 0 if isinstance(numbers, Const) else ITEMSIZE[numbers.tensor.dtype] // 4


def _by_channel(a: Args, scales: Operand | Const, zero_points: Operand | Const) -> dict[str, Any]:
    """What quantizing and dequantizing by channels bind."""
    numbers = {"scales": scales, "zero_points": zero_points}
    bound = {name: n if isinstance(n, Const) else n.id for name, n in numbers.items()}
    return {"x": a.x.id, **bound, "y": a.out.id}


def _channel_params(
    a: Args, scales: Operand | Const, zero_points: Operand | Const, channels: _Channels
) -> dict[str, Param]:
    return {
        "count": numel(a.S),
        "channels": max(channels.size, 1),
        "inner": max(channels.inner, 1),
        "scale_step": _step(scales),
        "zero_step": _step(zero_points),
    }


def _wide(scales: Operand | Const) -> bool:
    return isinstance(scales, Operand) and scales.tensor.dtype == "float64"


def _quantize(a: Args, scales: Operand | Const, zero_points: Operand | Const, channels: _Channels = _ALL) -> Dispatch:
    """Into any dtype; constant scales are reciprocals."""
    dtype: str = a.out.tensor.dtype
    return Dispatch(
        "quantize_channels",
        _by_channel(a, scales, zero_points),
        {**_channel_params(a, scales, zero_points, channels), "qmin": a.low, "qmax": a.high},
        threads=cdiv(numel(a.S) * ITEMSIZE[dtype], 4),
        constants={
            "size": ITEMSIZE[dtype],
            "wide_scales": _wide(scales),
            "reciprocals": isinstance(scales, Const),
        },
    )


def _dequantize(a: Args, scales: Operand | Const, zero_points: Operand | Const, channels: _Channels = _ALL) -> Dispatch:
    """From any dtype."""
    dtype: str = a.x.tensor.dtype
    return Dispatch(
        "dequantize_channels",
        _by_channel(a, scales, zero_points),
        _channel_params(a, scales, zero_points, channels),
        threads=numel(a.S),
        constants={
            "size": ITEMSIZE[dtype],
            "is_signed": dtype != "uint8",
            "wide_scales": _wide(scales),
            "converts_first": channels is _ALL,
        },
    )


# --- scale and zero point of what is to be quantized


def _check_choice(a: Args) -> None:
    if not numel(a.S):
        raise BadArg(f"x: there is nothing to choose by in {list(a.S)}")
    lowest, highest = _RANGES[a.dtype or _DTYPES[0]]
    if not lowest <= a.qmin < a.qmax <= highest:
        raise BadArg(f"qmin {a.qmin} and qmax {a.qmax} are no range of {a.dtype or _DTYPES[0]}: {lowest}…{highest}")


@op(
    "quantized_decomposed.choose_qparams.tensor",
    "quantized_decomposed::choose_qparams.Tensor_out",
    x=_FLOATS,
    qmin=Int(),
    qmax=Int(),
    eps=Number(default=2.0**-23),
    dtype=_DTYPE,
    out=TensorList((TensorArg(("float64", "float32"), "one"), TensorArg(("int64", "int32"), "one"))),
    derive=lambda _: {"one": 1},
    check=_check_choice,
)
def choose_qparams(a: Args) -> Iterator[Dispatch]:
    """The scale, at least eps, and the zero point by which qmin…qmax hold all of x, and 0."""
    for index, out in enumerate(a.out):
        yield Dispatch(
            "choose_qparams",
            {"x": a.x.id, "y": out.id},
            {"count": numel(a.S), "qmin": a.qmin, "qmax": a.qmax, "steps": a.qmax - a.qmin, "eps": f32(a.eps)},
            threads=1,
            constants={"zero_point": bool(index), "wide": _step(out) == 2},
        )


# --- layouts


def relayout(source: int, x: Layout, target: int, y: Layout) -> Dispatch:
    """Copies an int8 tensor from one layout to another; planned, never called from a file."""
    return Dispatch(
        "relayout",
        {"x": source, "y": target},
        {
            **_layout_params(y),
            "x_channels": max(x.channels, 1),
            "x_inner": max(x.inner, 1),
            "x_padded": x.padded,
        },
        threads=y.words,
    )


def _layout_params(layout: Layout) -> dict[str, int]:
    return {
        "words": layout.words,
        "channels": layout.channels,
        "inner": layout.inner,
        "channel_words": layout.padded // 4,
    }
