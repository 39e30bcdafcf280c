"""Operators whose indices say where elements are read or written; the largest elements."""

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, operator
from webq8.ir.ops.elementwise import Binary, Compare, Where
from webq8.ir.ops.indexing import INDICES, Gather, Index, IndexPut, Scatter
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.ops.sort import TopK
from webq8.ir.types import BadArg, PerTensor, Ref


def _indices(c: Call, n: int = 1) -> Ref:
    ref = c.x(n)
    return ref if c.g.type(ref).dtype in INDICES else c.cast(ref, "int64")


def _from_start(c: Call, index: Ref, size: int) -> Ref:
    """Indices of which negative ones count from the end."""
    dtype = c.g.type(index).dtype
    below = c.emit(Compare(index, c.number(0, dtype), "lt"))
    return c.emit(Where(below, c.emit(Binary(index, c.number(size, dtype), "add")), index))


@operator("Gather")
def gather(c: Call) -> Result:
    at, index = axis_of(c.integer("axis", 0), len(c.shape())), _indices(c)
    table = c.g.dequantized.get(c.value(0).ref)
    if table is not None and isinstance(
        c.g.type(table).quantization, PerTensor
    ):  # rows stay integers until they are read
        return c.emit(Dequantize(c.emit(Index(table, (index,), (at,), from_end=True))))
    return c.moved(lambda x: Index(x, (index,), (at,), from_end=True))


@operator("GatherElements")
def gather_elements(c: Call) -> Result:
    at = axis_of(c.integer("axis", 0), len(c.shape()))
    index = _from_start(c, _indices(c), c.shape()[at])
    return c.moved(lambda x: Gather(x, index, at))


def _parts(c: Call, index: Ref) -> list[Ref]:
    """What indices [*I, K] say of each of K axes."""
    *lead, count = c.g.type(index).shape
    return [c.reshaped(c.sliced(index, len(lead), n, n + 1), tuple(lead)) for n in range(count)]


@operator("GatherND")
def gather_nd(c: Call) -> Result:
    batch, index = c.integer("batch_dims", 0), _indices(c)
    rank = len(c.shape(1)) - 1
    own = [
        c.numbers([*range(c.shape()[n])], (1,) * n + (c.shape()[n],) + (1,) * (rank - n - 1), "int64")
        for n in range(batch)
    ]
    parts = [*own, *_parts(c, c.cast(index, "int64") if batch else index)]
    return c.moved(lambda x: Index(x, tuple(parts), tuple(range(len(parts))), from_end=True))


def _adds(c: Call) -> bool:
    reduction = c.text("reduction", "none")
    if reduction not in ("none", "add"):
        raise BadArg(f"reduction: {reduction!r} is not supported", Unsupported)
    return reduction == "add"


@operator("ScatterND")
def scatter_nd(c: Call) -> Result:
    parts = _parts(c, _indices(c))
    return c.emit(IndexPut(c.x(), tuple(parts), tuple(range(len(parts))), c.x(2), _adds(c)))


@operator("ScatterElements", "Scatter")
def scatter_elements(c: Call) -> Result:
    at = axis_of(c.integer("axis", 0), len(c.shape()))
    index = _from_start(c, _indices(c), c.shape()[at])
    return c.emit(Scatter(c.x(), index, c.x(2), at, _adds(c)))


@operator("OneHot")
def one_hot(c: Call) -> Result:
    depth = int(c.constant(1, "depth")[0])
    index = _from_start(c, c.cast(c.x(), "int64"), depth)
    shape = c.shape()
    at = axis_of(c.integer("axis", -1), len(shape) + 1)
    chosen = c.reshaped(index, (*shape[:at], 1, *shape[at:]))
    places = c.numbers([*range(depth)], (depth,) + (1,) * (len(shape) - at), "int64")
    off, on = (c.reshaped(c.sliced(c.x(2), 0, n, n + 1), ()) for n in (0, 1))
    return c.emit(Where(c.emit(Compare(chosen, places, "eq")), on, off))


@operator("TopK")
def largest_elements(c: Call) -> Result:
    c.ignore("sorted")
    (k,) = c.constant(1, "k") if c.version >= 10 else (c.integer("k"),)
    if c.type().dtype not in ("float32", "int32"):
        raise BadArg(f"of {c.type().dtype} is not supported; of float32 and int32 it is", Unsupported)
    at = axis_of(c.integer("axis", -1), len(c.shape()))
    return c.emit_all(TopK(c.x(), at, k, bool(c.integer("largest", 1)), "int64"))


@operator("NonZero")
def non_zero(c: Call) -> Result:
    values, shape = c.constant(0, "x"), c.shape()
    found = [n for n, v in enumerate(values) if v]
    rows = [[n // numel(shape[axis + 1 :]) % size for n in found] for axis, size in enumerate(shape)]
    return c.numbers([v for row in rows for v in row], (len(shape), len(found)), "int64")


@operator("Compress")
def compress(c: Call) -> Result:
    kept = [n for n, v in enumerate(c.constant(1, "the condition")) if v]
    axis = axis_of(c.integer("axis"), len(c.shape())) if "axis" in c.node.attributes else None
    index = c.numbers(kept, None, "int64")
    if axis is None:
        return c.moved(lambda x: Index(c.reshaped(x, (numel(c.shape()),)), (index,), (0,)))
    at = axis
    return c.moved(lambda x: Index(x, (index,), (at,)))
