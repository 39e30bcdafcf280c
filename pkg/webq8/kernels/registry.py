"""Which function makes dispatches of an op, and what it is handed.

@kernel(Linear, layout="rows")
def linear(op: Linear, call: Call) -> Iterator[Dispatch]: …
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from webq8.ir.ops.core import Op
from webq8.ir.ops.edges import Quantized
from webq8.ir.plan import Alias, Dispatch
from webq8.ir.types import PerTensor, Quantization, Ref, Tensor
from webq8.plan.layout import Layout, LayoutName, layout
from webq8.records import Record
from webq8.target import Target

__all__ = ["KERNELS", "Call", "Kernel", "LayoutChoice", "Operand", "kernel"]

AnyOp = TypeVar("AnyOp", bound=Op)
Dispatches = Iterator[Dispatch | Alias]


class Operand(Record):
    """A tensor that an op reads or writes: the id that dispatches bind, what it is, and the layout it is bound in. With
    an `edge` it is that int8 tensor to the op, and float32 in memory, in row-major order."""

    id: int
    tensor: Tensor
    layout_name: LayoutName
    edge: Quantized | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def quantization(self) -> Quantization | None:
        return self.tensor.quantization

    @property
    def scale(self) -> float:
        """The scale of a tensor that has one for all elements."""
        return self.per_tensor.scale

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor that has one for all elements."""
        return self.per_tensor.zero_point

    @property
    def per_tensor(self) -> PerTensor:
        """The quantization of a tensor with one scale."""
        assert isinstance(self.tensor.quantization, PerTensor), "kernels are chosen by quantization"
        return self.tensor.quantization

    @property
    def layout(self) -> Layout:
        return layout(self.tensor.shape, self.layout_name)

    @property
    def data(self) -> memoryview:
        assert self.tensor.data is not None, "the op's shape rule asks for a constant"
        return self.tensor.data


class Call(Record):
    """The tensors of a node as its kernel finds them, `call[op.x]`, its results, and the device it is for."""

    operands: Mapping[Ref, Operand]
    outs: Sequence[Operand]
    target: Target

    def __getitem__(self, ref: Ref) -> Operand:
        return self.operands[ref]

    @property
    def out(self) -> Operand:
        """The only result."""
        (out,) = self.outs
        return out


# what decides on the layout of an op's int8 operands and results: the op, and the types of what it reads and makes
LayoutChoice = LayoutName | tuple[LayoutName, ...] | None  # one, one of several, or any
LayoutRule = Callable[[AnyOp, Sequence[Tensor], Sequence[Tensor]], LayoutChoice]


class Kernel(NamedTuple):
    dispatches: Callable[..., Dispatches]
    layout: Callable[..., LayoutChoice]
    reads: Callable[..., LayoutName | None] | None


KERNELS: dict[type[Op], Kernel] = {}


def kernel(
    kind: type[AnyOp],
    *,
    layout: LayoutName | LayoutRule[AnyOp] | None = None,
    reads: Callable[[AnyOp, Sequence[Tensor], Sequence[Tensor]], LayoutName | None] | None = None,
) -> Callable[[Callable[[AnyOp, Call], Dispatches]], Callable[[AnyOp, Call], Dispatches]]:
    """Registers the function that makes the dispatches of a kind of op, and the layout in which these read and write
    int8 tensors: always the same, one by a rule, or any where there is None. `reads` is the rule of those that read
    another layout than they write."""

    def register(function: Callable[[AnyOp, Call], Dispatches]) -> Callable[[AnyOp, Call], Dispatches]:
        rule = layout if callable(layout) else lambda *_: layout
        KERNELS[kind] = Kernel(function, rule, reads)
        return function

    return register
