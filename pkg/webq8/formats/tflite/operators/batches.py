"""Blocks of maps as batches: how TensorFlow writes a dilated convolution. It becomes one again where a convolution
stands between both operators."""

from collections.abc import Callable

from webq8.formats.tflite.operators.move import padded, sliced, zero_of
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Maps, Value, type_of
from webq8.ir.ops.move import Permute, Reshape
from webq8.ir.types import BadArg, Ref, Shape, Tensor

__all__ = ["Blocks", "Cropped", "Dilated"]

Pair = tuple[int, int]
Cropped = Callable[[Pair, Pair], Ref | Maps]


class Blocks(Value):
    """Maps whose every `block`-th row and column is a map of its own, in a batch of them; margins were added before."""

    def __init__(self, g: Emitter, source: Value, block: Pair, before: Pair, after: Pair) -> None:
        kind = _in_batches(source.type, block, before, after)
        super().__init__(g, g.results[0], lambda: _to_batches(g, source, block, before, after), kind)
        self.source, self.block, self.before, self.after = source, block, before, after


class Dilated(Value):
    """What a convolution makes of Blocks: blocks of what a dilated convolution makes of their source, of which
    `cropped` gives the map without some rows and columns at its edges."""

    def __init__(self, g: Emitter, block: Pair, cropped: Cropped, shape: Shape) -> None:
        result, none = g.results[0], (0, 0)
        kind = type_of(result).replace(shape=shape)
        super().__init__(
            g, result, lambda: _to_batches(g, Value(g, result, cropped(none, none)), block, none, none), kind
        )
        self.block, self.cropped = block, cropped


def _in_batches(x: Tensor, block: Pair, before: Pair, after: Pair) -> Tensor:
    """The type of maps in blocks, with margins."""
    n, h, w, c = x.shape
    height, width = h + before[0] + after[0], w + before[1] + after[1]
    if height % block[0] or width % block[1]:
        raise BadArg(f"blocks of {block} do not divide {height} × {width}")
    return x.replace(shape=(n * block[0] * block[1], height // block[0], width // block[1], c), data=None)


def _to_batches(g: Emitter, x: Value, block: Pair, before: Pair, after: Pair) -> Ref:
    if any((*before, *after)):
        x = Value(g, x.tensor, padded(g, x, (0, *before, 0), (0, *after, 0), zero_of(x)))
    n, h, w, c = x.shape
    parts = g.builder.emit(Reshape(x.ref, (n, h // block[0], block[0], w // block[1], block[1], c)))
    turned = g.builder.emit(Permute(parts, (2, 4, 0, 1, 3, 5)))
    return g.builder.emit(Reshape(turned, _in_batches(x.type, block, (0, 0), (0, 0)).shape))


def _pairs(x: Value, block: Value, margins: Value) -> tuple[Pair, Pair, Pair]:
    """The block, and what is before and after the maps. Those of three axes have columns of one."""
    sizes, numbers = block.ints("the block's shape"), margins.ints("the margins")
    if len(sizes) == 1 and len(x.shape) == 3:
        sizes, numbers = (*sizes, 1), (*numbers, 0, 0)
    if len(sizes) != 2 or len(numbers) != 4 or len(x.shape) not in (3, 4) or min(sizes) < 1 or min(numbers) < 0:
        raise BadArg(f"a block of {list(sizes)} with {list(numbers)} around {list(x.shape)}")
    return (sizes[0], sizes[1]), (numbers[0], numbers[2]), (numbers[1], numbers[3])


def _mapped(g: Emitter, x: Value) -> Value:
    """Maps, of those with three axes with columns of one element."""
    if len(x.shape) == 4:
        return x
    n, h, c = x.shape
    return Value(g, x.tensor, g.builder.emit(Reshape(x.ref, (n, h, 1, c))))


def _flat(g: Emitter, value: Value, rank: int) -> Lowered:
    """The result with as many axes as the operator's input."""
    if rank == 4:
        return value
    n, h, _, c = value.shape
    return g.builder.emit(Reshape(value.ref, (n, h, c)))


@lowers("SPACE_TO_BATCH_ND")
def space_to_batch(g: Emitter, x: Value, block: Value, paddings: Value) -> Lowered:
    sizes, before, after = _pairs(x, block, paddings)
    return _flat(g, Blocks(g, _mapped(g, x), sizes, before, after), len(x.shape))


@lowers("BATCH_TO_SPACE_ND")
def batch_to_space(g: Emitter, x: Value, block: Value, crops: Value) -> Lowered:
    sizes, before, after = _pairs(x, block, crops)
    if isinstance(x, Dilated) and x.pending and x.block == sizes:
        return x.cropped(before, after)
    n, h, w, c = _mapped(g, x).shape
    bh, bw = sizes
    if n % (bh * bw):
        raise BadArg(f"blocks of {sizes} do not divide a batch of {n}")
    parts = g.builder.emit(Reshape(_mapped(g, x).ref, (bh, bw, n // (bh * bw), h, w, c)))
    turned = g.builder.emit(Permute(parts, (2, 3, 0, 4, 1, 5)))
    whole: Shape = (n // (bh * bw), h * bh, w * bw, c)
    y = Value(g, g.results[0], g.builder.emit(Reshape(turned, whole)))
    sizes_left = (whole[0], whole[1] - before[0] - after[0], whole[2] - before[1] - after[1], c)
    cut = sliced(g, y, (0, *before, 0), (1, 1, 1, 1), sizes_left)
    return _flat(g, g.bound(g.results[0], cut), len(x.shape))
