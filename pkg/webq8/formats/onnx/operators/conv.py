"""Convolutions."""

from collections.abc import Sequence

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, operator
from webq8.formats.onnx.operators.window import windows
from webq8.ir.ops.conv import Convolution
from webq8.ir.types import BadArg


@operator("Conv")
def conv(c: Call) -> Result:
    kernel = c.shape(1)[2:]
    if c.integers("kernel_shape", kernel) != kernel:
        raise BadArg(f"kernel_shape {list(c.integers('kernel_shape'))} of a weight {list(c.shape(1))}")
    w = windows(c, c.shape()[2:], kernel)
    bias = c.maybe(2)
    return c.emit(Convolution(c.x(), c.x(1), bias, w.stride, (*w.padding,), w.dilation, c.integer("group", 1)))


@operator("ConvTranspose")
def conv_transpose(c: Call) -> Result:
    size, kernel = c.shape()[2:], c.shape(1)[2:]
    if len(size) not in (1, 2) or len(kernel) != len(size):
        raise BadArg(
            f"x {list(c.shape())}, weight {list(c.shape(1))}: one and two dimensions are supported", Unsupported
        )
    c.ignore("kernel_shape")
    ones = (1,) * len(size)
    stride, dilation = c.integers("strides", ones), c.integers("dilations", ones)
    extra = c.integers("output_padding", (0,) * len(size))
    full = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(size, stride, dilation, kernel, strict=True)]
    auto, wanted = c.text("auto_pad", "NOTSET"), c.maybe_integers("output_shape")
    pads = list(c.integers("pads", (0,) * (2 * len(size))))
    if wanted is None and auto.startswith("SAME"):
        wanted = tuple(n * s for n, s in zip(size, stride, strict=True))
    if wanted is not None:
        total = [f + e - w for f, e, w in zip(full, extra, wanted[-len(size) :], strict=True)]
        pads = _shared(total, upper=auto == "SAME_UPPER")
    elif auto == "VALID":
        pads = [0] * len(pads)
    flat, none = (1,) * (2 - len(size)), (0,) * (2 - len(size))
    half = len(size)
    padding = (*none, *pads[:half], *none, *pads[half:])
    op = Convolution(
        c.x(),
        c.x(1),
        c.maybe(2),
        (*flat, *stride),  # type: ignore[arg-type]
        padding,  # type: ignore[arg-type]
        (*flat, *dilation),  # type: ignore[arg-type]
        c.integer("group", 1),
        transposed=True,
        output_padding=(*none, *extra),  # type: ignore[arg-type]
    )
    return c.emit(op)


def _shared(total: Sequence[int], *, upper: bool) -> list[int]:
    """Padding before, then after; the odd one stands after where it is `upper`."""
    less, more = [n // 2 for n in total], [n - n // 2 for n in total]
    return less + more if upper else more + less
