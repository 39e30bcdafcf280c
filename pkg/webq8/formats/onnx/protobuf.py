"""Reads the wire format of protocol buffers: a message is a row of fields, each a number, a wire type and a value."""

import struct
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from webq8.budget import Budget
from webq8.errors import FormatError

__all__ = ["Message", "fields", "floats", "signed", "text", "varints"]

_DEEPEST = 32  # messages within messages
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5  # wire types
Value = int | memoryview


def fields(data: memoryview, where: str) -> Iterator[tuple[int, Value]]:
    """The numbers and values of a message's fields: integers, or the bytes of all else, as they lie in the message.

    Raises FormatError where the bytes are no message.
    """
    at, end = 0, len(data)
    while at < end:
        tag, at = (data[at], at + 1) if data[at] < 128 else _varint(data, at, where)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise FormatError(f"{where}: the bytes are damaged: a field has the number 0")
        if wire == _VARINT:
            value, at = _varint(data, at, where)
            yield number, value
            continue
        if wire == _BYTES:
            length, at = (data[at], at + 1) if at < end and data[at] < 128 else _varint(data, at, where)
        elif wire in (_EIGHT, _FOUR):
            length = 8 if wire == _EIGHT else 4
        else:
            raise FormatError(f"{where}: the bytes are damaged: field {number} has the wire type {wire}")
        if length > end - at:
            raise FormatError(
                f"{where}: the file is cut off: field {number} has {length:,} bytes, {end - at:,} are left"
            )
        yield number, data[at : at + length]
        at += length


def _varint(data: memoryview, at: int, where: str) -> tuple[int, int]:
    """An integer of seven bits a byte, and where the next one begins."""
    value = shift = 0
    for byte in data[at : at + 10]:
        value |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return value & (2**64 - 1), at
    raise FormatError(f"{where}: the bytes are damaged: an integer does not end")


def signed(value: int) -> int:
    """The int64 that a varint holds."""
    return value - 2**64 if value >= 2**63 else value


def varints(data: memoryview, where: str) -> list[int]:
    """The integers of a packed field."""
    if bytes(data).isascii():  # each of them is one byte
        return list(data)
    found, at = list[int](), 0
    while at < len(data):
        value, at = _varint(data, at, where)
        found.append(signed(value))
    return found


def floats(data: memoryview, code: str, where: str) -> Sequence[float]:
    """The numbers of a packed field: float32 ("f") or float64 ("d")."""
    size = struct.calcsize(code)
    if len(data) % size:
        raise FormatError(f"{where}: {len(data)} bytes are no row of numbers of {size} bytes")
    return array(code, bytes(data)).tolist()


def text(data: Value, where: str) -> str:
    """A field of UTF-8."""
    if isinstance(data, int):
        raise FormatError(f"{where}: a number stands in place of a text")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{where}: a text is no UTF-8") from None


class Message:
    """The fields of a message by the names that a schema gives to their numbers; unknown ones are skipped.

    `where` is its place in the file, for messages of errors.
    """

    def __init__(self, data: memoryview, schema: Mapping[int, str], budget: Budget, where: str, depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise FormatError(f"{where}: more than {_DEEPEST} messages lie within each other")
        budget.read(len(data))
        self.budget, self.where, self.depth = budget, where, depth
        self._fields: dict[str, list[Value]] = {}
        for number, value in fields(data, where):
            if name := schema.get(number):
                self._fields.setdefault(name, []).append(value)

    def has(self, name: str) -> bool:
        return name in self._fields

    def integer(self, name: str, default: int = 0) -> int:
        value = self._fields.get(name, [default])[-1]  # of several values the last one counts
        if not isinstance(value, int):
            raise FormatError(f"{self.where}: {name} is no integer")
        return signed(value)

    def float32(self, name: str) -> float:
        return floats(self.bytes(name), "f", self.where)[0] if self.has(name) else 0.0

    def bytes(self, name: str) -> memoryview:
        value = self._fields.get(name, [memoryview(b"")])[-1]
        if isinstance(value, int):
            raise FormatError(f"{self.where}: {name} is a number, not bytes")
        return value

    def text(self, name: str) -> str:
        return text(self.bytes(name), self.where)

    def texts(self, name: str) -> list[str]:
        return [text(value, self.where) for value in self._fields.get(name, ())]

    def integers(self, name: str) -> list[int]:
        """Repeated integers, packed or one by one."""
        return self._repeated(name, lambda data: varints(data, self.where))

    def numbers(self, name: str, code: str) -> list[float]:
        """Repeated floats, packed or one by one."""
        return self._repeated(name, lambda data: floats(data, code, self.where))

    def _repeated(self, name: str, packed: Callable[[memoryview], Sequence[Any]]) -> list[Any]:
        found = list[Any]()
        for value in self._fields.get(name, ()):
            found += [signed(value)] if isinstance(value, int) else packed(value)
        return found

    def message(self, name: str, schema: Mapping[int, str], where: str = "") -> "Message":
        return Message(self.bytes(name), schema, self.budget, where or f"{self.where}, {name}", self.depth + 1)

    def messages(self, name: str, schema: Mapping[int, str]) -> "Iterator[Message]":
        for n, value in enumerate(self._fields.get(name, ())):
            where = f"{self.where}, {name} {n}"
            if isinstance(value, int):
                raise FormatError(f"{where}: a number stands in place of a message")
            yield Message(value, schema, self.budget, where, self.depth + 1)
