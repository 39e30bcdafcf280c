"""Tensors of `.onnx` files: their dtypes, and the encodings of their elements."""

import struct
from array import array

from webq8.dtypes import FORMAT, ITEMSIZE, numel
from webq8.errors import FormatError, InputError, plain
from webq8.formats.base import Beside
from webq8.formats.folding import packed
from webq8.formats.onnx.model import Constant, Unreadable
from webq8.formats.onnx.protobuf import Message
from webq8.ir.types import Tensor

__all__ = ["HELD", "KINDS", "RANGES", "TENSOR", "read_tensor"]

TENSOR = {
    1: "dims",
    2: "data_type",
    4: "float_data",
    5: "int32_data",
    7: "int64_data",
    8: "name",
    9: "raw_data",
    10: "double_data",
    11: "uint64_data",
    13: "external_data",
    14: "data_location",
}
_PAIR = {1: "key", 2: "value"}
_EXTERNAL = 1  # a data_location
KINDS = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
}
# kind -> the dtype that holds it here
HELD = {name: name for name in ("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "uint32", "bool")} | {
    "float16": "float32",
    "bfloat16": "float32",
    "float64": "float32",
    "uint64": "uint64",
    "uint4": "uint8",
    "int4": "int8",
    "uint2": "uint8",
    "int2": "int8",
}
# of integers, the least and the largest value
RANGES = {
    f"{'u' * (not sign)}int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if sign else (0, 2**bits - 1)
    for bits in (2, 4, 8, 16, 32, 64)
    for sign in (True, False)
}
_BITS = {kind: int(kind[-1]) for kind in ("uint4", "int4", "uint2", "int2")}
# kind -> the field of its elements where they do not lie as raw bytes, and how they are held there
_TYPED = {
    "float32": ("float_data", "f"),
    "float64": ("double_data", "d"),
    "int64": ("int64_data", "q"),
    "uint32": ("uint64_data", "I"),
    "uint64": ("uint64_data", "Q"),
}


def read_tensor(message: Message, beside: Beside | None) -> Constant | Unreadable:
    """A tensor with its elements. Raises FormatError where these do not fit its shape."""
    shape, kind = tuple(message.integers("dims")), KINDS.get(message.integer("data_type"), "unknown")
    where, count = f"{message.where} ({plain(message.text('name')) or 'without a name'})", numel(shape)
    if min(shape, default=0) < 0:
        raise FormatError(f"{where}: a tensor of shape {list(shape)}")
    if kind not in HELD:
        return Unreadable(f"tensors of {kind} are not supported")
    external = message.integer("data_location") == _EXTERNAL
    raw = _external(message, where, beside) if external else message.bytes("raw_data")
    if isinstance(raw, Unreadable):
        return raw
    if external or message.has("raw_data"):
        size = _size(kind, count)
        if len(raw) != size:
            raise FormatError(f"{where}: {len(raw):,} bytes for {kind} {list(shape)}, which takes {size:,}")
    else:
        raw = memoryview(_typed(message, kind, count, where))
    held = HELD[kind]
    data = memoryview(_converted(raw, kind, count)).cast("B").toreadonly()
    if held == "bool" and bytes(data).strip(b"\0\1"):
        raise FormatError(f"{where}: truth values other than 0 and 1")
    return Constant(Tensor(shape, held, data), kind)


def _size(kind: str, count: int) -> int:
    """The bytes of so many elements, as they lie in a file."""
    if kind in _BITS:
        return -(-count * _BITS[kind] // 8)
    return count * (2 if kind == "bfloat16" else ITEMSIZE[kind])


def _typed(message: Message, kind: str, count: int, where: str) -> bytes:
    """Elements of typed fields as they would lie as raw bytes."""
    field, code = _TYPED.get(kind, ("int32_data", ""))
    numbers = message.numbers(field, code) if code in ("f", "d") else message.integers(field)
    expected = count if kind not in _BITS else _size(kind, count)
    if len(numbers) != expected:
        raise FormatError(f"{where}: {len(numbers):,} elements for {kind}, {expected:,} expected")
    if not code:  # int32 holds the bits of float16 as well
        size = 1 if kind in _BITS else _size(kind, 1)
        return packed(numbers, {1: "uint8", 2: "uint16", 4: "uint32"}[size])
    try:
        return struct.pack(f"<{expected}{code}", *numbers)
    except struct.error:
        raise FormatError(f"{where}: an element is no {kind}") from None


def _converted(raw: memoryview | bytes, kind: str, count: int) -> memoryview | bytes:
    """Raw bytes as the dtype that holds them has them."""
    if kind in _BITS:
        return _unpacked(bytes(raw), kind, count)
    if kind == "bfloat16":  # the upper half of a float32
        wide = bytearray(4 * count)
        wide[2::4], wide[3::4] = raw[::2], raw[1::2]
        return bytes(wide)
    if HELD[kind] != kind:
        return array("f", map(_to_float32, struct.unpack(f"<{count}{FORMAT[kind]}", raw))).tobytes()
    return raw


def _to_float32(value: float) -> float:
    return array("f", (value,))[0]


def _unpacked(raw: bytes, kind: str, count: int) -> bytes:
    """A byte for each of the integers that share one, the first of them in its lowest bits."""
    bits, most = _BITS[kind], RANGES[kind][1]
    each = 8 // bits
    wide = bytearray(len(raw) * each)
    for n in range(each):
        part = ((byte >> n * bits) & (2**bits - 1) for byte in range(256))
        wide[n::each] = raw.translate(bytes((v - 2**bits * (v > most)) & 255 for v in part))
    return bytes(wide[:count])


def _external(message: Message, where: str, beside: Beside | None) -> memoryview | Unreadable:
    """Elements that lie in a file of their own, in the model's folder."""
    pairs = {p.text("key"): p.text("value") for p in message.messages("external_data", _PAIR)}
    location = pairs.get("location", "")
    if beside is None:
        reason = f"the weights lie in another file, {location!r}, which is not at hand; load the model by its path"
        return Unreadable(f"{reason}, or save it as one file: onnx.save(onnx.load('model.onnx'), 'whole.onnx')")
    try:
        start, length = int(pairs.get("offset", "0")), int(pairs.get("length", "-1"))
    except ValueError:
        raise FormatError(f"{where}: offset and length of external data must be whole numbers") from None
    try:
        data = beside(location)
    except InputError as e:
        raise FormatError(f"{where}: {e}") from None
    length = len(data) - start if length < 0 else length
    if min(start, length) < 0 or start + length > len(data):
        raise FormatError(f"{where}: bytes {start:,} to {start + length:,} of {location!r}, which has {len(data):,}")
    return data[start : start + length]
