"""Damaged model files, from bytes to the plan: only errors of ours may come of them, soon and in little memory.

A damage is made of a sound file by a number, the same whenever it is asked for. It knows the file's structure: where
the reader looks in a sound file, there it changes offsets (to other parts, so that they are shared), lengths, sizes,
scalars and names, one to four at a time.
"""

import random
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from format_goldens import network_cases, op_cases
from fuzz_protobuf import ProtobufSeed
from webq8.budget import Budget
from webq8.errors import Webq8Error
from webq8.formats import flatbuf, read_file
from webq8.formats.pte.operators import all_overloads
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.stages import finish
from webq8.target import SOFTWARE, Target

ROOT = Path(__file__).parents[1]
SECONDS = 1.0
MEMORY = 64 * 2**20  # beyond twice the file's size

_INTEGERS = (0, 1, -1, 2, 3, 7, 8, 16, 127, 128, 255, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 1, -(2**31))
_LONG = (*_INTEGERS, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))
_DOUBLES = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-320, 1e39, 1e308, float("inf"), float("-inf"), float("nan"), 2.0**31)
_NAMES = [name.encode() for op in all_overloads() for name in (op, op.rpartition(".")[0])]
_ODD_NAMES = (b"\x1b[31m", b"\n\r\0", b"\xff", b"%s{}", "\u202e".encode())


class Place(NamedTuple):
    """Where a sound file holds something: `kind` is struct's code of it, "offset", "length", "entry" or "text"."""

    at: int
    kind: str
    size: int


def places(data: bytes) -> list[Place]:
    """Where the reader looks in a file."""
    start = _address(memoryview(data))
    found = dict[Place, None]()

    def note(table: flatbuf.Table, at: int, kind: str, size: int) -> None:
        found[Place(_address(table._buf) - start + at, kind, size)] = None

    class Noting(flatbuf.Table):
        __slots__ = ()

        def _at(self, slot: int) -> int:
            if (at := super()._at(slot)) != 0:
                note(self, self._vtable + 4 + 2 * slot, "entry", 2)
            return at

        def scalar(self, slot: int, code: str, default: int | float = 0) -> int | float:
            if (at := super()._at(slot)) != 0:
                note(self, at, code, struct.calcsize(code))
            return super().scalar(slot, code, default)

        def _follow(self, at: int) -> int:
            note(self, at, "offset", 4)
            return super()._follow(at)

        def _vector(self, slot: int, size: int) -> tuple[int, int]:
            first, length = super()._vector(slot, size)
            if length:
                note(self, first - 4, "length", 4)
            return first, length

        def vector(self, slot: int, code: str) -> tuple[int, ...]:
            first, length = self._vector(slot, struct.calcsize(code))
            for i in range(length):
                note(self, first + i * struct.calcsize(code), code, struct.calcsize(code))
            return super().vector(slot, code)

        def string(self, slot: int) -> str:
            first, length = self._vector(slot, 1)
            note(self, first, "text", length)
            return super().string(slot)

    with patch.object(flatbuf, "Table", Noting):
        for method in read_file(data).methods.values():
            finish(method.lower(Budget(len(data), "sound")))
    pte = ((12, "I", 4), (16, "Q", 8), (24, "Q", 8)) if data[4:8] != b"TFL3" else ()
    return [Place(at, code, size) for at, code, size in ((0, "I", 4), *pte)] + list(found)


def _address(view: memoryview) -> int:
    return int(np.frombuffer(view, np.uint8).__array_interface__["data"][0])


