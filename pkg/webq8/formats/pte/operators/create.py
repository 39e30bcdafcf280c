"""Tensors of given numbers, and conversions of dtype."""

import math
from array import array
from typing import Any

from webq8.errors import LimitError, Unsupported
from webq8.formats.pte.operators.arguments import DIMS, DTYPES, INT64, Dtype, NumberOrTruth, X, result
from webq8.formats.pte.schema import IGNORED, Argument, TensorArg, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.create import Cast, Fill, Sequence
from webq8.ir.ops.move import Expand
from webq8.ir.types import BadArg, Ref, Shape

__all__: list[str] = []

_NAMED: dict[str, Any] = {
    "dtype": Dtype(default="float32"),
    "layout": IGNORED,
    "device": IGNORED,
    "pin_memory": IGNORED,
}
_OPEN: dict[str, Any] = _NAMED | {"dtype": Dtype(default=None)}
_LIKE: dict[str, Any] = _OPEN | {"memory_format": IGNORED}
_NUMBER = NumberOrTruth()
_ANY = TensorArg(DTYPES, "*O")


def _filled(g: Builder, size: Shape | None, x: Argument | None, dtype: str | None, value: float) -> Ref:
    """A tensor of this size, or with the size and the dtype of x, unless the file says another dtype."""
    shape = size if x is None else x.shape
    assert shape is not None, "one of them is declared"
    return g.emit(Fill(shape, g.declared_dtype(dtype or (x.dtype if x else "float32")), value))


@lowers("aten.full.default", size=DIMS, fill_value=_NUMBER, **_NAMED, out=result("dtype"))
@lowers("aten::full.out", size=DIMS, fill_value=_NUMBER, out=_ANY)
@lowers("aten.full_like.default", x=X, fill_value=_NUMBER, **_LIKE, out=_ANY)
@lowers("aten::full_like.out", x=X, fill_value=_NUMBER, memory_format=IGNORED, out=_ANY)
def full(
    g: Builder, fill_value: float, size: Shape | None = None, x: Argument | None = None, dtype: str | None = None
) -> Ref:
    """A tensor of the given size (or the size of x) that holds fill_value everywhere."""
    return _filled(g, size, x, dtype, fill_value)


@lowers("aten.scalar_tensor.default", fill_value=_NUMBER, **_NAMED, out=result("dtype"))
@lowers("aten::scalar_tensor.out", fill_value=_NUMBER, out=_ANY)
def scalar_tensor(g: Builder, fill_value: float, dtype: str | None = None) -> Ref:
    """A number as a tensor without dimensions."""
    return _filled(g, (), None, dtype, fill_value)


def _register_constant(name: str, value: int) -> None:
    @lowers(f"aten.{name}.default", size=DIMS, **_NAMED, out=result("dtype"))
    @lowers(f"aten::{name}.out", size=DIMS, out=_ANY)
    @lowers(f"aten.{name}_like.default", x=X, **_LIKE, out=_ANY)
    @lowers(f"aten::{name}_like.out", x=X, memory_format=IGNORED, out=_ANY)
    def constant(g: Builder, size: Shape | None = None, x: Argument | None = None, dtype: str | None = None) -> Ref:
        return _filled(g, size, x, dtype, value)

    constant.__doc__ = f"A tensor of {name}, of the given size (or the size of x)."


_register_constant("zeros", 0)
_register_constant("ones", 1)


@lowers("aten.empty_like.default", x=X, **_LIKE, out=_ANY)
@lowers("aten::empty_like.out", x=X, memory_format=IGNORED, out=_ANY)
@lowers("dim_order_ops._empty_dim_order.default", size=DIMS, **_NAMED, dim_order=IGNORED, out=result("dtype"))
@lowers("dim_order_ops::_empty_dim_order.out", size=DIMS, dim_order=IGNORED, out=_ANY)
@lowers("aten.empty.memory_format", size=DIMS, **_NAMED, memory_format=IGNORED, out=result("dtype"))
@lowers("aten::empty.out", size=DIMS, memory_format=IGNORED, out=_ANY)
def empty(g: Builder, size: Shape | None = None, x: Argument | None = None, dtype: str | None = None) -> Ref:
    """A tensor of the given size (or the size of x), of zeros: torch leaves open what it holds."""
    return _filled(g, size, x, dtype, 0)


