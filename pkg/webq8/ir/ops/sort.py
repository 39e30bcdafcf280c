"""The largest or smallest elements in order."""

from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, Ref, Tensor

__all__ = ["TopK"]


class TopK(Op):
    """The `k` largest elements along an axis, or the smallest, in order: equal ones keep theirs, NaN is above all. With
    all of them it is a stable sort. x is float32 or int32.

    Results: the elements, and their indices, int32 or int64, as `dtype` says.
    """

    x: Ref
    axis: int
    k: int
    largest: bool
    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if not x.shape:
            if self.k != 1:
                raise BadArg(f"k: {self.k} of a scalar; 1 is expected")
            return Tensor((), x.dtype), Tensor((), self.dtype)
        size, dim = x.shape[self.axis], self.axis - len(x.shape)
        if self.k > size:
            raise BadArg(f"k: {self.k} of {size} elements along dim {dim} of {list(x.shape)}")
        shape = (*x.shape[: self.axis], self.k, *x.shape[self.axis + 1 :])
        return Tensor(shape, x.dtype), Tensor(shape, self.dtype)
