"""Products of float32 matrices."""

from collections.abc import Iterator
from typing import NamedTuple

from webq8.dtypes import cdiv, numel
from webq8.handlers.reduce import lanes_for, shared_threads
from webq8.handlers.registry import F32, Args, BadArg, Number, Operand, TensorArg, f32, op
from webq8.ir import Const, Dispatch, Param

__all__ = ["Addend", "product"]

_TILE = 32  # rows and columns of a workgroup of wgsl/matmul.wgsl; a thread has 4×4
_FEW_ROWS = 4  # up to here matvec, which reads every weight once a row, wastes less than a tile does


class Addend(NamedTuple):
    """What is added to a product: elements `row` apart down its rows, `column` apart along them."""

    id: int | Const
    row: int
    column: int


NOTHING = Addend(Const(bytes(4)), 0, 0)


def product(
    x: Operand,
    w: Operand,
    out: Operand,
    sizes: tuple[int, int, int, int],
    transposed: bool,
    addend: Addend = NOTHING,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> Dispatch:
    """out[b, m, n] = alpha · Σ_k x[b, m, k] · w[b, k, n] + beta · addend[m, n], for `sizes` (b, m, n, k).

    `transposed`: w is [n, k].
    """
    batches, m, n, k = sizes
    params: dict[str, Param] = {
        "m": m,
        "n": n,
        "k": k,
        "w_k": 1 if transposed else n,
        "w_n": k if transposed else 1,
        "addend_m": addend.row,
        "addend_n": addend.column,
        "alpha": f32(alpha),
        "beta": f32(beta),
    }
    bind = {"x": x.id, "w": w.id, "addend": addend.id, "y": out.id}
    operations = 2 * batches * m * n * k
    if m <= _FEW_ROWS:
        outputs = batches * m * n
        lanes = lanes_for(k, outputs, transposed)
        params["outputs"] = outputs
        constants = {"lanes": lanes, "transposed": transposed}
        return Dispatch("matvec", bind, params, shared_threads(outputs, lanes), constants, operations=operations)
    params |= {"tiles_m": cdiv(m, _TILE), "tiles_n": cdiv(n, _TILE), "batches": batches}
    threads = batches * cdiv(m, _TILE) * cdiv(n, _TILE) * (_TILE // 4) ** 2
    return Dispatch("matmul", bind, params, threads, {"transposed": transposed}, operations=operations)


@op(
    "aten.linear.default",
    "aten::linear.out",
    x=F32("*B K"),
    weight=F32("N K"),
    bias=TensorArg(("float32",), "N", optional=True),
    out=F32("*B N"),
)
def linear(a: Args) -> Iterator[Dispatch]:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] + bias[n]; x float32 [*B, K], weight [N, K]."""
    addend = NOTHING if a.bias is None else Addend(a.bias.id, 0, 1)
    sizes = (1, numel(a.B), a.N, a.K)
    yield product(a.x, a.weight, a.out, sizes, transposed=True, addend=addend, beta=float(a.bias is not None))


@op("aten.mm.default", "aten::mm.out", x=F32("M K"), y=F32("K N"), out=F32("M N"))
def mm(a: Args) -> Iterator[Dispatch]:
    """The product of the matrices x float32 [M, K] and y [K, N]."""
    yield product(a.x, a.y, a.out, (1, a.M, a.N, a.K), transposed=False)


@op("aten.bmm.default", "aten::bmm.out", x=F32("B M K"), y=F32("B K N"), out=F32("B M N"))
def bmm(a: Args) -> Iterator[Dispatch]:
    """The products of the matrices x float32 [B, M, K] and y [B, K, N], one by one."""
    yield product(a.x, a.y, a.out, (a.B, a.M, a.N, a.K), transposed=False)


def _check_addend(a: Args) -> None:
    shape = (1, 1, *a.S)[-2:]
    if len(a.S) > 2 or shape[0] not in (1, a.M) or shape[1] not in (1, a.N):
        raise BadArg(f"addend: shape {list(a.S)} does not broadcast to {[a.M, a.N]}")


@op(
    "aten.addmm.default",
    "aten::addmm.out",
    addend=F32("*S"),
    x=F32("M K"),
    y=F32("K N"),
    beta=Number(default=1),
    alpha=Number(default=1),
    out=F32("M N"),
    check=_check_addend,
)
def addmm(a: Args) -> Iterator[Dispatch]:
    """beta · addend + alpha · (x · y), with x float32 [M, K] and y [K, N]; the addend is broadcast to [M, N].

    Where beta is 0, whatever the addend holds is ignored.
    """
    rows, columns = (1, 1, *a.S)[-2:]
    addend = Addend(a.addend.id, columns if rows > 1 else 0, 1 if columns > 1 else 0)
    sizes = (1, a.M, a.N, a.K)
    yield product(a.x, a.y, a.out, sizes, transposed=False, addend=addend, alpha=a.alpha, beta=a.beta)
