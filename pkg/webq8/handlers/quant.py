"""Between float32 and int8, and between layouts of int8 tensors."""

from array import array
from collections.abc import Iterator, Mapping

from webq8.dtypes import cast, numel
from webq8.handlers.registry import (
    F32,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Args,
    BadArg,
    Choice,
    Int,
    TensorArg,
    axis,
    f32,
    folds,
    op,
)
from webq8.ir import Dispatch, Tensor
from webq8.layout import Layout

__all__ = ["relayout"]

# torch's scalar type number of int8; null where the exporter left it to the output tensor
_INT8 = Choice((None, 1), default=None)
_FLOAT32 = Choice((None, 6), default=None)


@op(
    "quantized_decomposed.quantize_per_tensor.default",
    x=F32("*S"),
    scale=SCALE,
    zero_point=ZERO_POINT,
    qmin=Int(-128, 127, default=-128),
    qmax=Int(-128, 127, default=127),
    dtype=_INT8,
    out=I8("*S"),
)
def quantize_per_tensor(a: Args) -> Iterator[Dispatch]:
    """q = clamp(round(x · 1/scale) + zero_point, qmin, qmax), half to even; NaN gives the zero point.

    The reciprocal is taken in double and rounded to float32, as torch's `quantize_per_tensor` does.
    """
    y: Layout = a.out.layout
    bind, numbers = {"x": a.x.id, "y": a.out.id}, numel(a.S)
    params = {"inv_scale": f32(1.0 / a.scale), "zero_point": a.zero_point, "qmin": a.qmin, "qmax": a.qmax}
    if y.plain and numbers % 16 == 0:
        yield Dispatch("quantize_flat", bind, {"groups": numbers // 16, **params}, threads=numbers // 16)
    else:
        yield Dispatch("quantize", bind, {**_layout_params(y), **params}, threads=y.words)


@op(
    "quantized_decomposed.dequantize_per_tensor.default",
    x=I8("*S"),
    scale=SCALE,
    zero_point=ZERO_POINT,
    qmin=IGNORED,
    qmax=IGNORED,
    dtype=_INT8,
    out_dtype=_FLOAT32,
    out=F32("*S"),
)
def dequantize_per_tensor(a: Args) -> Iterator[Dispatch]:
    """y = float32(x − zero_point) · scale."""
    x: Layout = a.x.layout
    bind, numbers = {"x": a.x.id, "y": a.out.id}, numel(a.S)
    params = {"scale": f32(a.scale), "zero_point": a.zero_point}
    if x.plain and numbers % 4 == 0:
        yield Dispatch("dequantize_flat", bind, {"words": numbers // 4, **params}, threads=numbers // 4)
    else:
        yield Dispatch("dequantize", bind, {**_layout_params(x), **params}, threads=x.words)


def _channels(a: Args) -> Mapping[str, int]:
    if not a.S:
        raise BadArg("x: a scalar has no channels")
    return {"C": a.S[axis(a.axis, len(a.S))]}


def _dequantized(a: Args) -> Tensor:
    at = axis(a.axis, len(a.S))
    channels, inner = a.C, numel(a.S[at + 1 :])
    x, scales = (cast(t.data, t.tensor.dtype) for t in (a.x, a.scales))
    zeros = bytes(channels) if a.zero_points is None else cast(a.zero_points.data, a.zero_points.tensor.dtype)
    out = array("f")
    for run in range(len(x) // max(inner, 1)):
        scale, zero = scales[run % channels], zeros[run % channels]
        out.extend([(v - zero) * scale for v in x[run * inner : (run + 1) * inner]])
    return Tensor(a.S, "float32", memoryview(out.tobytes()))


@op(
    "quantized_decomposed.dequantize_per_channel.default",
    x=TensorArg(("int8", "uint8", "int16", "int32"), "*S", const=True),
    scales=TensorArg(("float32", "float64"), "C+", const=True),
    zero_points=TensorArg(("int64", "int32", "int8"), "C+", const=True, optional=True),
    axis=Int(),
    qmin=IGNORED,
    qmax=IGNORED,
    dtype=IGNORED,
    out_dtype=_FLOAT32,
    out=F32("*S"),
    derive=_channels,
)
@folds(_dequantized)
def dequantize_per_channel(a: Args) -> Iterator[Dispatch]:
    """y = float32(x − zero_points[c]) · scales[c] with c along `axis`: constant weights, computed at load."""
    yield from ()


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
