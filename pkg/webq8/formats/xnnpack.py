"""Quantized ops as TFLite's interpreter computes them: by XNNPACK, or by its own kernels where XNNPACK takes none.

A function adds ops to a graph and gives their result. Tensors are int8 with one scale, unless it says otherwise; `y` is
the quantization of the result. All that the runtime does with scales is done here, in its order, and its results are
reached in every bit: only tables, multipliers, shifts and steps enter the graph.
"""

import math
import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Literal

from webq8 import numerics
from webq8.dtypes import ITEMSIZE, cast
from webq8.errors import Unsupported
from webq8.fixed_point import (
    Multiplier,
    doubled_high,
    halves_away,
    inverse_root,
    multiplier,
    reciprocal,
    shifted_down,
    steps_of,
)
from webq8.formats.folding import COMPARES
from webq8.ir.builder import Builder
from webq8.ir.ops.create import Cast
from webq8.ir.ops.elementwise import (
    Binary,
    CompareFunction,
    Elu,
    FixedPointSum,
    Lookup,
    LookupPair,
    ScaledProduct,
    Unary,
    UnaryFunction,
)
from webq8.ir.ops.linear import INT8
from webq8.ir.ops.move import Concat
from webq8.ir.ops.pool import AvgPool2d
from webq8.ir.ops.quantize import RANGES, Dequantize, Quantize, Requantize
from webq8.ir.ops.recurrent import LstmInt8, SvdfInt8
from webq8.ir.ops.reduce import Extremum, Softmax, SoftmaxInt8, Sum
from webq8.ir.ops.resize import InterpolateInt8, Tap
from webq8.ir.ops.window import Window
from webq8.ir.types import BadArg, PerTensor, Ref, f32

__all__ = [
    "Function",
    "add",
    "average_pool",
    "clamp",
    "compare",
    "concat",
    "divide",
    "log_softmax",
    "lstm",
    "maximum",
    "mean",
    "minimum",
    "multiply",
    "prelu",
    "reduce_max",
    "reduce_min",
    "requantize",
    "resize_bilinear",
    "resize_nearest",
    "softmax",
    "squared_difference",
    "subtract",
    "sum_",
    "svdf",
    "unary",
]

Bounds = tuple[int, int]
# of TFLite's ops of one tensor
Function = Literal[
    "abs", "elu", "exp", "gelu", "gelu_tanh", "hard_swish", "leaky_relu", "log", "logistic", "neg", "relu", "relu6",
    "relu_0_to_1", "relu_n1_to_1", "rsqrt", "sqrt", "tanh",
]  # fmt: skip


def quantization(g: Builder, x: Ref) -> PerTensor:
    """The scale and zero point of a tensor that has one of each."""
    found = g.type(x).quantization
    if not isinstance(found, PerTensor):
        raise BadArg(f"{g.type(x).dtype} {list(g.type(x).shape)}: one scale is expected", Unsupported)
    return found


def _bytes(values: Iterable[int], bounds: Bounds = INT8) -> bytes:
    low, high = bounds
    return bytes([min(max(v, low), high) & 255 for v in values])


def _lookup(g: Builder, x: Ref, y: PerTensor, values: Iterable[int], bounds: Bounds = INT8) -> Ref:
    """A table of the results for −128, −127, …, 127."""
    return g.emit(Lookup(x, _bytes(values, bounds)), y)


def _ratio(x: float, y: float) -> float:
    return f32(x / y)


# --- one tensor


def requantize(g: Builder, x: Ref, y: PerTensor, dtype: str = "int8", alike: bool = True) -> Ref:
    """QUANTIZE of integers: int8, uint8, int16 or int32 to another dtype or quantization. `alike`: int8 tensors are of
    one dtype in the file, too, of which XNNPACK takes care."""
    source = g.type(x)
    if source.dtype == dtype and source.quantization == y:
        return x
    numbers = _requantized(quantization(g, x), source.dtype, y, dtype, alike and source.dtype == dtype)
    if source.dtype == dtype == "int8":
        return _lookup(g, x, y, numbers)
    return g.emit(Requantize(x, dtype, numbers), y)


