"""Tensors of a file while it is lowered, and what operators are lowered with.

A file has maps as [N, H, W, C]; convolutions and pools are of maps [N, C, H, W], which lie in memory as the file's do.
A value knows in which of both forms it is at hand, and becomes the other one only where an operator asks for it.

Integers of 8 bits are int8: uint8 with a scale is shifted by 128, and so is its zero point.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from webq8.dtypes import ITEMSIZE, cast, numel
from webq8.errors import FormatError, Unsupported, shown
from webq8.formats.tflite.model import TfliteTensor
from webq8.ir.builder import Builder
from webq8.ir.graph import State
from webq8.ir.ops.core import Op
from webq8.ir.ops.move import Permute, Reshape
from webq8.ir.ops.quantize import RANGES, Dequantize, Quantize
from webq8.ir.types import BadArg, PerChannel, PerTensor, Quantization, Ref, Shape, Tensor, check_scale

__all__ = ["Emitter", "Lowered", "Maps", "Value", "Variable", "in_order", "int32s", "quantization_of", "type_of"]

_TO_MAPS, _FROM_MAPS = (0, 3, 1, 2), (0, 2, 3, 1)
_FLIP = bytes(v ^ 128 for v in range(256))
_DTYPES = frozenset(("float32", "int8", "uint8", "int16", "int32", "int64", "bool"))


class Maps(NamedTuple):
    """A tensor of the graph that is a tensor of the file as maps [N, C, H, W]."""

    ref: Ref


def quantization_of(tensor: TfliteTensor) -> Quantization | None:
    """The quantization of a tensor as the graph has it. Raises BadArg where it cannot be used."""
    if not tensor.scales or tensor.dtype not in ("int8", "uint8", "int16"):
        return None
    for scale in tensor.scales:
        check_scale(scale, f"{_called(tensor)}: scale: ")
    shift = 128 if tensor.dtype == "uint8" else 0
    low, high = (-(2**15), 2**15) if tensor.dtype == "int16" else (-128, 128)
    zero_points = [z - shift for z in tensor.zero_points]
    if not (low <= min(zero_points) and max(zero_points) < high):
        reason = f"zero point {shown(tensor.zero_points[0] if len(zero_points) == 1 else tensor.zero_points)}"
        raise BadArg(f"{_called(tensor)}: {reason} is outside of {tensor.dtype}")
    if len(tensor.scales) == 1:
        return PerTensor(tensor.scales[0], zero_points[0])
    if not (0 <= tensor.axis < len(tensor.shape) and tensor.shape[tensor.axis] == len(tensor.scales)):
        text = f"{len(tensor.scales)} scales do not fit dimension {tensor.axis} of {shown(tensor.shape)}"
        raise BadArg(f"{_called(tensor)}: {text}")
    kept = array("i", zero_points).tobytes() if any(zero_points) else b""
    return PerChannel(array("f", tensor.scales).tobytes(), tensor.axis, kept)


def type_of(tensor: TfliteTensor) -> Tensor:
    """What a tensor is in the graph, without data. Raises BadArg where it cannot be there."""
    if tensor.dtype not in _DTYPES:
        raise BadArg(f"{_called(tensor)}: tensors of {tensor.dtype} are not supported", Unsupported)
    quantization = quantization_of(tensor)
    dtype = "int8" if tensor.dtype == "uint8" and quantization else tensor.dtype
    return Tensor(tensor.shape, dtype, None, quantization)


def edge_type(tensor: TfliteTensor) -> Tensor:
    """What a tensor is as an input or output of its method: of the dtype that the file has."""
    kind = type_of(tensor)
    if kind.dtype == tensor.dtype:
        return kind
    if not isinstance(kind.quantization, PerTensor):
        raise BadArg(f"{_called(tensor)}: {tensor.dtype} with several scales is not supported", Unsupported)
    shifted = kind.quantization.replace(zero_point=kind.quantization.zero_point + 128)
    return kind.replace(dtype=tensor.dtype, quantization=shifted)


def _called(tensor: TfliteTensor) -> str:
    return f"tensor {shown(tensor.name)}"


def in_order(of_axes: Sequence[int], maps: bool) -> tuple[int, ...]:
    """A number for each axis of a tensor of the file, in the order of the axes of its maps if it is these."""
    return tuple(of_axes[axis] for axis in _TO_MAPS) if maps else tuple(of_axes)


class Value:
    """A tensor of the file: in its own shape (`plain`), as maps, or as both; or as neither yet, where it is computed
    only when it is asked for: then `kind` is the type that it will have."""

    def __init__(
        self,
        g: "Emitter",
        tensor: TfliteTensor,
        made: "Ref | Maps | Callable[[], Ref | Maps]",
        kind: Tensor | None = None,
    ) -> None:
        self.g, self.tensor, self.where, self._kind = g, tensor, g.builder.where, kind
        self._plain: Ref | None = None
        self._maps: Ref | None = None
        self._make = made if callable(made) else None
        if not callable(made):
            self._keep(made)

    def _keep(self, made: "Ref | Maps") -> None:
        if isinstance(made, Maps):
            self._maps = made.ref
        else:
            self._plain = made

    def _settle(self) -> None:
        if self._make:
            make, self._make = self._make, None
            with self.g.at(self.where):
                self._keep(make())

    @property
    def pending(self) -> bool:
        """Whether it is not computed yet."""
        return self._make is not None

    @property
    def held(self) -> "Ref | Maps":
        """The form that it is at hand in."""
        self._settle()
        if self._plain is not None:
            return self._plain
        assert self._maps is not None, "a value has a form"
        return Maps(self._maps)

    @property
    def is_maps(self) -> bool:
        """Whether it is at hand as maps only."""
        return isinstance(self.held, Maps)

    @property
    def ref(self) -> Ref:
        """The tensor in the file's shape."""
        if isinstance(held := self.held, Maps):
            self._plain = self._moved(held.ref, _FROM_MAPS)
        assert self._plain is not None, "it has just been made"
        return self._plain

    @property
    def maps(self) -> Ref:
        """The tensor as maps [N, C, H, W]."""
        held = self.held
        if self._maps is None:
            assert not isinstance(held, Maps), "then there were maps"
            if len(shape := self.g.type(held).shape) != 4:
                raise BadArg(f"{list(shape)} is expected to be maps [N, H, W, C]")
            self._maps = self._moved(held, _TO_MAPS)
        return self._maps

    def _moved(self, ref: Ref, order: tuple[int, ...]) -> Ref:
        """The other form: another shape, where no element has another place."""
        shape = self.g.type(ref).shape
        moved = tuple(shape[i] for i in order)
        stays = [size for size in shape if size != 1] == [size for size in moved if size != 1]
        with self.g.at(self.where):
            return self.g.builder.emit(Reshape(ref, moved) if stays else Permute(ref, order))

    @property
    def type(self) -> Tensor:
        """Its type in the file's shape."""
        if self.pending and self._kind:
            return self._kind
        if isinstance(held := self.held, Maps):
            tensor = self.g.type(held.ref)
            return tensor.replace(shape=tuple(tensor.shape[i] for i in _FROM_MAPS))
        return self.g.type(held)

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def dtype(self) -> str:
        return self.type.dtype

    @property
    def per_tensor(self) -> PerTensor | None:
        """Its scale and zero point, if all elements have the same."""
        quantization = self.type.quantization
        return quantization if isinstance(quantization, PerTensor) else None

    @property
    def is_int8(self) -> bool:
        """Whether it is int8 that stands for other numbers."""
        return self.type.grid is not None

    @property
    def is_int16(self) -> bool:
        """Whether it is int16 that stands for other numbers."""
        return self.dtype == "int16" and self.per_tensor is not None

    @property
    def floats(self) -> "Value":
        """The numbers that it stands for; itself where it stands for none."""
        if not self.tensor.scales:
            return self
        if self.dtype in ("int32", "int64"):  # a bias
            scales, numbers = self.tensor.scales, self.numbers("a bias")
            real = [v * scales[n % len(scales)] for n, v in enumerate(numbers)]
            return Value(self.g, self.tensor.as_floats, self.g.floats(real, self.shape))
        held = self.held
        ref = self.g.builder.emit(Dequantize(held.ref if isinstance(held, Maps) else held))
        return Value(self.g, self.tensor.as_floats, self.g.in_form(ref, isinstance(held, Maps)))

    @property
    def data(self) -> memoryview | None:
        """Its bytes in the file's shape, if it is constant."""
        return None if self.pending else self.g.type(self.ref).data

    def numbers(self, what: str) -> "tuple[float, ...]":
        """Its elements, which are to be constant."""
        if not numel(self.shape):
            return ()
        if (data := self.data) is None:
            raise BadArg(f"{what} is computed in the run, which is not supported", Unsupported)
        return tuple(cast(data, self.dtype).tolist())

    def ints(self, what: str) -> tuple[int, ...]:
        """Its elements, which are to be constant integers."""
        if self.dtype not in ("int32", "int64", "int16", "int8", "uint8"):
            raise BadArg(f"{what}: integers are expected, got {self.dtype}")
        return tuple(map(int, self.numbers(what)))

    def integer(self, what: str) -> int:
        """Its only element, which is to be a constant integer."""
        if len(ints := self.ints(what)) != 1:
            raise BadArg(f"{what}: one number is expected, got {shown(ints)}")
        return ints[0]


