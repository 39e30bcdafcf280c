"""Products of integers, and what onnxruntime makes of them: dynamic quantization, and weights of a few bits.

A sum of products of integers is what float32 makes of them: it is exact up to 2²⁴, and rounded beyond, as the file
rounds it next.
"""

from webq8.dtypes import cdiv, numel
from webq8.errors import Unsupported
from webq8.formats.folding import dequantized_blocks, packed
from webq8.formats.onnx.call import MICROSOFT, OPERATORS, Call, Result, Sums, Value, operator
from webq8.formats.onnx.operators.elementwise import binary, function_of_more
from webq8.formats.onnx.operators.matmul import product
from webq8.formats.onnx.operators.quantize import dequantized, quantized_by_itself
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Dynamic, Ref, Tensor


def _whole_numbers(c: Call, n: int, zero: int, axis: int) -> Ref:
    """Integers less their zero points, one for all of them or for each index along an axis, as float32."""
    point = c.value(zero) if c.has(zero) else None
    sizes = c.shape(zero) if point else ()
    count = numel(sizes)
    scale = c.numbers([1.0] * count, sizes)
    return dequantized(c.as_axis(axis), c.value(n), scale, point)


@operator("MatMulInteger")
def matmul_integer(c: Call) -> Result:
    for n, sizes in ((2, c.shape(0)[:-2]), (3, c.shape(1)[:-2])):
        if c.has(n) and len(c.shape(n)) > 1 and numel(sizes) > 1:
            raise BadArg("zero points for each of several matrices are not supported", Unsupported)
    a = _whole_numbers(c, 0, 2, max(len(c.shape()) - 2, 0))
    b = _whole_numbers(c, 1, 3, len(c.shape(1)) - 1)
    sums = None
    if c.has(2) and c.value(2).of == c.value(0).ref and c.type(1).data is not None and len(c.shape(1)) == 2:
        sums = Sums(c.value(0), c.value(1), c.value(3) if c.has(3) else None)
    return Value(product(c, a, b), whole=True, sums=sums)


@operator("Mul")
def multiplied(c: Call) -> Result:
    """Sums of products of integers, times the scales of both, are the product of what the integers stand for."""
    for one, other in ((c.value(0), c.value(1)), (c.value(1), c.value(0))):
        if one.of is not None and c.g.value(other.ref) is not None:
            return Value(binary(c, one.ref, other.ref, "mul"), of=one.of, scales=other.ref)
        if one.sums and other.scales is not None and one.sums.a.ref == other.of:
            a, b, zero_points = one.sums
            quantization = c.g.type(a.ref).quantization
            assert isinstance(quantization, Dynamic), "it has a scale of the run"
            x = c.emit(Dequantize(a.ref, quantization.scale, quantization.zero_point))
            return product(c, x, dequantized(c.as_axis(1), b, other.scales, zero_points))
    return function_of_more(c)


@operator("ConvInteger")
def conv_integer(c: Call) -> Result:
    operands = Value(_whole_numbers(c, 0, 2, 0)), Value(_whole_numbers(c, 1, 3, 0))
    inner = Call(c.node._replace(operator="Conv"), operands, c.g, c.body)
    made = OPERATORS["", "Conv"](inner)
    c.unread &= inner.unread
    assert isinstance(made, int), "a convolution has one result"
    return Value(made, whole=True)


def _with_bias(c: Call, y: Ref, n: int) -> Ref:
    return binary(c, y, c.x(n), "add") if c.has(n) else y


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(c: Call) -> Result:
    a = dequantized(c.as_axis(max(len(c.shape()) - 2, 0)), c.value(0), c.x(2), c.value(4) if c.has(4) else None)
    b = dequantized(c.as_axis(len(c.shape(1)) - 1), c.value(1), c.x(3), c.value(5) if c.has(5) else None)
    return _with_bias(c, product(c, a, b), 6)


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(c: Call) -> Result:
    held, scale, zero = quantized_by_itself(c, c.x())
    a = dequantized(c, held, scale, zero)
    b = dequantized(c.as_axis(len(c.shape(1)) - 1), c.value(1), c.x(2), c.value(3) if c.has(3) else None)
    return _with_bias(c, product(c, a, b), 4)


