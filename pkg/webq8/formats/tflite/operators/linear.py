"""Products with weights, and of matrices."""

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats import xnnpack
from webq8.formats.tflite.operators.conv import constant_of, dequantized, int32_bias, on_int8, on_own_scale, per_channel
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value
from webq8.formats.tflite.windows import activated, bounds_of, one_scale
from webq8.ir.ops.linear import Linear
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import Expand, Permute, Reshape
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.ops.rules import broadcast
from webq8.ir.types import BadArg, PerTensor, Ref, Shape, f32

__all__: list[str] = []


@lowers("FULLY_CONNECTED", activation="0b", weights_format="1b", keep_num_dims="2?")
def fully_connected(
    g: Emitter,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    activation: int,
    weights_format: int,
    keep_num_dims: int,
) -> Lowered:
    if weights_format:
        raise BadArg("weights that are shuffled for one processor are not supported", Unsupported)
    if len(weight.shape) != 2 or not weight.shape[1] or numel(x.shape) % weight.shape[1]:
        raise BadArg(f"a weight {list(weight.shape)} does not fit x {list(x.shape)}")
    n, k = weight.shape
    rows, flat = x.ref, (numel(x.shape) // k, k)
    out = (*x.shape[:-1], n) if keep_num_dims and x.shape[-1:] == (k,) else (flat[0], n)
    if x.shape != flat:
        rows = g.builder.emit(Reshape(rows, flat))
    if on_int8(x):
        tensor, data = constant_of(weight)
        weights = g.builder.add(tensor.replace(data=data, quantization=per_channel(tensor, 0, 0)))
        y = g.emit(Linear(rows, weights, int32_bias(g, bias, n), bounds=bounds_of(g, activation)))
        return y if out == (flat[0], n) else g.builder.emit(Reshape(y, out))
    weights = weight.ref
    if weight.dtype != "float32":
        tensor, _ = constant_of(weight)
        rows, weights = on_own_scale(g, rows), dequantized(g, weights, per_channel(tensor, 0, 0))
    op = MatMul(rows, weights, bias.ref if bias else None, transposed=True)
    y = activated(g, g.builder.emit(op), activation)
    return y if out == (flat[0], n) else g.builder.emit(Reshape(y, out))


@lowers("BATCH_MATMUL", adj_x="0?", adj_y="1?")
def batch_matmul(g: Emitter, a: Value, b: Value, *, adj_x: int, adj_y: int) -> Lowered:
    if min(len(a.shape), len(b.shape)) < 2:
        raise BadArg(f"matrices {list(a.shape)} and {list(b.shape)} have no product")
    lead = broadcast(a.shape[:-2], b.shape[:-2])
    x, y = (_turned(g, v, bool(adj)) for v, adj in ((a, adj_x), (b, False)))
    if a.dtype == "float32" and b.dtype == "int8":
        shape = g.type(x).shape
        rows = on_own_scale(g, g.builder.emit(Reshape(x, (numel(shape[:-1]), shape[-1]))))
        x, y = g.builder.emit(Reshape(rows, shape)), g.builder.emit(Dequantize(y))
    if len(b.shape) > 2 or adj_x:
        x, y = (_expanded(g, ref, lead) for ref in (x, y))
    p, q = a.per_tensor, b.per_tensor
    if a.dtype != "int8" or p is None or q is None:
        return g.builder.emit(MatMul(x, y, transposed=bool(adj_y)))
    sums = g.builder.emit(MatMul(x, y, transposed=bool(adj_y), whole=True))
    product = PerTensor(f32(p.scale * q.scale), 0)
    return xnnpack.requantize(g.builder, g.builder.quantized(sums, product), one_scale(g))


def _turned(g: Emitter, x: Value, turn: bool) -> Ref:
    """Matrices, or their transposes."""
    rank = len(x.shape)
    return g.builder.emit(Permute(x.ref, (*range(rank - 2), rank - 1, rank - 2))) if turn else x.ref


def _expanded(g: Emitter, ref: Ref, lead: Shape) -> Ref:
    """Matrices with these leading dimensions."""
    shape = (*lead, *g.type(ref).shape[-2:])
    return ref if g.type(ref).shape == shape else g.builder.emit(Expand(ref, shape))
