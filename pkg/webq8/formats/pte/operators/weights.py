"""Weights as files have them: rows that may be padded, scales in a tensor of their own."""

from webq8.formats.pte.schema import Argument
from webq8.ir.builder import Builder
from webq8.ir.types import PerChannel, Ref, Shape, Tensor

__all__ = ["quantized_rows"]


def quantized_rows(g: Builder, weight: Argument, scales: Argument, length: int, shape: Shape | None = None) -> Ref:
    """Constant int8 weights [N, ≥ length] without their padding, in another shape if there is one, with a scale for
    each of the N rows. Both tensors may be longer than that in the file."""
    assert weight.data is not None, "declared constant"
    assert scales.data is not None, "declared constant"
    rows, stride = weight.shape
    data = weight.data
    if stride != length:
        g.budget.keep(rows * length)
        data = memoryview(b"".join(data[n * stride : n * stride + length] for n in range(rows)))
    quantization = PerChannel(bytes(scales.data[: 4 * rows]), axis=0)
    return g.add(Tensor(shape or (rows, length), "int8", data, quantization))
