"""Functions of one element, and of two or three that are broadcast."""

import math
from typing import Literal

from webq8.errors import LimitError, Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.edges import Edges, Through, edges_of
from webq8.ir.ops.linear import INT8
from webq8.ir.ops.quantize import RANGES
from webq8.ir.ops.rules import broadcast
from webq8.ir.types import BadArg, MaybeRef, PerTensor, Ref, Tensor, f32

__all__ = [
    "DTYPES",
    "NUMBERS",
    "ON_INT8",
    "Binary",
    "BinaryFunction",
    "Clamp",
    "ClampBy",
    "Compare",
    "CompareFunction",
    "Elementwise",
    "Elu",
    "FixedPointSum",
    "Hardshrink",
    "LeakyRelu",
    "Logical",
    "LogicalFunction",
    "Lookup",
    "LookupPair",
    "ScaledProduct",
    "Unary",
    "UnaryFunction",
    "Where",
    "check_whole",
]

NUMBERS = ("float32", "int32", "int64", "int8", "uint8")
DTYPES = (*NUMBERS, "bool")
_FOUR_BYTES = NUMBERS[:2]
_FLOATS = NUMBERS[:1]

# names of the constants of wgsl/unary.wgsl, wgsl/binary.wgsl and wgsl/compare.wgsl
UnaryFunction = Literal[
    "abs", "ceil", "cos", "erf", "exp", "expm1", "floor", "gelu", "gelu_tanh", "hardsigmoid", "hardswish", "log",
    "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "silu", "sin", "sinh", "sqrt",
    "tanh", "trunc",
]  # fmt: skip
BinaryFunction = Literal[
    "add", "atan2", "div", "div_floor", "div_trunc", "fmod", "maximum", "minimum", "mul", "pow", "remainder"
]
CompareFunction = Literal["eq", "ne", "lt", "le", "gt", "ge"]
LogicalFunction = Literal["and", "or"]

_OF_INTEGERS = {"abs": NUMBERS, "neg": NUMBERS, "sign": _FOUR_BYTES}  # the other functions of one element are of floats
_EXACT = ("add", "mul", "maximum", "minimum")  # of integers on every device
ON_INT8 = _EXACT  # functions that have kernels for quantized int8


# what integers are bounded by, where numbers that stand beside tensors are floats: those hold every integer up to 2⁵³
_LIMITS = RANGES | {"int64": (-(2**53), 2**53)}


def check_whole(name: str, number: float, dtype: str, *, wraps: bool = False) -> None:
    """Raises BadArg for a number that tensors of integers cannot be combined with; those that only `wraps` around may
    be larger than the dtype holds."""
    if dtype == "float32":
        return
    low, high = (-math.inf, math.inf) if wraps else _LIMITS.get(dtype, (-math.inf, math.inf))
    if not math.isfinite(number) or number != int(number) or not low <= number <= high:
        raise BadArg(f"{name} = {number} with {dtype} tensors is not supported", Unsupported)


def _check_plain(tensor: Tensor, dtypes: tuple[str, ...]) -> None:
    """Refuses tensors of other dtypes, and integers that stand for other numbers than themselves."""
    if tensor.dtype not in dtypes or tensor.quantization is not None:
        kind = f"quantized {tensor.dtype}" if tensor.quantization else tensor.dtype
        raise BadArg(f"expected {' or '.join(dtypes)}, got {kind} {list(tensor.shape)}", Unsupported)


def _check_same(a: Tensor, b: Tensor) -> None:
    if a.dtype != b.dtype:
        raise BadArg(f"{a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)} do not go together", Unsupported)


