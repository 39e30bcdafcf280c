"""Views, copies, permutations, slices, repetitions, joining, splitting and padding."""

from collections.abc import Sequence

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.pte.operators.arguments import DIM, DIMS, DTYPES, INT64, NumberOrTruth, X, result
from webq8.formats.pte.schema import (
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Argument,
    Int,
    Number,
    TensorArg,
    TensorList,
    lowers,
)
from webq8.ir.builder import Builder
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
from webq8.ir.ops.rules import axis, check_rank
from webq8.ir.types import BadArg, PerTensor, Ref, Shape, check_scale

__all__ = ["reshaped", "selected_index", "slice_range"]


# --- the same elements in the same order


def reshaped(g: Builder, x: Ref, shape: Shape) -> Ref:
    """x in another shape: x itself where it has that shape already; a constant stays a constant."""
    tensor = g.type(x)
    if tensor.shape == shape:
        return x
    reshape = Reshape(x, shape)
    if tensor.data is None:
        return g.emit(reshape)
    (other,) = reshape.infer(g.tensors)
    return g.add(other.replace(data=tensor.data))


@lowers(
    "aten.view_copy.default",
    "aten.view.default",
    "aten._unsafe_view.default",
    "aten.reshape.default",
    "aten::view_copy.out",
    "aten::_unsafe_view.out",
    "executorch_prim::et_view.default",
    x=X,
    size=DIMS,
    out=result(),
)
def view(g: Builder, x: Argument, size: Shape) -> Ref:
    """The elements of x in another shape; one size may be −1: what the others leave."""
    sizes, count = list(size), numel(x.shape)
    if sizes.count(-1) > 1 or any(s < -1 for s in sizes):
        raise BadArg(f"size {sizes}: at most one size may be -1, and none less")
    if -1 in sizes:
        known = numel(tuple(s for s in sizes if s != -1))
        if not known or count % known:
            raise BadArg(f"size {sizes} does not divide the {count} elements of {list(x.shape)}")
        sizes[sizes.index(-1)] = count // known
    return reshaped(g, x.ref, tuple(sizes))


@lowers("aten.flatten.using_ints", x=X, start_dim=Int(default=0), end_dim=Int(default=-1), out=result())
def flatten(g: Builder, x: Argument, start_dim: int, end_dim: int) -> Ref:
    """x with the dimensions start_dim to end_dim as one."""
    first, last = axis(start_dim, len(x.shape)), axis(end_dim, len(x.shape))
    if first > last:
        raise BadArg(f"start_dim = {start_dim} comes after end_dim = {end_dim}")
    return reshaped(g, x.ref, (*x.shape[:first], numel(x.shape[first : last + 1]), *x.shape[last + 1 :]))


@lowers("aten.unsqueeze_copy.default", "aten.unsqueeze.default", "aten::unsqueeze_copy.out", x=X, dim=DIM, out=result())
def unsqueeze(g: Builder, x: Argument, dim: int) -> Ref:
    """x with a dimension of size 1 at `dim`."""
    at = axis(dim, len(x.shape) + 1)
    return reshaped(g, x.ref, (*x.shape[:at], 1, *x.shape[at:]))


