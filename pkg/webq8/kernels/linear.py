"""Fully connected layers with int8 weights."""

from collections.abc import Iterator

from webq8.dtypes import cdiv, numel, round_up
from webq8.ir.ops.linear import Linear
from webq8.ir.plan import Const, Dispatch, Param
from webq8.kernels import select
from webq8.kernels.epilogue import Products, per_channel
from webq8.kernels.gemm import gemm
from webq8.kernels.numbers import numbers_of
from webq8.kernels.registry import Call, kernel
from webq8.kernels.weights import int32s, pack_rows, row_sums

__all__ = ["matrix_product"]

_TILE = 32  # rows and columns of a workgroup of wgsl/linear.wgsl; a thread has 4×4
_GEMV_THREADS = 64  # a workgroup of wgsl/linear_gemv.wgsl


@kernel(Linear, layout="rows")
def linear(op: Linear, call: Call) -> Iterator[Dispatch]:
    """By the types of x and y: int8 to int8, int8 to float32, or float32 to float32."""
    x, weight = call[op.x], call[op.weight]
    bias = None if op.bias is None else call[op.bias]
    *lead, k = x.shape
    if x.dtype == "int8":
        numbers = None if call.out.dtype == "int8" else numbers_of(x, op.x_scale, op.x_zero_point, call)
        products = Products(x, weight, bias, call.out, op, call.target, numbers)
        yield from matrix_product(products, numel(tuple(lead)), k, weight.shape[0], round_up(k, 16))
    else:
        yield _of_floats(call, op)


def matrix_product(p: Products, rows: int, k: int, n: int, k_bytes: int) -> Iterator[Dispatch]:
    """int8 [rows, k] (rows `k_bytes` apart, a multiple of 16) times weights [n, k]."""
    n_padded, operations = round_up(n, 4), 2 * rows * n * k
    weight = pack_rows(p.weight.data, n, 1, k, k_bytes)
    sums = int32s(row_sums(p.weight.data, n, 1, k), n_padded)
    by = select.product(rows, p.target)
    if by == "gemm":
        yield gemm(p, weight, sums, rows=rows, columns=n, steps=k_bytes // 16, operations=operations)
        return
    bind, name = {**p.bind(), "weight": weight, "sums": sums}, p.kernel(by)
    params: dict[str, Param] = {"n_words": n_padded // 4, "k_steps": k_bytes // 16, "y_stride": p.y_stride}
    if by == "linear_gemv":
        lanes = min(_GEMV_THREADS, 1 << max(0, (cdiv(k_bytes, 16) - 1).bit_length() - 2))
        threads = cdiv(n_padded // 4, _GEMV_THREADS // lanes) * _GEMV_THREADS
        params |= p.params(reads=True)
        yield Dispatch(name, bind, params, threads, constants={"lanes": lanes, **p.overrides()}, operations=operations)
        return
    params |= {"rows": rows, **p.params()}
    tiles_n = cdiv(n, _TILE)
    threads = cdiv(rows, _TILE) * tiles_n * (_TILE // 4) ** 2
    yield Dispatch(name, bind, params | {"tiles_n": tiles_n}, threads, p.overrides(), operations=operations)


def _of_floats(call: Call, op: Linear) -> Dispatch:
    """x in float32."""
    x, weight, y = call[op.x], call[op.weight], call.out
    *lead, k = x.shape
    rows, n, k_bytes = numel(tuple(lead)), weight.shape[0], round_up(k, 16)
    n_words = cdiv(n, 4)
    bind: dict[str, int | Const] = {
        "x": x.id,
        "weight": pack_rows(weight.data, n, 1, k, k_bytes),
        "channel": per_channel(weight, None if op.bias is None else call[op.bias], round_up(n, 4)),
        "y": y.id,
    }
    params: dict[str, Param] = {"rows": rows, "n": n, "n_words": n_words, "k": k, "k_words": k_bytes // 4}
    return Dispatch("linear_float_in", bind, params, rows * n_words, operations=2 * rows * n * k)
