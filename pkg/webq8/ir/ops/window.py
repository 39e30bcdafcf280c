"""Windows that slide over maps: those of pools and of convolutions."""

from typing import NamedTuple

from webq8.ir.types import BadArg

__all__ = ["Padding", "Window", "pooled_sizes"]


class Padding(NamedTuple):
    """Rows and columns that a map has beyond each of its edges."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0


class Window(NamedTuple):
    """The elements of a padded map that a result is made of: `kernel` of them, `dilation` apart; those of the next
    result are a `stride` further. All in elements, (height, width)."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: Padding = Padding()
    dilation: tuple[int, int] = (1, 1)

    @property
    def reach(self) -> tuple[int, int]:
        """The rows and columns from the first element to the last."""
        height, width = (d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        return height, width


def pooled_sizes(window: Window, size: tuple[int, int], ceil_mode: bool) -> tuple[int, int]:
    """The height and width of what a pool makes of maps of `size`, by the formula in the documentation of
    `torch.nn.MaxPool2d`: with `ceil_mode` a last window may reach beyond the padding.

    Raises BadArg where no window fits, or where one could lie in the padding alone.
    """
    height, width = (_pooled_size(window, axis, size[axis], ceil_mode) for axis in (0, 1))
    return height, width


def _pooled_size(window: Window, axis: int, size: int, ceil_mode: bool) -> int:
    kernel, stride, reach = window.kernel[axis], window.stride[axis], window.reach[axis]
    before, after = window.padding[axis], window.padding[axis + 2]
    if max(before, after) > kernel // 2:
        raise BadArg(f"padding {max(before, after)} is more than half of the kernel's size {kernel}")
    room = size + before + after - reach
    out = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (out - 1) * stride >= size + before:
        out -= 1  # the last window may not begin in the padding after the map
    if out < 1 or not size:
        raise BadArg(f"a kernel that reaches {reach} does not fit size {size} with padding {before}")
    return out
