"""Operators that put elements to other places. They run on whatever form a value is at hand in."""

from collections.abc import Sequence

from webq8.dtypes import numel
from webq8.formats import xnnpack
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Maps, Value, in_order
from webq8.formats.tflite.windows import activated, one_scale
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.move import Concat, Expand, Pad, Permute, Repeat, Reshape, Slice, Split
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Ref, Shape

__all__: list[str] = []

_FROM_MAPS = (0, 2, 3, 1)


def held(x: Value) -> tuple[Ref, bool]:
    """The form that a value is at hand in, and whether it is maps."""
    form = x.held
    return (form.ref, True) if isinstance(form, Maps) else (form, False)


def place(axis: int, maps: bool) -> int:
    """Where an axis of a tensor of the file is in the form that it is at hand in."""
    return (0, 2, 3, 1)[axis] if maps else axis


def reshaped(g: Emitter, x: Value, shape: Shape) -> Lowered:
    """The elements in another shape."""
    if shape == x.shape:
        return x
    if (
        len(x.shape) == 4
        and x.is_maps
        and [s for s in x.shape if s != 1] == [s for s in g.type(x.maps).shape if s != 1]
    ):
        return g.builder.emit(Reshape(x.maps, shape))
    return g.builder.emit(Reshape(x.ref, shape))