_MOST_FRACTIONS = 2**20  # these are computed here
_SEQUENCE = TensorArg(("float32", "int8", "uint8", "int32", "int64"), "*O")
_STEP = NumberOrTruth(default=1)


@lowers("aten.arange.default", end=_NUMBER, **_OPEN, out=_SEQUENCE)
@lowers("aten::arange.out", end=_NUMBER, out=_SEQUENCE)
@lowers("aten::arange.start_out", start=_NUMBER, end=_NUMBER, step=_STEP, out=_SEQUENCE)
@lowers("aten.arange.start", start=_NUMBER, end=_NUMBER, **_OPEN, out=_SEQUENCE)
@lowers("aten.arange.start_step", start=_NUMBER, end=_NUMBER, step=_STEP, **_OPEN, out=_SEQUENCE)
def arange(g: Builder, end: float, start: float = 0, step: float = 1, dtype: str | None = None) -> Ref:
    """start, start + step, start + 2 · step, … up to before end: int64 of integers, else float32, where no dtype is
    given."""
    numbers = start, end, step
    if not all(map(math.isfinite, numbers)) or not step or (end - start) * step < 0:
        raise BadArg(f"no numbers lead from {start} to {end} in steps of {step}")
    integers = all(isinstance(n, int) for n in numbers)
    kind = g.declared_dtype(dtype or ("int64" if integers else "float32"))
    if all(n == n // 1 and INT64[0] <= n <= INT64[1] for n in numbers):
        first, last, stride = int(start), int(end), int(step)
        return g.emit(Sequence(first, stride, -((first - last) // stride), kind))
    if kind != "float32":
        raise BadArg(f"{start} to {end} in steps of {step}, not all of them integers, as {kind}", Unsupported)
    count = (end - start) / step
    if count > _MOST_FRACTIONS:
        raise BadArg(f"{count:.4g} elements; at most {_MOST_FRACTIONS:,} are supported here", LimitError)
    # in double, as torch does but for the last bits of its vectors
    fractions = array("f", (start + n * step for n in range(math.ceil(count))))
    return g.constant(fractions.tobytes(), (len(fractions),), "float32")


def _cast(g: Builder, x: Argument, dtype: str, shape: Shape) -> Ref:
    if x.dtype != dtype:
        return g.emit(Cast(g.quantized(x.ref, None), dtype, shape))
    return x.ref if x.shape == shape else g.emit(Expand(x.ref, shape))


@lowers(
    "aten.copy.default",
    "aten::copy.out",
    self=TensorArg(DTYPES, "*O"),
    x=X,
    non_blocking=IGNORED,
    out=result("self"),
)
def copy(g: Builder, self: Argument, x: Argument) -> Ref:
    """x in the shape and the dtype of `self`, broadcast and converted; what `self` holds does not matter."""
    return _cast(g, x, self.dtype, self.shape)


@lowers("aten._to_copy.default", x=X, **_OPEN, non_blocking=IGNORED, memory_format=IGNORED, out=_ANY)
@lowers("aten::_to_copy.out", x=X, non_blocking=IGNORED, memory_format=IGNORED, out=_ANY)
@lowers(
    "dim_order_ops._to_dim_order_copy.default",
    x=X,
    **_OPEN,
    non_blocking=IGNORED,
    dim_order=IGNORED,
    out=_ANY,
)
@lowers("dim_order_ops::_to_dim_order_copy.out", x=X, non_blocking=IGNORED, dim_order=IGNORED, out=_ANY)
def convert(g: Builder, x: Argument, dtype: str | None = None) -> Ref:
    """x in another dtype (its own, where that is null). Fractions are cut off towards zero; what a smaller integer
    cannot hold wraps around; a float that int64 cannot hold gives no useful integer, as in torch."""
    return _cast(g, x, g.declared_dtype(dtype or x.dtype), x.shape)
