"""int8 tensors through a table that has a result for each of the 256 values; elements may lie elsewhere in y."""

from webq8.ir.plan import Const, Dispatch
from webq8.ir.types import Shape
from webq8.kernels.edges import edges, quantizing
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Operand
from webq8.kernels.walk import axes_of, axes_params

__all__ = ["gathered"]


def gathered(x: Operand, y: Operand, sizes: Shape, strides: tuple[int, ...], table: bytes) -> Dispatch:
    """y's row-major elements, numbered by `sizes`, from x through a table; `strides` are in bytes of x."""
    params, constants = edges(y, x)
    same = x.shape == y.shape and x.layout.same_bytes(y.layout) and not x.edge
    return Dispatch(
        "gather_int8",
        {"x": x.id, "table": Const(table), "y": y.id},
        {
            "tensor": words_params(y.layout),
            "rank": len(sizes),
            "axes": axes_params(reversed(axes_of(sizes, strides))),
            "by": quantizing(x.edge),
            "written": params["written"],
        },
        threads=y.layout.words,
        constants={"elementwise": same, **constants},
    )
