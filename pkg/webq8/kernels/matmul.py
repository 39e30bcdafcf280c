"""Products of matrices that a run computes."""

from collections.abc import Iterator
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.matmul import MatMul
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import f32
from webq8.kernels import select
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.registry import Call, Operand, kernel

__all__: list[str] = []

_TILE = 32  # rows and columns of a workgroup of wgsl/matmul.wgsl and matmul_int8.wgsl; a thread has 4×4
_NOTHING = Const(bytes(4))  # an addend of zero


@kernel(MatMul, layout=lambda op, read, made: "rows" if read[0].dtype == "int8" else None)
def matmul(op: MatMul, call: Call) -> Iterator[Dispatch]:
    a, b, y = call[op.a], call[op.b], call.out
    sizes = _Sizes(
        numel(b.shape[:-2]), a.shape[-2] if len(b.shape) > 2 else numel(a.shape[:-1]), y.shape[-1], a.shape[-1]
    )
    yield _of_int8(op, a, b, y, sizes) if a.dtype == "int8" else _of_floats(op, call, sizes)


class _Sizes(NamedTuple):
    batches: int
    m: int
    n: int
    k: int

    @property
    def operations(self) -> int:
        return 2 * self.batches * self.m * self.n * self.k

    def tiles(self) -> dict[str, Param]:
        return {"tiles_m": cdiv(self.m, _TILE), "tiles_n": cdiv(self.n, _TILE), "batches": self.batches}

    def threads(self) -> int:
        """Of all tiles."""
        return self.batches * cdiv(self.m, _TILE) * cdiv(self.n, _TILE) * (_TILE // 4) ** 2


def _of_floats(op: MatMul, call: Call, sizes: _Sizes) -> Dispatch:
    a, b, y = call[op.a], call[op.b], call.out
    batches, m, n, k = sizes
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
        params, threads = sizes.tiles(), sizes.threads()
    return Dispatch(name, bind, params | {"product": product}, threads, constants, operations=sizes.operations)


def _of_int8(op: MatMul, a: Operand, b: Operand, y: Operand, sizes: _Sizes) -> Dispatch:
    factor = f32(f32(a.scale) * f32(b.scale))
    params: dict[str, Param] = {
        "m": sizes.m,
        "n": sizes.n,
        "k": sizes.k,
        "a_stride": a.layout.padded // 4,
        "b_stride": b.layout.padded // 4,
        "a_zero": a.zero_point,
        "b_zero": b.zero_point,
        **sizes.tiles(),
    }
    if y.dtype == "int8":
        factor = f32(factor / f32(y.scale))
        params |= {"y_stride": y.layout.padded // 4, "y_zero_point": y.zero_point}
    else:
        params |= {"y_stride": sizes.n, "y_zero_point": 0}
    return Dispatch(
        "matmul_int8",
        {"a": a.id, "b": b.id, "y": y.id},
        params | {"factor": factor},
        sizes.threads(),
        {"transposed": op.transposed, "y_is": y.dtype.upper()},
        operations=sizes.operations,
    )