@lowers("aten.squeeze_copy.default", "aten.squeeze.default", "aten::squeeze_copy.out", x=X, out=result())
@lowers("aten.squeeze_copy.dim", "aten.squeeze.dim", "aten::squeeze_copy.dim_out", x=X, dim=DIM, out=result())
@lowers("aten.squeeze_copy.dims", "aten.squeeze.dims", "aten::squeeze_copy.dims_out", x=X, dim=DIMS, out=result())
def squeeze(g: Builder, x: Argument, dim: int | tuple[int, ...] | None = None) -> Ref:
    """x without those of the dimensions `dim` (a list here) that have size 1."""
    dims = range(len(x.shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    axes = _axes(dims, len(x.shape))
    return reshaped(g, x.ref, tuple(s for i, s in enumerate(x.shape) if s != 1 or i not in axes))


@lowers("aten.alias_copy.default", "aten::alias_copy.out", x=X, out=result())
@lowers("aten.detach_copy.default", "aten::detach_copy.out", x=X, out=result())
@lowers("aten.lift_fresh_copy.default", "aten::lift_fresh_copy.out", x=X, out=result())
@lowers("aten.clone.default", "aten::clone.out", x=X, memory_format=IGNORED, out=result())
@lowers(
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops::_clone_dim_order.out",
    x=X,
    non_blocking=IGNORED,
    dim_order=IGNORED,
    out=result(),
)
def clone(g: Builder, x: Argument) -> Ref:
    """A copy of x. The order of its bytes in memory is the planner's choice: that argument is ignored."""
    return x.ref


@lowers("et_vk.prepack.default", x=TensorArg(DTYPES, "*S", const=True), out=result())
def prepack(g: Builder, x: Argument) -> Ref:
    """The constant x: upstream copies it to a texture, here it serves itself."""
    return x.ref


# --- the same elements in another order, or some of them


def _axes(dims: Sequence[int], rank: int) -> list[int]:
    found = [axis(d, rank) for d in dims]
    if len({*found}) != len(found):
        raise BadArg(f"{list(dims)} names a dimension twice")
    return found


def _permuted(g: Builder, x: Argument, order: Sequence[int]) -> Ref:
    return x.ref if [*order] == sorted(order) else g.emit(Permute(x.ref, tuple(order)))


def _exchanged(g: Builder, x: Argument, i: int, j: int) -> Ref:
    order = [*range(len(x.shape))]
    if order:
        order[i], order[j] = order[j], order[i]
    return _permuted(g, x, order)


@lowers("aten.permute_copy.default", "aten.permute.default", "aten::permute_copy.out", x=X, dims=DIMS, out=result())
def permute(g: Builder, x: Argument, dims: tuple[int, ...]) -> Ref:
    """x with its dimensions in the order `dims`: dimension i of the result is dimension dims[i] of x."""
    rank = len(x.shape)
    order = _axes(dims, rank)
    if len(order) != rank:
        raise BadArg(f"dims = {list(dims)} must name each of {rank} dimensions")
    return _permuted(g, x, order)


@lowers(
    "aten.transpose_copy.int",
    "aten.transpose.int",
    "aten::transpose_copy.int_out",
    x=X,
    dim0=DIM,
    dim1=DIM,
    out=result(),
)
def transpose(g: Builder, x: Argument, dim0: int, dim1: int) -> Ref:
    """x with two dimensions exchanged."""
    return _exchanged(g, x, axis(dim0, len(x.shape)), axis(dim1, len(x.shape)))


@lowers("aten.t_copy.default", "aten.t.default", "aten::t_copy.out", x=X, out=result())
def t(g: Builder, x: Argument) -> Ref:
    """A matrix transposed; what has fewer dimensions stays as it is."""
    if len(x.shape) > 2:
        raise BadArg(f"shape {list(x.shape)} has more than two dimensions")
    return _exchanged(g, x, 0, -1)


def slice_range(x: Argument, dim: int, start: int, end: int, step: int) -> tuple[int, range]:
    """The axis that is sliced, and the indices along it that are taken."""
    if not x.shape:
        raise BadArg("a scalar has no dimension to slice")
    if step < 1:
        raise BadArg(f"step = {step} must be at least 1")
    at = axis(dim, len(x.shape))
    return at, range(x.shape[at])[start:end:step]


def selected_index(x: Argument, dim: int, index: int) -> tuple[int, int]:
    """The axis along which an index is selected, and the index, counted from the start."""
    if not x.shape:
        raise BadArg("a scalar has no dimension to select from")
    at = axis(dim, len(x.shape))
    if not -x.shape[at] <= index < x.shape[at]:
        raise BadArg(f"index = {index} is outside of dimension {at} of {list(x.shape)}")
    return at, index % x.shape[at]


def _sliced(g: Builder, x: Argument, taken: dict[int, range]) -> Ref:
    """A slice of x: ranges of indices along some axes, all indices along the others."""
    ranges = [taken.get(at, range(size)) for at, size in enumerate(x.shape)]
    if all(places == range(size) for places, size in zip(ranges, x.shape, strict=True)):
        return x.ref
    starts, steps = tuple(places.start for places in ranges), tuple(places.step for places in ranges)
    return g.emit(Slice(x.ref, starts, steps, tuple(map(len, ranges))))


@lowers(
    "aten.slice_copy.Tensor",
    "aten.slice.Tensor",
    "aten::slice_copy.Tensor_out",
    x=X,
    dim=Int(default=0),
    start=Int(*INT64, absent=0, default=None),
    end=Int(*INT64, absent=INT64[1], default=None),
    step=Int(*INT64, default=1),
    out=result(),
)
def slice_copy(g: Builder, x: Argument, dim: int, start: int, end: int, step: int) -> Ref:
    """x[start:end:step] along `dim`, as Python slices: negative indices count from the end."""
    at, places = slice_range(x, dim, start, end, step)
    return _sliced(g, x, {at: places})


@lowers(
    "aten.select_copy.int",
    "aten.select.int",
    "aten::select_copy.int_out",
    x=X,
    dim=DIM,
    index=Int(*INT64),
    out=result(),
)
def select(g: Builder, x: Argument, dim: int, index: int) -> Ref:
    """x[index] along `dim`, without that dimension."""
    at, place = selected_index(x, dim, index)
    return reshaped(g, _sliced(g, x, {at: range(place, place + 1)}), (*x.shape[:at], *x.shape[at + 1 :]))


@lowers("aten.flip.default", "aten::flip.out", x=X, dims=DIMS, out=result())
def flip(g: Builder, x: Argument, dims: tuple[int, ...]) -> Ref:
    """x with the order along each of `dims` reversed."""
    axes = _axes(dims, len(x.shape))
    return _sliced(g, x, {at: range(x.shape[at])[::-1] for at in axes if x.shape})


@lowers(
    "aten.as_strided_copy.default",
    "aten.as_strided.default",
    "aten::as_strided_copy.out",
    x=X,
    size=DIMS,
    stride=DIMS,
    storage_offset=Int(*INT64, absent=0, default=None),
    out=result(),
)
def as_strided(g: Builder, x: Argument, size: Shape, stride: tuple[int, ...], storage_offset: int) -> Ref:
    """The elements of x, in row-major order, that are `stride` apart along the dimensions of the result."""
    return g.emit(Strided(x.ref, size, stride, storage_offset))


@lowers(
    "aten.unfold_copy.default",
    "aten.unfold.default",
    "aten::unfold_copy.out",
    x=X,
    dimension=DIM,
    size=Int(*INT64),
    step=Int(*INT64),
    out=result(),
)
def unfold(g: Builder, x: Argument, dimension: int, size: int, step: int) -> Ref:
    """Windows of `size` along `dimension`, each `step` after the one before; a last dimension goes through a window."""
    shape = x.shape or (1,)
    dim = axis(dimension, len(shape))
    if step < 1 or not 0 <= size <= shape[dim]:
        raise BadArg(f"windows of {size} in steps of {step} do not fit dimension {dim} of {list(x.shape)}")
    if not x.shape:
        return g.emit(Strided(x.ref, (size,), (1,)))
    strides = [numel(shape[at + 1 :]) for at in range(len(shape))]
    along = strides[dim]
    strides[dim] = along * step
    windows = (*shape[:dim], (shape[dim] - size) // step + 1, *shape[dim + 1 :], size)
    return g.emit(Strided(x.ref, windows, (*strides, along)))


@lowers(
    "aten.expand_copy.default",
    "aten.expand.default",
    "aten::expand_copy.out",
    x=X,
    size=DIMS,
    implicit=IGNORED,
    out=result(),
)
def expand(g: Builder, x: Argument, size: Shape) -> Ref:
    """x repeated along dimensions of size 1 and new leading ones, to the shape `size`; −1 keeps a size."""
    new = len(size) - len(x.shape)
    if new < 0:
        raise BadArg(f"size {list(size)} has fewer dimensions than {list(x.shape)}")
    old = (-1,) * new + x.shape
    shape = tuple(has if wanted == -1 else wanted for wanted, has in zip(size, old, strict=True))
    if min(shape, default=0) < 0:
        raise BadArg(f"{list(x.shape)} does not expand to {list(size)}")
    return x.ref if shape == x.shape else g.emit(Expand(x.ref, shape))


@lowers("aten.repeat.default", "aten::repeat.out", x=X, repeats=DIMS, out=result())
def repeat(g: Builder, x: Argument, repeats: tuple[int, ...]) -> Ref:
    """x laid `repeats` times along each dimension; counts in front of those of x make new dimensions."""
    return g.emit(Repeat(x.ref, repeats))


_MAPS = TensorArg(DTYPES, "*B C H W")


@lowers("aten.pixel_shuffle.default", "aten::pixel_shuffle.out", x=_MAPS, upscale_factor=Int(1, 2**15), out=result())
def pixel_shuffle(g: Builder, x: Argument, upscale_factor: int) -> Ref:
    """[*B, C·r², H, W] to [*B, C, H·r, W·r]: y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]."""
    return g.emit(PixelShuffle(x.ref, upscale_factor))


@lowers(
    "et_vk.q8ta_pixel_shuffle.default",
    x=I8("N C H W"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    inv_y_scale=Number(),
    y_zero_point=ZERO_POINT,
    upscale_factor=Int(1),
    out=I8("N OC OH OW"),
)
def q8ta_pixel_shuffle(
    g: Builder,
    x: Argument,
    x_scale: float,
    x_zero_point: int,
    inv_y_scale: float,
    y_zero_point: int,
    upscale_factor: int,
) -> Ref:
    """y[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w] with r = upscale_factor, requantized where scales differ.

    x int8 [N, C, H, W], y int8 [N, C/r², H·r, W·r]; inv_y_scale is 1/y_scale, as the schema has it.
    """
    check_scale(inv_y_scale, "inv_y_scale: ")
    x_ref = g.quantized(x.ref, PerTensor(x_scale, x_zero_point))
    return g.emit(PixelShuffle(x_ref, upscale_factor), PerTensor(1.0 / inv_y_scale, y_zero_point))


@lowers(
    "aten.pixel_unshuffle.default", "aten::pixel_unshuffle.out", x=_MAPS, downscale_factor=Int(1, 2**15), out=result()
)
def pixel_unshuffle(g: Builder, x: Argument, downscale_factor: int) -> Ref:
    """[*B, C, H·r, W·r] to [*B, C·r², H, W]: y[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]."""
    return g.emit(PixelUnshuffle(x.ref, downscale_factor))


# --- joining, splitting and padding


def _joined(g: Builder, tensors: Sequence[Argument], at: int) -> Ref:
    return tensors[0].ref if len(tensors) == 1 else g.emit(Concat(tuple(x.ref for x in tensors), at))


@lowers(
    "aten.cat.default",
    "aten::cat.out",
    tensors=TensorList((TensorArg(DTYPES, "..."),)),
    dim=Int(default=0),
    out=result("tensors"),
)
def cat(g: Builder, tensors: tuple[Argument, ...], dim: int) -> Ref:
    """`tensors` one after another along `dim`; their other sizes are equal."""
    # torch ignores tensors of shape [0], whatever the others are
    whole = [x for x in tensors if x.shape != (0,)] or list(tensors[:1])
    if not whole or not whole[0].shape:
        raise BadArg("there must be a tensor, and scalars cannot be joined")
    if len(dtypes := {x.dtype for x in tensors}) > 1:
        raise BadArg(f"tensors of different dtypes ({', '.join(sorted(dtypes))}) are not supported", Unsupported)
    return _joined(g, whole, axis(dim, len(whole[0].shape)))


@lowers("webq8.cat_channels_int8.default", tensors=TensorList((I8("..."),)), out=I8("N C H W"))
def cat_channels_int8(g: Builder, tensors: tuple[Argument, ...]) -> Ref:
    """Maps side by side along their channels: int8 [N, C_i, H, W], where all but the last have whole words of channels,
    so that they stay channels-last."""
    shapes = [x.shape for x in tensors]
    if not shapes or any(len(s) != 4 or s[:1] + s[2:] != shapes[0][:1] + shapes[0][2:] for s in shapes):
        raise BadArg(f"tensors: shapes {[list(s) for s in shapes]} differ beyond their channels")
    if any(s[1] % 4 for s in shapes[:-1]):
        raise BadArg("tensors: only the last one's channels may be other than a multiple of 4")
    return _joined(g, tensors, 1)


@lowers(
    "aten.split_with_sizes_copy.default",
    "aten::split_with_sizes_copy.out",
    x=X,
    sizes=DIMS,
    dim=Int(default=0),
    out=TensorList((TensorArg(DTYPES, "...", like="x"),)),
)
def split(g: Builder, x: Argument, sizes: tuple[int, ...], dim: int) -> tuple[Ref, ...]:
    """x cut along `dim` into pieces of the given sizes."""
    if not x.shape:
        raise BadArg("a scalar has no dimension to split")
    return g.emit_all(Split(x.ref, sizes, axis(dim, len(x.shape))))


@lowers(
    "aten.constant_pad_nd.default",
    "aten::constant_pad_nd.out",
    x=X,
    pad=DIMS,
    value=NumberOrTruth(default=0),
    out=result(),
)
def constant_pad_nd(g: Builder, x: Argument, pad: tuple[int, ...], value: float) -> Ref:
    """x with margins of `value`. `pad`: elements before and after, of the last dimension first; negative ones cut."""
    rank = len(check_rank(x.shape))
    if len(pad) % 2 or len(pad) > 2 * rank:
        raise BadArg(f"pad = {list(pad)} must have two sizes for each of at most {rank} dimensions")
    others = (0,) * (rank - len(pad) // 2)
    return g.emit(Pad(g.quantized(x.ref, None), (*others, *pad[-2::-2]), (*others, *pad[::-2]), value))
