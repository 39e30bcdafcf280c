"""A call of an ONNX operator that is being lowered: what it reads, its attributes, and the graph it is added to."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from webq8.dtypes import ITEMSIZE
from webq8.errors import Unsupported, shown
from webq8.formats.folding import FoldingBuilder, packed
from webq8.formats.onnx.model import Attribute, OnnxGraph, OnnxNode, Unreadable
from webq8.ir.ops.conv import Convolution
from webq8.ir.ops.core import Op
from webq8.ir.ops.create import Cast
from webq8.ir.ops.elementwise import Binary
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import Expand, Permute, Reshape, Slice
from webq8.ir.ops.norm import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from webq8.ir.ops.pool import AvgPool2d
from webq8.ir.ops.quantize import ChooseQparams, Quantize
from webq8.ir.ops.reduce import Mean, Product, Softmax, Sum
from webq8.ir.ops.resize import ResizeBilinear, ResizeNearest
from webq8.ir.types import BadArg, Ref, Shape, Tensor

__all__ = ["OPERATORS", "Call", "Result", "Value", "absent", "operator", "shift_of"]


class Sums(NamedTuple):
    """Sums of products of integers: `a` of a quantization that the run computes, and constants `b`, of zero points."""

    a: "Value"
    b: "Value"
    zero_points: "Value | None"


class Value(NamedTuple):
    """A value of the file. Unsigned integers of a quantized tensor are held as signed ones, `shifted` by half of their
    range, as int8 kernels take them; sums of int32 are `whole` numbers of float32, as which they are used. Of a
    `partial` one rows of −1 are no results. `kind` is ONNX's dtype where the package has none such.

    What it is made of, for who joins it with others: `sums`; the tensor `of` which it is the scale, or the zero point;
    and the `scales` of weights that such a scale is multiplied by.
    """

    ref: Ref
    shifted: bool = False
    kind: str = ""
    whole: bool = False
    partial: bool = False
    sums: Sums | None = None
    of: Ref | None = None
    scales: Ref | None = None


Result = Ref | Value | tuple[Ref | Value, ...]
Handler = Callable[["Call"], Result]
_OF_FLOATS = (
    AvgPool2d,
    BatchNorm,
    ChooseQparams,
    Convolution,
    GroupNorm,
    LayerNorm,
    MatMul,
    Mean,
    Product,
    Quantize,
    ResizeBilinear,
    ResizeNearest,
    RMSNorm,
    Softmax,
    Sum,
)
Kind = type[int | float | str | tuple[Any, ...] | OnnxGraph]
OPERATORS: dict[tuple[str, str], Handler] = {}  # by domain and name
_UNSIGNED = {"int8": "uint8", "int16": "uint16"}
MICROSOFT = "com.microsoft"


def operator(*names: str, domain: str = "") -> Callable[[Handler], Handler]:
    """Registers the function that lowers the operators of these names."""

    def register(handler: Handler) -> Handler:
        OPERATORS.update(dict.fromkeys(((domain, name) for name in names), handler))
        return handler

    return register


def absent(what: str) -> BadArg:
    return BadArg(f"{what} is missing")


def shift_of(dtype: str) -> int:
    """Half the range of an unsigned dtype; 0 for others."""
    return 2 ** (8 * ITEMSIZE[dtype] - 1) if dtype in ("uint8", "uint16") else 0


class Call:
    """Raises BadArg for what does not fit the operator. Attributes that nobody asked for are in `unread`."""

    def __init__(self, node: OnnxNode, inputs: tuple[Value | None, ...], g: FoldingBuilder, body: Any = None) -> None:
        self.node, self.inputs, self.g, self.body = node, inputs, g, body
        self.version = node.version
        self.unread = set(node.attributes)

    # --- what it reads

    def has(self, n: int) -> bool:
        return n < len(self.inputs) and self.inputs[n] is not None

    def value(self, n: int) -> Value:
        """An input as the graph holds it."""
        found = self.inputs[n] if n < len(self.inputs) else None
        if found is None:
            raise absent(f"input {n}")
        return found

    def x(self, n: int = 0) -> Ref:
        """An input whose numbers stand for themselves."""
        return self.plain(self.value(n))

    def maybe(self, n: int) -> Ref | None:
        return self.x(n) if self.has(n) else None

    def every(self) -> list[Ref]:
        return [self.x(n) for n in range(len(self.inputs))]

    def type(self, n: int = 0) -> Tensor:
        return self.g.type(self.value(n).ref)

    def shape(self, n: int = 0) -> Shape:
        return self.type(n).shape

    def plain(self, value: Value) -> Ref:
        """A value as plain numbers: unsigned ones are shifted back."""
        g, ref = self.g, self.g.quantized(value.ref, None)
        if value.whole:
            return self.cast(ref, "int32")
        if not value.shifted:
            return ref
        dtype = _UNSIGNED[g.type(ref).dtype]
        wide = self.emit(Binary(self.cast(ref, "int32"), self.number(shift_of(dtype), "int32"), "add"))
        return self.cast(wide, dtype)

    def shifted(self, value: Value) -> Value:
        """A value of unsigned integers as it is held where it is quantized."""
        dtype = self.g.type(value.ref).dtype
        shift = shift_of(dtype)
        if value.shifted or not shift:
            return value
        wide = self.emit(Binary(self.cast(value.ref, "int32"), self.number(-shift, "int32"), "add"))
        return Value(self.cast(wide, dtype[1:]), True, value.kind)

    def constant(self, n: int, what: str) -> list[Any]:
        """The elements of an input that must be constant."""
        found = self.g.value(self.x(n))
        if found is None:
            raise BadArg(f"{what} is computed in the run; only a constant is supported", Unsupported)
        return found

    # --- its attributes

    def attribute(self, name: str) -> "Attribute | None":
        self.unread.discard(name)
        value = self.node.attributes.get(name)
        if isinstance(value, Unreadable):
            raise BadArg(f"{name}: {value.reason}", Unsupported)
        return value

    def _typed(self, name: str, default: Any, *kinds: Kind) -> Any:
        value = self.attribute(name)
        if value is None:
            if default is None:
                raise absent(f"the attribute {name}")
            return default
        if not isinstance(value, kinds):
            raise BadArg(f"{name}: {shown(value)} is no {kinds[0].__name__}")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        return int(self._typed(name, default, int))

    def number(self, value: float, dtype: str = "float32", shape: Shape = ()) -> Ref:
        """A constant of one element."""
        return self.numbers([value], shape, dtype)

    def numbers(self, values: Sequence[Any], shape: Shape | None = None, dtype: str = "float32") -> Ref:
        """A constant of these elements."""
        return self.g.constant(packed(values, dtype), (len(values),) if shape is None else shape, dtype)

    def fraction(self, name: str, default: float | None = None) -> float:
        return float(self._typed(name, default, float, int))

    def fractions(self, name: str) -> Sequence[float]:
        return tuple(map(float, self._typed(name, None, tuple)))

    def text(self, name: str, default: str | None = None) -> str:
        return str(self._typed(name, default, str))

    def integers(self, name: str, default: "tuple[int, ...] | None" = None) -> tuple[int, ...]:
        return tuple(self._typed(name, default, tuple))

    def maybe_integers(self, name: str) -> tuple[int, ...] | None:
        return self.integers(name) if name in self.node.attributes else None

    def graph(self, name: str) -> OnnxGraph:
        found: OnnxGraph = self._typed(name, None, OnnxGraph)
        return found

    def ignore(self, *names: str) -> None:
        """Attributes that do not change what is computed here."""
        self.unread.difference_update(names)

    def axes(self, n: int, name: str = "axes") -> list[int] | None:
        """Integers that are an attribute, or since some version an input; None where they are left out."""
        if self.has(n):
            return [int(v) for v in self.constant(n, name)]
        found = self.maybe_integers(name)
        return None if found is None else list(found)

    def as_axis(self, axis: int) -> "Call":
        """The call with an attribute `axis`, for what looks it up."""
        node = self.node._replace(attributes={**self.node.attributes, "axis": axis})
        return Call(node, self.inputs, self.g, self.body)

    # --- what is often added

    def emit(self, op: Op) -> Ref:
        self._check(op)
        return self.g.emit(op)

    def emit_all(self, op: Op) -> tuple[Ref, ...]:
        self._check(op)
        return self.g.emit_all(op)

    def _check(self, op: Op) -> None:
        """Refuses integers where the op is of floats."""
        for tensor in (self.g.type(ref) for ref in op.reads() if isinstance(op, _OF_FLOATS)):
            if tensor.dtype != "float32":
                raise BadArg(f"of {tensor.dtype} {list(tensor.shape)} is not supported; of float32 it is", Unsupported)

    def moved(self, op: Callable[[Ref], Op | Ref], n: int = 0) -> Value:
        """An op that only moves elements of an input: the result is held as the input is."""
        value = self.value(n)
        made = op(value.ref)
        return value._replace(ref=self.emit(made) if isinstance(made, Op) else made)

    def reshaped(self, x: Ref, shape: Shape) -> Ref:
        return x if self.g.type(x).shape == shape else self.emit(Reshape(x, shape))

    def permuted(self, x: Ref, order: Sequence[int]) -> Ref:
        return x if [*order] == [*range(len(order))] else self.emit(Permute(x, tuple(order)))

    def expanded(self, x: Ref, shape: Shape) -> Ref:
        return x if self.g.type(x).shape == shape else self.emit(Expand(x, shape))

    def sliced(self, x: Ref, axis: int, start: int, stop: int, step: int = 1) -> Ref:
        """The elements of one range along an axis."""
        shape = self.g.type(x).shape
        count = len(range(start, stop, step))
        starts, steps = [0] * len(shape), [1] * len(shape)
        starts[axis], steps[axis] = start, step
        size = (*shape[:axis], count, *shape[axis + 1 :])
        return x if size == shape and step == 1 else self.emit(Slice(x, tuple(starts), tuple(steps), size))

    def cast(self, x: Ref, dtype: str) -> Ref:
        tensor = self.g.type(x)
        return x if tensor.dtype == dtype else self.emit(Cast(self.g.quantized(x, None), dtype, tensor.shape))