def _unpacked(packed: bytes, bits: int, row: int, count: int) -> bytes:
    """Rows of integers of a few bits, `row` bytes each, the first of a byte in its lowest bits; `count` of each row."""
    each, mask, out = 8 // bits, 2**bits - 1, bytearray()
    for start in range(0, len(packed), row):
        line = packed[start : start + row]
        wide = bytearray(len(line) * each)
        for n in range(each):
            wide[n::each] = line.translate(bytes((byte >> n * bits) & mask for byte in range(256)))
        out += wide[:count]
    return bytes(out)


def _bytes(c: Call, n: int, what: str) -> bytes:
    """The bytes of a constant."""
    data = c.g.type(c.x(n)).data
    if data is None:
        raise BadArg(f"{what} is computed in the run; only a constant is supported", Unsupported)
    return bytes(data)


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_n_bits(c: Call) -> Result:
    """A product with weights [N, K] of a few bits, dequantized when the model is loaded."""
    c.ignore("accuracy_level")
    k, n, bits, block = (c.integer(name) for name in ("K", "N", "bits", "block_size"))
    if bits not in (2, 4, 8) or c.has(4):
        raise BadArg(f"{bits} bits, or an index of groups, are not supported", Unsupported)
    blocks = cdiv(k, block)
    data = _unpacked(_bytes(c, 1, "B"), bits, block * bits // 8, block)
    scales = c.constant(2, "the scales")
    zeros = [2 ** (bits - 1)] * (n * blocks)
    if c.has(3):
        given = c.constant(3, "the zero points")
        zeros = (
            list(_unpacked(bytes(given), bits, cdiv(blocks * bits, 8), blocks)) if c.type(3).dtype == "uint8" else given
        )
    padded = Tensor((n, blocks * block), "uint8", memoryview(data))
    if len(data) != n * blocks * block or len(scales) != n * blocks or len(zeros) != n * blocks:
        raise BadArg(f"weights, scales and zero points do not fit N = {n}, K = {k} in blocks of {block}")
    floats = dequantized_blocks(padded, scales, zeros, 1, block)
    weight = c.sliced(c.g.constant(floats, padded.shape, "float32"), 1, 0, k)
    return _with_bias(c, product(c, c.x(), weight, transposed=True), 5)


@operator("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(c: Call) -> Result:
    """Rows of a table of a few bits, dequantized when the model is loaded."""
    block, bits = c.integer("block_size", 128), c.integer("bits", 4)
    gathered, along = c.integer("gather_axis", 0), c.integer("quantize_axis", 1)
    tensor, kind = c.type(), c.value(0).kind
    unsigned = tensor.dtype == "uint8"
    values, shape = c.constant(0, "the table"), list(tensor.shape)
    if unsigned and kind != "uint4" and bits < 8:  # several share a byte
        shape[-1] *= 8 // bits
        values = list(_unpacked(bytes(values), bits, tensor.shape[-1], shape[-1]))
    axis = axis_of(along, len(shape))
    table = Tensor(tuple(shape), "int16", memoryview(packed(values, "int16")))
    scales, zeros = c.constant(2, "the scales"), [2 ** (bits - 1) * unsigned] * numel(c.shape(2))
    if c.has(3):
        zeros = c.constant(3, "the zero points")
        if unsigned and c.value(3).kind != "uint4" and bits < 8:
            zeros = list(_unpacked(bytes(zeros), bits, c.shape(3)[-1], c.shape(2)[-1]))
    floats = c.g.constant(dequantized_blocks(table, scales, zeros, axis, block), table.shape, "float32")
    return c.emit(Index(floats, (c.x(1),), (axis_of(gathered, len(shape)),), from_end=True))
