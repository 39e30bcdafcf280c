"""What the float32 ops refuse, and the arithmetic they do on the host."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from webq8 import ops
from webq8.errors import InputError
from webq8.kernels.reduce import lanes_for
from webq8.kernels.resize import linear_taps, nearest_taps


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def conv(x: np.ndarray, w: np.ndarray, **arguments: Any) -> Any:
    return ops.convolution(x, w, None, **arguments)


REFUSED: tuple[tuple[Callable[[], Any], str], ...] = (
    (lambda: ops.mean(zeros(2, 3), [2]), "dim 2 is out of range for 2 dimensions"),
    (lambda: ops.sum(zeros(2, 3), [1, -1]), "names a dimension twice"),
    (lambda: ops.mean(np.zeros((2, 3), np.int32), [1]), r"x: expected float32 \[\*S\], got int32"),
    (lambda: ops.mean(zeros(2, 3), [1], False, 7), "dtype: 7 is not supported"),
    (lambda: ops.var(zeros(2, 3), [1, -1]), r"dim \[1, -1\] names a dimension twice"),
    (lambda: ops.prod(zeros(2, 3), 2), "dim 2 is out of range for 2 dimensions"),
    (lambda: ops.prod(zeros(2, 3), 1, False, 4), "dtype: 4 is not supported"),
    (lambda: ops.cumsum(zeros(2, 3), 2), "dim 2 is out of range for 2 dimensions"),
    (lambda: ops.cumsum(zeros(2, 3), 1, 4), "dtype: sums of float32 as int64 are not supported"),
    (lambda: ops.cumsum(zeros(2, 3), 1, 7), "dtype: 7 is not supported; one of None, 6, 4, 3 is"),
    (lambda: ops.sign(np.zeros(3, np.int8)), r"x: expected float32 or int32 \[\*S\], got int8"),
    (lambda: ops.atan2(zeros(2, 3), zeros(2)), r"the shapes \[2, 3\] and \[2\] do not broadcast"),
    (lambda: ops.amax(zeros(2, 0), [1]), r"nothing to choose from in \[2, 0\]"),
    (lambda: ops.argmax(zeros(2, 0)), "nothing to choose from"),
    (lambda: ops._softmax(zeros(2, 3), 2), "dim 2 is out of range"),
    (lambda: ops._softmax(zeros(2, 3), 1, True), "half_to_float: True is not supported"),
    (lambda: ops.max_pool2d(zeros(1, 1, 5, 5), [2, 2], [], [2, 0]), "padding 2 is more than half"),
    (lambda: ops.max_pool2d(zeros(1, 1, 5, 5), [2, 2, 2]), "kernel: expected one or two integers"),
    (lambda: ops.max_pool2d(zeros(1, 1, 5, 5), [2, 2], [0, 1]), r"stride: \[0, 1\] must be at least 1"),
    (lambda: ops.max_pool2d(zeros(5, 5), [2, 2]), "3 or 4 are a map"),
    (lambda: ops.avg_pool2d(zeros(1, 1, 5, 5), [6, 2]), "does not fit size 5"),
    (lambda: ops.avg_pool2d(zeros(1, 1, 5, 5), [2, 2], [], 0, False, True, 0), "divisor_override is 0"),
    (lambda: ops.adaptive_avg_pool2d(zeros(1, 1, 0, 5), [2, 2]), "nothing to average"),
    (lambda: ops.upsample_nearest2d(zeros(1, 1, 5, 5)), "either output_size or scale_factors"),
    (lambda: ops.upsample_nearest2d(zeros(1, 1, 5, 5), [2, 2], [2.0, 2.0]), "either output_size or scale_factors"),
    (lambda: ops.upsample_nearest2d(zeros(1, 1, 5, 5), [2]), "height and width"),
    (lambda: ops.upsample_nearest2d(zeros(1, 1, 5, 5), [0, 2]), "cannot resize"),
    (lambda: ops.upsample_bilinear2d(zeros(1, 1, 5, 5), None, False, [float("inf"), 1.0]), "not finite"),
    (lambda: ops.linear(zeros(2, 3), zeros(5, 4), None), "K = 4 disagrees with K = 3 of x"),
    (lambda: ops.bmm(zeros(2, 3, 4), zeros(3, 4, 5)), "B = 3 disagrees"),
    (lambda: ops.addmm(zeros(2), zeros(3, 4), zeros(4, 5)), r"does not broadcast to \[3, 5\]"),
    (lambda: conv(zeros(1, 2, 3, 4, 5), zeros(2, 2, 1, 1, 1)), "convolutions in one and two dimensions"),
    (lambda: conv(zeros(1, 4, 5, 5), zeros(6, 3, 1, 1)), "does not fit 4 input channels in 1 groups"),
    (lambda: conv(zeros(1, 4, 5, 5), zeros(6, 2, 1, 1), groups=3), "does not fit"),
    (lambda: conv(zeros(1, 2, 5, 5), zeros(2, 2, 6, 1)), "leaves an output of"),
    (lambda: conv(zeros(1, 2, 5, 5), zeros(2, 2, 1, 1), stride=[1, 2, 3]), "stride: .* 2 integers of at least 1"),
    (
        lambda: conv(zeros(1, 2, 5, 5), zeros(2, 2, 1, 1), transposed=True, output_padding=[1, 0]),
        "must be less than stride",
    ),
    (lambda: ops.native_layer_norm(zeros(3, 5), [4], None, None), r"normalized_shape \[4\] is not the end of"),
    (lambda: ops.native_layer_norm(zeros(3, 5), [5], zeros(4), None), "W = "),
    (lambda: ops.native_group_norm(zeros(1, 4, 3), None, None, 1, 4, 3, 3), "group = 3 does not divide"),
    (lambda: ops.native_group_norm(zeros(1, 4, 3), None, None, 1, 4, 2, 2), "does not have"),
    (lambda: ops._native_batch_norm_legit(zeros(2, 3, 5), None, None, False), "training: False needs statistics"),
    (lambda: ops._native_batch_norm_legit(zeros(1, 3, 1), None, None), r"x: \[1, 3, 1\] has 1 elements a channel"),
    (lambda: ops.rms_norm(zeros(3, 5), [3]), r"normalized_shape \[3\] is not the end of \[3, 5\]"),
    (lambda: ops.max(zeros(2, 0), 1), r"nothing to choose from in \[2, 0\]"),
    (lambda: ops.min(zeros(2, 3), 2), "dim 2 is out of range for 2 dimensions"),
    (lambda: ops.topk(zeros(2, 3), 4), r"k: 4 of 3 elements along dim -1 of \[2, 3\]"),
    (lambda: ops.topk(zeros(), 0), "k: 0 of a scalar; 1 is expected"),
    (lambda: ops.sort(zeros(2, 3), 2), "dim 2 is out of range for 2 dimensions"),
    (lambda: ops.grid_sampler_2d(zeros(1, 2, 5, 7), zeros(1, 3, 4, 3)), "grid: 3 numbers a place"),
    (lambda: ops.grid_sampler_2d(zeros(2, 2, 5, 7), zeros(1, 3, 4, 2)), "N = 1 disagrees with N = 2 of x"),
    (lambda: ops.grid_sampler_2d(zeros(1, 2, 0, 7), zeros(1, 3, 4, 2)), "nothing to read"),
    (lambda: ops.grid_sampler_2d(zeros(1, 2, 5, 7), zeros(1, 3, 4, 2), 3), "interpolation: 3 is not supported"),
    (lambda: ops.choose_qparams(zeros(0), -128, 127), "there is nothing to choose by"),
    (lambda: ops.choose_qparams(zeros(3), 0, 255), "qmin 0 and qmax 255 are no range of int8: -128…127"),
    (lambda: ops._weight_int8pack_mm(zeros(2, 3), np.zeros((4, 2), np.int8), zeros(4)), "less than K = 3"),
)


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_nearest_taps_in_float32() -> None:
    assert nearest_taps(3, 6, 0.0) == [0, 0, 1, 1, 2, 2]
    assert nearest_taps(5, 3, 0.0) == [0, 1, 3]
    # 1 / 1.6 is 0.625: a scale that was given overrules the ratio of the sizes
    assert nearest_taps(5, 7, 1.6) == [0, 0, 1, 1, 2, 3, 3]
    # i · (size / out) just misses a whole number in float32, which float64 and integers do not
    assert any(nearest_taps(s, o, 0.0) != [i * s // o for i in range(o)] for s in range(1, 50) for o in range(1, 50))


def test_linear_taps() -> None:
    assert linear_taps(2, 4, False, 0.0) == [(0, 1, 0.0), (0, 1, 0.25), (0, 1, 0.75), (1, 1, 0.25)]
    assert linear_taps(3, 5, True, 0.0) == [(0, 1, 0.0), (0, 1, 0.5), (1, 2, 0.0), (1, 2, 0.5), (2, 2, 0.0)]
    assert linear_taps(3, 1, True, 0.0) == [(0, 1, 0.0)]
    assert linear_taps(3, 3, False, 2.0) == [(0, 0, 0.0), (1, 1, 0.0), (2, 2, 0.0)]


def test_lanes() -> None:
    assert [lanes_for(n, 1, True) for n in (0, 1, 4, 8, 49, 256, 10**6)] == [1, 1, 1, 2, 8, 64, 64]
    assert lanes_for(256, 10**4, False) == 1
    assert lanes_for(10**5, 10**4, False) == 64
