"""Ops that move elements, or change what they stand for."""

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.create import element_bytes
from webq8.ir.ops.rules import check_broadcast, check_rank
from webq8.ir.types import BadArg, PerTensor, Ref, Refs, Shape, Tensor

__all__ = [
    "Bitcast",
    "Concat",
    "Expand",
    "Pad",
    "Permute",
    "PixelShuffle",
    "PixelUnshuffle",
    "Repeat",
    "Reshape",
    "Slice",
    "Split",
    "Strided",
    "moved",
]


def moved(x: Tensor, shape: Shape) -> Tensor:
    """The type of elements of x in another shape. One scale for all elements goes with them."""
    quantization = x.quantization if isinstance(x.quantization, PerTensor) else None
    return Tensor(check_rank(shape), x.dtype, None, quantization)


class Bitcast(Op):
    """The same integers with another quantization, or as plain numbers; the node's result says which."""

    MOVES = True
    x: Ref

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        return (types[self.x].type().replace(quantization=None),)


class Reshape(Op):
    """The elements of x in another shape."""

    MOVES = True
    x: Ref
    shape: Shape

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if numel(self.shape) != numel(x.shape):
            raise BadArg(f"{list(self.shape)} does not hold the {numel(x.shape)} elements of {list(x.shape)}")
        return (moved(x, self.shape),)


class Permute(Op):
    """x with its axes in another order: axis i of y is axis order[i] of x."""

    MOVES = True
    x: Ref
    order: tuple[int, ...]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if sorted(self.order) != [*range(len(x.shape))]:
            raise BadArg(f"{list(self.order)} must name each of {len(x.shape)} dimensions")
        return (moved(x, tuple(x.shape[i] for i in self.order)),)


class Slice(Op):
    """y[i, j, …] = x[starts[0] + i · steps[0], starts[1] + j · steps[1], …], of a shape; steps may be negative."""

    MOVES = True
    x: Ref
    starts: tuple[int, ...]
    steps: tuple[int, ...]
    shape: Shape

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        if not len(x.shape) == len(self.starts) == len(self.steps) == len(self.shape):
            raise BadArg(f"a slice of {list(x.shape)} needs a start, a step and a size for each of its dimensions")
        for at, (size, start, step, count) in enumerate(zip(x.shape, self.starts, self.steps, self.shape, strict=True)):
            last = start + (count - 1) * step
            if numel(self.shape) and not (0 <= start < size and 0 <= last < size):
                raise BadArg(f"{start} to {last} is outside of dimension {at} of {list(x.shape)}")
        return (moved(x, self.shape),)


class Strided(Op):
    """y[i, j, …] is the element offset + i · strides[0] + j · strides[1] + … of x, in row-major order."""

    MOVES = True
    x: Ref
    shape: Shape
    strides: tuple[int, ...]
    offset: int = 0

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, size, stride = types[self.x], list(self.shape), list(self.strides)
        if len(size) != len(stride):
            raise BadArg(f"stride = {stride} must have a number for each of size = {size}")
        if min(*size, *stride, self.offset, 0) < 0:
            raise BadArg(f"size {size}, stride {stride} and offset {self.offset} must not be negative")
        last = self.offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if numel(self.shape) and last >= numel(x.shape):
            raise BadArg(f"element {last} of {numel(x.shape)} does not exist")
        return (moved(x, self.shape),)


class Expand(Op):
    """x repeated along axes of size 1 and new leading ones, to another shape."""

    MOVES = True
    x: Ref
    shape: Shape

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        check_broadcast(types[self.x].shape, self.shape)
        return (moved(types[self.x], self.shape),)


class Repeat(Op):
    """x laid `repeats` times along each axis; counts in front of those of x make new axes."""

    MOVES = True
    x: Ref
    repeats: tuple[int, ...]

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, repeats = types[self.x], check_rank(self.repeats)
        new = len(repeats) - len(x.shape)
        if new < 0 or min(repeats, default=0) < 0:
            raise BadArg(f"repeats = {list(repeats)} must give a count to each dimension of {list(x.shape)}")
        return (moved(x, tuple(n * size for n, size in zip(repeats, (1,) * new + x.shape, strict=True))),)


