"""Immutable values with named fields."""

from typing import Any, ClassVar, Self, dataclass_transform, get_origin

__all__ = ["Record"]


@dataclass_transform(frozen_default=True)
class Record:
    """The base of what is a frozen dataclass to type checkers and to those who use it.

    The module dataclasses is not used: importing it takes a page 30 ms, and each of its classes, which it compiles,
    another one. Fields of a class made with `kw_only=True` are given by name.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ()
    BY_POSITION: ClassVar[tuple[str, ...]] = ()  # those that can be given without their names
    DEFAULTS: ClassVar[dict[str, Any]] = {}
    HIDDEN: ClassVar[frozenset[str]] = frozenset()  # those that `repr` leaves out

    def __init_subclass__(cls, kw_only: bool = False) -> None:
        annotations = vars(cls).get("__annotations__", cls.__annotations__)
        new = [n for n, kind in annotations.items() if get_origin(kind) is not ClassVar and n not in cls.FIELDS]
        cls.FIELDS = (*cls.FIELDS, *new)
        cls.BY_POSITION = cls.BY_POSITION if kw_only else (*cls.BY_POSITION, *new)
        cls.DEFAULTS = {name: getattr(cls, name) for name in cls.FIELDS if hasattr(cls, name)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        own = self.__dict__
        own.update(self.DEFAULTS)
        own.update(zip(self.BY_POSITION, args, strict=False))
        own.update(kwargs)
        if len(own) != len(self.FIELDS) or len(args) > len(self.BY_POSITION):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.FIELDS)}; got {', '.join(own)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a {type(self).__name__} does not change; `replace` makes others")

    def _values(self) -> tuple[Any, ...]:
        own = self.__dict__
        return tuple([own[name] for name in self.FIELDS])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        fields = [f"{name}={self.__dict__[name]!r}" for name in self.FIELDS if name not in self.HIDDEN]
        return f"{type(self).__name__}({', '.join(fields)})"

    def replace(self, **changes: Any) -> Self:
        """The same with other values of some fields."""
        own = self.__dict__
        return type(self)(**({name: own[name] for name in self.FIELDS} | changes))
