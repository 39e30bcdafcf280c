"""Windows over maps, beyond what ExecuTorch's pools ask for: padding that differs between opposite edges."""

from itertools import product

import pytest
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d
from webq8.ir.ops.window import Padding, Window, pooled_sizes
from webq8.ir.types import BadArg, Ref, Tensor

X = Ref(0)


def counted(size: int, kernel: int, stride: int, before: int, after: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are, one by one: those within the padded map; with ceil_mode also a last one that begins
    in the map or the padding before it, where the others leave elements of the padded map over."""
    count, reach = 0, dilation * (kernel - 1)
    while count * stride + reach < before + size + after:
        count += 1
    left_over = (count - 1) * stride + reach + 1 < before + size + after
    return count + (ceil_mode and left_over and count * stride < before + size)


def test_pooled_sizes() -> None:
    tried = 0
    for size, kernel, stride, dilation, ceil_mode in product((5, 6, 9), (1, 2, 3, 4), (1, 2, 3), (1, 2), (False, True)):
        for before, after in product(range(kernel // 2 + 1), repeat=2):
            want = counted(size, kernel, stride, before, after, dilation, ceil_mode)
            if want and dilation * (kernel - 1) < before + size + after:
                window = Window((kernel, 1), (stride, 1), Padding(before, 0, after, 0), (dilation, 1))
                assert pooled_sizes(window, (size, 7), ceil_mode) == (want, 7), window
                tried += 1
    assert tried > 300


def test_padding_at_one_edge() -> None:
    window = Window((3, 3), (2, 2), Padding(0, 1, 1, 0))
    for x in (Tensor((1, 2, 6, 7), "float32"), Tensor((1, 2, 6, 7), "int8")):
        assert MaxPool2d(X, window, False).infer([x]) == (Tensor((1, 2, 3, 3), x.dtype),)
        assert AvgPool2d(X, window, False, False, None).infer([x])[0].shape == (1, 2, 3, 3)
        with pytest.raises(BadArg, match="differs between opposite edges"):
            AvgPool2d(X, window, False, True, None).infer([x])


def test_int8_maps_have_a_batch() -> None:
    for op in (MaxPool2d(X, Window((2, 2)), False), AdaptiveAvgPool2d(X, (1, 1))):
        assert op.infer([Tensor((2, 6, 7), "float32")])
        with pytest.raises(BadArg, match="int8 maps without a batch"):
            op.infer([Tensor((2, 6, 7), "int8")])
