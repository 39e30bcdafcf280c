"""Checked reading of flatbuffers by slot number, on top of the official runtime (which has no verifier of its own)."""

import struct

from flatbuffers import encode, packer

from webq8.budget import Budget
from webq8.errors import FormatError

__all__ = ["Table", "root"]

_TABLE = 16  # bytes that the budget counts for a table, whatever it holds

# code of a vector's elements, as the module struct has it -> size
_SIZES = {"B": 1, "b": 1, "?": 1, "i": 4, "I": 4, "q": 8, "Q": 8, "d": 8}
_PACKERS = {
    "B": packer.uint8,
    "b": packer.int8,
    "?": packer.boolean,
    "i": packer.int32,
    "I": packer.uint32,
    "q": packer.int64,
    "Q": packer.uint64,
    "d": packer.float64,
}


class Table:
    """A table of a flatbuffer. `slot` is the field's position in the schema, counted from 0 (a union takes two).

    Reading spends from a budget, since tables, vectors and strings can be shared, so that few bytes hold many.
    """

    __slots__ = ("_budget", "_buf", "_pos", "_size", "_vtable", "_what")

    def __init__(self, buf: memoryview, pos: int, what: str, budget: Budget) -> None:
        self._buf, self._pos, self._what, self._budget = buf, pos, what, budget
        budget.read(_TABLE)
        if not 0 < pos <= len(buf) - 4:
            raise FormatError(f"{what}: an offset points outside of the file")
        vtable = pos - encode.Get(packer.int32, buf, pos)
        if not 0 <= vtable <= len(buf) - 4:
            raise FormatError(f"{what}: a vtable lies outside of the file")
        size = encode.Get(packer.uint16, buf, vtable)
        if size < 4 or vtable + size > len(buf):
            raise FormatError(f"{what}: a vtable is cut off")
        self._vtable, self._size = vtable, size

    def _at(self, slot: int) -> int:
        """The absolute position of a field, 0 where it is absent."""
        entry = 4 + 2 * slot
        if entry + 2 > self._size:
            return 0
        offset: int = encode.Get(packer.uint16, self._buf, self._vtable + entry)
        return self._pos + offset if offset else 0

    def scalar(self, slot: int, code: str, default: int | float = 0) -> int | float:
        at = self._at(slot)
        if not at:
            return default
        try:
            value: int | float = encode.Get(_PACKERS[code], self._buf, at)
        except struct.error:
            raise FormatError(f"{self._what}: field {slot} is cut off") from None
        return value

    def integer(self, slot: int, code: str = "i", default: int = 0) -> int:
        return int(self.scalar(slot, code, default))

    def _follow(self, at: int) -> int:
        try:
            offset: int = encode.Get(packer.uint32, self._buf, at)
        except struct.error:
            raise FormatError(f"{self._what}: an offset is cut off") from None
        return at + offset

    def _vector(self, slot: int, size: int) -> tuple[int, int]:
        """Start and length of a vector whose elements take `size` bytes."""
        at = self._at(slot)
        if not at:
            return 0, 0
        start = self._follow(at)
        if start > len(self._buf) - 4:
            raise FormatError(f"{self._what}: vector {slot} lies outside of the file")
        length: int = encode.Get(packer.uint32, self._buf, start)
        if start + 4 + length * size > len(self._buf):
            raise FormatError(f"{self._what}: vector {slot} of {length} elements runs past the end of the file")
        return start + 4, length

    def vector(self, slot: int, code: str) -> tuple[int, ...]:
        start, length = self._vector(slot, _SIZES[code])
        self._budget.read(length * _SIZES[code])
        return struct.unpack_from(f"<{length}{code}", self._buf, start)

    def doubles(self, slot: int) -> tuple[float, ...]:
        return tuple(float(v) for v in self.vector(slot, "d"))

    def blob(self, slot: int) -> memoryview:
        start, length = self._vector(slot, 1)
        return self._buf[start : start + length]

    def string(self, slot: int) -> str:
        text = self.blob(slot)
        self._budget.read(len(text))
        try:
            return str(text, "utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"{self._what}: field {slot} is not valid UTF-8") from None

    def table(self, slot: int, what: str) -> "Table | None":
        at = self._at(slot)
        return Table(self._buf, self._follow(at), what, self._budget) if at else None

    def tables(self, slot: int, what: str) -> "list[Table]":
        start, length = self._vector(slot, 4)
        return [Table(self._buf, self._follow(start + 4 * i), f"{what} {i}", self._budget) for i in range(length)]

    def union(self, slot: int, what: str) -> "tuple[int, Table | None]":
        """Type number (0 is NONE) and table of the union whose type field is `slot`."""
        return self.integer(slot, "B"), self.table(slot + 1, what)


def root(data: memoryview, identifier: bytes, what: str, budget: Budget) -> Table:
    """The root table of a flatbuffer; checks its identifier (bytes 4 to 8)."""
    if len(data) < 8:
        raise FormatError(f"{what}: {len(data)} bytes are too few")
    if bytes(data[4:8]) != identifier:
        raise FormatError(f"{what}: identifier {bytes(data[4:8])!r} instead of {identifier!r}")
    return Table(data, encode.Get(packer.uint32, data, 0), what, budget)
