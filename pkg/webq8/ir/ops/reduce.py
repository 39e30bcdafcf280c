"""Reductions over axes; running sums and softmax along one."""

from itertools import pairwise
from typing import NamedTuple

from webq8.dtypes import numel
from webq8.errors import LimitError, Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.edges import Edges, Through
from webq8.ir.ops.linear import INT8
from webq8.ir.types import BadArg, PerTensor, Ref, Shape, Tensor, check_scale

__all__ = [
    "Any",
    "ArgExtremum",
    "CumulativeSum",
    "Extremum",
    "FixedPointTable",
    "Mean",
    "Product",
    "Reduction",
    "Softmax",
    "SoftmaxInt8",
    "Steps",
    "Sum",
    "Variance",
    "check_mean_scales",
    "check_mean_terms",
    "check_steps",
    "mean_unit",
]

_RATIO = 2.0**64  # between the scales of a mean's x and y, at most: with it every factor is a normal float32 number


class Reduction(Op):
    """What makes one result of all elements along `axes`, in ascending order; with `keepdims` these stay, of size 1."""

    x: Ref
    axes: tuple[int, ...]
    keepdims: bool

    def shape(self, x: Shape) -> Shape:
        """The shape of the result, for x of this shape."""
        return tuple(1 if i in self.axes else s for i, s in enumerate(x) if self.keepdims or i not in self.axes)

    def terms(self, x: Shape) -> int:
        """How many elements a result is made of."""
        return numel(tuple(x[i] for i in self.axes))

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (Tensor(self.shape(types[self.x].shape), "float32"),)


Steps = tuple[int, ...]  # 255 ascending integers: v becomes the int8 −128 + how many of them it reaches


def check_steps(steps: Steps) -> None:
    """Raises BadArg for steps that do not ascend, or are not as many as they should be."""
    if len(steps) != 255 or any(a > b for a, b in pairwise(steps)):
        raise BadArg(f"{len(steps)} steps; 255 that ascend are expected")


class FixedPointTable(NamedTuple):
    """A function of int8 in fixed point: x stands for entries[x + 128] · unit. There are 256 entries."""

    entries: tuple[int, ...]
    unit: float


def check_mean_terms(terms: int, table: FixedPointTable | None) -> None:
    """Raises BadArg where a mean of int8 has a table that is none, or a sum that could overflow int32."""
    if table:
        check_scale(table.unit, "the table's unit: ")
        if len(table.entries) != 256:
            raise BadArg(f"table: {len(table.entries)} entries, 256 expected")
    largest = max(map(abs, table.entries)) if table else 255
    if terms * largest >= 2**31:
        raise BadArg(f"{terms} terms of up to {largest} could overflow int32", LimitError)


def mean_unit(x: Tensor, table: FixedPointTable | None) -> float:
    """What a one in the integer sum of a mean of int8 stands for."""
    if table:
        return table.unit
    assert isinstance(x.quantization, PerTensor), "means of int8 are of one scale"
    return x.quantization.scale


def check_mean_scales(unit: float, y_scale: float) -> None:
    """Raises BadArg for scales too far apart for the factor of a mean of int8, which float32 holds."""
    if not 1 / _RATIO <= unit / y_scale <= _RATIO:
        raise BadArg(f"x_scale {unit!r} and y_scale {y_scale!r} are too far apart", LimitError)


class Mean(Reduction):
    """y = Σ x / n over the n elements along the axes; NaN for no elements at all, 0 on int8.

    x is float32, and so is y; or both are int8 of one scale: y = round(Σ (x − x_zero_point) · factor) + y_zero_point,
    kept within `bounds`, summed exactly in int32 and multiplied once, with factor = x_scale / (n · y_scale) rounded to
    float32 (see `check_mean_scales`). A `table` says what int8 inputs stand for in place of their quantization.
    """

    FUSES_BOUNDS = True
    table: FixedPointTable | None = None
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if x.dtype == "int8":
            check_mean_terms(self.terms(x.shape), self.table)
        return super().infer(types)


class Sum(Reduction):
    """y = Σ x, float32; or, of int8, what `steps` make of the sum of the int8 values themselves, which is exact."""

    steps: Steps = ()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if x.dtype == "int8":
            check_steps(self.steps)
            check_mean_terms(self.terms(x.shape), None)
        return super().infer(types)


class Product(Reduction):
    """y = Π x, float32."""


class Variance(Reduction):
    """y = Σ (x − mean)² / max(n − correction, 0) over the n elements along the axes, float32."""

    correction: float


def _check_not_empty(x: Shape, y: Shape) -> None:
    if numel(y) and not numel(x):
        raise BadArg(f"nothing to choose from in {list(x)}")


class Extremum(Reduction):
    """The largest element, or the smallest: the first of equal ones; NaN where there is one. float32 or int32."""

    largest: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        shape = self.shape(x.shape)
        _check_not_empty(x.shape, shape)
        return (Tensor(shape, x.dtype),)


class ArgExtremum(Reduction):
    """Where the element that Extremum gives stands, counted through the axes in row-major order: int32 or int64, as
    `dtype` says. x is float32 or int32."""

    largest: bool
    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x].shape
        shape = self.shape(x)
        _check_not_empty(x, shape)
        return (Tensor(shape, self.dtype),)


class Any(Reduction):
    """Whether any element is not zero, of x of any dtype: as bool, or as uint8, as `dtype` says."""

    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (Tensor(self.shape(types[self.x].shape), self.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class CumulativeSum(Op):
    """The sums of the elements up to each along an axis, as `dtype` says: float32, or int32 or int64 of integers and
    truth values, which wrap around."""

    x: Ref
    axis: int
    dtype: str

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if x.dtype == "float32" and self.dtype != "float32":
            raise BadArg(f"dtype: sums of {x.dtype} as {self.dtype} are not supported", Unsupported)
        return (Tensor(x.shape, self.dtype),)

    def exact(self, types: Types) -> bool:
        return "float32" not in (types[self.x].dtype, self.dtype)


class Softmax(Op):
    """y = exp(x − max) / Σ exp(x − max) along an axis, float32; with `log` x − max − log Σ exp(x − max)."""

    x: Ref
    axis: int
    log: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (Tensor(types[self.x].shape, "float32"),)


class SoftmaxInt8(Op):
    """Softmax along the last axis, or along axis 1 of four, int8 to int8:

    y = clamp(round(e[max − x] · (1 / (Σ e[max − x] · y_scale))) + y_zero_point) with e = `exponentials`, 256 float32
    numbers, and max the largest x of the row. The sum is taken in order, each step rounds to float32, and the last one
    takes halves away from zero.
    """

    HIDDEN = frozenset({"exponentials"})
    x: Ref
    axis: int
    exponentials: bytes

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if x.dtype != "int8" or len(self.exponentials) != 1024:
            raise BadArg(f"{x.dtype}, {len(self.exponentials)} bytes of numbers: int8 and 256 float32 are expected")
        if self.axis != len(x.shape) - 1 and (self.axis, len(x.shape)) != (1, 4):
            raise BadArg(f"axis {self.axis} of {list(x.shape)} is not supported", Unsupported)
        return (Tensor(x.shape, "float32"),)

    def exact(self, types: Types) -> bool:
        return True
