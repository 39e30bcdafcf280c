"""Tensors of given numbers, and conversions of dtype."""

import struct
from collections.abc import Iterator
from collections.abc import Sequence as Many

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.create import Cast, Fill, Sequence, element_bytes
from webq8.ir.plan import Const, Dispatch
from webq8.kernels.registry import Call, Operand, kernel
from webq8.kernels.strided import strided_copy
from webq8.kernels.walk import Axis, axes_of, axes_params, broadcast_strides, merged

__all__: list[str] = []


@kernel(Fill, layout="plain")
def fill(op: Fill, call: Call) -> Iterator[Dispatch]:
    item, count = ITEMSIZE[op.dtype], numel(op.shape)
    if item == 1:
        item, count = 4, cdiv(count, 4)
    element = Const(element_bytes(op.value, op.dtype, "fill_value"))
    yield strided_copy(element, call.out.id, item, axes_of((count,), (0,)))


@kernel(Sequence, layout="plain")
def sequence(op: Sequence, call: Call) -> Iterator[Dispatch]:
    yield _conversion(Const(bytes(4)), "int64", call.out, sequence=(op.start, op.step))


@kernel(Cast, layout="plain")
def cast(op: Cast, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    yield _conversion(x.id, x.dtype, y, merged(axes_of(y.shape, broadcast_strides(x.shape, y.shape))))


def _conversion(
    x: int | Const, dtype: str, y: Operand, axes: Many[Axis] = (), sequence: tuple[int, int] | None = None
) -> Dispatch:
    """x, of `dtype`, along `axes` in the dtype of y. With a `sequence`, a start and a step, its integers take the place
    of x."""
    count, item = numel(y.shape), ITEMSIZE[y.dtype]
    start, step = (struct.unpack("<2I", struct.pack("<q", n)) for n in sequence or (0, 0))
    return Dispatch(
        "convert",
        {"x": x, "y": y.id},
        {
            "count": count,
            "rank": len(axes),
            "axes": axes_params(axes),
            "start": start,
            "step": step,
        },
        threads=cdiv(count * min(item, 4), 4),
        constants={"x_dtype": _kind(dtype), "y_dtype": _kind(y.dtype), "sequence": sequence is not None},
    )


def _kind(dtype: str) -> str:
    """The name of a dtype in wgsl/parts/wide.wgsl; bits of uint64 are those of int64."""
    return "INT64" if dtype == "uint64" else dtype.upper()
