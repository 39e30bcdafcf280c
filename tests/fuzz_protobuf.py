"""Damages of ONNX files: messages are changed, moved, repeated and left out; lengths are written anew, or are wrong."""

import random
import struct
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from onnx_writer import varint

INTEGERS = (0, 1, -1, 2, 3, 7, 16, 127, 128, 255, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))
ODD_TEXTS = (b"", b"x", b"\x1b[31m", b"\n\r\0", b"\xff", b"%s{}", b"/etc/passwd", b"../x", b"ai.onnx", b"com.microsoft")
_LONGEST = 4096  # bytes that are looked into for messages
_DEEPEST = 8


class Field:
    """A field: `value` is an integer, a number's bytes, text or raw bytes, or the fields of a message."""

    def __init__(self, number: int, wire: int, value: "int | bytes | list[Field]") -> None:
        self.number, self.wire, self.value = number, wire, value

    def bytes(self) -> bytes:
        tag = varint(self.number << 3 | self.wire)
        if isinstance(self.value, int):
            return tag + varint(self.value)
        data = self.value if isinstance(self.value, bytes) else written(self.value)
        return tag + (varint(len(data)) if self.wire == 2 else b"") + data


def written(fields: list[Field]) -> bytes:
    return b"".join(field.bytes() for field in fields)


def read(data: bytes, depth: int = 0) -> list[Field]:
    """The fields of a message; ValueError where bytes are none."""
    fields, at = list[Field](), 0

    def integer() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(data) or shift > 63:
                raise ValueError
            byte = data[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(data):
        tag = integer()
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            fields.append(Field(number, wire, integer()))
            continue
        size = {1: 8, 5: 4}[wire] if wire in (1, 5) else integer() if wire == 2 else -1
        if not 0 < number < 64 or not 0 <= size <= len(data) - at:
            raise ValueError
        part = data[at : at + size]
        at += size
        value: Any = part
        if wire == 2 and depth < _DEEPEST and (depth < 2 or size < _LONGEST) and size and not part.isalpha():
            try:
                value = read(part, depth + 1)
            except ValueError:
                value = part
        fields.append(Field(number, wire, value))
    return fields


def every(fields: list[Field]) -> Iterator[tuple[list[Field], int]]:
    """All fields, each by the message that it is in and its place there."""
    for i, field in enumerate(fields):
        yield fields, i
        if isinstance(field.value, list):
            yield from every(field.value)


class ProtobufSeed:
    """A sound file, and its damages by number."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data

    def damaged(self, number: int) -> bytes:
        rng = random.Random(f"{self.name} {number}")
        fields = read(self.data)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
            places = [*every(fields)]
            if places:
                self._damage(*rng.choice(places), places, rng)
        data = bytearray(written(fields))
        if data and rng.random() < 0.1:  # anywhere, so that lengths are wrong
            at = rng.randrange(len(data))
            data[at : at + 4] = rng.randbytes(rng.choice((1, 4, 5)))
        if rng.random() < 0.02:
            del data[rng.randrange(len(data) + 1) :]
        return bytes(data)

    def _damage(self, parent: list[Field], i: int, places: list[tuple[list[Field], int]], rng: random.Random) -> None:
        field = parent[i]
        kind = rng.random()
        if kind < 0.1:
            del parent[i]
        elif kind < 0.2:
            parent[i:i] = [field] * rng.choice((1, 1, 1, 3, 50))
        elif kind < 0.25:
            field.number = rng.choice((1, 2, 3, 4, 5, 7, 9, 11, 20, field.number + 1))
        elif kind < 0.35:  # what another place has
            others, k = rng.choice(places)
            parent[i] = Field(field.number, others[k].wire, deepcopy(others[k].value))
        else:
            self._change(field, places, rng)

    def _change(self, field: Field, places: list[tuple[list[Field], int]], rng: random.Random) -> None:
        value = field.value
        if isinstance(value, int):
            field.value = rng.choice((*INTEGERS, value + 1, value + 1, value - 1, 2 * value))
        elif isinstance(value, list):
            rng.shuffle(value)
        elif field.wire == 5:
            field.value = struct.pack("<f", rng.choice(FLOATS))
        elif field.wire == 2:
            texts = [f[k].value for f, k in places if f[k].number == field.number and isinstance(f[k].value, bytes)]
            cut = value[: rng.randrange(len(value) + 1)]
            field.value = rng.choice((*texts[:40], *texts[:40], *ODD_TEXTS, cut, value + value))
