"""Fully connected layers with int8 or int4 weights."""

from collections.abc import Iterator

from webq8.dtypes import cdiv, numel, round_up
from webq8.handlers.epilogue import epilogue_params, per_channel
from webq8.handlers.gemm import gemm
from webq8.handlers.registry import (
    ACTIVATION,
    F32,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Args,
    BadArg,
    Constant,
    TensorArg,
    check_terms,
    f32,
    op,
)
from webq8.handlers.weights import int32s, pack_rows, row_sums
from webq8.ir import Const, Dispatch, Param

__all__ = ["matrix_product"]

_TILE = 32  # rows and columns of a workgroup of wgsl/linear.wgsl; a thread has 4×4
_GEMV_THREADS = 64  # a workgroup of wgsl/linear_gemv.wgsl


@op(
    "et_vk.q8ta_linear.default",
    "et_vk.q8ta_linear_gemv.default",
    x=I8("*B K", "rows"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    weight=Constant("int8", "N K+"),
    weight_sums=IGNORED,
    weight_scales=Constant("float32", "N+", "scales"),
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    bias=Constant("float32", "N+", "finite", optional=True),
    activation=ACTIVATION,
    out=I8("*B N", "rows"),
    check=lambda a: check_terms(a.K),
    fuses_clamp=True,
)
def linear(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = requantize(Σ_k (x[m, k] − x_zero_point) · weight[n, k]), with scales of each n, bias and activation.

    x int8 [*B, K], weight int8 [N, K] with zero point 0 (rows may be padded), weight_scales and bias float32 [N].
    One row has a kernel of its own, whichever of the two names the file uses.
    """
    yield from matrix_product(a, numel(a.B), a.K, a.N, round_up(a.K, 16))


def matrix_product(a: Args, rows: int, k: int, n: int, k_bytes: int) -> Iterator[Dispatch]:
    """int8 [rows, k] (rows `k_bytes` apart, a multiple of 16) times weights [n, k], requantized."""
    stride, n_padded, operations = a.weight.shape[1], round_up(n, 4), 2 * rows * n * k
    weight = pack_rows(a.weight.data, n, stride, 1, k, k_bytes)
    sums = int32s(row_sums(a.weight.data, n, stride, 1, k), n_padded)
    if rows > 1 and not a.limits.software:
        yield gemm(a, weight, sums, rows=rows, columns=n, steps=k_bytes // 16, operations=operations)
        return
    bind: dict[str, int | Const] = {
        "x": a.x.id,
        "weight": weight,
        "sums": sums,
        "channel": per_channel(a.weight_scales, a.bias, n),
        "y": a.out.id,
    }
    params: dict[str, Param] = {"n_words": n_padded // 4, "k_steps": k_bytes // 16, **epilogue_params(a)}
    if rows == 1:
        lanes = min(_GEMV_THREADS, 1 << max(0, (cdiv(k_bytes, 16) - 1).bit_length() - 2))
        threads = cdiv(n_padded // 4, _GEMV_THREADS // lanes) * _GEMV_THREADS
        yield Dispatch("linear_gemv", bind, params, threads, constants={"lanes": lanes}, operations=operations)
        return
    params |= {"rows": rows, "y_stride": a.out.layout.padded // 4}
    tiles_n = cdiv(n, _TILE)
    threads = cdiv(rows, _TILE) * tiles_n * (_TILE // 4) ** 2
    yield Dispatch("linear", bind, params | {"tiles_n": tiles_n}, threads, operations=operations)


@op(
    "et_vk.linear_q8ta_q8csw.default",
    x=TensorArg(("int8", "float32"), "*B K", "rows"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    weight=Constant("int8", "N K+"),
    weight_sums=IGNORED,
    weight_scales=Constant("float32", "N+", "scales"),
    bias=Constant("float32", "N+", "finite", optional=True),
    out=F32("*B N"),
    check=lambda a: check_terms(a.K),
)
def linear_float_out(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] · weight_scales[n] + bias[n], in float32.

    x int8 [*B, K] stands for (x − x_zero_point) · x_scale; x float32 is taken as it is. weight int8 [N, K].
    """
    k_bytes = round_up(a.K, 16)
    weight = pack_rows(a.weight.data, a.N, a.weight.shape[1], 1, a.K, k_bytes)
    if a.x.tensor.dtype == "float32":
        yield _float_product(a, weight, k_bytes, per_channel(a.weight_scales, a.bias, a.N))
        return
    n_padded = round_up(a.N, 4)
    yield Dispatch(
        "linear_float_out",
        {
            "x": a.x.id,
            "weight": weight,
            "sums": int32s(row_sums(a.weight.data, a.N, a.weight.shape[1], 1, a.K), n_padded),
            "channel": per_channel(a.weight_scales, a.bias, a.N),
            "y": a.out.id,
        },
        {
            "rows": numel(a.B),
            "n": a.N,
            "n_words": n_padded // 4,
            "k_steps": k_bytes // 16,
            "x_zero_point": a.x_zero_point,
            "x_scale": f32(a.x_scale),
        },
        threads=numel(a.B) * n_padded // 4,
        operations=2 * numel(a.B) * a.N * a.K,
    )


@op(
    "aten._weight_int8pack_mm.default",
    "aten::_weight_int8pack_mm.out",
    x=F32("*B K"),
    weight=Constant("int8", "N K+"),
    weight_scales=Constant("float32", "N+", "finite"),
    out=F32("*B N"),
)
def linear_int8(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] · weight_scales[n]; x float32 [*B, K], weight int8 [N, K]."""
    k_bytes = round_up(a.K, 16)
    weight = pack_rows(a.weight.data, a.N, a.weight.shape[1], 1, a.K, k_bytes)
    yield _float_product(a, weight, k_bytes, per_channel(a.weight_scales, None, a.N))


def _check_int4(a: Args) -> None:
    if a.H * 2 != a.K:
        raise BadArg(f"weight: {a.H} bytes a row hold {2 * a.H} values of 4 bits, K is {a.K}")


@op(
    "et_vk.linear_qcs4w.default",
    x=F32("*B K"),
    weight=Constant("uint8", "N H"),
    weight_scales=Constant("float32", "N+", "scales"),
    out=F32("*B N"),
    check=_check_int4,
)
def linear_int4(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = Σ_k x[m, k] · (weight4[n, k] − 8) · weight_scales[n]; x float32 [*B, K].

    weight uint8 [N, K/2] holds two values a byte, the earlier one in its upper half.
    """
    even, odd = (bytes((value & 255) for value in table) for table in _NIBBLES)
    unpacked = bytearray(2 * len(a.weight.data))
    unpacked[::2], unpacked[1::2] = bytes(a.weight.data).translate(even), bytes(a.weight.data).translate(odd)
    k_bytes = round_up(a.K, 16)
    weight = pack_rows(memoryview(unpacked), a.N, a.K, 1, a.K, k_bytes)
    yield _float_product(a, weight, k_bytes, per_channel(a.weight_scales, None, a.N))


_NIBBLES = ([(byte >> 4) - 8 for byte in range(256)], [(byte & 15) - 8 for byte in range(256)])


def _float_product(a: Args, weight: Const, k_bytes: int, channel: Const) -> Dispatch:
    """float32 [*B, K] times int8 weights, scaled by channel."""
    n_words = cdiv(a.N, 4)
    return Dispatch(
        "linear_float_in",
        {"x": a.x.id, "weight": weight, "channel": channel, "y": a.out.id},
        {"rows": numel(a.B), "n": a.N, "n_words": n_words, "k": a.K, "k_words": k_bytes // 4},
        threads=numel(a.B) * n_words,
        operations=2 * numel(a.B) * a.N * a.K,
    )
