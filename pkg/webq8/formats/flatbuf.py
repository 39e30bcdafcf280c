"""Checked reading of flatbuffers by slot number, on top of the official runtime (which has no verifier of its own)."""

import struct
from typing import NamedTuple

from flatbuffers import packer

from webq8.budget import Budget
from webq8.errors import FormatError

__all__ = ["Table", "root"]

_TABLE = 16  # bytes that the budget counts for a table, whatever it holds
_MOST_FIELDS = 16  # of a table that are looked at: no schema here has more
_MOST_VTABLES = 256  # that are kept: writers share them, so that a file has a few dozen

# code of a vector's elements, as the module struct has it -> size
_SIZES = {"B": 1, "b": 1, "?": 1, "i": 4, "I": 4, "q": 8, "Q": 8, "f": 4, "d": 8}
_READ = {
    "B": packer.uint8.unpack_from,
    "b": packer.int8.unpack_from,
    "?": packer.boolean.unpack_from,
    "i": packer.int32.unpack_from,
    "I": packer.uint32.unpack_from,
    "q": packer.int64.unpack_from,
    "Q": packer.uint64.unpack_from,
    "f": packer.float32.unpack_from,
    "d": packer.float64.unpack_from,
}
_read_offset, _read_back, _read_size = _READ["I"], _READ["i"], packer.uint16.unpack_from


class _Content(NamedTuple):
    """What the tables of a flatbuffer share: its bytes, the budget, and offsets of fields by the place of a vtable."""

    buf: memoryview
    budget: Budget
    vtables: dict[int, tuple[int, ...]]


class Table:
    """A table of a flatbuffer. `slot` is the field's position in the schema, counted from 0 (a union takes two).

    Reading spends from a budget, since tables, vectors and strings can be shared, so that few bytes hold many.
    """

    __slots__ = ("_budget", "_buf", "_content", "_fields", "_pos", "_vtable", "_what")

    def __init__(self, content: _Content, pos: int, what: str) -> None:
        self._content, self._pos, self._what = content, pos, what
        self._buf, self._budget, vtables = content
        self._budget.read(_TABLE)
        if not 0 < pos <= len(self._buf) - 4:
            raise FormatError(f"{what}: an offset points outside of the file")
        self._vtable = pos - _read_back(self._buf, pos)[0]
        fields = vtables.get(self._vtable)
        if fields is None:
            fields = self._read_vtable()
            if len(vtables) < _MOST_VTABLES:
                vtables[self._vtable] = fields
        self._fields = fields

    def _read_vtable(self) -> tuple[int, ...]:
        """Offsets of the fields from the table's position, 0 where one is absent."""
        if not 0 <= self._vtable <= len(self._buf) - 4:
            raise FormatError(f"{self._what}: a vtable lies outside of the file")
        (size,) = _read_size(self._buf, self._vtable)
        if size < 4 or self._vtable + size > len(self._buf):
            raise FormatError(f"{self._what}: a vtable is cut off")
        return struct.unpack_from(f"<{min((size - 4) // 2, _MOST_FIELDS)}H", self._buf, self._vtable + 4)

    def _at(self, slot: int) -> int:
        """The absolute position of a field, 0 where it is absent."""
        fields = self._fields
        return self._pos + fields[slot] if slot < len(fields) and fields[slot] else 0

    def scalar(self, slot: int, code: str, default: int | float = 0) -> int | float:
        at = self._at(slot)
        if not at:
            return default
        try:
            value: int | float = _READ[code](self._buf, at)[0]
        except struct.error:
            raise FormatError(f"{self._what}: field {slot} is cut off") from None
        return value

    def integer(self, slot: int, code: str = "i", default: int = 0) -> int:
        return int(self.scalar(slot, code, default))

    def _follow(self, at: int) -> int:
        try:
            offset: int = _read_offset(self._buf, at)[0]
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
        length: int = _read_offset(self._buf, start)[0]
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
        return Table(self._content, self._follow(at), what) if at else None

    def tables(self, slot: int, what: str) -> "list[Table]":
        start, length = self._vector(slot, 4)
        return [Table(self._content, self._follow(start + 4 * i), f"{what} {i}") for i in range(length)]

    def union(self, slot: int, what: str) -> "tuple[int, Table | None]":
        """Type number (0 is NONE) and table of the union whose type field is `slot`."""
        return self.integer(slot, "B"), self.table(slot + 1, what)


def root(data: memoryview, identifier: bytes, what: str, budget: Budget) -> Table:
    """The root table of a flatbuffer; checks its identifier (bytes 4 to 8)."""
    if len(data) < 8:
        raise FormatError(f"{what}: {len(data)} bytes are too few")
    if bytes(data[4:8]) != identifier:
        raise FormatError(f"{what}: identifier {bytes(data[4:8])!r} instead of {identifier!r}")
    return Table(_Content(data, budget, {}), _read_offset(data)[0], what)
