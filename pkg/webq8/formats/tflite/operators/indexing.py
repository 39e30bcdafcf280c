"""Elements at places that other tensors say."""

from webq8.errors import Unsupported
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value
from webq8.ir.ops.create import Cast, Fill
from webq8.ir.ops.elementwise import Binary, Compare, Where
from webq8.ir.ops.indexing import Index, IndexPut
from webq8.ir.ops.move import Permute, Reshape, Split
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, PerChannel, Ref, Tensor

__all__: list[str] = []


@lowers("GATHER", axis="0i", batch_dims="1i")
def gather(g: Emitter, x: Value, indices: Value, *, axis: int, batch_dims: int) -> Lowered:
    at, rank = axis_of(axis, len(x.shape)), len(x.shape)
    batches = batch_dims % max(len(indices.shape), 1) if batch_dims < 0 else batch_dims
    if batches > at or indices.shape[:batches] != x.shape[:batches]:
        raise BadArg(f"{batches} batch dimensions of {list(x.shape)} and of indices {list(indices.shape)}")
    if not batches:
        return g.builder.emit(Index(x.ref, (indices.ref,), (at,)))
    # the axis goes next to the batches, and what lies between them goes back behind the batches
    order = (*range(batches), at, *(i for i in range(batches, rank) if i != at))
    own = len(indices.shape) - batches
    parts = [
        g.int32s(range(size), (size, *(1,) * (len(indices.shape) - n - 1))) for n, size in enumerate(x.shape[:batches])
    ]
    moved = x.ref if order == tuple(range(rank)) else g.builder.emit(Permute(x.ref, order))
    found = g.builder.emit(Index(moved, (*parts, indices.ref), tuple(range(batches + 1))))
    between = at - batches
    back = (
        *range(batches),
        *range(batches + own, batches + own + between),
        *range(batches, batches + own),
        *range(batches + own + between, rank - 1 + own),
    )
    return found if back == tuple(range(len(back))) else g.builder.emit(Permute(found, back))


def _columns(g: Emitter, indices: Value, rank: int) -> tuple[Ref, ...]:
    """The index along each axis, of tensors whose last axis has them all."""
    *lead, count = indices.shape or (0,)
    if not 0 < count <= rank:
        raise BadArg(f"indices {list(indices.shape)} into {rank} dimensions")
    parts = g.builder.emit_all(Split(indices.ref, (1,) * count, len(lead)))
    return tuple(g.builder.emit(Reshape(part, tuple(lead))) for part in parts)


@lowers("GATHER_ND")
def gather_nd(g: Emitter, x: Value, indices: Value) -> Lowered:
    columns = _columns(g, indices, len(x.shape))
    return g.builder.emit(Index(x.ref, columns, tuple(range(len(columns)))))


@lowers("SCATTER_ND")
def scatter_nd(g: Emitter, indices: Value, updates: Value, shape: Value) -> Lowered:
    sizes = shape.ints("the shape")
    columns = _columns(g, indices, len(sizes))
    zeros = g.builder.emit(Fill(sizes, updates.dtype, 0))
    put = IndexPut(zeros, columns, tuple(range(len(columns))), g.builder.quantized(updates.ref, None), True)
    return g.builder.emit(put, updates.type.quantization)


@lowers("EMBEDDING_LOOKUP")
def embedding_lookup(g: Emitter, indices: Value, table: Value) -> Lowered:
    tensor = table.type
    if g.declared().dtype != "float32" or tensor.dtype == "float32":
        return g.builder.emit(Index(table.ref, (indices.ref,), (0,)))
    quantization = tensor.quantization
    if not isinstance(quantization, PerChannel):
        return g.builder.emit(Dequantize(g.builder.emit(Index(table.ref, (indices.ref,), (0,)))))
    if quantization.axis or quantization.zero_points:
        raise BadArg("a table with scales along its rows, or with zero points, is not supported", Unsupported)
    rows = g.builder.emit(Index(g.builder.quantized(table.ref, None), (indices.ref,), (0,)))
    scales = g.builder.add(Tensor((tensor.shape[0],), "float32", memoryview(quantization.scales)))
    scale = g.builder.emit(Index(scales, (indices.ref,), (0,)))
    shape = g.type(rows).shape
    scale = g.builder.emit(Reshape(scale, (*g.type(scale).shape, *(1,) * (len(tensor.shape) - 1))))
    return g.builder.emit(Binary(g.builder.emit(Cast(rows, "float32", shape)), scale, "mul"))


@lowers("ONE_HOT", axis="0i=-1")
def one_hot(g: Emitter, indices: Value, depth: Value, on: Value, off: Value, *, axis: int) -> Lowered:
    rank, count = len(indices.shape) + 1, depth.integer("the depth")
    at = axis_of(axis, rank)
    spread = g.builder.emit(Reshape(indices.ref, (*indices.shape[:at], 1, *indices.shape[at:])))
    numbers = g.int32s(range(count), tuple(count if i == at else 1 for i in range(rank)))
    if indices.dtype != "int32":
        spread = g.builder.emit(Cast(spread, "int32", g.type(spread).shape))
    return g.builder.emit(Where(g.builder.emit(Compare(spread, numbers, "eq")), on.ref, off.ref), on.type.quantization)
