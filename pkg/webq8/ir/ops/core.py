"""The base of all ops."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from webq8.ir.types import MaybeRef, Ref, Refs, Tensor
from webq8.records import Record

__all__ = ["Op", "Types"]

Types = Sequence[Tensor]  # by Ref


class Op(Record):
    """What is computed, and from which tensors.

    Fields of the types Ref, MaybeRef and Refs are what the op reads; the node that holds the op knows its results.
    """

    REFS: ClassVar[tuple[str, ...]] = ()  # fields that hold what the op reads
    CONSTANTS: ClassVar[frozenset[str]] = frozenset()  # those that kernels pack when a program is planned
    MOVES: ClassVar[bool] = False  # it puts elements to other places and changes none
    FUSES_BOUNDS: ClassVar[bool] = False  # it has a field `bounds`, within which it keeps its int8 results

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        annotations = vars(cls).get("__annotations__", cls.__annotations__)
        refs = [name for name, kind in annotations.items() if kind in (Ref, MaybeRef, Refs)]
        cls.REFS = (*cls.REFS, *(name for name in refs if name not in cls.REFS))

    def reads(self, *, bound: bool = False) -> list[Ref]:
        """What the op reads, in the order of its fields; or what its kernel is bound to, all but CONSTANTS."""
        found: list[Ref] = []
        for name in self.REFS:
            if bound and name in self.CONSTANTS:
                continue
            value = self.__dict__[name]
            if isinstance(value, tuple):
                found += [ref for ref in value if ref is not None]
            elif value is not None:
                found.append(value)
        return found

    def reading(self, rename: Callable[[Ref], Ref]) -> Self:
        """The op with other tensors in place of those that it reads."""

        def renamed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(renamed, value))
            return None if value is None else rename(value)

        return self.replace(**{name: renamed(self.__dict__[name]) for name in self.REFS})

    def bounded(self, low: int, high: int) -> Self:
        """The op with its int8 results within these bounds as well; for those that have `bounds`."""
        bottom, top = self.__dict__["bounds"]
        return self.replace(bounds=(min(max(bottom, low), high), min(max(top, low), high)))

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        """The types of the results; raises BadArg where the op cannot be of these tensors.

        Of results that may be quantized it gives those that are not, which a quantization makes int8.
        """
        raise TypeError(f"{type(self).__name__} has no shape rule")

    def exact(self, types: Types) -> bool:
        """Whether every device computes the same bytes, so that constants may be folded on any."""
        return self.MOVES
