"""Constants, what is worked out of shapes, and conversions of dtype."""

import math

from webq8.dtypes import numel
from webq8.errors import LimitError, Unsupported
from webq8.formats.onnx.call import Call, Result, Value, operator
from webq8.formats.onnx.model import Constant
from webq8.formats.onnx.tensors import HELD, KINDS
from webq8.ir.ops.create import Fill, Sequence
from webq8.ir.ops.elementwise import Compare
from webq8.ir.types import BadArg, Ref, Shape

_MOST = 2**22  # elements of a range of fractions


@operator("Constant")
def constant(c: Call) -> Result:
    for name in ("value_int", "value_ints", "value_float", "value_floats"):
        if name in c.node.attributes:
            value = c.attribute(name)
            dtype = "int64" if "int" in name else "float32"
            return c.numbers(value, None, dtype) if isinstance(value, tuple) else c.number(value, dtype)  # type: ignore[arg-type]
    held = c.attribute("value")
    if not isinstance(held, Constant):
        raise BadArg("constants of text, or without a value, are not supported", Unsupported)
    return Value(c.g.add(held.tensor), False, held.kind)


@operator("ConstantOfShape")
def constant_of_shape(c: Call) -> Result:
    shape = tuple(c.constant(0, "the shape"))
    held = c.attribute("value")
    if not isinstance(held, Constant):
        return c.emit(Fill(shape, "float32", 0.0))
    from webq8.formats.folding import elements

    return Value(c.emit(Fill(shape, held.tensor.dtype, elements(held.tensor)[0])), False, held.kind)


@operator("Identity")
def identity(c: Call) -> Result:
    return c.value(0)


@operator("Dropout")
def dropout(c: Call) -> Result:
    c.ignore("seed", "ratio", "is_test")
    if c.has(2) and any(c.constant(2, "training_mode")):
        raise BadArg("training is not supported", Unsupported)
    if len(c.node.outputs) < 2:
        return c.value(0)
    return c.value(0), Value(c.emit(Fill(c.shape(), "bool", 1)))


@operator("Shape")
def shape_of(c: Call) -> Result:
    shape = c.shape()
    end = c.integer("end", len(shape))
    return c.numbers(shape[slice(c.integer("start", 0), end)], None, "int64")


@operator("Size")
def size_of(c: Call) -> Result:
    return c.number(numel(c.shape()), "int64")


@operator("Range")
def numbers_of_range(c: Call) -> Result:
    (start,), (limit,), (step,) = (c.constant(n, "a bound") for n in range(3))
    dtype = c.type().dtype
    if not step or not all(map(math.isfinite, (start, limit, step))):
        raise BadArg(f"no numbers lead from {start} to {limit} in steps of {step}")
    count = max(math.ceil((limit - start) / step), 0)
    if count > _MOST:
        raise BadArg(f"a range of {count:,} numbers; at most {_MOST:,} are supported", LimitError)
    if dtype == "float32":
        return c.numbers([start + n * step for n in range(count)])
    return c.emit(Sequence(start, step, count, dtype))


@operator("Cast", "CastLike")
def cast(c: Call) -> Result:
    c.ignore("saturate", "round_mode")
    if c.node.operator == "CastLike":
        like = c.value(1)
        kind = like.kind or c.type(1).dtype
    else:
        kind = KINDS.get(c.integer("to"), "unknown")
    if kind not in HELD or (HELD[kind] != kind and kind.strip("u").startswith("int")):
        raise BadArg(f"conversion to {kind} is not supported", Unsupported)
    if c.value(0).whole and HELD[kind] == "float32":
        return c.value(0)._replace(kind=kind, whole=False)  # its sums are the same
    return Value(converted(c, c.x(), HELD[kind]), False, kind)


def converted(c: Call, x: Ref, dtype: str) -> Ref:
    if dtype == "bool" and c.g.type(x).dtype != "bool":
        return c.emit(Compare(x, c.number(0, c.g.type(x).dtype), "ne"))
    return c.cast(x, dtype)


@operator("EyeLike")
def eye_like(c: Call) -> Result:
    kind = KINDS.get(c.integer("dtype", 0), c.type().dtype)
    rows, columns = _matrix(c.shape())
    k = c.integer("k", 0)
    return c.numbers([float(j - i == k) for i in range(rows) for j in range(columns)], (rows, columns), HELD[kind])


def _matrix(shape: Shape) -> tuple[int, int]:
    if len(shape) != 2:
        raise BadArg(f"{list(shape)} is no matrix")
    return shape[0], shape[1]
