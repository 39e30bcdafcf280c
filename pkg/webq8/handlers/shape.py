"""Ops that only move elements: views, copies, slices, concatenation, padding, constants, conversions of dtype."""

import math
import struct
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from webq8.dtypes import FORMAT, ITEMSIZE, cdiv, numel
from webq8.errors import LimitError, Unsupported
from webq8.handlers.registry import (
    IGNORED,
    MAX_RANK,
    Args,
    BadArg,
    Int,
    Ints,
    Operand,
    Scalar,
    TensorArg,
    TensorList,
    axis,
    folds,
    got,
    number,
    op,
)
from webq8.ir import Alias, Const, Dispatch, Tensor, Value

__all__ = [
    "CODES",
    "DTYPES",
    "INT64",
    "Axis",
    "NumberOrTruth",
    "axes_of",
    "broadcast_strides",
    "check_rank",
    "contiguous",
    "filler",
    "insert",
    "merged",
    "same_shape",
    "scaled",
    "slice_range",
    "strided_copy",
]

Shape = tuple[int, ...]

DTYPES = ("float32", "int8", "uint8", "int32", "int64", "bool")
INT64 = (-(2**63), 2**63 - 1)

# int8 comes in row-major order; other dtypes always do
_X = TensorArg(DTYPES, "*S", "plain")
_DIM = Int()
_DIMS = Ints()


def _out(like: str = "x") -> TensorArg:
    return TensorArg(DTYPES, "*O", "plain", like=like)


# --- where elements go


class Axis(NamedTuple):
    """An axis of a loop over elements: how far each step goes in each tensor (0: stays), and which of its coordinates,
    `low` to before `high`, have an element there."""

    size: int
    strides: tuple[int, ...]
    low: int
    high: int

    @property
    def full(self) -> bool:
        return (self.low, self.high) == (0, self.size)


def axes_of(sizes: Sequence[int], *strides: Sequence[int]) -> list[Axis]:
    return [Axis(size, steps, 0, size) for size, *rest in zip(sizes, *strides, strict=True) for steps in [tuple(rest)]]


def contiguous(shape: Sequence[int]) -> list[int]:
    """Strides of a row-major tensor."""
    return [numel(tuple(shape[i + 1 :])) for i in range(len(shape))]


def broadcast_strides(shape: Sequence[int], out: Sequence[int]) -> list[int]:
    """Strides that read a row-major tensor of `shape` as if it had the shape `out`."""
    steps = [0 if size == 1 else step for size, step in zip(shape, contiguous(shape), strict=True)]
    return [0] * (len(out) - len(shape)) + steps


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """The same loop with as few axes as possible, the innermost first."""
    result: list[Axis] = []
    for a in reversed(axes):
        inner = result[-1] if result else None
        if a.size == 1 and a.full:
            continue
        if inner and inner.full and a.strides == tuple(step * inner.size for step in inner.strides):
            size = inner.size
            result[-1] = Axis(a.size * size, inner.strides, a.low * size, a.high * size)
        else:
            result.append(a)
    return result


