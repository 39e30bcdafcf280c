"""Ops that put elements to other places: copies along strides, or no kernel at all."""

import math
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
from webq8.kernels.layouts import relayout
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


_FROM_LAST, _TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)  # orders in which channels were, or are, the last axis


def _permuted_to(op: Permute, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutName:
    return "channels" if op.order == _FROM_LAST and reads[0].dtype == "int8" else "plain"


def _permuted_from(op: Permute, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutName:
    return "channels" if op.order == _TO_LAST and reads[0].dtype == "int8" else "plain"


@kernel(Permute, layout=_permuted_to, reads=_permuted_from)
def permute(op: Permute, call: Call) -> Iterator[Dispatch | Alias]:
    """Maps of int8 lie channels-last: with their channels as the last axis they are the same bytes, but for padding."""
    x, y = call[op.x], call.out
    maps = next((t for t in (x, y) if t.dtype == "int8" and t.layout_name == "channels"), None)
    if maps and maps.layout.padded == maps.layout.channels:
        yield Alias(x.id, y.id)
    elif y is maps:
        to = y.layout
        yield relayout(x.id, to.replace(padded=to.channels), y.id, to)
    else:
        x_strides = strides(x.shape, x.layout_name) if maps else contiguous(x.shape)
        yield _copied(x, y, y.shape, [x_strides[i] for i in op.order])


def _in_words(of_axes: Sequence[int]) -> list[int]:
    """Of what each axis of channels-last maps has, what the axes of their pixels have: all but the channels."""
    return [of_axes[axis] for axis in (0, 2, 3)]


def _words(x: Operand) -> list[int]:
    """The sizes of channels-last maps in words: the channels of a pixel are the innermost axis."""
    return [*_in_words(x.shape), x.layout.padded // 4]


def _either(whole_words: bool, reads: Sequence[Tensor]) -> LayoutChoice:
    """int8 maps may stay channels-last where their channels are moved by whole words."""
    maps = all(x.dtype == "int8" and len(x.shape) == 4 for x in reads)
    return ("plain", "channels") if maps and whole_words else "plain"


def _cut(x: Operand, y: Operand, starts: Sequence[int], steps: Sequence[int]) -> Dispatch:
    """y from elements of x, some steps apart."""
    if y.layout_name != "channels":
        x_strides = contiguous(x.shape)
        base = sum(start * stride for start, stride in zip(starts, x_strides, strict=True))
        return _copied(x, y, y.shape, [step * stride for step, stride in zip(steps, x_strides, strict=True)], base)
    x_strides, first, words = contiguous(_words(x)), [*_in_words(starts), starts[1] // 4], _words(y)
    axes = axes_of(words, [step * stride for step, stride in zip([*_in_words(steps), 1], x_strides, strict=True)])
    axes[3] = axes[3]._replace(high=min(words[3], _words(x)[3] - first[3]))
    return strided_copy(
        x.id, y.id, 4, axes, sum(start * stride for start, stride in zip(first, x_strides, strict=True))
    )


def _slice_layout(op: Slice, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutChoice:
    return _either(len(op.starts) == 4 and op.starts[1] % 4 == 0 and op.steps[1] == 1, reads)


@kernel(Slice, layout=_slice_layout)
def slice_(op: Slice, call: Call) -> Iterator[Dispatch]:
    yield _cut(call[op.x], call.out, op.starts, op.steps)


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
    """Where the channels of int8 maps are joined, all but the last have whole words of them."""
    choice = _either(op.axis != 1 or not any(x.shape[1] % 4 for x in reads[:-1]), reads)
    return choice if choice == "plain" or op.axis != 1 else ("channels", "plain")


@kernel(Concat, layout=_concat_layout)
def concat(op: Concat, call: Call) -> Iterator[Dispatch]:
    tensors, y = [call[ref] for ref in op.tensors], call.out
    shape, axis, item = [*y.shape], op.axis, ITEMSIZE[y.dtype]
    if y.layout_name == "channels":
        if op.axis == 1:
            yield from _joined_channels(tensors, y)
            return
        shape, axis, item = _words(y), max(op.axis - 1, 0), 4
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    start, pitch = 0, shape[axis] * inner
    for x in tensors:
        row = x.shape[op.axis] * inner
        yield insert(x.id, y.id, item, outer, row, start, pitch)
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


def _split_layout(op: Split, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutChoice:
    return _either(op.axis != 1 or not any(size % 4 for size in op.sizes[:-1]), reads)


@kernel(Split, layout=_split_layout)
def split(op: Split, call: Call) -> Iterator[Dispatch]:
    x, start = call[op.x], 0
    for part in call.outs:
        yield _cut(x, part, [start if axis == op.axis else 0 for axis in range(len(x.shape))], [1] * len(x.shape))
        start += part.shape[op.axis]


def _pad_layout(op: Pad, reads: Sequence[Tensor], _: Sequence[Tensor]) -> LayoutChoice:
    return _either(len(op.before) == 4 and not op.before[1] and not op.after[1], reads)


@kernel(Pad, layout=_pad_layout)
def pad(op: Pad, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    from_, to, item = [*x.shape], [*y.shape], ITEMSIZE[x.dtype]
    before, after = op.before, op.after
    if y.layout_name == "channels":
        from_, to, item = _words(x), _words(y), 4
        before, after = (*_in_words(before), 0), (*_in_words(after), 0)
    x_strides = contiguous(from_)
    axes = [
        Axis(size, (stride,), min(max(b, 0), size), max(min(size, size - a), 0))
        for size, stride, b, a in zip(to, x_strides, before, after, strict=True)
    ]
    base = -sum(stride * b for stride, b in zip(x_strides, before, strict=True))
    yield strided_copy(x.id, y.id, item, axes, base, element_bytes(op.value, x.dtype, "value"))
