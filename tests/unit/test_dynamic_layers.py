"""Linear layers of an x that the run quantizes, by the reference; and what they refuse."""

import numpy as np
import pytest
from dynamic_layers import LAYERS, Layer
from webq8.backends.reference import run_graph
from webq8.ir.ops.linear import Linear
from webq8.ir.types import BadArg, Dynamic, PerChannel, Ref, Tensor


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.id)
def test_layer(layer: Layer) -> None:
    [y] = run_graph(layer.graph(), list(layer.inputs()))
    np.testing.assert_array_equal(y, layer.wanted())


@pytest.mark.parametrize(("axis", "sizes"), [(None, (5,)), (0, (1,)), (0, (4,))])
def test_numbers_that_do_not_fit(axis: int | None, sizes: tuple[int, ...]) -> None:
    x = Tensor((5, 4), "int8", None, Dynamic(Ref(2), Ref(3), axis))
    weight = Tensor((3, 4), "int8", None, PerChannel(bytes(12), 0))
    layer = Linear(Ref(0), Ref(1), None, x_scale=Ref(2), x_zero_point=Ref(3))
    with pytest.raises(BadArg, match="a scale and a zero point, or one of each a row"):
        layer.infer([x, weight, Tensor(sizes, "float32"), Tensor(sizes, "int32")])