@lowers("RESHAPE", new_shape="0v")
def reshape(g: Emitter, x: Value, shape: Value | None = None, *, new_shape: tuple[int, ...]) -> Lowered:
    sizes = shape.ints("the new shape") if shape else new_shape
    if sizes.count(-1) == 1:
        rest = numel(tuple(s for s in sizes if s != -1))
        sizes = tuple(numel(x.shape) // max(rest, 1) if s == -1 else s for s in sizes)
    return reshaped(g, x, sizes)


@lowers("SQUEEZE", dims="0v")
def squeeze(g: Emitter, x: Value, *, dims: tuple[int, ...]) -> Lowered:
    rank = len(x.shape)
    gone = {axis_of(d, rank) for d in dims} if dims else {i for i, s in enumerate(x.shape) if s == 1}
    return reshaped(g, x, tuple(s for i, s in enumerate(x.shape) if i not in gone))


@lowers("EXPAND_DIMS")
def expand_dims(g: Emitter, x: Value, axis: Value) -> Lowered:
    at = axis_of(axis.integer("the axis"), len(x.shape) + 1)
    return reshaped(g, x, (*x.shape[:at], 1, *x.shape[at:]))


@lowers("TRANSPOSE")
def transpose(g: Emitter, x: Value, order: Value) -> Lowered:
    axes = tuple(axis_of(i, len(x.shape)) for i in order.ints("the order of axes"))
    if axes == (0, 3, 1, 2):
        return x.maps
    ref, maps = held(x)
    if axes == _FROM_MAPS and not maps:
        return Maps(ref)
    return g.builder.emit(Permute(ref, tuple(place(i, maps) for i in axes)))


def sliced(g: Emitter, x: Value, starts: Sequence[int], steps: Sequence[int], shape: Sequence[int]) -> Value:
    """Elements a step apart; sizes and steps are by axis of the file."""
    if tuple(shape) == x.shape and not any(starts) and all(s == 1 for s in steps):
        return x
    ref, maps = held(x)
    y = g.builder.emit(Slice(ref, *(in_order(of, maps) for of in (starts, steps, shape))))
    return Value(g, x.tensor, g.in_form(y, maps))


@lowers("SLICE")
def slice_(g: Emitter, x: Value, begin: Value, size: Value) -> Lowered:
    starts, sizes = begin.ints("the begin"), size.ints("the size")
    if not len(starts) == len(sizes) == len(x.shape):
        raise BadArg(f"begin {list(starts)} and size {list(sizes)} for {list(x.shape)}")
    shape = tuple(whole - start if n == -1 else n for whole, start, n in zip(x.shape, starts, sizes, strict=True))
    return sliced(g, x, starts, (1,) * len(starts), shape)


_MASKS = {"begin_mask": "0i", "end_mask": "1i", "ellipsis_mask": "2i", "new_axis_mask": "3i", "shrink_mask": "4i"}


@lowers("STRIDED_SLICE", **_MASKS, offset="5?")
def strided_slice(
    g: Emitter,
    x: Value,
    begin: Value,
    end: Value,
    strides: Value,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_mask: int,
    offset: int,
) -> Lowered:
    begins, ends, steps = (
        v.ints(what) for v, what in ((begin, "the begin"), (end, "the end"), (strides, "the strides"))
    )
    if not len(begins) == len(ends) == len(steps) or 0 in steps:
        raise BadArg(f"begin {list(begins)}, end {list(ends)} and strides {list(steps)} do not go together")
    # what each position of the specification is about: an axis of x, a new axis, or all axes that are left
    named = sum(not (new_axis_mask >> i & 1 or ellipsis_mask >> i & 1) for i in range(len(begins)))
    if named > len(x.shape) or bin(ellipsis_mask & (1 << len(begins)) - 1).count("1") > 1:
        raise BadArg(f"{named} axes are sliced of {list(x.shape)}")
    starts, counts, jumps, shape = list[int](), list[int](), list[int](), list[int]()
    for i in range(len(begins)):
        size = x.shape[len(starts)] if len(starts) < len(x.shape) else 0
        if ellipsis_mask >> i & 1:
            for size in x.shape[len(starts) : len(starts) + len(x.shape) - named]:
                _whole(size, starts, counts, jumps, shape)
        elif new_axis_mask >> i & 1:
            shape.append(1)
        elif shrink_mask >> i & 1:
            at = begins[i] + size * (begins[i] < 0)
            if not 0 <= at < size:
                raise BadArg(f"element {begins[i]} of dimension {len(starts)} of {list(x.shape)} does not exist")
            starts.append(at)
            counts.append(1)
            jumps.append(1)
        else:
            stop = begins[i] + ends[i] if offset else ends[i]
            first = None if begin_mask >> i & 1 else begins[i]
            span = range(*slice(first, None if end_mask >> i & 1 else stop, steps[i]).indices(size))
            starts.append(span.start if span else 0)
            counts.append(len(span))
            jumps.append(span.step if span else 1)
            shape.append(len(span))
    for size in x.shape[len(starts) :]:
        _whole(size, starts, counts, jumps, shape)
    y = g.bound(g.results[0], sliced(g, x, starts, jumps, counts))
    return reshaped(g, y, tuple(shape))


def _whole(size: int, starts: list[int], counts: list[int], jumps: list[int], shape: list[int]) -> None:
    """An axis that is not sliced."""
    starts.append(0)
    counts.append(size)
    jumps.append(1)
    shape.append(size)


@lowers("REVERSE_V2")
def reverse(g: Emitter, x: Value, axes: Value) -> Lowered:
    turned = {axis_of(a, len(x.shape)) for a in axes.ints("the axes")}
    starts = tuple(max(size - 1, 0) if i in turned else 0 for i, size in enumerate(x.shape))
    return sliced(g, x, starts, tuple(-1 if i in turned else 1 for i in range(len(x.shape))), x.shape)


def _split(g: Emitter, x: Value, axis: int, sizes: tuple[int, ...]) -> Lowered:
    ref, maps = held(x)
    refs = g.builder.emit_all(Split(ref, sizes, place(axis_of(axis, len(x.shape)), maps)))
    return [g.in_form(r, maps) for r in refs]


@lowers("SPLIT")
def split(g: Emitter, axis: Value, x: Value) -> Lowered:
    at, count = axis_of(axis.integer("the axis"), len(x.shape)), len(g.results)
    if x.shape[at] % count:
        raise BadArg(f"{list(x.shape)} cannot be split into {count} along dimension {at}")
    return _split(g, x, at, (x.shape[at] // count,) * count)


@lowers("SPLIT_V")
def split_v(g: Emitter, x: Value, sizes: Value, axis: Value) -> Lowered:
    at, parts = axis_of(axis.integer("the axis"), len(x.shape)), sizes.ints("the sizes")
    rest = x.shape[at] - sum(s for s in parts if s != -1)
    return _split(g, x, at, tuple(rest if s == -1 else s for s in parts))


@lowers("UNPACK", axis="1i")
def unpack(g: Emitter, x: Value, *, axis: int) -> Lowered:
    at = axis_of(axis, len(x.shape))
    shape = (*x.shape[:at], *x.shape[at + 1 :])
    g.builder.budget.call(0, 16 * x.shape[at])  # of what comes of a part
    refs = g.builder.emit_all(Split(x.ref, (1,) * x.shape[at], at))
    return [g.builder.emit(Reshape(ref, shape)) for ref in refs]


@lowers("CONCATENATION", axis="0i", activation="1b")
def concatenation(g: Emitter, first: Value, *more: Value, axis: int, activation: int) -> Lowered:
    values = [first, *more]
    at = axis_of(axis, len(first.shape))
    if len({len(v.shape) for v in values}) > 1:
        raise BadArg(f"the shapes {', '.join(str(list(v.shape)) for v in values)} have different dimensions")
    values = [v for v in values if v.shape[at] or len(values) == 1] or [first]
    refs, maps = g.same_form(values)
    if len(values) > 1 and first.is_int8:
        return g.in_form(xnnpack.concat(g.builder, refs, place(at, maps), one_scale(g)), maps)
    return g.in_form(activated(g, g.builder.emit(Concat(tuple(refs), place(at, maps))), activation), maps)


@lowers("PACK", axis="1i")
def pack(g: Emitter, first: Value, *more: Value, axis: int) -> Lowered:
    at = axis_of(axis, len(first.shape) + 1)
    shape = (*first.shape[:at], 1, *first.shape[at:])
    parts = [g.builder.emit(Reshape(v.ref, shape)) for v in (first, *more)]
    if first.is_int8:
        return xnnpack.concat(g.builder, parts, at, one_scale(g))
    return g.builder.emit(Concat(tuple(parts), at))


class Padded(Value):
    """Maps with margins of what stands for zero, which a convolution may have as its own."""

    def __init__(self, g: Emitter, x: Value, before: tuple[int, ...], after: tuple[int, ...]) -> None:
        shape = tuple(b + size + a for b, size, a in zip(before, x.shape, after, strict=True))
        kind = x.type.replace(shape=shape, data=None)
        super().__init__(g, g.results[0], lambda: padded(g, x, before, after, zero_of(x)), kind)
        self.source, self.before, self.after = x, before, after


def zero_of(x: Value) -> int:
    return x.per_tensor.zero_point if x.per_tensor else 0


def padded(g: Emitter, x: Value, before: Sequence[int], after: Sequence[int], value: float) -> Ref | Maps:
    """x with margins of a value, which is one of its own numbers."""
    ref, maps = held(x)
    y = g.builder.emit(Pad(ref, in_order(before, maps), in_order(after, maps), value), x.type.quantization)
    return g.in_form(y, maps)


def _margins(x: Value, paddings: Value) -> tuple[tuple[int, ...], tuple[int, ...]]:
    numbers = paddings.ints("the paddings")
    if len(numbers) != 2 * len(x.shape) or min(numbers, default=0) < 0:
        raise BadArg(f"paddings {list(numbers)} for {list(x.shape)}")
    return numbers[::2], numbers[1::2]


@lowers("PAD")
def pad(g: Emitter, x: Value, paddings: Value) -> Lowered:
    before, after = _margins(x, paddings)
    if len(x.shape) == 4 and not (before[0] or after[0] or before[3] or after[3]):
        return Padded(g, x, before, after)
    return padded(g, x, before, after, zero_of(x))


@lowers("PADV2")
def pad_v2(g: Emitter, x: Value, paddings: Value, value: Value) -> Lowered:
    before, after = _margins(x, paddings)
    (number,) = value.numbers("the value")
    return padded(g, x, before, after, number)


@lowers("MIRROR_PAD", mode="0b")
def mirror_pad(g: Emitter, x: Value, paddings: Value, *, mode: int) -> Lowered:
    before, after = _margins(x, paddings)
    ref, maps = held(x)
    for axis, (size, b, a) in enumerate(zip(x.shape, before, after, strict=True)):
        if not b and not a:
            continue
        if max(a, b) > size - (mode == 0):
            raise BadArg(f"margins {b} and {a} of {size} mirrored elements")
        skip = mode == 0  # whether the edge itself is not repeated
        order = [*range(b - 1 + skip, skip - 1, -1), *range(size), *range(size - 1 - skip, size - 1 - skip - a, -1)]
        ref = g.builder.emit(Index(ref, (g.int32s(order),), (place(axis, maps),)))
    return g.in_form(ref, maps)


@lowers("TILE")
def tile(g: Emitter, x: Value, multiples: Value) -> Lowered:
    counts = multiples.ints("the multiples")
    if len(counts) != len(x.shape):
        raise BadArg(f"multiples {list(counts)} for {list(x.shape)}")
    ref, maps = held(x)
    return g.in_form(g.builder.emit(Repeat(ref, in_order(counts, maps))), maps)


@lowers("BROADCAST_TO")
def broadcast_to(g: Emitter, x: Value, shape: Value) -> Lowered:
    return g.builder.emit(Expand(x.ref, shape.ints("the shape")))


def _blocks(g: Emitter, x: Value, block: int) -> tuple[int, int, int, int]:
    n, h, w, c = x.shape if len(x.shape) == 4 else (0, 0, 0, 0)
    if block < 1 or not c:
        raise BadArg(f"blocks of {block} in {list(x.shape)}")
    return n, h, w, c


@lowers("DEPTH_TO_SPACE", block="0i")
def depth_to_space(g: Emitter, x: Value, *, block: int) -> Lowered:
    n, h, w, c = _blocks(g, x, block)
    if c % block**2:
        raise BadArg(f"block size {block} does not fit {c} channels")
    parts = g.builder.emit(Reshape(x.ref, (n, h, w, block, block, c // block**2)))
    return g.builder.emit(
        Reshape(g.builder.emit(Permute(parts, (0, 1, 3, 2, 4, 5))), (n, h * block, w * block, c // block**2))
    )


@lowers("SPACE_TO_DEPTH", block="0i")
def space_to_depth(g: Emitter, x: Value, *, block: int) -> Lowered:
    n, h, w, c = _blocks(g, x, block)
    if h % block or w % block:
        raise BadArg(f"block size {block} does not divide {h} × {w}")
    parts = g.builder.emit(Reshape(x.ref, (n, h // block, block, w // block, block, c)))
    return g.builder.emit(
        Reshape(g.builder.emit(Permute(parts, (0, 1, 3, 2, 4, 5))), (n, h // block, w // block, c * block**2))
    )
