"""Operators that move elements. What is held shifted stays so."""

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, Value, operator, shift_of
from webq8.ir.ops.elementwise import Where
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.move import Concat, Pad, Permute, Repeat, Slice, Split
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.ops.rules import broadcast
from webq8.ir.types import BadArg, Shape


@operator("Reshape")
def reshape(c: Call) -> Result:
    x, sizes = c.shape(), list(c.constant(1, "the shape") if c.version >= 5 else c.integers("shape"))
    if not c.integer("allowzero", 0):
        if any(size == 0 and n >= len(x) for n, size in enumerate(sizes)):
            raise BadArg(f"a size of {sizes} is that of x, which is {list(x)}")
        sizes = [x[n] if size == 0 else size for n, size in enumerate(sizes)]
    if -1 in sizes:
        rest = numel(tuple(s for s in sizes if s != -1))
        sizes[sizes.index(-1)] = numel(x) // rest if rest else 0
    return c.moved(lambda ref: c.reshaped(ref, tuple(sizes)))


@operator("Flatten")
def flatten(c: Call) -> Result:
    x, at = c.shape(), c.integer("axis", 1)
    at += len(x) if at < 0 else 0
    return c.moved(lambda ref: c.reshaped(ref, (numel(x[:at]), numel(x[at:]))))


@operator("Squeeze")
def squeeze(c: Call) -> Result:
    x, axes = c.shape(), c.axes(1)
    gone = {axis_of(a, len(x)) for a in axes} if axes is not None else {n for n, size in enumerate(x) if size == 1}
    if wrong := [n for n in gone if x[n] != 1]:
        raise BadArg(f"axes: dimension {wrong[0]} of {list(x)} is not of size 1")
    return c.moved(lambda ref: c.reshaped(ref, tuple(size for n, size in enumerate(x) if n not in gone)))


@operator("Unsqueeze")
def unsqueeze(c: Call) -> Result:
    sizes, axes = list(c.shape()), c.axes(1) or []
    rank = len(sizes) + len(axes)
    for at in sorted(axis_of(a, rank) for a in axes):
        sizes.insert(at, 1)
    return c.moved(lambda ref: c.reshaped(ref, tuple(sizes)))


@operator("Transpose")
def transpose(c: Call) -> Result:
    order = c.integers("perm", tuple(reversed(range(len(c.shape())))))
    return c.moved(lambda ref: Permute(ref, order) if order != tuple(range(len(order))) else ref)


@operator("Slice")
def slice_of(c: Call) -> Result:
    x = c.shape()
    if c.version >= 10:
        starts, ends = c.constant(1, "starts"), c.constant(2, "ends")
        axes = c.constant(3, "axes") if c.has(3) else range(len(starts))
        steps = c.constant(4, "steps") if c.has(4) else [1] * len(starts)
    else:
        starts, ends = list(c.integers("starts")), list(c.integers("ends"))
        axes, steps = list(c.integers("axes", tuple(range(len(starts))))), [1] * len(starts)
    at, by, sizes = [0] * len(x), [1] * len(x), list(x)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        n = axis_of(axis, len(x))
        if not step:
            raise BadArg("steps: a step of 0")
        chosen = range(x[n])[start:end:step]
        at[n], by[n], sizes[n] = chosen.start if len(chosen) else 0, step, len(chosen)
    if tuple(sizes) == x and all(step == 1 for step in by):
        return c.value(0)
    return c.moved(lambda ref: Slice(ref, tuple(at), tuple(by), tuple(sizes)))


@operator("Concat")
def concat(c: Call) -> Result:
    at = axis_of(c.integer("axis"), len(c.shape()))
    values = [c.value(n) for n in range(len(c.inputs))]
    if len(values) == 1:
        return values[0]
    shifted = any(v.shifted for v in values)
    refs = [c.shifted(v).ref if shifted else v.ref for v in values]
    return Value(c.emit(Concat(tuple(refs), at)), shifted, values[0].kind)


