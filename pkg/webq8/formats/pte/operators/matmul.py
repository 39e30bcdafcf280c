"""Products of float32 matrices."""

from webq8.formats.pte.schema import F32, Argument, Number, TensorArg, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.matmul import MatMul
from webq8.ir.types import Ref


@lowers(
    "aten.linear.default",
    "aten::linear.out",
    x=F32("*B K"),
    weight=F32("N K"),
    bias=TensorArg(("float32",), "N", optional=True),
    out=F32("*B N"),
)
def linear(g: Builder, x: Argument, weight: Argument, bias: Argument | None) -> Ref:
    """y[m, n] = Σ_k x[m, k] · weight[n, k] + bias[n]; x float32 [*B, K], weight [N, K]."""
    return g.emit(MatMul(x.ref, weight.ref, bias and bias.ref, transposed=True))


@lowers("aten.mm.default", "aten::mm.out", x=F32("M K"), y=F32("K N"), out=F32("M N"))
def mm(g: Builder, x: Argument, y: Argument) -> Ref:
    """The product of the matrices x float32 [M, K] and y [K, N]."""
    return g.emit(MatMul(x.ref, y.ref))


@lowers("aten.bmm.default", "aten::bmm.out", x=F32("B M K"), y=F32("B K N"), out=F32("B M N"))
def bmm(g: Builder, x: Argument, y: Argument) -> Ref:
    """The products of the matrices x float32 [B, M, K] and y [B, K, N], one by one."""
    return g.emit(MatMul(x.ref, y.ref))


@lowers(
    "aten.addmm.default",
    "aten::addmm.out",
    addend=F32("*S"),
    x=F32("M K"),
    y=F32("K N"),
    beta=Number(default=1),
    alpha=Number(default=1),
    out=F32("M N"),
)
def addmm(g: Builder, addend: Argument, x: Argument, y: Argument, beta: float, alpha: float) -> Ref:
    """beta · addend + alpha · (x · y), with x float32 [M, K] and y [K, N]; the addend is broadcast to [M, N].

    Where beta is 0, whatever the addend holds is ignored.
    """
    return g.emit(MatMul(x.ref, y.ref, addend.ref, alpha=alpha, beta=beta))