class Elementwise(Op):
    """y = f(x), each element by itself: y has the shape and the dtype of x."""

    x: Ref

    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that the function takes."""
        return _FLOATS

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        _check_plain(x, self.dtypes())
        return (Tensor(x.shape, x.dtype),)

    def exact(self, types: Types) -> bool:
        return types[self.x].dtype != "float32"


class Unary(Elementwise):
    """A function without parameters. gelu(x) = x · (1 + erf(x/√2)) / 2, and gelu_tanh(x) its neighbour
    x · (1 + tanh(√(2/π) · (x + 0.044715·x³))) / 2; silu(x) = x · sigmoid(x); hardsigmoid(x) = clamp(x + 3, 0, 6) / 6;
    hardswish(x) = x · hardsigmoid(x). round takes halves to even. Angles are in radians."""

    function: UnaryFunction

    def dtypes(self) -> tuple[str, ...]:
        return _OF_INTEGERS.get(self.function, _FLOATS)


class Clamp(Elementwise):
    """y = min(max(x, low), high), bounds that are infinite being none; so relu is Clamp(x, 0, ∞). NaN stays."""

    low: float = -math.inf
    high: float = math.inf

    def dtypes(self) -> tuple[str, ...]:
        return NUMBERS

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        for bound in (self.low, self.high):
            if math.isnan(bound):
                raise BadArg("a bound that is not a number is not supported", Unsupported)
            if math.isfinite(bound):
                check_whole("a bound", bound, types[self.x].dtype)
        return super().infer(types)


class LeakyRelu(Elementwise):
    """y = x where x > 0, else x · slope."""

    slope: float


class Elu(Elementwise):
    """y = scale · x where x ≥ 0, else scale · alpha · (exp(x · input_scale) − 1)."""

    alpha: float
    scale: float
    input_scale: float


class Hardshrink(Elementwise):
    """y = 0 where |x| ≤ threshold, else x."""

    threshold: float


class Lookup(Elementwise):
    """y = table[x + 128], int8 to int8: 256 bytes that say what each int8 value becomes, whatever x and y stand for."""

    table: bytes
    edges: Edges = Edges()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = self.edges.read(0, types[self.x])
        if x.dtype != "int8" or len(self.table) != 256:
            raise BadArg(f"a table of {len(self.table)} entries for {x.dtype}; 256 for int8 are expected")
        return (Tensor(x.shape, "int8"),)


class Binary(Op):
    """y = f(a, b), both broadcast: a + alpha · b for "add" (with a negative alpha a difference), a · b, a / b,
    quotients rounded to zero ("div_trunc") or down ("div_floor"), the remainders of these ("fmod", "remainder"),
    a ^ b, and "atan2", the angle of the point (b, a).

    a and b are float32 or integers. Integers wrap around, and their quotients are float32. a may also be int8 with one
    scale, and b such or float32: then sums, products and extremes are int8 with one scale, within `bounds`, quantized
    as Quantize does, or as it `divides`, and go `through` a table if there is one. Tables of 256 float32, `a_table` and
    `b_table`, say what int8 stands for in place of its quantization.
    """

    FUSES_BOUNDS = True
    a: Ref
    b: Ref
    function: BinaryFunction
    alpha: float = 1.0
    bounds: tuple[int, int] = INT8
    divides: bool = False
    through: Through | None = None
    edges: Edges = Edges()
    a_table: bytes | None = None
    b_table: bytes | None = None

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        a, b = (self.edges.read(n, types[ref]) for n, ref in enumerate((self.a, self.b)))
        shape = broadcast(a.shape, b.shape)
        if self.function in ON_INT8 and isinstance(a.quantization, PerTensor):
            if b.dtype != "float32" and not isinstance(b.quantization, PerTensor):
                raise BadArg(f"quantized int8 and {b.dtype} {list(b.shape)} do not go together", Unsupported)
            if not math.isfinite(f32(self.alpha)):
                raise BadArg(f"alpha: {self.alpha} is not a finite float32 number")
            return (Tensor(shape, "float32"),)
        _check_plain(a, _FLOATS if self.function in ("pow", "atan2") else NUMBERS)
        _check_same(a, b)
        check_whole("alpha", self.alpha, a.dtype, wraps=True)
        return (Tensor(shape, "float32" if self.function == "div" else a.dtype),)

    def exact(self, types: Types) -> bool:
        a = types[self.a]
        return a.dtype != "float32" and a.quantization is None and self.function in _EXACT


class _OfTwo(Op):
    """A function of two int8, both broadcast, each with one scale."""

    a: Ref
    b: Ref

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        a, b = (edges_of(self).read(n, types[ref]) for n, ref in enumerate((self.a, self.b)))
        for x in (a, b):
            if x.dtype != "int8" or not isinstance(x.quantization, PerTensor):
                raise BadArg(f"{x.dtype} {list(x.shape)}: quantized int8 with one scale is expected", Unsupported)
        return (Tensor(broadcast(a.shape, b.shape), "float32"),)

    def exact(self, types: Types) -> bool:
        return True


class FixedPointSum(_OfTwo):
    """y = clamp(((bias + a · multipliers[0] + b · multipliers[1]) >> shift) + y_zero_point, bounds) of the int8 values
    themselves, in int32: the zero points of a and b, and half of 2^shift, are part of the bias."""

    FUSES_BOUNDS = True
    multipliers: tuple[int, int]
    bias: int
    shift: int
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        if abs(self.bias) + 128 * sum(map(abs, self.multipliers)) >= 2**31 or not 0 <= self.shift < 32:
            raise BadArg("the sum could overflow int32", LimitError)
        return super().infer(types)


class ScaledProduct(_OfTwo):
    """y = clamp(round((a − a_zero_point) · (b − b_zero_point) · factor) + y_zero_point, bounds): the product is exact,
    multiplied once in float32, and rounded half to even."""

    FUSES_BOUNDS = True
    factor: float
    bounds: tuple[int, int] = INT8
    through: Through | None = None
    edges: Edges = Edges()


class LookupPair(_OfTwo):
    """y = table[256 · (a + 128) + b + 128], int8, or truth values as `dtype` says: any function of two int8."""

    HIDDEN = frozenset({"table"})
    table: bytes
    dtype: str = "int8"

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        (y,) = super().infer(types)
        if len(self.table) != 2**16:
            raise BadArg(f"a table of {len(self.table)} entries; 65,536 are expected")
        return (Tensor(y.shape, self.dtype),)


class Compare(Op):
    """Whether a and b compare as the function says, both broadcast: a truth value. NaN is unequal to all, and has
    no order."""

    a: Ref
    b: Ref
    function: CompareFunction

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        a, b = types[self.a], types[self.b]
        _check_plain(a, DTYPES)
        _check_same(a, b)
        return (Tensor(broadcast(a.shape, b.shape), "bool"),)

    def exact(self, types: Types) -> bool:
        return True


class Logical(Op):
    """Whether both of two truth values hold, or any of them; both are broadcast."""

    a: Ref
    b: Ref
    function: LogicalFunction

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        a, b = types[self.a], types[self.b]
        _check_plain(a, ("bool",))
        _check_same(a, b)
        return (Tensor(broadcast(a.shape, b.shape), "bool"),)

    def exact(self, types: Types) -> bool:
        return True


class Where(Op):
    """y = a where the condition holds, else b, all three broadcast."""

    condition: Ref
    a: Ref
    b: Ref

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        condition, a, b = types[self.condition], types[self.a], types[self.b]
        _check_plain(condition, ("bool",))
        _check_plain(a, DTYPES)
        _check_same(a, b)
        return (Tensor(broadcast(condition.shape, a.shape, b.shape), a.dtype),)

    def exact(self, types: Types) -> bool:
        return True


class ClampBy(Op):
    """y = min(max(x, low), high), all three broadcast; either bound may be left out. NaN where any of them is."""

    x: Ref
    low: MaybeRef
    high: MaybeRef

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, *bounds = (types[ref] for ref in self.reads())
        if not bounds:
            raise BadArg("min or max is needed")
        _check_plain(x, _FOUR_BYTES)
        for bound in bounds:
            _check_same(x, bound)
        return (Tensor(broadcast(x.shape, *(bound.shape for bound in bounds)), x.dtype),)

    def exact(self, types: Types) -> bool:
        return types[self.x].dtype != "float32"