class Variable:
    """A value that is kept between runs: `initial` is what the first run finds, `read` what the graph has for what a
    run finds, `value` what it holds at this point of the run, None where nobody has looked at it yet."""

    def __init__(self, where: str, initial: Tensor | None = None) -> None:
        self.where, self.initial = where, initial
        self.read: Ref | None = None
        self.value: Value | None = None

    def begin(self) -> None:
        """Has the first run find what has been assigned, when the variables are initialized."""
        if self.value:
            self.initial, self.value = self.value.g.type(self.value.ref), None
            if self.initial.data is None:
                raise BadArg(f"{self.where}: its first value is computed, which is not supported", Unsupported)


Result = Ref | Maps | Value | Variable
Lowered = Result | list[Result] | None


class _Place:
    """Has a builder add nodes at a place in the file, and go on where it was."""

    def __init__(self, builder: Builder, where: str) -> None:
        self.builder, self.where = builder, where

    def __enter__(self) -> None:
        self.builder.where, self.where = self.where, self.builder.where

    def __exit__(self, *_: object) -> None:
        self.builder.where = self.where


class Emitter:
    """What operators are lowered with: the graph in the making, the declared results of the operator whose turn it is,
    and the variables of the method."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.results: tuple[TfliteTensor, ...] = ()
        self.intermediates: tuple[TfliteTensor, ...] = ()
        self.variables: dict[object, Variable] = {}
        self.initialize: Callable[[int], None] = lambda _: None  # runs a subgraph that initializes variables

    def at(self, where: str) -> _Place:
        return _Place(self.builder, where)

    def type(self, ref: Ref) -> Tensor:
        return self.builder.type(ref)

    def declared(self, result: int = 0) -> Tensor:
        """The type of a result as the file declares it."""
        return type_of(self.results[result])

    @property
    def quantization(self) -> Quantization | None:
        """The declared quantization of the only result."""
        return quantization_of(self.results[0])

    def emit(self, op: Op) -> Ref:
        """Adds an op, with the quantization that the file declares for its result."""
        return self.builder.emit(op, self.quantization)

    def maps(self, op: Op) -> Maps:
        """Adds an op on maps, with the quantization that the file declares for its result."""
        return Maps(self.emit(op))

    def constant(self, tensor: TfliteTensor) -> Ref:
        """Adds a constant of the file."""
        kind, data = type_of(tensor), tensor.data
        if tensor.sparse:
            raise BadArg(f"{_called(tensor)} is sparse, which is not supported: convert without sparsity", Unsupported)
        assert data is not None, "it is constant"
        if kind.dtype != tensor.dtype:
            self.builder.budget.keep(len(data))
            data = memoryview(bytes(data).translate(_FLIP))
        return self.builder.add(kind.replace(data=data))

    def int32s(self, numbers: Sequence[int], shape: Shape | None = None) -> Ref:
        """Adds a constant of integers."""
        return self.builder.constant(int32s(numbers), (len(numbers),) if shape is None else shape, "int32")

    def floats(self, numbers: Sequence[float], shape: Shape | None = None) -> Ref:
        """Adds a constant of float32 numbers."""
        data = array("f", numbers).tobytes()
        return self.builder.constant(data, (len(numbers),) if shape is None else shape, "float32")

    def bound(self, tensor: TfliteTensor, result: "Ref | Maps | Value") -> Value:
        """A result as the value of a tensor of the file."""
        if isinstance(result, Value):
            if result.tensor == tensor or result.pending:
                return result
            result = result.held
        kind, maps = type_of(tensor), isinstance(result, Maps)
        ref = result.ref if isinstance(result, Maps) else result
        made = self.type(ref)
        if made.dtype != kind.dtype:
            raise BadArg(f"its result is {made.dtype}, but the file says {tensor.dtype}", Unsupported)
        if made.quantization != kind.quantization:
            ref = self.builder.quantized(ref, kind.quantization)
        return Value(self, tensor, Maps(ref) if maps else ref)

    def quantized(self, tensor: TfliteTensor, value: Value) -> Value:
        """float32 results as the file has them; in its shape, since kernels move no elements of two bytes."""
        kind = type_of(tensor)
        op = Quantize(value.ref, kind.dtype, *RANGES[kind.dtype])
        return Value(self, tensor, self.builder.emit(op, kind.quantization))

    # --- what is kept between runs

    def kept(self, key: object, tensor: TfliteTensor) -> Value:
        """The value of a tensor that is kept between runs, which begins as zeros."""
        kind = type_of(tensor)
        zero = kind.quantization.zero_point & 255 if isinstance(kind.quantization, PerTensor) else 0
        data = bytes([zero if kind.dtype == "int8" else 0]) * (numel(kind.shape) * ITEMSIZE[kind.dtype])
        variable = self.variables[key] = Variable(self.builder.where, kind.replace(data=memoryview(data)))
        return self.found(variable, tensor)

    def found(self, variable: Variable, tensor: TfliteTensor) -> Value:
        """What a variable holds at this point of the run."""
        if variable.value is None:
            if variable.initial is None:
                raise BadArg("reads a variable that has no value yet", FormatError)
            variable.read = self.builder.add(variable.initial.type())
            variable.value = Value(self, tensor, variable.read)
        return variable.value

    def leave(self, value: Value, ref: Ref) -> None:
        """Has the next run find a tensor where this one found a value that is kept."""
        variable = next((v for v in self.variables.values() if v.value is value), None)
        if variable is None:
            raise BadArg(f"{_called(value.tensor)} is to be kept between runs, and is not declared so", FormatError)
        variable.value = Value(self, value.tensor, ref)

    def state(self, variable: Variable) -> list[State]:
        """The state of the graph that a variable is; none where nobody has looked at it. One that never changes is a
        constant."""
        if variable.read is None or variable.value is None or variable.initial is None:
            return []
        left, before = variable.value.ref, self.type(variable.read)
        if left == variable.read:
            self.builder.tensors[left] = variable.initial
            return []
        after = self.type(left)
        if (after.shape, after.dtype) != (before.shape, before.dtype):
            kinds = (f"{t.dtype} {list(t.shape)}" for t in (before, after))
            raise BadArg(f"a run finds {' and leaves '.join(kinds)}", Unsupported)
        return [State(variable.read, left, variable.initial)]

    def same_form(self, values: Sequence[Value], rank: int = 0) -> tuple[list[Ref], bool]:
        """Values that are broadcast against each other in one form, and whether these are maps: they are where one of
        them is at hand as maps only. Those with fewer axes get leading ones."""
        maps = any(v.is_maps for v in values) and max(len(v.shape) for v in values) <= 4
        if not maps:
            return [v.ref for v in values], False
        return [v.maps if len(v.shape) == 4 else self.broadcast_maps(v) for v in values], True

    def broadcast_maps(self, value: Value) -> Ref:
        """A value of fewer axes as maps that broadcast as it does."""
        shape = (1,) * (4 - len(value.shape)) + value.shape
        return Value(self, value.tensor, self.builder.emit(Reshape(value.ref, shape))).maps

    def in_form(self, ref: Ref, maps: bool) -> "Ref | Maps":
        return Maps(ref) if maps else ref


def int32s(numbers: Sequence[int]) -> bytes:
    return array("i", numbers).tobytes()


def variable_key(container: str, shared_name: str) -> str:
    """What the handles of one variable have in common."""
    return f"{container}/{shared_name}" if container else shared_name
