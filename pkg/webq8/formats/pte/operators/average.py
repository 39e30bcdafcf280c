"""Means of int8: summed in int32 and scaled once, so that every device gives the same bytes.

y = round(Σ (x − x_zero_point) · factor) + y_zero_point with one factor for each count of terms,
x_scale / (count · y_scale), computed in double and rounded to float32. With a `table`, its entry for x, a multiple of
x_scale, takes the place of x, so that a mean of a function of int8 is of this form, too.
"""

from webq8.formats.pte.operators.pool import AVERAGE, checked_divisor, window_of
from webq8.formats.pte.operators.reduce import axes_of_dims
from webq8.formats.pte.schema import I8, SCALE, ZERO_POINT, Argument, Bool, Ints, Pair, lowers
from webq8.ir.builder import Builder
from webq8.ir.ops.core import Op
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d
from webq8.ir.ops.reduce import FixedPointTable, Mean, check_mean_scales
from webq8.ir.types import PerTensor, Ref

__all__: list[str] = []

_TABLE = Ints(optional=True, default=None)


def _terms(
    g: Builder, x: Argument, x_scale: float, x_zero_point: int, table: tuple[int, ...] | None
) -> tuple[Ref, FixedPointTable | None]:
    """x, and the table of what its integers stand for, if the call has one."""
    if table is None:
        return g.quantized(x.ref, PerTensor(x_scale, x_zero_point)), None
    return x.ref, FixedPointTable(tuple(entry - x_zero_point for entry in table), x_scale)


def _emit(g: Builder, op: Op, x_scale: float, y_scale: float, y_zero_point: int) -> Ref:
    check_mean_scales(x_scale, y_scale)
    return g.emit(op, PerTensor(y_scale, y_zero_point))


@lowers(
    "webq8.mean_int8.default",
    x=I8("*S"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    dim=Ints(optional=True, default=None),
    keepdim=Bool(default=False),
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    table=_TABLE,
    out=I8("*O"),
)
def mean_int8(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    dim: tuple[int, ...] | None,
    keepdim: bool,
    y_scale: float,
    y_zero_point: int,
    table: tuple[int, ...] | None,
) -> Ref:
    """The mean over the dimensions `dim` (all of them, where null or empty): int8 of any shape, requantized."""
    axes = axes_of_dims(dim or range(len(x.shape)), len(x.shape))
    x_ref, looked_up = _terms(g, x, x_scale, x_zero_point, table)
    return _emit(g, Mean(x_ref, axes, keepdim, looked_up), x_scale, y_scale, y_zero_point)


@lowers(
    "webq8.avg_pool2d_int8.default",
    x=I8("N C H W"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    **AVERAGE,
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    table=_TABLE,
    out=I8("N C OH OW"),
)
def avg_pool2d_int8(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    kernel: tuple[int, int],
    stride: tuple[int, int] | None,
    padding: tuple[int, int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
    y_scale: float,
    y_zero_point: int,
    table: tuple[int, ...] | None,
) -> Ref:
    """`avg_pool2d` of int8 [N, C, H, W], requantized."""
    window, divisor = window_of(kernel, stride, padding), checked_divisor(divisor_override)
    x_ref, looked_up = _terms(g, x, x_scale, x_zero_point, table)
    op = AvgPool2d(x_ref, window, ceil_mode, count_include_pad, divisor, looked_up)
    return _emit(g, op, x_scale, y_scale, y_zero_point)


@lowers(
    "webq8.adaptive_avg_pool2d_int8.default",
    x=I8("N C H W"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    output_size=Pair(),
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    table=_TABLE,
    out=I8("N C OH OW"),
)
def adaptive_avg_pool2d_int8(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    output_size: tuple[int, int],
    y_scale: float,
    y_zero_point: int,
    table: tuple[int, ...] | None,
) -> Ref:
    """`adaptive_avg_pool2d` of int8 [N, C, H, W], requantized."""
    x_ref, looked_up = _terms(g, x, x_scale, x_zero_point, table)
    return _emit(g, AdaptiveAvgPool2d(x_ref, output_size, looked_up), x_scale, y_scale, y_zero_point)
