"""Operators that make tensors of numbers. What they make of constants is computed while a file is lowered."""

import math

from webq8.errors import Unsupported
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value
from webq8.ir.ops.create import Cast, Fill, Sequence
from webq8.ir.ops.move import Expand
from webq8.ir.types import BadArg

__all__: list[str] = []


def _integers(g: Emitter, numbers: tuple[int, ...], shape: tuple[int, ...]) -> Lowered:
    ref = g.int32s(numbers, shape)
    dtype = g.declared().dtype
    return ref if dtype == "int32" else g.builder.emit(Cast(ref, dtype, shape))


@lowers("SHAPE")
def shape(g: Emitter, x: Value) -> Lowered:
    return _integers(g, x.shape, (len(x.shape),))


@lowers("RANK")
def rank(g: Emitter, x: Value) -> Lowered:
    return _integers(g, (len(x.shape),), ())


@lowers("RANGE")
def range_(g: Emitter, start: Value, limit: Value, delta: Value) -> Lowered:
    (first,), (end,), (step,) = (v.numbers(n) for v, n in ((start, "start"), (limit, "limit"), (delta, "delta")))
    if not step:
        raise BadArg("delta is 0")
    count = max(math.ceil((end - first) / step), 0)
    if start.dtype == "float32":
        raise BadArg("ranges of float32 are not supported", Unsupported)
    return g.builder.emit(Sequence(int(first), int(step), count, start.dtype))


@lowers("FILL")
def fill(g: Emitter, dims: Value, value: Value) -> Lowered:
    return g.builder.emit(Expand(value.ref, dims.ints("the sizes")))


@lowers("ZEROS_LIKE")
def zeros_like(g: Emitter, x: Value) -> Lowered:
    zero = x.per_tensor.zero_point if x.per_tensor else 0
    return g.builder.emit(Fill(x.shape, x.dtype, zero), x.type.quantization)


@lowers("BROADCAST_ARGS")
def broadcast_args(g: Emitter, a: Value, b: Value) -> Lowered:
    from webq8.ir.ops.rules import broadcast

    both = broadcast(a.ints("a shape"), b.ints("a shape"))
    return _integers(g, both, (len(both),))
