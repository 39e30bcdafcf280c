"""Products of int8 matrices by the reference; where passes find them; and what they refuse."""

import numpy as np
import pytest
from graphs import Builder, Ref
from int8_matrices import PRODUCTS, Product
from webq8.backends.reference import run_graph
from webq8.errors import LimitError
from webq8.ir.ops.matmul import MatMul
from webq8.ir.types import BadArg, PerTensor, Tensor
from webq8.ir.types import Ref as TensorRef
from webq8.passes import required


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_product(product: Product) -> None:
    [y] = run_graph(product.graph(), list(product.inputs()))
    np.testing.assert_array_equal(y, product.wanted())


def infer(a: Tensor, b: Tensor, **options: float) -> None:
    MatMul(TensorRef(0), TensorRef(1), **options).infer([a, b])


def test_what_is_refused() -> None:
    grid = PerTensor(0.1, 0)
    a, b = Tensor((3, 4), "int8", None, grid), Tensor((4, 5), "int8", None, grid)
    infer(a, b)
    with pytest.raises(BadArg, match="one scale each"):
        infer(a, Tensor((4, 5), "int8"))
    with pytest.raises(BadArg, match="of float32 matrices only"):
        infer(a, b, alpha=2.0)
    with pytest.raises(BadArg, match="could overflow") as caught:
        infer(Tensor((1, 32_897), "int8", None, grid), Tensor((32_897, 1), "int8", None, grid))
    assert caught.value.kind is LimitError


def test_dequantized_matrices() -> None:
    """dequantize → bmm → quantize is one op on int8."""
    b = Builder()
    x, y = (b.dequantize(b.quantize(b.input(shape, "float32"), q), q) for shape, q in (((2, 3, 4), X), ((2, 4, 5), W)))
    z = b.call("aten.bmm.default", Ref(x), Ref(y), out=((2, 3, 5), "float32"))
    graph = required(b.graph(b.quantize(z, (0.2, 4))))
    assert [type(node.op).__name__ for node in graph.nodes] == ["Quantize", "Quantize", "MatMul"]
    assert graph.tensors[graph.nodes[2].outputs[0]].quantization == PerTensor(0.2, 4)


X, W = (0.05, -3), (0.07, 9)
