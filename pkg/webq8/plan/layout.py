"""Where each element of a tensor lies in GPU memory.

int8 tensors keep the axis that ops reduce over innermost and padded, so that kernels read whole words: 4-D maps are
NHWC ("channels"), other tensors row-major ("rows"). Both are padded to 16 elements, which makes every load a vec4 of
words and a pointwise convolution a matrix product; maps of up to 8 channels to 4, where 16 would mostly move padding.
All other tensors, and what enters or leaves a program, are plain row-major.
"""

from typing import Literal

from webq8.dtypes import ITEMSIZE, numel, round_up
from webq8.records import Record
from webq8.scatter import scattered

__all__ = ["Layout", "LayoutName", "default_layout", "layout", "nbytes", "strides"]

LayoutName = Literal["rows", "channels", "plain"]


class Layout(Record):
    """Row-major element `(o·channels + c)·inner + i` is byte `(o·inner + i)·padded + c`."""

    outer: int
    channels: int
    inner: int
    padded: int

    @property
    def words(self) -> int:
        return self.outer * self.inner * self.padded // 4

    @property
    def nbytes(self) -> int:
        return 4 * self.words

    @property
    def plain(self) -> bool:
        """Whether the elements lie in row-major order without gaps (but for the end)."""
        return self.inner == 1 and (self.channels == self.padded or self.outer <= 1)

    def same_bytes(self, other: "Layout") -> bool:
        return self == other or (self.plain and other.plain)

    def pack(self, data: memoryview) -> bytes:
        """Copies row-major int8 bytes to this layout; its padding is zero."""
        if self.plain:
            return bytes(data).ljust(self.nbytes, b"\0")
        sizes = self.outer, self.channels, self.inner
        source, target = (self.channels * self.inner, self.inner, 1), (self.inner * self.padded, 1, self.padded)
        return scattered(data, sizes, source, target, self.nbytes)


def default_layout(shape: tuple[int, ...], dtype: str) -> LayoutName:
    if dtype != "int8":
        return "plain"
    return "channels" if len(shape) == 4 else "rows"


def layout(shape: tuple[int, ...], name: LayoutName) -> Layout:
    """The layout of an int8 tensor of `shape`; "channels" is for 4-D ones."""
    if name == "plain":
        return Layout(1, numel(shape), 1, round_up(numel(shape), 4))
    if name == "channels":
        n, c, h, w = shape
        return Layout(n, c, h * w, round_up(c, 4 if c <= 8 else 16))
    last = shape[-1] if shape else 1
    return Layout(numel(shape[:-1]), last, 1, round_up(last, 16))


def strides(shape: tuple[int, ...], name: LayoutName) -> tuple[int, ...]:
    """The stride in bytes along each axis of an int8 tensor."""
    padded = layout(shape, name).padded
    if name == "channels":
        return shape[2] * shape[3] * padded, 1, shape[3] * padded, padded
    out, stride = [1] * len(shape), 1
    for axis in reversed(range(len(shape) - 1)):
        stride *= padded if name == "rows" and axis == len(shape) - 2 else shape[axis + 1]
        out[axis] = stride
    return tuple(out)


def nbytes(shape: tuple[int, ...], dtype: str, name: LayoutName) -> int:
    """Bytes of a tensor's buffer, in whole words."""
    return layout(shape, name).nbytes if dtype == "int8" else round_up(numel(shape) * ITEMSIZE[dtype], 4)
