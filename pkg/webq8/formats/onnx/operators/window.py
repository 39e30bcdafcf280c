"""What convolutions and pools have in common: kernels, strides and padding, in one or two dimensions."""

from collections.abc import Sequence
from typing import NamedTuple

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call
from webq8.ir.ops.window import Padding
from webq8.ir.types import BadArg

__all__ = ["Windows", "explicit_padding", "windows"]


class Windows(NamedTuple):
    """All for height and width; a map of one dimension has height one."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: Padding


def windows(c: Call, size: Sequence[int], kernel: Sequence[int]) -> Windows:
    """The windows of a call on maps of a size."""
    if len(size) not in (1, 2):
        raise BadArg(f"maps of {len(size)} dimensions; one and two are supported", Unsupported)
    ones = (1,) * len(size)
    stride, dilation = c.integers("strides", ones), c.integers("dilations", ones)
    if not len(kernel) == len(stride) == len(dilation) == len(size) or min(*stride, *dilation) < 1:
        raise BadArg(f"kernel_shape {list(kernel)}, strides {list(stride)}, dilations {list(dilation)} of {list(size)}")
    pads = explicit_padding(c, size, kernel, stride, dilation)
    half = len(size)
    before, after = pads[:half], pads[half:]
    fill = (1,) * (2 - half)
    return Windows(
        _pair(fill, kernel),
        _pair(fill, stride),
        _pair(fill, dilation),
        Padding(*_pair((0,) * (2 - half), before), *_pair((0,) * (2 - half), after)),
    )


def _pair(fill: tuple[int, ...], numbers: Sequence[int]) -> tuple[int, int]:
    height, width = (*fill, *numbers)
    return height, width


def explicit_padding(
    c: Call, size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    """All paddings before the map, then all after it."""
    auto = c.text("auto_pad", "NOTSET")
    pads = list(c.integers("pads", (0,) * (2 * len(size))))
    if len(pads) != 2 * len(size):
        raise BadArg(f"pads: {pads} for maps of {len(size)} dimensions")
    if auto in ("NOTSET", ""):
        return pads
    if auto == "VALID":
        return [0] * len(pads)
    if auto not in ("SAME_UPPER", "SAME_LOWER"):
        raise BadArg(f"auto_pad: {auto!r} is not known")
    total = [
        max((-(-n // step) - 1) * step + d * (k - 1) + 1 - n, 0)
        for n, k, step, d in zip(size, kernel, stride, dilation, strict=True)
    ]
    less, more = [n // 2 for n in total], [n - n // 2 for n in total]
    return less + more if auto == "SAME_UPPER" else more + less