def scaled(
    axes: Sequence[Axis], jumps: Sequence[int], item: int, tensors: int = 1
) -> tuple[list[Axis], list[int], bool]:
    """A loop over elements of `item` bytes as one over words, or over bytes where words would be torn.

    It goes through as many `tensors` at once. The first has these elements; so count `jumps`, what else is added to a
    place in it.
    """
    alone = (1,) + (0,) * (tensors - 1)  # a step in the first only

    def in_words(a: Axis) -> Axis:
        return a._replace(strides=(a.strides[0] * item // 4, *a.strides[1:]))

    if item == 8:
        return [Axis(2, alone, 0, 2), *map(in_words, axes)], [2 * jump for jump in jumps], False
    if item == 4:
        return [*axes], [*jumps], False
    inner, rest = (axes[0], axes[1:]) if axes else (Axis(1, alone, 0, 1), ())
    # without further axes the last word may run past the end
    whole = inner.strides == alone and inner.full and (inner.size % 4 == 0 or not rest)
    if whole and not any(step % 4 for step in (*jumps, *(a.strides[0] for a in rest))):
        words = cdiv(inner.size, 4)
        return [Axis(words, alone, 0, words), *map(in_words, rest)], [jump // 4 for jump in jumps], False
    return [*axes], [*jumps], True


def strided_copy(
    x: int | Const, y: int, item: int, axes: Sequence[Axis], base: int = 0, fill: bytes = bytes(8), insert: bool = False
) -> Dispatch:
    """Copies elements of `item` bytes; `axes` have one stride each, `fill` is what elements from outside become."""
    loop, (base,), as_bytes = scaled(merged(axes), (base,), item)
    count = math.prod(a.size for a in loop)
    even, odd = struct.unpack("<II", fill)
    return Dispatch(
        "strided_copy",
        {"x": x, "y": y},
        {
            "count": count,
            "rank": len(loop),
            "base": base % 2**32,
            "fill_even": even,
            "fill_odd": odd,
            "axes": tuple(n for a in loop for n in (a.size, a.strides[0] % 2**32, a.low, a.high)),
        },
        threads=cdiv(count, 4) if as_bytes else count,
        constants={"bytes": as_bytes, "insert": insert},
    )


# --- arguments


def _axes(dims: Sequence[int], rank: int) -> list[int]:
    found = [axis(d, rank) for d in dims]
    if len({*found}) != len(found):
        raise BadArg(f"{list(dims)} names a dimension twice")
    return found


def check_rank(shape: Shape) -> Shape:
    if len(shape) > MAX_RANK:
        raise BadArg(f"{len(shape)} dimensions; at most {MAX_RANK} are supported", Unsupported)
    return shape


class _Dtype(Scalar):
    """A dtype by name. Files leave it null: the output has it."""

    def convert(self, value: Value) -> str | None:
        if value is not None and value not in DTYPES:
            raise BadArg(f"{got(value)} is not supported; one of {', '.join(map(repr, DTYPES))} is", Unsupported)
        return value if isinstance(value, str) else None


class NumberOrTruth(Scalar):
    """A number or a truth value, for tensors of any dtype."""

    def convert(self, value: Value) -> int | float | bool:
        number(value)
        assert isinstance(value, int | float)
        return value


def filler(value: float, dtype: str, what: str) -> bytes:
    """Eight bytes of elements that hold `value`, converted as torch does."""
    if dtype == "bool":
        return bytes([value != 0]) * 8
    if dtype == "float32":
        try:
            return struct.pack("<f", value) * 2
        except OverflowError:
            return struct.pack("<f", math.copysign(math.inf, value)) * 2
    try:
        return struct.pack(f"<{FORMAT[dtype]}", int(value)) * (8 // ITEMSIZE[dtype])
    except (struct.error, ValueError, OverflowError):
        raise BadArg(f"{what} = {value} does not fit {dtype}") from None


# --- the same elements in the same order: views, and copies of them
#
# No bytes move: the output is another name for the input's memory.


def _same_elements(a: Args) -> Iterator[Alias]:
    yield Alias(a.x.id, a.out.id)


def _viewed(a: Args) -> Mapping[str, Any]:
    size, count = list(a.size), numel(a.S)
    if size.count(-1) > 1 or any(s < -1 for s in size):
        raise BadArg(f"size {size}: at most one size may be -1, and none less")
    if -1 in size:
        known = numel(tuple(s for s in size if s != -1))
        if not known or count % known:
            raise BadArg(f"size {size} does not divide the {count} elements of {list(a.S)}")
        size[size.index(-1)] = count // known
    if numel(tuple(size)) != count:
        raise BadArg(f"size {size} does not hold the {count} elements of {list(a.S)}")
    return {"O": tuple(size)}


@op(
    "aten.view_copy.default",
    "aten.view.default",
    "aten._unsafe_view.default",
    "aten.reshape.default",
    "aten::view_copy.out",
    "aten::_unsafe_view.out",
    "executorch_prim::et_view.default",
    x=_X,
    size=_DIMS,
    out=_out(),
    derive=_viewed,
)
def view(a: Args) -> Iterator[Alias]:
    """The elements of x in another shape; one size may be −1: what the others leave."""
    yield from _same_elements(a)


def _flattened(a: Args) -> Mapping[str, Any]:
    first, last = axis(a.start_dim, len(a.S)), axis(a.end_dim, len(a.S))
    if first > last:
        raise BadArg(f"start_dim = {a.start_dim} comes after end_dim = {a.end_dim}")
    return {"O": (*a.S[:first], numel(a.S[first : last + 1]), *a.S[last + 1 :])}


@op(
    "aten.flatten.using_ints",
    x=_X,
    start_dim=Int(default=0),
    end_dim=Int(default=-1),
    out=_out(),
    derive=_flattened,
)
def flatten(a: Args) -> Iterator[Alias]:
    """x with the dimensions start_dim to end_dim as one."""
    yield from _same_elements(a)


def _unsqueezed(a: Args) -> Mapping[str, Any]:
    at = axis(a.dim, len(a.S) + 1)
    return {"O": (*a.S[:at], 1, *a.S[at:])}


@op(
    "aten.unsqueeze_copy.default",
    "aten.unsqueeze.default",
    "aten::unsqueeze_copy.out",
    x=_X,
    dim=_DIM,
    out=_out(),
    derive=_unsqueezed,
)
def unsqueeze(a: Args) -> Iterator[Alias]:
    """x with a dimension of size 1 at `dim`."""
    yield from _same_elements(a)


def _squeezed(a: Args) -> Mapping[str, Any]:
    dims = vars(a).get("dim", tuple(range(len(a.S))))  # the overload without `dim` takes all
    axes = _axes(dims if isinstance(dims, tuple) else (dims,), len(a.S))
    return {"O": tuple(s for i, s in enumerate(a.S) if s != 1 or i not in axes)}


@op("aten.squeeze_copy.default", "aten.squeeze.default", "aten::squeeze_copy.out", x=_X, out=_out(), derive=_squeezed)
@op(
    "aten.squeeze_copy.dim",
    "aten.squeeze.dim",
    "aten::squeeze_copy.dim_out",
    x=_X,
    dim=_DIM,
    out=_out(),
    derive=_squeezed,
)
@op(
    "aten.squeeze_copy.dims",
    "aten.squeeze.dims",
    "aten::squeeze_copy.dims_out",
    x=_X,
    dim=_DIMS,
    out=_out(),
    derive=_squeezed,
)
def squeeze(a: Args) -> Iterator[Alias]:
    """x without those of the dimensions `dim` (a list here) that have size 1."""
    yield from _same_elements(a)


def _itself(a: Args) -> Tensor:
    x: Operand = a.x
    return x.tensor


def same_shape(a: Args) -> Mapping[str, Any]:
    return {"O": a.S}


@op("aten.alias_copy.default", "aten::alias_copy.out", x=_X, out=_out(), derive=same_shape)
@op("aten.detach_copy.default", "aten::detach_copy.out", x=_X, out=_out(), derive=same_shape)
@op("aten.lift_fresh_copy.default", "aten::lift_fresh_copy.out", x=_X, out=_out(), derive=same_shape)
@op("aten.clone.default", "aten::clone.out", x=_X, memory_format=IGNORED, out=_out(), derive=same_shape)
@op(
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops::_clone_dim_order.out",
    x=_X,
    non_blocking=IGNORED,
    dim_order=IGNORED,
    out=_out(),
    derive=same_shape,
)
def clone(a: Args) -> Iterator[Alias]:
    """A copy of x. The order of its bytes in memory is the planner's choice: that argument is ignored."""
    yield from _same_elements(a)


@op("et_vk.prepack.default", x=TensorArg(DTYPES, "*S", const=True), out=_out(), derive=same_shape)
@folds(_itself)
def prepack(a: Args) -> Iterator[Alias]:
    """The constant x: upstream copies it to a texture, here it serves itself."""
    yield from _same_elements(a)


# --- the same elements in another order, or some of them


def _gather(a: Args, axes: Sequence[Axis], base: int = 0, fill: bytes = bytes(8)) -> Dispatch:
    return strided_copy(a.x.id, a.out.id, ITEMSIZE[a.x.tensor.dtype], axes, base, fill)


def _order(a: Args) -> list[int]:
    """The axes of x in the order that the output has them."""
    rank = len(check_rank(a.S))
    if "dims" in vars(a):
        order = _axes(a.dims, rank)
        if len(order) != rank:
            raise BadArg(f"dims = {list(a.dims)} must name each of {rank} dimensions")
        return order
    order = list(range(rank))
    if "dim0" in vars(a):
        i, j = axis(a.dim0, rank), axis(a.dim1, rank)
    elif rank > 2:
        raise BadArg(f"shape {list(a.S)} has more than two dimensions")
    else:
        i, j = 0, rank - 1
    if rank:
        order[i], order[j] = order[j], order[i]
    return order


def _permuted(a: Args) -> Mapping[str, Any]:
    return {"O": tuple(a.S[i] for i in _order(a))}


def _permuted_copy(a: Args) -> Dispatch:
    steps = contiguous(a.S)
    return _gather(a, axes_of(a.O, [steps[i] for i in _order(a)]))


@op(
    "aten.permute_copy.default",
    "aten.permute.default",
    "aten::permute_copy.out",
    x=_X,
    dims=_DIMS,
    out=_out(),
    derive=_permuted,
)
def permute(a: Args) -> Iterator[Dispatch]:
    """x with its dimensions in the order `dims`: dimension i of the result is dimension dims[i] of x."""
    yield _permuted_copy(a)


@op(
    "aten.transpose_copy.int",
    "aten.transpose.int",
    "aten::transpose_copy.int_out",
    x=_X,
    dim0=_DIM,
    dim1=_DIM,
    out=_out(),
    derive=_permuted,
)
def transpose(a: Args) -> Iterator[Dispatch]:
    """x with two dimensions exchanged."""
    yield _permuted_copy(a)


@op("aten.t_copy.default", "aten.t.default", "aten::t_copy.out", x=_X, out=_out(), derive=_permuted)
def t(a: Args) -> Iterator[Dispatch]:
    """A matrix transposed; what has fewer dimensions stays as it is."""
    yield _permuted_copy(a)


def slice_range(a: Args) -> tuple[int, range]:
    if not a.S:
        raise BadArg("a scalar has no dimension to slice")
    if a.step < 1:
        raise BadArg(f"step = {a.step} must be at least 1")
    dim = axis(a.dim, len(check_rank(a.S)))
    return dim, range(a.S[dim])[a.start : a.end : a.step]


def _sliced(a: Args) -> Mapping[str, Any]:
    dim, taken = slice_range(a)
    return {"O": (*a.S[:dim], len(taken), *a.S[dim + 1 :])}


@op(
    "aten.slice_copy.Tensor",
    "aten.slice.Tensor",
    "aten::slice_copy.Tensor_out",
    x=_X,
    dim=Int(default=0),
    start=Int(*INT64, absent=0, default=None),
    end=Int(*INT64, absent=INT64[1], default=None),
    step=Int(*INT64, default=1),
    out=_out(),
    derive=_sliced,
)
def slice_copy(a: Args) -> Iterator[Dispatch]:
    """x[start:end:step] along `dim`, as Python slices: negative places count from the end."""
    dim, taken = slice_range(a)
    steps = contiguous(a.S)
    yield _gather(a, axes_of(a.O, [*steps[:dim], steps[dim] * taken.step, *steps[dim + 1 :]]), steps[dim] * taken.start)


def _selected(a: Args) -> Mapping[str, Any]:
    if not a.S:
        raise BadArg("a scalar has no dimension to select from")
    dim = axis(a.dim, len(check_rank(a.S)))
    if not -a.S[dim] <= a.index < a.S[dim]:
        raise BadArg(f"index = {a.index} is outside of dimension {dim} of {list(a.S)}")
    return {"O": (*a.S[:dim], *a.S[dim + 1 :])}


@op(
    "aten.select_copy.int",
    "aten.select.int",
    "aten::select_copy.int_out",
    x=_X,
    dim=_DIM,
    index=Int(*INT64),
    out=_out(),
    derive=_selected,
)
def select(a: Args) -> Iterator[Dispatch]:
    """x[index] along `dim`, without that dimension."""
    dim, steps = axis(a.dim, len(a.S)), contiguous(a.S)
    yield _gather(a, axes_of(a.O, [*steps[:dim], *steps[dim + 1 :]]), steps[dim] * (a.index % a.S[dim]))


def _strided(a: Args) -> Mapping[str, Any]:
    if len(check_rank(a.size)) != len(a.stride):
        raise BadArg(f"stride = {list(a.stride)} must have a number for each of size = {list(a.size)}")
    if min(*a.size, *a.stride, a.storage_offset, 0) < 0:
        raise BadArg(f"size {list(a.size)}, stride {list(a.stride)} and offset {a.storage_offset} must not be negative")
    last = a.storage_offset + sum((size - 1) * step for size, step in zip(a.size, a.stride, strict=True))
    if numel(a.size) and last >= numel(a.S):
        raise BadArg(f"element {last} of {numel(a.S)} does not exist")
    return {"O": a.size}


@op(
    "aten.as_strided_copy.default",
    "aten.as_strided.default",
    "aten::as_strided_copy.out",
    x=_X,
    size=_DIMS,
    stride=_DIMS,
    storage_offset=Int(*INT64, absent=0, default=None),
    out=_out(),
    derive=_strided,
)
def as_strided(a: Args) -> Iterator[Dispatch]:
    """The elements of x, in row-major order, that are `stride` apart along the dimensions of the result."""
    yield _gather(a, axes_of(a.O, a.stride), a.storage_offset)


def _unfolded(a: Args) -> Mapping[str, Any]:
    shape = check_rank(a.S or (1,))
    dim = axis(a.dimension, len(shape))
    if a.step < 1 or not 0 <= a.size <= shape[dim]:
        raise BadArg(f"windows of {a.size} in steps of {a.step} do not fit dimension {dim} of {list(a.S)}")
    out = (*shape[:dim], (shape[dim] - a.size) // a.step + 1, *shape[dim + 1 :], a.size)
    return {"O": check_rank(out if a.S else (a.size,))}


@op(
    "aten.unfold_copy.default",
    "aten.unfold.default",
    "aten::unfold_copy.out",
    x=_X,
    dimension=_DIM,
    size=Int(*INT64),
    step=Int(*INT64),
    out=_out(),
    derive=_unfolded,
)
def unfold(a: Args) -> Iterator[Dispatch]:
    """Windows of `size` along `dimension`, each `step` after the one before; a last dimension goes through a window."""
    steps, dim = contiguous(a.S), axis(a.dimension, len(a.S))
    along = steps[dim : dim + 1]  # none in a scalar
    strides = [*steps[:dim], *(step * a.step for step in along), *steps[dim + 1 :], *(along or [1])]
    yield _gather(a, axes_of(a.O, strides))


def _flipped(a: Args) -> Mapping[str, Any]:
    _axes(a.dims, len(check_rank(a.S)))
    return same_shape(a)


@op("aten.flip.default", "aten::flip.out", x=_X, dims=_DIMS, out=_out(), derive=_flipped)
def flip(a: Args) -> Iterator[Dispatch]:
    """x with the order along each of `dims` reversed."""
    steps, base = contiguous(a.S), 0
    for dim in _axes(a.dims, len(a.S)) if a.S else ():
        base += steps[dim] * (a.S[dim] - 1)
        steps[dim] = -steps[dim]
    yield _gather(a, axes_of(a.O, steps), base)


def _expanded(a: Args) -> Mapping[str, Any]:
    new = len(check_rank(a.size)) - len(a.S)
    if new < 0:
        raise BadArg(f"size {list(a.size)} has fewer dimensions than {list(a.S)}")
    out = []
    for i, size in enumerate(a.size):
        old = a.S[i - new] if i >= new else None
        if (old is None and size < 0) or size < -1 or (old not in (None, 1) and size not in (-1, old)):
            raise BadArg(f"{list(a.S)} does not expand to {list(a.size)}")
        out.append(size if size >= 0 else old)
    return {"O": tuple(out)}


@op(
    "aten.expand_copy.default",
    "aten.expand.default",
    "aten::expand_copy.out",
    x=_X,
    size=_DIMS,
    implicit=IGNORED,
    out=_out(),
    derive=_expanded,
)
def expand(a: Args) -> Iterator[Dispatch]:
    """x repeated along dimensions of size 1 and new leading ones, to the shape `size`; −1 keeps a size."""
    yield _gather(a, axes_of(a.O, broadcast_strides(a.S, a.O)))


def _repeated(a: Args) -> Mapping[str, Any]:
    new = len(check_rank(a.repeats)) - len(a.S)
    if new < 0 or min(a.repeats, default=0) < 0:
        raise BadArg(f"repeats = {list(a.repeats)} must give a count to each dimension of {list(a.S)}")
    return {"O": tuple(n * s for n, s in zip(a.repeats, (1,) * new + a.S, strict=True))}


@op("aten.repeat.default", "aten::repeat.out", x=_X, repeats=_DIMS, out=_out(), derive=_repeated)
def repeat(a: Args) -> Iterator[Dispatch]:
    """x laid `repeats` times along each dimension; counts in front of those of x make new dimensions."""
    old = (1,) * (len(a.repeats) - len(a.S)) + a.S
    pairs = [
        pair for n, size, step in zip(a.repeats, old, contiguous(old), strict=True) for pair in ((n, 0), (size, step))
    ]
    yield _gather(a, axes_of(*zip(*pairs, strict=True)) if pairs else [])


def _shuffled(a: Args) -> Mapping[str, Any]:
    r = a.upscale_factor
    if a.C % r**2:
        raise BadArg(f"upscale_factor² = {r**2} does not divide {a.C} channels")
    return {"O": (*a.B, a.C // r**2, a.H * r, a.W * r)}


_MAPS = TensorArg(DTYPES, "*B C H W", "plain")


@op(
    "aten.pixel_shuffle.default",
    "aten::pixel_shuffle.out",
    x=_MAPS,
    upscale_factor=Int(1, 2**15),
    out=_out(),
    derive=_shuffled,
)
def pixel_shuffle(a: Args) -> Iterator[Dispatch]:
    """[*B, C·r², H, W] to [*B, C, H·r, W·r]: y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]."""
    r, plane = a.upscale_factor, a.H * a.W
    sizes = (numel(a.B) * (a.C // r**2), a.H, r, a.W, r)
    yield _gather(a, axes_of(sizes, (r * r * plane, a.W, r * plane, 1, plane)))


def _unshuffled(a: Args) -> Mapping[str, Any]:
    r = a.downscale_factor
    if a.H % r or a.W % r:
        raise BadArg(f"downscale_factor = {r} does not divide {a.H} × {a.W}")
    return {"O": (*a.B, a.C * r**2, a.H // r, a.W // r)}


@op(
    "aten.pixel_unshuffle.default",
    "aten::pixel_unshuffle.out",
    x=_MAPS,
    downscale_factor=Int(1, 2**15),
    out=_out(),
    derive=_unshuffled,
)
def pixel_unshuffle(a: Args) -> Iterator[Dispatch]:
    """[*B, C, H·r, W·r] to [*B, C·r², H, W]: y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]."""
    r = a.downscale_factor
    sizes = (numel(a.B) * a.C, r, r, a.H // r, a.W // r)
    yield _gather(a, axes_of(sizes, (a.H * a.W, a.W, 1, r * a.W, r)))


# --- joining and splitting


def _joined_dim(a: Args) -> int:
    """The axis along which tensors are joined. Those of shape [0] go with any others, as torch has it."""
    shapes = [x.shape for x in a.tensors]
    whole = [s for s in shapes if s != (0,)] or shapes
    if not whole or not whole[0]:
        raise BadArg("there must be a tensor, and scalars cannot be joined")
    dim = axis(a.dim, len(check_rank(whole[0])))
    if len({(*s[:dim], *s[dim + 1 :]) for s in whole}) > 1 or len({len(s) for s in whole}) > 1:
        raise BadArg(f"the shapes {', '.join(str(list(s)) for s in shapes)} may differ in dimension {dim} only")
    if len(dtypes := {x.tensor.dtype for x in a.tensors}) > 1:
        raise BadArg(f"tensors of different dtypes ({', '.join(sorted(dtypes))}) are not supported", Unsupported)
    return dim


def _joined(a: Args) -> Mapping[str, Any]:
    dim = _joined_dim(a)
    shapes = [x.shape for x in a.tensors]
    whole = next((s for s in shapes if s != (0,)), (0,))
    total = sum(s[dim] for s in shapes if len(s) == len(whole))
    return {"O": (*whole[:dim], total, *whole[dim + 1 :])}


@op(
    "aten.cat.default",
    "aten::cat.out",
    tensors=TensorList((TensorArg(DTYPES, "...", "plain"),)),
    dim=Int(default=0),
    out=_out("tensors"),
    derive=_joined,
)
def cat(a: Args) -> Iterator[Dispatch]:
    """`tensors` one after another along `dim`; their other sizes are equal."""
    dim, item = _joined_dim(a), ITEMSIZE[a.out.tensor.dtype]
    outer, inner = numel(a.O[:dim]), numel(a.O[dim + 1 :])
    start, pitch = 0, a.O[dim] * inner
    for x in a.tensors:
        row = numel(x.shape) // max(outer, 1)
        yield insert(x.id, a.out.id, item, outer, row, start, pitch)
        start += row


def insert(x: int, y: int, item: int, outer: int, row: int, start: int, pitch: int) -> Dispatch:
    """Copies the rows of x to y, whose rows have `pitch` elements, from element `start` on."""
    if item == 1 and (row % 4 or start % 4 or pitch % 4):
        # a thread writes whole words of y, so that no two write to the same one
        axes = [*axes_of((outer,), (row,)), Axis(pitch if row else 0, (1,), start, start + row)]
        return strided_copy(x, y, 1, axes, -start, insert=True)
    if item == 1:
        item, row, start, pitch = 4, row // 4, start // 4, pitch // 4
    return strided_copy(x, y, item, axes_of((outer, row), (pitch, 1)), start, insert=True)


def _split(a: Args) -> Mapping[str, Any]:
    if not a.S:
        raise BadArg("a scalar has no dimension to split")
    dim = axis(a.dim, len(check_rank(a.S)))
    if sum(a.sizes) != a.S[dim] or min(a.sizes, default=0) < 0:
        raise BadArg(f"split_sizes = {list(a.sizes)} do not add up to dimension {dim} of {list(a.S)}")
    return {"outputs": tuple((*a.S[:dim], size, *a.S[dim + 1 :]) for size in a.sizes)}


def _check_parts(a: Args) -> None:
    parts = vars(a).get("out")
    if parts is not None and a.outputs != (found := tuple(part.shape for part in parts)):
        raise BadArg(f"outputs have the shapes {[*map(list, found)]}, {[*map(list, a.outputs)]} expected")


@op(
    "aten.split_with_sizes_copy.default",
    "aten::split_with_sizes_copy.out",
    x=_X,
    sizes=_DIMS,
    dim=Int(default=0),
    out=TensorList((TensorArg(DTYPES, "...", "plain", like="x"),)),
    derive=_split,
    check=_check_parts,
)
def split(a: Args) -> Iterator[Dispatch]:
    """x cut along `dim` into pieces of the given sizes."""
    dim, steps, start = axis(a.dim, len(a.S)), contiguous(a.S), 0
    for part in a.out:
        yield strided_copy(a.x.id, part.id, ITEMSIZE[a.x.tensor.dtype], axes_of(part.shape, steps), start * steps[dim])
        start += part.shape[dim]


# --- padding and constants


def _padded(a: Args) -> Mapping[str, Any]:
    rank = len(check_rank(a.S))
    if len(a.pad) % 2 or len(a.pad) > 2 * rank:
        raise BadArg(f"pad = {list(a.pad)} must have two sizes for each of at most {rank} dimensions")
    out = [s + before + after for s, (before, after) in zip(a.S, _margins(a), strict=True)]
    if min(out, default=0) < 0:
        raise BadArg(f"pad = {list(a.pad)} leaves a negative size of {list(a.S)}")
    filler(a.value, a.x.tensor.dtype, "value")
    return {"O": tuple(out)}


def _margins(a: Args) -> list[tuple[int, int]]:
    """(before, after) of each dimension; `pad` begins with the last."""
    pairs = [*zip(a.pad[::2], a.pad[1::2], strict=True)]
    return [(0, 0)] * (len(a.S) - len(pairs)) + pairs[::-1]


@op(
    "aten.constant_pad_nd.default",
    "aten::constant_pad_nd.out",
    x=_X,
    pad=_DIMS,
    value=NumberOrTruth(default=0),
    out=_out(),
    derive=_padded,
)
def constant_pad_nd(a: Args) -> Iterator[Dispatch]:
    """x with margins of `value`. `pad`: elements before and after, of the last dimension first; negative ones cut."""
    steps, margins = contiguous(a.S), _margins(a)
    axes = [
        Axis(size, (step,), min(max(before, 0), size), max(min(size, size - after), 0))
        for size, step, (before, after) in zip(a.O, steps, margins, strict=True)
    ]
    base = -sum(step * before for step, (before, _) in zip(steps, margins, strict=True))
    yield _gather(a, axes, base, filler(a.value, a.x.tensor.dtype, "value"))


def _constant(out: Operand, value: float) -> Dispatch:
    dtype, count = out.tensor.dtype, numel(out.shape)
    item = ITEMSIZE[dtype]
    if item == 1:
        item, count = 4, cdiv(count, 4)
    return strided_copy(Const(filler(value, dtype, "fill_value")), out.id, item, axes_of((count,), (0,)))


def _sized(a: Args) -> Mapping[str, Any]:
    if min(a.size, default=0) < 0:
        raise BadArg(f"size {list(a.size)} has a negative size")
    return {"O": a.size}


def _check_fill(a: Args) -> None:
    like = vars(a).get("out") or vars(a).get("x")
    filler(a.fill_value, like.tensor.dtype if like else a.dtype or "float32", "fill_value")


_NAMED: dict[str, Any] = {
    "dtype": _Dtype(default="float32"),
    "layout": IGNORED,
    "device": IGNORED,
    "pin_memory": IGNORED,
}
_LIKE: dict[str, Any] = {
    "dtype": IGNORED,
    "layout": IGNORED,
    "device": IGNORED,
    "pin_memory": IGNORED,
    "memory_format": IGNORED,
}
_FILL_VALUE = NumberOrTruth()
_ANY = TensorArg(DTYPES, "*O", "plain")


@op(
    "aten.full.default",
    size=_DIMS,
    fill_value=_FILL_VALUE,
    **_NAMED,
    out=_out("dtype"),
    derive=_sized,
    check=_check_fill,
)
@op("aten::full.out", size=_DIMS, fill_value=_FILL_VALUE, out=_ANY, derive=_sized, check=_check_fill)
@op(
    "aten.full_like.default",
    x=_X,
    fill_value=_FILL_VALUE,
    **_LIKE,
    out=_out(),
    derive=same_shape,
    check=_check_fill,
)
@op(
    "aten::full_like.out",
    x=_X,
    fill_value=_FILL_VALUE,
    memory_format=IGNORED,
    out=_ANY,
    derive=same_shape,
    check=_check_fill,
)
def full(a: Args) -> Iterator[Dispatch]:
    """A tensor of the given size (or the size of x) that holds fill_value everywhere."""
    yield _constant(a.out, a.fill_value)


@op(
    "aten.scalar_tensor.default",
    fill_value=_FILL_VALUE,
    **_NAMED,
    out=_out("dtype"),
    derive=lambda _: {"O": ()},
    check=_check_fill,
)
@op("aten::scalar_tensor.out", fill_value=_FILL_VALUE, out=_ANY, derive=lambda _: {"O": ()}, check=_check_fill)
def scalar_tensor(a: Args) -> Iterator[Dispatch]:
    """A number as a tensor without dimensions."""
    yield _constant(a.out, a.fill_value)


def _register_constant(name: str, value: int) -> None:
    @op(f"aten.{name}.default", size=_DIMS, **_NAMED, out=_out("dtype"), derive=_sized)
    @op(f"aten::{name}.out", size=_DIMS, out=_ANY, derive=_sized)
    @op(f"aten.{name}_like.default", x=_X, **_LIKE, out=_out(), derive=same_shape)
    @op(f"aten::{name}_like.out", x=_X, memory_format=IGNORED, out=_ANY, derive=same_shape)
    def constant(a: Args) -> Iterator[Dispatch]:
        yield _constant(a.out, value)

    constant.__doc__ = f"A tensor of {name}, of the given size (or the size of x)."


_register_constant("zeros", 0)
_register_constant("ones", 1)


@op("aten.empty_like.default", x=_X, **_LIKE, out=_out(), derive=same_shape)
@op("aten::empty_like.out", x=_X, memory_format=IGNORED, out=_ANY, derive=same_shape)
@op(
    "dim_order_ops._empty_dim_order.default",
    size=_DIMS,
    **_NAMED,
    dim_order=IGNORED,
    out=_out("dtype"),
    derive=_sized,
)
@op("dim_order_ops::_empty_dim_order.out", size=_DIMS, dim_order=IGNORED, out=_ANY, derive=_sized)
@op("aten.empty.memory_format", size=_DIMS, **_NAMED, memory_format=IGNORED, out=_out("dtype"), derive=_sized)
@op("aten::empty.out", size=_DIMS, memory_format=IGNORED, out=_ANY, derive=_sized)
def empty(a: Args) -> Iterator[Dispatch]:
    """A tensor of the given size (or the size of x), of zeros: torch leaves open what it holds."""
    yield _constant(a.out, 0)


# in the order of the constants in wgsl/wide.wgsl
CODES = ("float32", "int32", "int64", "int8", "uint8", "bool")


def _conversion(
    x: int | Const, dtype: str, out: Operand, axes: Sequence[Axis] = (), sequence: tuple[int, int] | None = None
) -> Dispatch:
    """x, of a dtype, through `axes` in the dtype of `out`; or, in place of x, integers by their start and step."""
    count, item = numel(out.shape), ITEMSIZE[out.tensor.dtype]
    start, step = (struct.unpack("<2I", struct.pack("<q", n)) for n in sequence or (0, 0))
    return Dispatch(
        "convert",
        {"x": x, "y": out.id},
        {
            "count": count,
            "rank": len(axes),
            "axes": tuple(n for a in axes for n in (a.size, *a.strides, 0, 0)),
            "start": start,
            "step": step,
        },
        threads=cdiv(count, 4) if item == 1 else count,
        constants={
            "x_dtype": CODES.index(dtype),
            "y_dtype": CODES.index(out.tensor.dtype),
            "sequence": sequence is not None,
        },
    )


def _converted(x: Operand, out: Operand) -> Dispatch:
    """x, broadcast to the shape of `out`, in the dtype of `out`."""
    axes = merged(axes_of(out.shape, broadcast_strides(x.shape, out.shape)))
    return _conversion(x.id, x.tensor.dtype, out, axes)


_MOST_FRACTIONS = 2**20  # they are computed here


def _arranged(a: Args) -> Mapping[str, Any]:
    start, end, step = vars(a).get("start", 0), a.end, vars(a).get("step", 1)
    if not all(map(math.isfinite, (start, end, step))) or not step or (end - start) * step < 0:
        raise BadArg(f"no numbers lead from {start} to {end} in steps of {step}")
    whole = all(n == n // 1 and INT64[0] <= n <= INT64[1] for n in (start, end, step))
    out, integers = vars(a).get("out"), all(isinstance(n, int) for n in (start, end, step))
    dtype = out.tensor.dtype if out else vars(a).get("dtype") or ("int64" if integers else "float32")
    if dtype != "float32" and not whole:
        raise BadArg(f"{start} to {end} in steps of {step}, not all of them integers, as {dtype}", Unsupported)
    if whole:
        start, end, step = int(start), int(end), int(step)
    steps = -((start - end) // step) if whole else (end - start) / step
    most = a.limits.max_storage_buffer_binding_size // ITEMSIZE[dtype] if whole else _MOST_FRACTIONS
    if steps > most:
        raise BadArg(f"{steps:.4g} elements; at most {most:,} are supported here", LimitError)
    count = math.ceil(steps)
    for n in (0, count - 1) if count else ():
        filler(start + n * step, dtype, "an element")
    return {"O": (count,), "first": start, "distance": step, "whole": whole, "result": dtype}


_NUMBERS = ("float32", "int8", "uint8", "int32", "int64")
_SEQUENCE: dict[str, Any] = {"out": TensorArg(_NUMBERS, "*O", "plain", like="result"), "derive": _arranged}
_STEP = NumberOrTruth(default=1)


@op("aten.arange.default", end=_FILL_VALUE, **_NAMED | {"dtype": _Dtype(default=None)}, **_SEQUENCE)
@op("aten::arange.out", end=_FILL_VALUE, **_SEQUENCE)
@op("aten::arange.start_out", start=_FILL_VALUE, end=_FILL_VALUE, step=_STEP, **_SEQUENCE)
@op("aten.arange.start", start=_FILL_VALUE, end=_FILL_VALUE, **_NAMED | {"dtype": _Dtype(default=None)}, **_SEQUENCE)
@op(
    "aten.arange.start_step",
    start=_FILL_VALUE,
    end=_FILL_VALUE,
    step=_STEP,
    **_NAMED | {"dtype": _Dtype(default=None)},
    **_SEQUENCE,
)
def arange(a: Args) -> Iterator[Dispatch]:
    """start, start + step, start + 2 · step, … up to before end: int64 of integers, else float32, where no dtype is
    given."""
    if a.whole:
        yield _conversion(Const(bytes(4)), "int64", a.out, sequence=(a.first, a.distance))
    else:
        # in double, as torch does but for the last bits of its vectors
        numbers = array("f", (a.first + n * a.distance for n in range(a.O[0])))
        yield strided_copy(Const(numbers.tobytes()), a.out.id, 4, axes_of(a.O, (1,)))


# --- dtypes


def _check_copied(a: Args) -> None:
    if len(a.S) > len(a.O) or any(s not in (1, o) for s, o in zip(a.S[::-1], a.O[::-1], strict=False)):
        raise BadArg(f"{list(a.S)} does not broadcast to {list(a.O)}")
    check_rank(a.O)


@op(
    "aten.copy.default",
    "aten::copy.out",
    self=TensorArg(DTYPES, "*O"),
    x=_X,
    non_blocking=IGNORED,
    out=_out("self"),
    check=_check_copied,
)
def copy(a: Args) -> Iterator[Dispatch | Alias]:
    """x in the shape and the dtype of `self`, broadcast and converted; what `self` holds does not matter."""
    if a.x.tensor.dtype != a.out.tensor.dtype:
        yield _converted(a.x, a.out)
    elif a.S == a.O:
        yield from _same_elements(a)
    else:
        yield _gather(a, axes_of(a.O, broadcast_strides(a.S, a.O)))


@op(
    "aten._to_copy.default",
    x=_X,
    **_NAMED,
    non_blocking=IGNORED,
    memory_format=IGNORED,
    out=_out("dtype"),
    derive=same_shape,
)
@op("aten::_to_copy.out", x=_X, non_blocking=IGNORED, memory_format=IGNORED, out=_ANY, derive=same_shape)
@op(
    "dim_order_ops._to_dim_order_copy.default",
    x=_X,
    **_NAMED,
    non_blocking=IGNORED,
    dim_order=IGNORED,
    out=_out("dtype"),
    derive=same_shape,
)
@op(
    "dim_order_ops::_to_dim_order_copy.out",
    x=_X,
    non_blocking=IGNORED,
    dim_order=IGNORED,
    out=_ANY,
    derive=same_shape,
)
def convert(a: Args) -> Iterator[Dispatch | Alias]:
    """x in another dtype. Fractions are cut off towards zero; what a smaller integer cannot hold wraps around; a float
    that int64 cannot hold gives no useful integer, as in torch."""
    if a.x.tensor.dtype == a.out.tensor.dtype:
        yield from _same_elements(a)
    else:
        yield _converted(a.x, a.out)