class PixelShuffle(Op):
    """y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]: [*B, C·r², H, W] to [*B, C, H·r, W·r], r = factor.

    Where both x and y are int8 with a scale, elements are requantized.
    """

    MOVES = True
    x: Ref
    factor: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        r, (*lead, c, h, w) = self.factor, _maps(types[self.x])
        if c % r**2:
            raise BadArg(f"upscale_factor² = {r**2} does not divide {c} channels")
        return (moved(types[self.x], (*lead, c // r**2, h * r, w * r)),)


class PixelUnshuffle(Op):
    """y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]: [*B, C, H·r, W·r] to [*B, C·r², H, W], r = factor."""

    MOVES = True
    x: Ref
    factor: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        r, (*lead, c, h, w) = self.factor, _maps(types[self.x])
        if h % r or w % r:
            raise BadArg(f"downscale_factor = {r} does not divide {h} × {w}")
        return (moved(types[self.x], (*lead, c * r**2, h // r, w // r)),)


def _maps(x: Tensor) -> Shape:
    if len(x.shape) < 3:
        raise BadArg(f"maps of shape {list(x.shape)}: channels, height and width are needed")
    return x.shape


class Concat(Op):
    """Tensors one after another along an axis; their other sizes are equal.

    int8 ones keep a scale that all of them have; of different scales they are plain integers.
    """

    MOVES = True
    tensors: Refs
    axis: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        tensors, at = [types[ref] for ref in self.tensors], self.axis
        shapes = [x.shape for x in tensors]
        if not shapes or not 0 <= at < len(shapes[0]):
            raise BadArg("there must be a tensor, and scalars cannot be joined")
        if len({(*s[:at], *s[at + 1 :]) for s in shapes}) > 1 or len({len(s) for s in shapes}) > 1:
            raise BadArg(f"the shapes {', '.join(str(list(s)) for s in shapes)} may differ in dimension {at} only")
        if len(dtypes := {x.dtype for x in tensors}) > 1:
            raise BadArg(f"tensors of different dtypes ({', '.join(sorted(dtypes))}) are not supported", Unsupported)
        first = shapes[0]
        result = moved(tensors[0], (*first[:at], sum(s[at] for s in shapes), *first[at + 1 :]))
        alike = all(x.quantization == result.quantization for x in tensors)
        return (result if alike else result.replace(quantization=None),)


class Split(Op):
    """x cut along an axis into pieces of the given sizes."""

    MOVES = True
    x: Ref
    sizes: tuple[int, ...]
    axis: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, at = types[self.x], self.axis
        if not 0 <= at < len(x.shape):
            raise BadArg(f"{list(x.shape)} has no dimension {at} to split")
        if sum(self.sizes) != x.shape[at] or min(self.sizes, default=0) < 0:
            raise BadArg(f"sizes {list(self.sizes)} do not add up to dimension {at} of {list(x.shape)}")
        return tuple(moved(x, (*x.shape[:at], size, *x.shape[at + 1 :])) for size in self.sizes)


class Pad(Op):
    """x with margins of `value`, so many elements before and after on each axis; negative margins cut.

    An int8 x is of plain integers, as the value is.
    """

    x: Ref
    before: tuple[int, ...]
    after: tuple[int, ...]
    value: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        margins = zip(x.shape, self.before, self.after, strict=True)
        shape = tuple(size + before + after for size, before, after in margins)
        if min(shape, default=0) < 0:
            raise BadArg(f"margins {list(self.before)} and {list(self.after)} leave a negative size of {list(x.shape)}")
        element_bytes(self.value, x.dtype, "value")
        return (Tensor(check_rank(shape), x.dtype),)

    def exact(self, types: Types) -> bool:
        return True
