"""Products of matrices that a run computes."""

from webq8.dtypes import numel
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.rules import check_terms
from webq8.ir.types import BadArg, MaybeRef, PerTensor, Ref, Shape, Tensor

__all__ = ["MatMul"]


class MatMul(Op):
    """y[m, n] = alpha · Σ_k a[m, k] · b[k, n] + beta · addend[m, n]; `transposed`: b is [n, k].

    Where b is one matrix, a [*M, K] gives rows of y [*M, N]; else a [*B, M, K] and b [*B, K, N] hold as many matrices.
    The addend is one element, a row [N], a column [M, 1] or a matrix, the same for all of B. Where beta is 0, whatever
    it holds is ignored.

    a and b are float32, or both int8 with one scale, without an addend and with alpha = 1: sums are exact in int32, and
    y = Σ … · (the scales of a and b) in float32, or int8, y = round(Σ … · (the scales of a and b / that of y)), where
    the factor is rounded to float32 after each step, as onnxruntime's QLinearMatMul has it. Or y is the `whole` sums,
    int32.
    """

    a: Ref
    b: Ref
    addend: MaybeRef = None
    transposed: bool = False
    alpha: float = 1.0
    beta: float = 1.0
    whole: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        a, b = types[self.a].shape, types[self.b].shape
        if not a or len(b) < 2 or (len(b) > 2 and a[:-2] != b[:-2]):
            raise BadArg(f"matrices {list(a)} and {list(b)} have no product")
        n, k = b[-2:] if self.transposed else (b[-1], b[-2])
        if a[-1] != k:
            raise BadArg(f"matrices {list(a)} and {list(b)} have no product: {a[-1]} columns, {k} rows")
        if types[self.a].dtype == "int8" or self.whole:
            self._check_int8(types[self.a], types[self.b], k)
        if self.addend is not None:
            self._check_addend(types[self.addend].shape, (a[-2] if len(b) > 2 else numel(a[:-1]), n))
        return (Tensor((*a[:-1], n), "int32" if self.whole else "float32"),)

    def _check_int8(self, a: Tensor, b: Tensor, terms: int) -> None:
        if not isinstance(a.quantization, PerTensor) or not isinstance(b.quantization, PerTensor):
            raise BadArg("matrices of int8 have one scale each")
        if self.addend is not None or self.alpha != 1.0:
            raise BadArg("alpha and an addend are of float32 matrices only")
        check_terms(2 * terms)  # zero points are on both sides, so factors are twice as large as weights

    def _check_addend(self, shape: Shape, product: Shape) -> None:
        fits = all(size in (1, whole) for size, whole in zip((1, 1, *shape)[-2:], product, strict=True))
        if len(shape) > 2 or not fits:
            raise BadArg(f"addend: shape {list(shape)} does not broadcast to {list(product)}")
