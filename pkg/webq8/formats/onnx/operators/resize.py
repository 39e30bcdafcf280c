"""Resizing of maps, with any number of axes: elements by constant indices, or products with matrices of weights."""

import math
from collections.abc import Callable, Sequence

from webq8.errors import Unsupported
from webq8.formats.onnx.call import Call, Result, operator
from webq8.formats.onnx.operators.matmul import product
from webq8.ir.ops.indexing import Index
from webq8.ir.ops.resize import ResizeBilinear, ResizeNearest
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Ref, f32

_ROUND: dict[str, Callable[[float], int]] = {
    "round_prefer_floor": lambda v: math.ceil(v - 0.5),
    "round_prefer_ceil": lambda v: math.floor(v + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


@operator("Upsample")
def upsample(c: Call) -> Result:
    scales = c.constant(1, "scales") if c.version >= 9 else c.fractions("scales")
    sizes = [math.floor(n * s) for n, s in zip(c.shape(), scales, strict=True)]
    mode = c.text("mode", "nearest")
    return _resized(c, [*range(len(sizes))], sizes, scales, mode, "asymmetric", "floor")


@operator("Resize")
def resize(c: Call) -> Result:
    x = c.shape()
    for name, usual in (("exclude_outside", 0), ("antialias", 0)):
        if c.integer(name, usual) != usual:
            raise BadArg(f"{name} is not supported", Unsupported)
    c.ignore("extrapolation_value")
    axes = [axis_of(a, len(x)) for a in c.integers("axes", tuple(range(len(x))))]
    scale_at, size_at = (1, 2) if c.version < 11 else (2, 3)
    scales = c.constant(scale_at, "scales") if c.has(scale_at) else []
    if scales:
        sizes = [math.floor(x[a] * s) for a, s in zip(axes, scales, strict=True)]
    else:
        sizes = c.constant(size_at, "sizes")
        scales = [size / x[a] for a, size in zip(axes, sizes, strict=True)]
        policy = c.text("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            scale = (min if policy == "not_larger" else max)(scales)
            scales, sizes = [scale] * len(axes), [math.floor(scale * x[a] + 0.5) for a in axes]
    c.ignore("keep_aspect_ratio_policy", "cubic_coeff_a", "nearest_mode", "coordinate_transformation_mode", "roi")
    if c.version < 11:
        transform, nearest = "asymmetric", "floor"
    else:
        transform = c.text("coordinate_transformation_mode", "half_pixel")
        nearest = c.text("nearest_mode", "round_prefer_floor")
    return _resized(c, axes, sizes, scales, c.text("mode", "nearest"), transform, nearest)


def _resized(
    c: Call, axes: list[int], sizes: list[int], scales: Sequence[float], mode: str, transform: str, nearest: str
) -> Result:
    x = c.shape()
    changed = [(a, size, s) for a, size, s in zip(axes, sizes, scales, strict=True) if size != x[a] or s != 1]
    if mode == "nearest":
        return _nearest(c, changed, transform, nearest)
    at = [a for a, _, _ in changed]
    pair = (changed[0][1], changed[1][1]) if at == [2, 3] and len(x) == 4 else None
    known = transform in ("half_pixel", "align_corners") or (
        transform == "pytorch_half_pixel" and min(pair or (0,)) > 1
    )
    y, dtype = c.cast(c.x(), "float32"), c.g.type(c.x()).dtype
    if mode == "linear" and pair and known:
        exact = (f32(changed[0][2]), f32(changed[1][2]))
        return c.cast(c.emit(ResizeBilinear(y, pair, exact, transform == "align_corners")), dtype)
    if mode not in ("linear", "cubic") or (mode == "cubic" and dtype != "float32"):
        raise BadArg(f"mode: {mode!r} of {dtype} is not supported", Unsupported)
    for axis, size, scale in changed:
        c.g.budget.call(0, size * x[axis])
        positions = _positions(transform, x[axis], size, scale)
        rows = _linear(positions, x[axis]) if mode == "linear" else _cubic(c, positions, x[axis])
        y = _weighted(c, y, axis, rows)
    return c.cast(y, dtype)


def _positions(transform: str, size: int, to: int, scale: float) -> list[float]:
    """Where each element of the result lies among those of x."""
    functions: dict[str, Callable[[int], float]] = {
        "half_pixel": lambda i: (i + 0.5) / scale - 0.5,
        "half_pixel_symmetric": lambda i: size / 2 * (1 - to / (scale * size)) + (i + 0.5) / scale - 0.5,
        "pytorch_half_pixel": lambda i: (i + 0.5) / scale - 0.5 if to > 1 else 0.0,
        "align_corners": lambda i: i * (size - 1) / (scale * size - 1) if scale * size != 1 else 0.0,
        "asymmetric": lambda i: i / scale,
        "tf_half_pixel_for_nn": lambda i: (i + 0.5) / scale,
    }
    if transform not in functions:
        raise BadArg(f"coordinate_transformation_mode: {transform!r} is not supported", Unsupported)
    return [functions[transform](i) for i in range(to)]


def _nearest(c: Call, changed: list[tuple[int, int, float]], transform: str, nearest: str) -> Result:
    x = c.shape()
    if transform == "asymmetric" and nearest == "floor" and [a for a, _, _ in changed] == [2, 3] and len(x) == 4:
        (_, height, first), (_, width, second) = changed
        if c.type().dtype == "float32" and all(s == int(s) for s in (first, second)):
            return c.emit(ResizeNearest(c.x(), (height, width), (f32(first), f32(second))))
    found = c.value(0)
    for axis, size, scale in changed:
        places = [_ROUND[nearest](p) for p in _positions(transform, x[axis], size, scale)]
        index = c.numbers([min(max(p, 0), x[axis] - 1) for p in places], None, "int64")
        found = found._replace(ref=c.emit(Index(found.ref, (index,), (axis,))))
    return found


def _linear(positions: list[float], size: int) -> list[dict[int, float]]:
    """The weights of the elements of x in each of the result."""
    rows = []
    for p in positions:
        p = min(max(p, 0.0), size - 1.0)
        low = min(math.floor(p), size - 1)
        row = {low: 1 - (p - low)}
        row[min(low + 1, size - 1)] = row.get(min(low + 1, size - 1), 0.0) + (p - low)
        rows.append(row)
    return rows


def _cubic(c: Call, positions: list[float], size: int) -> list[dict[int, float]]:
    a, rows = c.fraction("cubic_coeff_a", -0.75), []
    for p in positions:
        low, row = math.floor(p), dict[int, float]()
        for n in range(low - 1, low + 3):
            d = abs(p - n)
            near = (a + 2) * d**3 - (a + 3) * d**2 + 1
            weight = near if d <= 1 else a * (d**3 - 5 * d**2 + 8 * d - 4)
            at = min(max(n, 0), size - 1)
            row[at] = row.get(at, 0.0) + weight
        rows.append(row)
    return rows


def _weighted(c: Call, x: Ref, axis: int, rows: list[dict[int, float]]) -> Ref:
    """x with each element along an axis a sum of weighted ones: a product with a matrix."""
    size, rank = c.g.type(x).shape[axis], len(c.g.type(x).shape)
    matrix = c.numbers([row.get(n, 0.0) for row in rows for n in range(size)], (len(rows), size))
    order = [n for n in range(rank) if n != axis] + [axis]
    y = product(c, c.permuted(x, order), matrix, transposed=True)
    return c.permuted(y, [order.index(n) for n in range(rank)])