def _requantized(x: PerTensor, x_dtype: str, y: PerTensor, y_dtype: str, alike: bool) -> tuple[int, ...]:
    """Results for all bytes; or the steps at which larger integers become the next byte."""
    low, high = RANGES[y_dtype]
    ratio = _ratio(x.scale, y.scale)
    if alike and 2**-8 <= ratio <= 2**7:  # XNNPACK's
        by = round(256 * ratio)
        values = ((((q - x.zero_point) * by + 128) >> 8) + y.zero_point for q in range(*_span(x_dtype)))
    else:
        scaled = multiplier(x.scale / y.scale)
        if ITEMSIZE[x_dtype] > 1:
            shift = low + 128
            return steps_of(lambda q: scaled.times(q - x.zero_point) + y.zero_point - shift, *RANGES[x_dtype])
        times = scaled.times_up if ITEMSIZE[y_dtype] == 1 else scaled.times
        values = (times(q - x.zero_point) + y.zero_point for q in range(*_span(x_dtype)))
    return tuple(min(max(v, low), high) for v in values)


def _span(dtype: str) -> tuple[int, int]:
    return RANGES[dtype][0], RANGES[dtype][1] + 1


def clamp(g: Builder, x: Ref, bounds: Bounds) -> Ref:
    """Keeps the int8 values within bounds."""
    return x if bounds == INT8 else _lookup(g, x, quantization(g, x), range(-128, 128), bounds)


def unary(g: Builder, x: Ref, y: PerTensor, function: Function, alpha: float = 0.0) -> Ref:
    """A function of one element, as a lookup table. `alpha` is the slope of leaky_relu."""
    return _lookup(g, x, y, _UNARY[function](quantization(g, x), y, alpha))


