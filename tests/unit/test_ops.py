"""Arguments of ops: each mistake gets an error that names the argument; and lazy evaluation, on the CPU."""

import inspect

import numpy as np
import pytest
import webq8
from cases.common import FLT_MAX
from webq8 import ops
from webq8.errors import InputError, LimitError, NoAdapter
from webq8.stages import drive

X = np.zeros((3, 8), np.int8)
W = np.ones((5, 8), np.int8)
ZEROS = np.zeros(5, np.int64)
SCALES = np.full(5, 0.01, np.float32)
MAP = np.zeros((1, 4, 3, 3), np.int8)
KERNELS = np.ones((6, 16), np.int8)
SIX = np.full(6, 0.01, np.float32)


def linear(x=X, x_scale=0.02, x_zp=3, w=W, scales=SCALES, y_scale=0.05, y_zp=0, bias=None, activation="none"):
    return ops.q8ta_linear(x, x_scale, x_zp, w, None, scales, y_scale, y_zp, bias, activation)


def transposed(x=MAP, w=KERNELS, scales=SIX, kernel=(2, 2), **rest):
    return ops.q8ta_conv2d_transposed(x, 0.02, 3, w, None, scales, 0.05, 0, None, kernel, **rest)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: linear(x=X.astype(np.float32)), r"x: expected int8 \[\*B, K\], got float32 \[3, 8\]"),
        (lambda: linear(x=[[1, 2, 300]]), r"x: 300 at \[0, 2\] is not exactly int8"),
        (lambda: linear(x="12"), "x: a str is neither a number nor an array"),
        (lambda: linear(x=None), r"x: expected a tensor int8 \[\*B, K\], got None"),
        (lambda: linear(w=W[:, :7]), r"weight: shape \[5, 7\]: size 7 is less than K = 8"),
        (lambda: linear(w=W[0]), r"weight: shape \[8\] has 1 dimensions, \[N, K\+\] expected"),
        (lambda: linear(scales=SCALES[:4]), r"weight_scales: shape \[4\]: size 4 is less than N = 5"),
        (lambda: linear(scales=SCALES * np.float32(np.nan)), "weight_scales: element 0: nan is not a usable scale"),
        (lambda: linear(bias=np.full(5, np.inf, np.float32)), "bias: element 0 is inf; constants must be finite"),
        (lambda: linear(x_scale=0.0), r"x_scale: 0\.0 is not a usable scale"),
        (lambda: linear(x_scale="1"), "x_scale: expected a number, got '1'"),
        (lambda: linear(y_scale=float("nan")), "y_scale: nan is not a usable scale"),
        (lambda: linear(y_scale=FLT_MAX), "y_scale: .* is not a usable scale"),
        (lambda: linear(x_zp=128), r"x_zero_point: 128 is outside of -128…127"),
        (lambda: linear(y_zp=1.5), r"y_zero_point: expected an integer, got 1\.5"),
        (lambda: linear(activation="gelu"), "activation: 'gelu' is not supported; one of 'none', 'relu' is"),
        (lambda: ops.q8ta_linear(X), "q8ta_linear: missing a required argument: 'x_scale'; its arguments are"),
        (lambda: ops.quantize_per_tensor(X, 0.1, 0), r"x: expected float32 \[\*S\], got int8"),
        (lambda: ops.quantize_per_tensor(SCALES, 0.1, 0, dtype=5), r"dtype: 5 is not supported; one of 0 \(uint8\)"),
        (lambda: ops.quantize_per_tensor(SCALES, 0.1, 128), "zero_point: 128 is outside of int8: -128…127"),
        (lambda: ops.quantize_per_tensor(SCALES, 0.1, -1, dtype=0), "zero_point: -1 is outside of uint8: 0…255"),
        (lambda: ops.quantize_per_tensor(SCALES, 0.1, 0, -129), "qmin: -129 is outside of int8"),
        (lambda: ops.dequantize_per_tensor(X, 0.1, 0, dtype=0), "dtype: uint8 is not that of the tensor, int8"),
        (lambda: ops.quantize_per_channel(X.astype("f"), SCALES, ZEROS, 1), "C = 8 disagrees with C = 5 of scales"),
        (lambda: ops.quantize_per_channel(SCALES[0], SCALES, ZEROS, 0), "a scalar has no channels"),
        (lambda: ops.dequantize_per_channel(X, SCALES, ZEROS, 2), "dim 2 is out of range for 2 dimensions"),
        (lambda: transposed(x=MAP[0]), r"x: shape \[4, 3, 3\] has 3 dimensions, \[N, IC, H, W\] expected"),
        (lambda: transposed(w=KERNELS[:, :15]), r"weight: shape \[6, 15\]: size 15 is less than R = 16"),
        (lambda: transposed(groups=3), "groups = 3 does not divide 4 input and 6 output channels"),
        (lambda: transposed(stride=(0, 1)), "stride: .* must be at least 1"),
        (
            lambda: transposed(stride=(1, 2, 3)),
            r"stride: expected one or two integers \(height, width\), got \[1, 2, 3\]",
        ),
        (lambda: transposed(padding=(9, 0)), "leaves a negative output size"),
        (lambda: transposed(dilation=(1, 0)), "dilation: .* must be at least 1"),
        (lambda: ops.q8ta_add(X, X[:, :7], *[0.1, 0] * 3), r"shapes \[3, 8\] and \[3, 7\] do not broadcast"),
        (lambda: ops.q8ta_add(X.reshape(3, *[1] * 7, 8), X[0], *[0.1, 0] * 3), "9 dimensions; at most 8"),
        (lambda: ops.clamp(SCALES, 10**400, None), "min: a number of some 401 digits is too large for a float"),
        (
            lambda: ops.full((10**20_000,), 1),
            "size: .a number of some 20001 digits. holds an integer",
        ),
        (lambda: ops.full((2,), 10**400), "fill_value: a number of some 401 digits is too large for a float"),
        (
            lambda: ops.quantize_per_tensor(SCALES, 10**5000, 0),
            "scale: a number of some 5001 digits is not a usable",
        ),
        (
            lambda: ops.quantize_per_tensor(SCALES, 0.1, 10**5000),
            "zero_point: a number of some 5001 digits is outside",
        ),
        (
            lambda: ops.max_pool2d_int8(MAP, (10**5000, 4), (1, 1)),
            "kernel: .a number of some 5001 digits, 4. must be",
        ),
        (lambda: ops.clamp(SCALES, "\x1b[31m" * 99, None), r"min: expected a number, got '\\x1b"),
        (lambda: ops.max_pool2d_int8(MAP, (4, 4), (1, 1)), "a kernel that reaches 4 does not fit size 3"),
        (lambda: ops.max_pool2d_int8(MAP, (2, 2), (1, 1), (2, 2)), "padding 2 is more than half"),
    ],
)
def test_bad_arguments(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_too_many_terms() -> None:
    wide = np.zeros((1, 65794), np.int8)
    with pytest.raises(LimitError, match="overflow the int32 accumulator"):
        linear(x=wide, w=wide, scales=SCALES[:1])


def test_shapes_are_known_before_anything_runs() -> None:
    y = linear()
    assert (y.shape, y.dtype) == ((3, 5), "int8")
    assert repr(y) == "<webq8 tensor int8 [3, 5], not computed yet>"
    assert transposed(stride=(2, 2), output_padding=(1, 0)).shape == (1, 6, 7, 6)


def test_weights_must_be_given() -> None:
    with pytest.raises(InputError, match="weight: must be a constant"):
        linear(w=ops.quantize_per_tensor(np.zeros((5, 8), np.float32), 0.1, 0))


def test_a_chain_is_one_program() -> None:
    x = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    q = ops.quantize_per_tensor(webq8.tensor(x), 0.02, 3)
    y = ops.dequantize_per_tensor(linear(q, 0.02, 3), 0.05, 0)
    result = drive(y.numpy("cpu"))
    by_hand = drive(ops.dequantize_per_tensor(drive(linear(drive(q.numpy("cpu"))).numpy("cpu")), 0.05, 0).numpy("cpu"))
    np.testing.assert_array_equal(result, by_hand)
    assert drive(y.numpy("cpu")) is not None
    assert repr(y) == "<webq8 tensor float32 [3, 5]>"


def test_long_chains_do_not_exhaust_the_stack() -> None:
    square, scales = np.eye(8, dtype=np.int8), np.full(8, 1.0, np.float32)
    y = webq8.tensor(np.arange(24, dtype=np.int8).reshape(3, 8))
    for _ in range(3000):
        y = ops.q8ta_linear(y, 1.0, 0, square, None, scales, 1.0, 0)
    np.testing.assert_array_equal(drive(y.numpy("cpu")), np.arange(24).reshape(3, 8))


def test_shared_results_are_computed_once() -> None:
    q = ops.quantize_per_tensor(webq8.tensor(SCALES), 0.02, 3)
    a, b = ops.dequantize_per_tensor(q, 0.02, 3), ops.dequantize_per_tensor(q, 0.04, 3)
    np.testing.assert_array_equal(2 * drive(a.numpy("cpu")), drive(b.numpy("cpu")))


@pytest.mark.parametrize(
    "other",
    [
        {"w": -W},
        {"scales": SCALES * 2},
        {"bias": np.full(5, 1.0, np.float32)},
        {"w": W[::-1] * np.int8([[3], [1]] * 2 + [[5]])},
    ],
    ids=["weight", "scales", "bias", "rows"],
)
def test_calls_that_differ_in_constants_only(other: dict) -> None:
    """Each has a program of its own, although their shapes are the same."""
    x, zeros = np.arange(24, dtype=np.int8).reshape(3, 8), np.zeros(5, np.float32)

    def result(**constants):
        return drive(linear(x, **{"bias": zeros, **constants}).numpy("cpu"))

    one, two = result(), result(**other)
    assert (one != two).any()
    webq8.ops.close()
    np.testing.assert_array_equal(result(**other), two)


def test_tensor_from_any_buffer() -> None:
    assert webq8.tensor(memoryview(bytes(12)).cast("f", (3, 1))).shape == (3, 1)
    assert webq8.tensor(X.T).shape == (8, 3)
    flat = webq8.tensor(bytes(12), shape=(3, 4), dtype="int8")
    assert (flat.shape, flat.dtype) == ((3, 4), "int8")
    with pytest.raises(InputError, match=r"x: 12 bytes cannot be int8 \[5, 4\]"):
        webq8.tensor(bytes(12), shape=(5, 4), dtype="int8")
    with pytest.raises(InputError, match="elements of type"):
        webq8.tensor(np.zeros(3, np.complex64))
    with pytest.raises(InputError, match="dtype: 'int4' is not one of float32, int8"):
        webq8.tensor(bytes(12), dtype="int4")


def test_tensor_from_numbers() -> None:
    assert drive(webq8.tensor([[0.5], [0.25]], dtype="float32").numpy()).tolist() == [[0.5], [0.25]]
    assert drive(webq8.tensor(np.arange(4.0), dtype="int8", shape=(2, 2)).numpy()).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(InputError, match=r"x: numbers and lists have no dtype; say which, as by webq8\.tensor"):
        webq8.tensor([1, 2])
    q = ops.quantize_per_tensor([0.1, 0.2], 0.1, 0)
    assert drive(q.numpy("cpu")).tolist() == [1, 2]


def test_numpy_reads_a_tensor_that_is_computed() -> None:
    y = linear(X + np.int8(3), 0.02, 3)
    with pytest.raises(InputError, match=r"not computed yet: `await y\.numpy\(\)` computes it"):
        np.asarray(y)
    drive(y.numpy("cpu"))
    assert np.asarray(y).dtype == np.int8
    np.testing.assert_array_equal(np.asarray(y, np.float64), np.zeros((3, 5)))
    assert not np.shares_memory(np.array(y), drive(y.numpy()))


def test_a_gpu_is_needed_unless_cpu_is_asked_for() -> None:
    async def compute():
        return await linear().numpy()

    with pytest.raises(NoAdapter, match='device="cpu"'):
        drive(compute())


def test_numpy_scalars_are_numbers() -> None:
    assert linear(x_scale=np.float32(0.02), x_zp=np.int64(3)).shape == (3, 5)
    assert transposed(stride=[np.int32(2), 2]).shape == (1, 6, 6, 6)


def test_signatures_help() -> None:
    assert str(inspect.signature(ops.quantize_per_tensor)).startswith(
        "(x, scale, zero_point, qmin=None, qmax=None, dtype=None)"
    )
    assert "requantize" in ops.q8ta_linear.__doc__


def _sized(kernel, stride, padding, dilation, extra):
    """Every op with sizes for height and width, each of them in one form."""
    image = np.random.default_rng(0).normal(size=(1, 4, 9, 9)).astype(np.float32)
    x = np.random.default_rng(1).integers(-128, 128, (1, 4, 9, 9), np.int8)
    four = np.full(4, 0.01, np.float32)
    weight, depthwise = np.ones((6, 36), np.int8), np.ones((3, 3, 4), np.int8)
    ones = np.ones((4, 4, 3, 3), np.float32)
    conv = (x, 0.02, 3, weight, None, SIX, 0.05, 0, None, kernel, stride, padding)
    yield ops.q8ta_conv2d(*conv, dilation)
    yield ops.q8ta_conv2d_transposed(*conv, extra, dilation)
    yield ops.q8ta_conv2d_dw(x, 0.02, 3, depthwise, None, four, 0.05, 0, None, kernel, stride, padding, dilation, 4)
    yield ops.convolution(image, ones, None, stride, padding, dilation, False, extra)
    yield ops.convolution(image, ones, None, stride, padding, dilation, True, extra)
    yield ops.conv_with_clamp(image, ones, None, stride, padding, dilation, False, extra)
    yield ops.max_pool2d(image, kernel, stride, padding, dilation)
    yield ops.max_pool2d_with_indices(image, kernel, stride, padding, dilation)[1]
    yield ops.max_pool2d_int8(x, kernel, stride, padding, dilation)
    yield ops.avg_pool2d(image, kernel, stride, padding)
    yield ops.adaptive_avg_pool2d(image, kernel)


def test_one_size_serves_height_and_width() -> None:
    """Exporters write a list of one element where both are equal, as for the padding "valid"."""
    pairs = _sized((3, 3), (2, 2), (1, 1), (2, 2), (1, 1))
    for pair, one in zip(pairs, _sized([3], [2], [1], [2], [1]), strict=True):
        np.testing.assert_array_equal(drive(one.numpy("cpu")), drive(pair.numpy("cpu")))


def test_overloads_by_their_full_names() -> None:
    x = np.array([-3, 0.5, 7], np.float32)
    clamped = getattr(ops, "aten.clamp.Tensor")(x, None, np.float32([1, 0, 8]))
    np.testing.assert_array_equal(drive(clamped.numpy("cpu")), np.float32([-3, 0, 7]))
    with pytest.raises(AttributeError, match=r"no 'aten\.clamp\.other'"):
        getattr(ops, "aten.clamp.other")
