"""What a tensor is: its shape, its dtype, and how its integers stand for real numbers."""

from array import array
from typing import NewType

from webq8.errors import FormatError, Webq8Error, shown
from webq8.records import Record

__all__ = [
    "BadArg",
    "Dynamic",
    "MaybeRef",
    "PerChannel",
    "PerTensor",
    "Quantization",
    "Ref",
    "Refs",
    "Rows",
    "Shape",
    "Tensor",
    "check_scale",
    "f32",
    "usable_scale",
]

Shape = tuple[int, ...]
Ref = NewType("Ref", int)  # of a tensor: its index in `Graph.tensors`
MaybeRef = Ref | None
Refs = tuple[Ref, ...]

_FLT_MIN, _FLT_MAX = 2.0**-126, 2.0**127 * (2 - 2**-23)


class BadArg(Exception):
    """What is wrong with an op or one of its arguments; `kind` is the error it leads to."""

    def __init__(self, reason: str, kind: type[Webq8Error] = FormatError) -> None:
        super().__init__(reason)
        self.kind = kind


class PerTensor(Record):
    """q stands for (q − zero_point) · scale."""

    scale: float
    zero_point: int


class PerChannel(Record):
    """As PerTensor, with a scale (float32) and a zero point (int32; empty for zeros) for each index along `axis`,
    little-endian."""

    HIDDEN = frozenset({"scales", "zero_points"})

    scales: bytes
    axis: int
    zero_points: bytes = b""


class Dynamic(Record):
    """As PerTensor, or with an `axis` as PerChannel, by tensors of scales and zero points that the run computes."""

    scale: Ref
    zero_point: Ref
    axis: int | None = None


Quantization = PerTensor | PerChannel | Dynamic


class Tensor(Record):
    """A tensor as the user sees it: row-major `shape`, dtype name; `data` holds a constant's little-endian bytes.

    Without a `quantization` integers stand for themselves.
    """

    shape: Shape
    dtype: str
    data: memoryview | None = None
    quantization: Quantization | None = None

    @property
    def grid(self) -> PerTensor | None:
        """The scale and the zero point of an int8 tensor that has one of each; None for other tensors."""
        return self.quantization if self.dtype == "int8" and isinstance(self.quantization, PerTensor) else None

    def type(self) -> "Tensor":
        """The same without its data."""
        return self if self.data is None else self.replace(data=None)


class Rows(Tensor):
    """A result with at most so many rows: those that begin with −1 are none."""


def f32(x: float) -> float:
    """`x` rounded to float32, to infinity where it is too large."""
    return array("f", (x,))[0]


def usable_scale(value: float) -> bool:
    """Whether a scale and its reciprocal are positive, finite, normal float32 numbers."""
    return _FLT_MIN <= value <= _FLT_MAX and _FLT_MIN <= 1.0 / value <= _FLT_MAX


def check_scale(value: float, prefix: str = "") -> None:
    """Raises BadArg for a scale that is not usable."""
    if not usable_scale(value):
        rule = "it and 1/scale must be positive, finite, normal float32 numbers"
        raise BadArg(f"{prefix}{shown(value)} is not a usable scale: {rule}")
