"""Fully connected int8 layers."""

from collections.abc import Iterator

from webq8.dtypes import cdiv, numel, round_up
from webq8.handlers.epilogue import epilogue_params, per_channel, weight_sums
from webq8.handlers.registry import (
    ACTIVATION,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Args,
    Constant,
    check_terms,
    op,
)
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []

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
)
def linear(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = requantize(Σ_k (x[m, k] − x_zero_point) · weight[n, k]), with scales of each n, bias and activation.

    x int8 [*B, K], weight int8 [N, K] with zero point 0 (rows may be padded), weight_scales and bias float32 [N].
    One row has a kernel of its own, whichever of the two names the file uses.
    """
    rows, k_bytes, n_padded = numel(a.B), round_up(a.K, 16), round_up(a.N, 4)
    stride = a.weight.shape[1]
    kept = [a.weight.data[n * stride : n * stride + a.K] for n in range(a.N)]
    bind: dict[str, int | Const] = {
        "x": a.x.id,
        "weight": Const(b"".join(bytes(row).ljust(k_bytes, b"\0") for row in kept).ljust(n_padded * k_bytes, b"\0")),
        "sums": weight_sums(kept, n_padded),
        "channel": per_channel(a.weight_scales, a.bias, a.N),
        "y": a.out.id,
    }
    params: dict[str, Param] = {"n_words": n_padded // 4, "k_steps": k_bytes // 16}
    params |= epilogue_params(a)
    if rows == 1:
        lanes = min(_GEMV_THREADS, 1 << max(0, (cdiv(k_bytes, 16) - 1).bit_length() - 2))
        words = cdiv(n_padded // 4, _GEMV_THREADS // lanes) * _GEMV_THREADS
        yield Dispatch("linear_gemv", bind, params, threads=words, constants={"lanes": lanes})
        return
    tiles_n = cdiv(a.N, _TILE)
    yield Dispatch(
        "linear",
        bind,
        params | {"rows": rows, "tiles_n": tiles_n, "y_stride": a.out.layout.padded // 4},
        threads=cdiv(rows, _TILE) * tiles_n * (_TILE // 4) ** 2,
    )