@operator("Split")
def split(c: Call) -> Result:
    x, at = c.shape(), axis_of(c.integer("axis", 0), len(c.shape()))
    given = c.axes(1, "split")
    count = c.integer("num_outputs", len(c.node.outputs))
    if given is None:
        each = -(-x[at] // count)
        given = [each] * (count - 1) + [x[at] - each * (count - 1)]
    value = c.value(0)
    parts = c.emit_all(Split(value.ref, tuple(given), at)) if len(given) > 1 else (value.ref,)
    return tuple(value._replace(ref=ref) for ref in parts)


@operator("Expand")
def expand(c: Call) -> Result:
    shape = broadcast(c.shape(), tuple(c.constant(1, "the shape")))
    return c.moved(lambda ref: c.expanded(ref, shape))


@operator("Tile")
def tile(c: Call) -> Result:
    repeats = tuple(c.constant(1, "repeats"))
    return c.moved(lambda ref: Repeat(ref, repeats) if any(n != 1 for n in repeats) else ref)


@operator("DepthToSpace")
def depth_to_space(c: Call) -> Result:
    n, channels, h, w = _maps(c.shape())
    r = c.integer("blocksize")
    if r < 1 or channels % r**2:
        raise BadArg(f"blocksize = {r} does not fit {channels} channels")
    depth = channels // r**2
    first, order = ((n, r, r, depth, h, w), (0, 3, 4, 1, 5, 2))
    if c.text("mode", "DCR") == "CRD":
        first, order = (n, depth, r, r, h, w), (0, 1, 4, 2, 5, 3)
    return c.moved(lambda x: c.reshaped(c.permuted(c.reshaped(x, first), order), (n, depth, h * r, w * r)))


@operator("SpaceToDepth")
def space_to_depth(c: Call) -> Result:
    n, channels, h, w = _maps(c.shape())
    r = c.integer("blocksize")
    if r < 1 or h % r or w % r:
        raise BadArg(f"blocksize = {r} does not divide {h} × {w}")
    first, order, last = (n, channels, h // r, r, w // r, r), (0, 3, 5, 1, 2, 4), (n, channels * r**2, h // r, w // r)
    return c.moved(lambda x: c.reshaped(c.permuted(c.reshaped(x, first), order), last))


def _maps(x: Shape) -> tuple[int, int, int, int]:
    if len(x) != 4:
        raise BadArg(f"{list(x)} are no maps [N, C, H, W]")
    return x[0], x[1], x[2], x[3]


@operator("Trilu")
def triangle(c: Call) -> Result:
    x, upper = c.shape(), c.integer("upper", 1)
    k = c.constant(1, "k")[0] if c.has(1) else 0
    rows, columns = x[-2:]
    c.g.budget.call(0, rows * columns)
    kept = [(j - i >= k if upper else j - i <= k) for i in range(rows) for j in range(columns)]
    dtype = c.type().dtype
    return c.emit(Where(c.numbers(kept, (rows, columns), "bool"), c.x(), c.number(0, dtype)))


@operator("Pad")
def pad(c: Call) -> Result:
    x, mode = c.shape(), c.text("mode", "constant")
    pads = [int(n) for n in (c.constant(1, "pads") if c.version >= 11 else c.integers("pads"))]
    axes = [axis_of(a, len(x)) for a in (c.constant(3, "axes") if c.has(3) else range(len(x)))]
    if len(pads) != 2 * len(axes):
        raise BadArg(f"pads: {len(pads)} numbers for {len(axes)} axes")
    before, after = [0] * len(x), [0] * len(x)
    for n, at in enumerate(axes):
        before[at], after[at] = pads[n], pads[n + len(axes)]
    if mode == "constant":
        value = c.constant(2, "the value")[0] if c.has(2) else c.fraction("value", 0.0) if c.version < 11 else 0
        return padded(c, c.value(0), before, after, value)
    if mode not in _PLACES:
        raise BadArg(f"mode: {mode!r} is not supported", Unsupported)
    found = c.value(0)
    c.g.budget.call(0, sum(map(abs, (*x, *pads))))
    for at, size in enumerate(x):
        places = [_PLACES[mode](n, size) for n in range(-before[at], size + after[at])]
        if places == [*range(size)]:
            continue
        if min(places) < 0 or max(places) >= size:
            raise BadArg(f"pads: {before[at]} and {after[at]} reach beyond what {mode} has of {size} elements")
        index = c.numbers(places, None, "int64")
        found = found._replace(ref=c.emit(Index(found.ref, (index,), (at,))))
    return found


# where elements before and after the others come from
_PLACES = {
    "edge": lambda n, size: min(max(n, 0), size - 1),
    "reflect": lambda n, size: abs(n) if n < size else 2 * (size - 1) - n,
    "wrap": lambda n, size: n % size,
}


def padded(c: Call, x: Value, before: list[int], after: list[int], value: float) -> Value:
    """Margins of a value, which is as the file has it."""
    if not any(before) and not any(after):
        return x
    tensor = c.g.type(x.ref)
    if x.shifted:
        value -= shift_of("u" + tensor.dtype)
    made = c.emit(Pad(c.g.quantized(x.ref, None), tuple(before), tuple(after), value))
    return x._replace(ref=c.g.quantized(made, tensor.quantization))
