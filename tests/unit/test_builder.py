"""Graphs in the making: what the integers of a tensor stand for."""

import pytest
from graphs import Builder, Ref
from webq8.ir.ops.elementwise import Unary
from webq8.ir.ops.move import Bitcast
from webq8.ir.ops.quantize import Dequantize
from webq8.ir.types import BadArg, PerTensor, Tensor
from webq8.ir.types import Ref as TensorRef


def test_integers_that_were_read_as_numbers_stay_such() -> None:
    """A later call that reads them as quantized reads the same bytes by another name."""
    b = Builder()
    x = b.input((3, 5), "int8")
    numbers = b.call("aten.abs.default", Ref(x), out=((3, 5), "int8"))
    graph = b.graph(numbers, b.dequantize(x, (0.5, 3)))
    absolute, bitcast, dequantize = (node.op for node in graph.nodes)
    assert isinstance(absolute, Unary)
    assert graph.tensors[absolute.x].quantization is None
    assert isinstance(bitcast, Bitcast)
    assert bitcast.x == absolute.x
    assert isinstance(dequantize, Dequantize)
    assert graph.tensors[dequantize.x].quantization == PerTensor(0.5, 3)


def test_functions_of_numbers_refuse_quantized_integers() -> None:
    with pytest.raises(BadArg, match=r"expected float32 or .*, got quantized int8 \[2\]"):
        Unary(TensorRef(0), "abs").infer([Tensor((2,), "int8", None, PerTensor(0.5, 3))])