def _float_table(operation: Callable[[list[float]], Sequence[float]]) -> Callable[..., Iterable[int]]:
    """XNNPACK's tables: rounded half to even, with the zero point."""

    def values(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
        inverse = _ratio(1.0, y.scale)
        return (round(f32(f32(v * inverse) + y.zero_point)) for v in operation(numerics.dequantized(x)))

    return values


def _tflite_table(operation: Callable[[list[float], PerTensor], Sequence[float]]) -> Callable[..., Iterable[int]]:
    """TFLite's tables: halves away from zero."""

    def values(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
        inverse = _ratio(1.0, y.scale)
        return (halves_away(f32(v * inverse)) + y.zero_point for v in operation(numerics.dequantized(x), y))

    return values


def _function(name: UnaryFunction) -> Callable[[Sequence[float]], list[float]]:
    return lambda values: numerics.apply(Unary(Ref(0), name), values)


def _elu(values: list[float]) -> list[float]:
    return numerics.apply(Elu(Ref(0), alpha=1.0, scale=1.0, input_scale=1.0), values)


def _log(values: list[float], y: PerTensor) -> list[float]:
    lowest = f32((-128 - y.zero_point) * y.scale)
    return [lowest if v <= 0 else log for v, log in zip(values, _function("log")(values), strict=True)]


def _gelu(values: list[float], _: PerTensor) -> list[float]:
    root = f32(-math.sqrt(0.5))
    return [f32(f32(0.5 * v) * f32(math.erfc(f32(v * root)))) for v in values]


def _gelu_tanh(values: list[float], _: PerTensor) -> list[float]:
    root, cubic = f32(math.sqrt(2 / math.pi)), f32(0.044715)
    inner = [f32(root * f32(v + f32(f32(f32(cubic * v) * v) * v))) for v in values]
    return [f32(f32(0.5 * v) * f32(1 + t)) for v, t in zip(values, _function("tanh")(inner), strict=True)]


def _leaky_relu(x: PerTensor, y: PerTensor, alpha: float) -> Iterable[int]:
    ratio = _ratio(x.scale, y.scale)
    slope = f32(ratio * f32(alpha))
    offsets = range(-128 - x.zero_point, 128 - x.zero_point)
    if 2**-8 <= ratio <= 2**7 and abs(slope) >= 2**-8 and -127.99609375 <= slope <= 2**7:
        by = round(256 * f32(slope)), round(256 * ratio)
        return (((v * by[v >= 0] + 128) >> 8) + y.zero_point for v in offsets)
    scaled = multiplier(f32(f32(x.scale * f32(alpha)) / y.scale)), multiplier(ratio)
    return (scaled[v >= 0].times(v) + y.zero_point for v in offsets)


def _relu(low: float, high: float) -> Callable[..., Iterable[int]]:
    def values(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
        least = y.zero_point + halves_away(f32(low / y.scale))
        most = 127 if math.isinf(high) else y.zero_point + halves_away(f32(high / y.scale))
        scaled = multiplier(_ratio(x.scale, y.scale))
        return (min(max(scaled.times(q - x.zero_point) + y.zero_point, least), most) for q in range(-128, 128))

    return values


def _hard_swish(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
    fine = f32(x.scale / 128)
    out, inner = multiplier(_ratio(fine, y.scale)), multiplier(f32(fine / f32(3 / 32768)))

    def short(v: int) -> int:
        return max(-(2**15), min(v, 2**15 - 1))

    def value(q: int) -> int:
        v = (q - x.zero_point) * 128
        whole = doubled_high(v, out.high, 15)
        share = short(v << max(inner.exponent - 1, 0))
        share = doubled_high(share, inner.high, 15)
        share = short(share << (inner.exponent > 0))
        share = shifted_down(share, max(-inner.exponent, 0))
        share = (share + 2**15) >> 1
        # cut off towards zero, by which the roundings before are made up for
        product = share * whole
        before = product >> 15 if product >= 0 else -(-product >> 15)
        return shifted_down(before, -out.exponent) + y.zero_point

    return map(value, range(-128, 128))


def _abs(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
    scaled = multiplier(_ratio(x.scale, y.scale)) if x.scale != y.scale else Multiplier(2**30, 1)
    return (scaled.times(abs(q - x.zero_point)) + y.zero_point for q in range(-128, 128))


def _rsqrt(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
    scaled = multiplier(1 / (f32(math.sqrt(x.scale)) * y.scale)).raised(-20)
    return (
        scaled.times(inverse_root(v).raised(20).times(1)) + y.zero_point if v > 0 else 127
        for v in range(-128 - x.zero_point, 128 - x.zero_point)
    )


def _sqrt(x: PerTensor, y: PerTensor, _: float) -> Iterable[int]:
    return (int(f32(f32(math.sqrt(max(v, 0.0))) / y.scale)) + y.zero_point for v in numerics.dequantized(x))


_UNARY: dict[Function, Callable[[PerTensor, PerTensor, float], Iterable[int]]] = {
    "logistic": _float_table(_function("sigmoid")),
    "tanh": _float_table(_function("tanh")),
    "elu": _float_table(_elu),
    "exp": _tflite_table(lambda values, _: _function("exp")(values)),
    "log": _tflite_table(_log),
    "gelu": _tflite_table(_gelu),
    "gelu_tanh": _tflite_table(_gelu_tanh),
    "leaky_relu": _leaky_relu,
    "hard_swish": _hard_swish,
    "relu": _relu(0.0, math.inf),
    "relu6": _relu(0.0, 6.0),
    "relu_0_to_1": _relu(0.0, 1.0),
    "relu_n1_to_1": _relu(-1.0, 1.0),
    "abs": _abs,
    "neg": lambda x, y, _: ((-q + 128) % 256 - 128 for q in range(-128, 128)),
    "rsqrt": _rsqrt,
    "sqrt": _sqrt,
}


# --- two tensors, broadcast


def add(g: Builder, a: Ref, b: Ref, y: PerTensor, bounds: Bounds = INT8) -> Ref:
    return _sum(g, a, b, y, bounds, 1)


def subtract(g: Builder, a: Ref, b: Ref, y: PerTensor, bounds: Bounds = INT8) -> Ref:
    return _sum(g, a, b, y, bounds, -1)


def _sum(g: Builder, a: Ref, b: Ref, y: PerTensor, bounds: Bounds, sign: int) -> Ref:
    p, q = quantization(g, a), quantization(g, b)
    ratios = _ratio(p.scale, y.scale), _ratio(q.scale, y.scale)
    if not all(2**-10 <= ratio < 2**8 for ratio in ratios):  # TFLite's own kernel
        first, second, largest = _on_one_scale(p, q, 20)
        scaled = multiplier(f32(2 * largest) / (2**20 * y.scale))
        return _pairs(g, a, b, y, lambda i, j: scaled.times(first[i] + sign * second[j]) + y.zero_point, bounds)
    shift = 21 - math.frexp(max(ratios))[1]
    by, times = round(math.ldexp(ratios[0], shift)), sign * round(math.ldexp(ratios[1], shift))
    bias = (1 << (shift - 1)) - by * p.zero_point - times * q.zero_point
    return g.emit(FixedPointSum(a, b, (by, times), bias, shift, bounds), y)


def _on_one_scale(p: PerTensor, q: PerTensor, shift: int) -> tuple[list[int], list[int], float]:
    """All int8 values of two tensors in integers of one scale, and the larger of their scales."""
    largest = max(p.scale, q.scale)

    def values(x: PerTensor) -> list[int]:
        scaled = multiplier(x.scale / f32(2 * largest))
        return [scaled.times((v - x.zero_point) << shift) for v in range(-128, 128)]

    return values(p), values(q), largest


def _pairs(
    g: Builder, a: Ref, b: Ref, y: PerTensor | None, value: Callable[[int, int], int], bounds: Bounds = INT8
) -> Ref:
    """A table of `value` for all pairs of int8 values, counted from −128; truth values without quantization."""
    g.budget.keep(2**16)
    table = _bytes((value(i, j) for i in range(256) for j in range(256)), bounds)
    return g.emit(LookupPair(a, b, table, "int8" if y else "bool"), y)


def multiply(g: Builder, a: Ref, b: Ref, y: PerTensor, bounds: Bounds = INT8) -> Ref:
    p, q = quantization(g, a), quantization(g, b)
    factor = f32(f32(p.scale * q.scale) / y.scale)
    if 2**-16 <= factor < 2**8:
        return g.emit(ScaledProduct(a, b, factor, bounds), y)
    scaled = multiplier(factor)
    i, j = 128 + p.zero_point, 128 + q.zero_point
    return _pairs(g, a, b, y, lambda v, w: scaled.times((v - i) * (w - j)) + y.zero_point, bounds)


def maximum(g: Builder, a: Ref, b: Ref, y: PerTensor) -> Ref:
    """Of the integers themselves: TFLite takes all three for tensors of one quantization."""
    return g.emit(Binary(g.quantized(a, y), g.quantized(b, y), "maximum"), y)


def minimum(g: Builder, a: Ref, b: Ref, y: PerTensor) -> Ref:
    """As `maximum`."""
    return g.emit(Binary(g.quantized(a, y), g.quantized(b, y), "minimum"), y)


def squared_difference(g: Builder, a: Ref, b: Ref, y: PerTensor) -> Ref:
    first, second, largest = _on_one_scale(quantization(g, a), quantization(g, b), 7)
    twice = f32(2 * largest)
    scaled = multiplier(twice * twice / (2**14 * y.scale))
    return _pairs(g, a, b, y, lambda i, j: scaled.times((first[i] - second[j]) ** 2) + y.zero_point)


def divide(g: Builder, a: Ref, b: Ref, y: PerTensor, bounds: Bounds = INT8) -> Ref:
    """Quotients by 0, which the runtime refuses, are 0; those below a step of y are right here, where the
    runtime shifts by more bits than there are."""
    p, q = quantization(g, a), quantization(g, b)
    scaled = multiplier(f32(p.scale / f32(q.scale * y.scale)))
    reciprocals = [reciprocal(v) for v in range(256)]

    def value(i: int, j: int) -> int:
        v, w = i - 128 - p.zero_point, j - 128 - q.zero_point
        if w == 0:
            return y.zero_point
        v = v if w > 0 else -v
        headroom = 31 - (v if v >= 0 else ~v).bit_length()
        quotient = Multiplier(reciprocals[abs(w)].significand, headroom).times(v)
        return scaled.raised(reciprocals[abs(w)].exponent - headroom).times(quotient) + y.zero_point

    return _pairs(g, a, b, y, value, bounds)


def prelu(g: Builder, x: Ref, slope: Ref, y: PerTensor) -> Ref:
    p, q = quantization(g, x), quantization(g, slope)
    above = multiplier(_ratio(p.scale, y.scale))
    below = multiplier(f32(f32(p.scale * q.scale) / y.scale))

    def value(i: int, j: int) -> int:
        v = i - 128 - p.zero_point
        return (above.times(v) if v >= 0 else below.times(v * (j - 128 - q.zero_point))) + y.zero_point

    return _pairs(g, x, slope, y, value)


def compare(g: Builder, a: Ref, b: Ref, function: CompareFunction) -> Ref:
    """Truth values of two tensors of any scales."""
    first, second = (
        [multiplier(x.scale).times((v - x.zero_point) << 8) for v in range(-128, 128)]
        for x in (quantization(g, a), quantization(g, b))
    )
    holds = COMPARES[function]
    return _pairs(g, a, b, None, lambda i, j: holds(first[i], second[j]))


def concat(g: Builder, parts: Sequence[Ref], axis: int, y: PerTensor) -> Ref:
    """Parts of other quantizations are requantized."""
    return g.emit(Concat(tuple(requantize(g, part, y) for part in parts), axis), y)


# --- reductions


def average_pool(g: Builder, x: Ref, window: Window, y: PerTensor, bounds: Bounds = INT8) -> Ref:
    """Means of the integers themselves, since x and y have one quantization; padding does not count."""
    op = AvgPool2d(x, window, False, False, None)
    (out,) = op.infer(g.tensors)
    spans = [
        {
            min(start + window.kernel[n], g.type(x).shape[2 + n]) - max(start, 0)
            for start in (i * window.stride[n] - window.padding[n] for i in range(out.shape[2 + n]))
        }
        for n in (0, 1)
    ]
    counts = sorted({height * width for height in spans[0] for width in spans[1]})
    return g.emit(op.replace(steps=tuple((n, _mean_steps(n)) for n in counts), bounds=bounds), y)


@lru_cache(64)
def _mean_steps(count: int) -> tuple[int, ...]:
    """For sums of so many int8: their mean, halves away from zero."""
    half = count // 2
    return steps_of(lambda v: (v + half) // count if v > 0 else -((half - v) // count), -128 * count, 127 * count)


def mean(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool, y: PerTensor) -> Ref:
    return _reduced(g, x, axes, keepdims, y, means=True)


def sum_(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool, y: PerTensor) -> Ref:
    return _reduced(g, x, axes, keepdims, y, means=False)


def _reduced(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool, y: PerTensor, means: bool) -> Ref:
    p, op = quantization(g, x), Sum(x, axes, keepdims)
    count = op.terms(g.type(x).shape)
    scale = _ratio(p.scale, y.scale)
    if means:
        scale = f32(scale * _ratio(1.0, count or 1))
    offset = f32(y.zero_point - f32(f32(float(count * p.zero_point)) * scale))
    steps = steps_of(lambda v: round(f32(f32(f32(v) * scale) + offset)), -128 * count, 127 * count)
    return g.emit(op.replace(steps=steps), y)


def reduce_max(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool) -> Ref:
    return _extremum(g, x, axes, keepdims, largest=True)


def reduce_min(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool) -> Ref:
    return _extremum(g, x, axes, keepdims, largest=False)


def _extremum(g: Builder, x: Ref, axes: tuple[int, ...], keepdims: bool, largest: bool) -> Ref:
    wide = g.emit(Cast(g.quantized(x, None), "int32", g.type(x).shape))
    found = g.emit(Extremum(wide, axes, keepdims, largest))
    return g.quantized(g.emit(Cast(found, "int8", g.type(found).shape)), quantization(g, x))


def softmax(g: Builder, x: Ref, axis: int, y: PerTensor, beta: float = 1.0) -> Ref:
    """Along the last axis, or axis 1 of four."""
    by = f32(-quantization(g, x).scale * f32(beta))
    exponentials = numerics.apply(Unary(Ref(0), "exp"), array("f", [by * i for i in range(256)]))
    return g.emit(SoftmaxInt8(x, axis, struct.pack("<256f", *exponentials)), y)


def log_softmax(g: Builder, x: Ref, axis: int, y: PerTensor) -> Ref:
    """In float32, whose logarithm differs between devices: within a quantum of the runtime's."""
    return g.emit(Quantize(g.emit(Softmax(g.emit(Dequantize(x)), axis, log=True)), "int8", *INT8), y)


# --- sequences: each gives its result, and what the next run finds


def lstm(
    g: Builder,
    x: Ref,
    h: Ref,
    c: Ref,
    weights: Sequence[Ref],
    recurrent: Sequence[Ref],
    biases: Sequence[Ref],
    hidden: PerTensor,
    y: PerTensor,
    cell_clip: float = 0.0,
    time_major: bool = False,
) -> tuple[Ref, Ref, Ref]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM with a state c of int16: y, h and c. The constants are those of the input, forget,
    cell and output gates; `hidden` is the quantization of h before any projection, which is not supported."""
    state, cell = quantization(g, h), quantization(g, c)
    multipliers, sums = list[Multiplier](), array("i")
    for source, matrices in ((quantization(g, x), weights), (state, recurrent)):
        for gate, matrix in enumerate(matrices):
            multipliers.append(multiplier(f32(f32(quantization(g, matrix).scale * source.scale) * 2**12)))
            rows = _row_sums(g, matrix)
            start = cast(_data(g, biases[gate]), "int32") if matrices is weights else bytes(len(rows))
            sums.extend(bias - source.zero_point * row for bias, row in zip(start, rows, strict=True))
    cells, inputs = g.type(weights[0]).shape
    op = LstmInt8(
        x,
        h,
        c,
        _joined(g, weights, (4, cells, inputs)),
        _joined(g, recurrent, (4, cells, cells)),
        g.constant(sums.tobytes(), (2, 4, cells), "int32"),
        tuple(multipliers),
        multiplier(f32(2.0**-15 / hidden.scale * 2.0**-15)),
        hidden.zero_point,
        math.frexp(cell.scale)[1] - 1,
        int(min(cell_clip / cell.scale, 32767.0)),
        time_major,
    )
    kinds = zip(op.infer(g.tensors), (y, state, cell), strict=True)
    y_ref, h_ref, c_ref = g.node(op, tuple(kind.replace(quantization=q) for kind, q in kinds))
    return y_ref, h_ref, c_ref


def svdf(
    g: Builder, x: Ref, state: Ref, feature: Ref, time: Ref, bias: Ref | None, rank: int, y: PerTensor
) -> tuple[Ref, Ref]:
    """SVDF with a state of int16: y and the state."""
    p, kept = quantization(g, x), quantization(g, state)
    newest = f32(f32(p.scale * quantization(g, feature).scale) / kept.scale)
    last = f32(f32(kept.scale * quantization(g, time).scale) / y.scale)
    units = g.type(feature).shape[0] // max(rank, 1)
    bias = g.constant(bytes(4 * units), (units,), "int32") if bias is None else bias
    zeros = p.zero_point, y.zero_point
    op = SvdfInt8(x, state, feature, time, bias, rank, multiplier(newest), multiplier(last), *zeros)
    kinds = zip(op.infer(g.tensors), (y, kept), strict=True)
    y_ref, state_ref = g.node(op, tuple(kind.replace(quantization=q) for kind, q in kinds))
    return y_ref, state_ref


def _data(g: Builder, ref: Ref) -> memoryview:
    if (data := g.type(ref).data) is None:
        raise BadArg("weights that a run computes are not supported", Unsupported)
    return data


def _row_sums(g: Builder, matrix: Ref) -> list[int]:
    data, count = cast(_data(g, matrix), "int8"), g.type(matrix).shape[1]
    return [sum(data[at : at + count]) for at in range(0, len(data), count)]


def _joined(g: Builder, matrices: Sequence[Ref], shape: tuple[int, ...]) -> Ref:
    return g.constant(b"".join(bytes(_data(g, matrix)) for matrix in matrices), shape, "int8")


# --- resizing of maps [N, C, H, W]


def resize_bilinear(g: Builder, x: Ref, size: tuple[int, int], align_corners: bool, half_pixel: bool) -> Ref:
    """x and y have one quantization."""
    height, width = g.type(x).shape[2:]
    g.budget.call(0, sum(size))
    rows, columns = (
        _between(old, new, align_corners, half_pixel) for old, new in zip((height, width), size, strict=True)
    )
    return g.emit(InterpolateInt8(x, rows, columns), quantization(g, x))


def _between(size: int, out: int, align_corners: bool, half_pixel: bool) -> tuple[Tap, ...]:
    less = int(align_corners and out != 1)
    scale = _ratio(size - less, out - less)
    offset = f32(f32(0.5 * scale) - 0.5) if half_pixel and not align_corners else 0.0

    def tap(i: int) -> Tap:
        at = min(max(f32(f32(i * scale) + offset), 0.0), size - 1.0)
        first = int(at)
        return first, min(first + 1, size - 1), round(2048 * f32(at - first))

    return tuple(map(tap, range(out)))


def resize_nearest(g: Builder, x: Ref, size: tuple[int, int], align_corners: bool, half_pixel: bool) -> Ref:
    """x and y have one quantization."""
    rows, columns = (
        tuple((n, n, 0) for n in nearest(old, new, align_corners, half_pixel))
        for old, new in zip(g.type(x).shape[2:], size, strict=True)
    )
    return g.emit(InterpolateInt8(x, rows, columns), quantization(g, x))


def nearest(size: int, out: int, align_corners: bool, half_pixel: bool) -> list[int]:
    """The row (or column) of x that each row of y is, whatever the dtype."""
    scale = f32((size - 1) / f32(out - 1)) if align_corners and out > 1 else _ratio(size, out)
    offset = 0.5 if half_pixel else 0.0
    found = (f32(f32(i + offset) * scale) for i in range(out))
    return [min(halves_away(v) if align_corners else math.floor(v), size - 1) for v in found]
