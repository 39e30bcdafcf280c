"""From floats to integers that stand for them, and back.

Which numbers integers stand for is in their type. Scales and zero points that the run computes are named there as well
(Dynamic); the ops have fields for them, so that who follows data finds all that an op reads in its fields.
"""

from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, MaybeRef, PerChannel, PerTensor, Ref, Tensor

__all__ = ["RANGES", "ChooseQparams", "Dequantize", "Quantize", "Requantize", "check_range"]

# dtypes that are quantized to, with the least and the largest value of each
RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1)}


def check_range(name: str, value: int, dtype: str) -> None:
    """Raises BadArg where a dtype does not hold a value."""
    lowest, highest = RANGES[dtype]
    if not lowest <= value <= highest:
        raise BadArg(f"{name}: {value} is outside of {dtype}: {lowest}…{highest}")


class Quantize(Op):
    """q = clamp(round(x · 1/scale) + zero_point, low, high), half to even; NaN gives the zero point.

    x float32; q of dtype int8, uint8, int16 or int32, with the scale and the zero point of its type. A reciprocal is
    taken in double and rounded to float32, as torch's `quantize_per_tensor` does; with `divides` there is none: it is
    round(x / scale), of the float32 quotient, as ONNX has it.
    """

    x: Ref
    dtype: str
    low: int
    high: int
    scale: MaybeRef = None
    zero_point: MaybeRef = None
    divides: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        check_range("qmin", self.low, self.dtype)
        check_range("qmax", self.high, self.dtype)
        return (Tensor(types[self.x].shape, self.dtype),)


class Dequantize(Op):
    """y = float32(x − zero_point) · scale, with the scale and the zero point of the type of x."""

    x: Ref
    scale: MaybeRef = None
    zero_point: MaybeRef = None

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if self.scale is None and not isinstance(x.quantization, PerTensor | PerChannel):
            raise BadArg(f"{x.dtype} x has no scale")
        return (Tensor(x.shape, "float32"),)

    def exact(self, types: Types) -> bool:
        return self.scale is None  # a difference, which is rounded, and one product


class Requantize(Op):
    """Integers as others of dtype int8, uint8, int16 or int32 that stand for about the same, by `numbers`.

    Of x of one byte y is one of 256 numbers: the one at x − the least x. Of int16 and int32, which become one byte, y
    is the least value of its dtype + how many of 255 ascending numbers x reaches.
    """

    HIDDEN = frozenset({"numbers"})
    x: Ref
    dtype: str
    numbers: tuple[int, ...]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if x.dtype not in RANGES or (ITEMSIZE[x.dtype] > 1 and ITEMSIZE[self.dtype] > 1):
            raise BadArg(f"{x.dtype} to {self.dtype} is not supported", Unsupported)
        if len(self.numbers) != (256 if ITEMSIZE[x.dtype] == 1 else 255):
            raise BadArg(f"{len(self.numbers)} numbers for {x.dtype}")
        if not -(2**31) <= min(self.numbers) <= max(self.numbers) < 2**31:
            raise BadArg("its scales are too far apart: numbers that are no int32")
        return (Tensor(x.shape, self.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class ChooseQparams(Op):
    """The scale, at least eps, and the zero point by which low…high hold all of x, and 0: a tensor of one element each,
    the first float64 or float32, the second int64 or int32; or of one for each row [*B, K], of shape [*B, 1].

    zero_point = low − round(min / scale), as torch's `choose_qparams`; or the `nearest` one, as torch's
    `choose_qparams_per_token_asymmetric` and XNNPACK choose it: round(low − min / scale), or round(high − max / scale)
    where that errs less.
    """

    x: Ref
    low: int
    high: int
    eps: float
    scale_dtype: str
    zero_point_dtype: str
    by_row: bool = False
    nearest: bool = False

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        shape = types[self.x].shape
        if not (shape[-1] if self.by_row and shape else numel(shape)):
            raise BadArg(f"x: there is nothing to choose by in {list(shape)}")
        sizes = (*shape[:-1], 1) if self.by_row else (1,)
        return Tensor(sizes, self.scale_dtype), Tensor(sizes, self.zero_point_dtype)
