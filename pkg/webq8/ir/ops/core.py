"""The base of all ops."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, dataclass_transform, get_origin

from webq8.ir.types import MaybeRef, Ref, Refs, Tensor

__all__ = ["Op", "Types"]

Types = Sequence[Tensor]  # by Ref


@dataclass_transform(frozen_default=True)
class Op:
    """What is computed, and from which tensors: a frozen dataclass to type checkers and to those who use it.

    Fields of the types Ref, MaybeRef and Refs are what the op reads; the node that holds the op knows its results.
    Ops are made here rather than by `dataclasses`, which compiles a page's methods for a millisecond a class.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ()
    DEFAULTS: ClassVar[dict[str, Any]] = {}
    REFS: ClassVar[tuple[str, ...]] = ()  # fields that hold what the op reads
    CONSTANTS: ClassVar[frozenset[str]] = frozenset()  # those that kernels pack when a program is planned
    MOVES: ClassVar[bool] = False  # it puts elements to other places and changes none
    FUSES_BOUNDS: ClassVar[bool] = False  # it has a field `bounds`, within which it keeps its int8 results

    def __init_subclass__(cls) -> None:
        fields, refs = [*cls.FIELDS], [*cls.REFS]
        for name, kind in vars(cls).get("__annotations__", cls.__annotations__).items():
            if get_origin(kind) is not ClassVar and name not in fields:
                fields.append(name)
                if kind in (Ref, MaybeRef, Refs):
                    refs.append(name)
        cls.FIELDS, cls.REFS = tuple(fields), tuple(refs)
        cls.DEFAULTS = {name: getattr(cls, name) for name in fields if hasattr(cls, name)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        own = self.__dict__
        own.update(self.DEFAULTS)
        own.update(zip(self.FIELDS, args, strict=False))
        own.update(kwargs)
        if len(own) != len(self.FIELDS) or len(args) > len(self.FIELDS):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.FIELDS)}; got {', '.join(own)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: ops do not change; `replace` makes others")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *(self.__dict__[name] for name in self.FIELDS)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={self.__dict__[n]!r}' for n in self.FIELDS)})"

    def replace(self, **changes: Any) -> Self:
        """The op with other values of some fields."""
        return type(self)(**(self.__dict__ | changes))

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
