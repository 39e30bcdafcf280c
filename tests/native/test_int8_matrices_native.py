"""Products of int8 matrices by their kernel, with packed dot products and without."""

import numpy as np
import pytest
from int8_matrices import PRODUCTS, Product
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_product(product: Product) -> None:
    graphs = {"forward": required(product.graph())}
    with drive(compile_graphs(graphs, product.name, "native")) as program:
        np.testing.assert_array_equal(program.run(*product.inputs()), product.wanted())
