"""Products of float32 matrices."""

from collections.abc import Iterator

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.matmul import MatMul
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import f32
from webq8.kernels import select
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.registry import Call, kernel

__all__: list[str] = []

_TILE = 32  # rows and columns of a workgroup of wgsl/matmul.wgsl; a thread has 4×4
_NOTHING = Const(bytes(4))  # an addend of zero


@kernel(MatMul)
def matmul(op: MatMul, call: Call) -> Iterator[Dispatch]:
    a, b, y = call[op.a], call[op.b], call.out
    n, k = y.shape[-1], a.shape[-1]
    batches = numel(b.shape[:-2])
    m = a.shape[-2] if len(b.shape) > 2 else numel(a.shape[:-1])
    addend = None if op.addend is None else call[op.addend]
    rows, columns = (1, 1, *addend.shape)[-2:] if addend else (1, 1)
    product: dict[str, Param] = {
        "m": m,
        "n": n,
        "k": k,
        "w_k_stride": 1 if op.transposed else n,
        "w_n_stride": k if op.transposed else 1,
        "addend_m_stride": columns if rows > 1 else 0,
        "addend_n_stride": 1 if columns > 1 else 0,
        "alpha": f32(op.alpha),
        "beta": f32(op.beta) if addend else 0.0,
    }
    bind = {"x": a.id, "w": b.id, "addend": addend.id if addend else _NOTHING, "y": y.id}
    constants: dict[str, int | bool] = {"transposed": op.transposed}
    name = select.matmul(m)
    if name == "matvec":
        results = batches * m * n
        constants["lanes"] = lanes_for(k, results, op.transposed)
        params: dict[str, Param] = {"results": results}
        threads = shared_threads(results, constants["lanes"])
    else:
        params = {"tiles_m": cdiv(m, _TILE), "tiles_n": cdiv(n, _TILE), "batches": batches}
        threads = batches * cdiv(m, _TILE) * cdiv(n, _TILE) * (_TILE // 4) ** 2
    yield Dispatch(name, bind, params | {"product": product}, threads, constants, operations=2 * batches * m * n * k)
