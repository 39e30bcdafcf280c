"""Ops that put elements to other places: copies along strides, or no kernel at all."""

from collections.abc import Iterator, Sequence

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.create import element_bytes
from webq8.ir.ops.move import (
    Concat,
    Expand,
    Pad,
    Permute,
    PixelShuffle,
    PixelUnshuffle,
    Repeat,
    Reshape,
    Slice,
    Split,
    Strided,
)
from webq8.ir.plan import Alias, Dispatch
from webq8.ir.types import PerTensor, Tensor
from webq8.kernels.registry import Call, LayoutChoice, Operand, kernel
from webq8.kernels.strided import insert, strided_copy
from webq8.kernels.tables import gathered
from webq8.kernels.walk import Axis, axes_of, broadcast_strides, contiguous
from webq8.numerics import requantizing_table
from webq8.plan.layout import LayoutName, strides

__all__: list[str] = []


def _copied(x: Operand, y: Operand, sizes: Sequence[int], x_strides: Sequence[int], base: int = 0) -> Dispatch:
    """y in row-major order, numbered by `sizes`, from elements of x along `x_strides`, from element `base` on."""
    return strided_copy(x.id, y.id, ITEMSIZE[x.dtype], axes_of(sizes, x_strides), base)


@kernel(Reshape, layout="plain")
def reshape(op: Reshape, call: Call) -> Iterator[Alias]:
    yield Alias(call[op.x].id, call.out.id)


@kernel(Permute, layout="plain")
def permute(op: Permute, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    x_strides = contiguous(x.shape)
    yield _copied(x, y, y.shape, [x_strides[i] for i in op.order])


@kernel(Slice, layout="plain")
def slice_(op: Slice, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    x_strides = contiguous(x.shape)
    base = sum(start * stride for start, stride in zip(op.starts, x_strides, strict=True))
    yield _copied(x, y, y.shape, [step * stride for step, stride in zip(op.steps, x_strides, strict=True)], base)


@kernel(Strided, layout="plain")
def strided(op: Strided, call: Call) -> Iterator[Dispatch]:
    yield _copied(call[op.x], call.out, op.shape, op.strides, op.offset)


@kernel(Expand, layout="plain")
def expand(op: Expand, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    yield _copied(x, y, y.shape, broadcast_strides(x.shape, y.shape))


@kernel(Repeat, layout="plain")
def repeat(op: Repeat, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    old = (1,) * (len(op.repeats) - len(x.shape)) + x.shape
    sizes = [size for pair in zip(op.repeats, old, strict=True) for size in pair]
    yield _copied(x, call.out, sizes, [stride for inner in contiguous(old) for stride in (0, inner)])


def _requantizes(x: Tensor, y: Tensor) -> bool:
    return isinstance(x.quantization, PerTensor) and isinstance(y.quantization, PerTensor)


def _shuffle_layout(_: PixelShuffle, reads: Sequence[Tensor], results: Sequence[Tensor]) -> LayoutName:
    (x,), (y,) = reads, results
    return "channels" if len(x.shape) == 4 and _requantizes(x, y) else "plain"


@kernel(PixelShuffle, layout=_shuffle_layout)
def pixel_shuffle(op: PixelShuffle, call: Call) -> Iterator[Dispatch]:
    x, y, r = call[op.x], call.out, op.factor
    *lead, c, h, w = x.shape
    outer, c = numel(tuple(lead)), c // r**2
    if _requantizes(x.tensor, y.tensor):
        table = requantizing_table(x.per_tensor, (), y.per_tensor)
        image, channel, row, pixel = strides((outer, *x.shape[-3:]), x.layout_name)
        x_strides = image, channel * r * r, row, channel * r, pixel, channel
        yield gathered(x, y, (outer, c, h, r, w, r), x_strides, table)
    else:
        plane = h * w
        yield _copied(x, y, (outer * c, h, r, w, r), (r * r * plane, w, r * plane, 1, plane))


@kernel(PixelUnshuffle, layout="plain")
def pixel_unshuffle(op: PixelUnshuffle, call: Call) -> Iterator[Dispatch]:
    x, r = call[op.x], op.factor
    *lead, h, w = x.shape
    yield _copied(x, call.out, (numel(tuple(lead)), r, r, h // r, w // r), (h * w, w, 1, r * w, r))


def _concat_layout(op: Concat, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutChoice:
    """int8 maps whose channels are joined may stay channels-last where all but the last have whole words of them."""
    maps = op.axis == 1 and all(x.dtype == "int8" and len(x.shape) == 4 for x in reads)
    return ("channels", "plain") if maps and not any(x.shape[1] % 4 for x in reads[:-1]) else "plain"


@kernel(Concat, layout=_concat_layout)
def concat(op: Concat, call: Call) -> Iterator[Dispatch]:
    tensors, y = [call[ref] for ref in op.tensors], call.out
    if y.layout_name == "channels":
        yield from _joined_channels(tensors, y)
        return
    outer, inner = numel(y.shape[: op.axis]), numel(y.shape[op.axis + 1 :])
    start, pitch = 0, y.shape[op.axis] * inner
    for x in tensors:
        row = x.shape[op.axis] * inner
        yield insert(x.id, y.id, ITEMSIZE[y.dtype], outer, row, start, pitch)
        start += row


def _joined_channels(tensors: Sequence[Operand], y: Operand) -> Iterator[Dispatch]:
    first, to = 0, y.layout
    for x in tensors:
        words = cdiv(x.shape[1], 4)
        params = {
            "words": to.outer * to.inner * words,
            "channel_words": words,
            "x_channel_words": x.layout.padded // 4,
            "y_channel_words": to.padded // 4,
            "first_word": first,
        }
        yield Dispatch("cat_int8", {"x": x.id, "y": y.id}, params, threads=to.outer * to.inner * words)
        first += words


@kernel(Split, layout="plain")
def split(op: Split, call: Call) -> Iterator[Dispatch]:
    x, start = call[op.x], 0
    x_strides = contiguous(x.shape)
    for part in call.outs:
        yield _copied(x, part, part.shape, x_strides, start * x_strides[op.axis])
        start += part.shape[op.axis]


@kernel(Pad, layout="plain")
def pad(op: Pad, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    x_strides = contiguous(x.shape)
    axes = [
        Axis(size, (stride,), min(max(before, 0), size), max(min(size, size - after), 0))
        for size, stride, before, after in zip(y.shape, x_strides, op.before, op.after, strict=True)
    ]
    base = -sum(stride * before for stride, before in zip(x_strides, op.before, strict=True))
    fill = element_bytes(op.value, x.dtype, "value")
    yield strided_copy(x.id, y.id, ITEMSIZE[x.dtype], axes, base, fill)
