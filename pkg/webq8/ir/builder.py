"""A graph in the making, to which whoever lowers a file or a call adds tensors and ops."""

from collections.abc import Iterator

from webq8.budget import Budget
from webq8.errors import FormatError, Unsupported
from webq8.ir.graph import Node
from webq8.ir.ops.core import Op
from webq8.ir.ops.move import Bitcast
from webq8.ir.types import BadArg, Quantization, Ref, Shape, Tensor

__all__ = ["Builder"]


class Builder:
    """The tensors and nodes so far. `where` is the place in the file that is being lowered; `declared` are the types
    that the file gives to the results of the call that is being lowered, none where it leaves them open."""

    def __init__(self, budget: Budget) -> None:
        self.tensors: list[Tensor] = []
        self.nodes: list[Node] = []
        self.budget = budget
        self.where = ""
        self.declared: tuple[Tensor, ...] = ()
        self._read: set[Ref] = set()
        self._constants: dict[tuple[Ref, Quantization | None], Ref] = {}

    def add(self, tensor: Tensor) -> Ref:
        """Adds an input or a constant."""
        self.tensors.append(tensor)
        return Ref(len(self.tensors) - 1)

    def constant(self, data: bytes | memoryview, shape: Shape, dtype: str) -> Ref:
        """Adds a constant that was computed from others."""
        self.budget.keep(len(data))
        return self.add(Tensor(shape, dtype, memoryview(data)))

    def type(self, ref: Ref) -> Tensor:
        return self.tensors[ref]

    def declared_dtype(self, default: str, result: int = 0) -> str:
        """The dtype that the file gives to a result of the call that is being lowered."""
        return self.declared[result].dtype if self.declared else default

    def quantized(self, ref: Ref, quantization: Quantization | None) -> Ref:
        """The same integers with this quantization: a file says with each call what the integers that it reads stand
        for, and need not say the same each time."""
        tensor = self.tensors[ref]
        if tensor.quantization == quantization:
            return ref
        if tensor.data is not None:
            key = ref, quantization
            if key not in self._constants:
                self._constants[key] = self.add(tensor.replace(quantization=quantization))
            return self._constants[key]
        if tensor.quantization is None and ref not in self._read:
            self.tensors[ref] = tensor.replace(quantization=quantization)
            return ref
        return self.node(Bitcast(ref), (tensor.replace(quantization=quantization),))[0]

    def copies(self) -> Iterator[tuple[Ref, Ref]]:
        """Constants, each with one that is the same with another quantization, in the order in which they were made."""
        return ((ref, copy) for (ref, _), copy in self._constants.items())

    def emit(self, op: Op, quantization: Quantization | None = None) -> Ref:
        """Adds an op with one result. With a quantization the result is int8, unless the op says otherwise."""
        (result,) = op.infer(self.tensors)
        if quantization is not None:
            dtype = "int8" if result.dtype == "float32" else result.dtype
            result = Tensor(result.shape, dtype, None, quantization)
        return self.node(op, (result,))[0]

    def emit_all(self, op: Op) -> tuple[Ref, ...]:
        """Adds an op with several results."""
        return self.node(op, op.infer(self.tensors))

    def node(self, op: Op, results: tuple[Tensor, ...]) -> tuple[Ref, ...]:
        """Adds an op whose results are known to be of these types."""
        outputs = tuple(map(self.add, results))
        self._read.update(op.reads())
        self.nodes.append(Node(op, outputs, self.where))
        return outputs

    def check_declared(self, refs: tuple[Ref, ...]) -> None:
        """Raises BadArg where results are not as the file declares them."""
        if self.declared and len(self.declared) != len(refs):
            raise BadArg(f"out: {len(self.declared)} tensors, {len(refs)} expected")
        for declared, ref in zip(self.declared, refs, strict=False):
            made = self.tensors[ref]
            if (declared.shape, declared.dtype) != (made.shape, made.dtype):
                kind = Unsupported if declared.dtype != made.dtype else FormatError
                made_text, text = (f"{t.dtype} {list(t.shape)}" for t in (made, declared))
                raise BadArg(f"out: expected {made_text}, got {text}", kind)