class Seed:
    """A sound flatbuffer, and its damages by number."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.data = name, data
        self.places = places(self.data)
        self.by_kind: dict[str, list[Place]] = {}
        for place in self.places:
            self.by_kind.setdefault(place.kind, []).append(place)
        # what ends most files at once, more rarely
        self.kinds = [k for k in self.by_kind for _ in range(1 if k in ("length", "entry", "b", "B") else 3)]
        self.targets = [p.at + struct.unpack_from("<I", self.data, p.at)[0] for p in self.places if p.kind == "offset"]

    def damaged(self, number: int) -> bytes:
        rng = random.Random(f"{self.name} {number}")
        data = bytearray(self.data)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
            self._damage(data, rng)
        if rng.random() < 0.02:
            del data[rng.randrange(len(data)) :]
        return bytes(data)

    def _damage(self, data: bytearray, rng: random.Random) -> None:
        if rng.random() < 0.05:  # anywhere
            at = rng.randrange(len(data))
            data[at : at + 4] = rng.randbytes(min(4, len(data) - at))
            return
        place = rng.choice(self.by_kind[rng.choice(self.kinds)])
        now = bytes(data[place.at : place.at + place.size])
        if len(now) < place.size or not now:
            return
        data[place.at : place.at + place.size] = self._changed(place, now, rng)

    def _changed(self, place: Place, now: bytes, rng: random.Random) -> bytes:
        match place.kind:
            case "offset":
                target = rng.choice(self.targets) if rng.random() < 0.9 else place.at + rng.choice(_INTEGERS)
                return struct.pack("<I", (target - place.at) % 2**32)
            case "length":
                length = struct.unpack("<I", now)[0]
                return struct.pack("<I", rng.choice((0, 1, length - 1, length + 1, 2 * length, *_INTEGERS)) % 2**32)
            case "entry":
                return struct.pack(
                    "<H", rng.choice((0, 4, 8, 12, struct.unpack("<H", now)[0] + rng.choice((-4, 4)))) % 2**16
                )
            case "text":
                name = (
                    rng.choice(_NAMES) if rng.random() < 0.7 else rng.choice((b"\x1b[31m", b"\n\r\0", b"\xff", b"%s{}"))
                )
                return (name + now)[: len(now)] if len(name) < len(now) else name[: len(now)]
            case "d" | "f":
                values = (*_DOUBLES, -struct.unpack(f"<{place.kind}", now)[0])
                large = [v for v in values if 2.0**127 < abs(v) < float("inf")] if place.kind == "f" else ()
                return struct.pack(f"<{place.kind}", rng.choice([v for v in values if v not in large]))
            case "?":
                return rng.choice((b"\0", b"\1", b"\2"))
        alike = [p for p in self.places if p.kind == place.kind]
        other = rng.choice(alike).at
        value = int.from_bytes(now, "little") + rng.choice((-1, 1))
        values = (*_LONG, value, value, value, int.from_bytes(self.data[other : other + place.size], "little"))
        return (rng.choice(values) % 2 ** (8 * place.size)).to_bytes(place.size, "little")


def check(data: bytes) -> str:
    """From bytes to the plan, as `load` goes for either kind of device; the name of the error that ended it, if any."""
    try:
        file = read_file(data, "damaged.pte")
        budget = Budget(file.size, "damaged.pte")
        for name, method in file.methods.items():
            graph, problems = finish(method.lower(budget))
            if problems:
                return str(problems[0]) and problems[0].kind.__name__
            rewritten = {name: rewrite(required(graph), None, budget)}
            for target in (Target(), Target(kind=SOFTWARE)):
                plan_program(rewritten, target, "damaged.pte", budget)
    except Webq8Error as e:
        text = str(e)
        assert text.replace("\n", " ").isprintable(), "a message may not hold control characters"
        assert len(text) < 10_000, "a message may not be longer than a page"
        return type(e).__name__
    return ""


def peak() -> int:
    """The most memory that this process ever had, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


class Watched(NamedTuple):
    """What came of a file: the error's name, "" where it is sound; and what was wrong with that, "" for nothing."""

    seed: str
    number: int
    outcome: str
    reason: str


def watched(seed: str, number: int, data: bytes, base: int | None = None) -> Watched:
    """Checks a file, its time and its memory, beyond a peak of `base` bytes that the process had before."""
    base = peak() if base is None else base
    began, outcome, reason = time.process_time(), "", ""
    try:
        outcome = check(data)
    except Exception as e:
        reason = f"{type(e).__name__}: {str(e)[:300]}"
    seconds, grown = time.process_time() - began, peak() - base
    if seconds > SECONDS:
        reason = reason or f"{seconds:.1f} s"
    if grown > MEMORY + 2 * len(data):
        reason = reason or f"{grown:,} bytes of memory"
    return Watched(seed, number, outcome, reason)


def damage(sound: Sequence[Seed | ProtobufSeed], number: int) -> tuple[str, bytes]:
    """The damage of a number, and the sound file that it is of: each in turn."""
    seed = sound[number % len(sound)]
    return seed.name, seed.damaged(number)


def main(numbers: range, kind: str = "pte") -> int:
    """Damages of these numbers; prints what fails and a count of what came of them."""
    sound, failed, counts = seeds(kind), 0, Counter[str]()
    base = peak()
    for number in numbers:
        name, data = damage(sound, number)
        result = watched(name, number, data, base)
        counts[result.outcome or "sound"] += 1
        if result.reason:
            failed += 1
            print(f"damage {number} of {result.seed}: {result.reason}", flush=True)
    print(f"{len(numbers)} damages of {len(sound)} files: {failed} failed; {dict(counts)}")
    return 1 if failed else 0


def seeds(kind: str = "pte") -> list[Seed | ProtobufSeed]:
    """Sound files that are small, of every sort of a kind: "pte", "tflite" or "onnx"."""
    if kind != "pte":
        cases = [*op_cases(kind), *(c for c in network_cases(kind, most=1) if c.name.startswith(("keyword", "unet")))]
        seed = Seed if kind == "tflite" else ProtobufSeed
        return [
            seed(f"{c.name}.{kind}", c.model if isinstance(c.model, bytes) else c.model.read_bytes()) for c in cases
        ]
    data = ROOT / "tests" / "data"
    goldens = sorted((data / "goldens").glob("*.pte"))
    glue = sorted((data / "goldens_glue").rglob("*.pte"))
    containers = sorted((data / "containers").glob("*.pte"))
    networks = [data / "models" / "sr.pte", data / "networks" / "superres.pte"]
    return [Seed(p.name, p.read_bytes()) for p in (*goldens[::3], *glue[::5], *containers, *networks)]
