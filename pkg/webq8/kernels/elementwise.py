"""Functions of one element, and of two or three that are broadcast."""

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from webq8.dtypes import ITEMSIZE, cdiv, numel
from webq8.ir.ops.core import Op
from webq8.ir.ops.elementwise import (
    Binary,
    Clamp,
    ClampBy,
    Compare,
    Elu,
    FixedPointSum,
    Hardshrink,
    LeakyRelu,
    Logical,
    Lookup,
    LookupPair,
    ScaledProduct,
    Unary,
    Where,
)
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import Shape, Tensor, f32
from webq8.kernels.edges import edges, quantizing
from webq8.kernels.layouts import words_params
from webq8.kernels.registry import Call, Operand, kernel
from webq8.kernels.tables import gathered
from webq8.kernels.walk import axes_of, axes_params, broadcast_params
from webq8.plan.layout import LayoutName, strides

__all__: list[str] = []

_INT32, _INT64 = (-(2**31), 2**31 - 1), (-(2**63), 2**63 - 1)
_WIDE = ("int64", "int8", "uint8")  # computed in 64 bits
_UNBOUNDED = (-math.inf, math.inf)
_RELU = (0.0, math.inf)


# --- one element


@kernel(Unary, layout="plain")
def unary(op: Unary, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    zero = Const(bytes(ITEMSIZE[x.dtype]))
    if x.dtype not in _WIDE:
        yield _unary(call, x, op.function)
    elif op.function == "neg":
        yield _integers(call.out, "add", x.dtype, (zero, x), alpha=-1)
    else:
        yield _integers(call.out, op.function, x.dtype, (x, zero))


@kernel(Clamp, layout="plain")
def clamp(op: Clamp, call: Call) -> Iterator[Dispatch]:
    x, bounds = call[op.x], (op.low, op.high)
    if x.dtype in _WIDE:
        yield _integers(call.out, "clamp", x.dtype, (x, Const(bytes(ITEMSIZE[x.dtype]))), bounds=bounds)
    else:
        yield _unary(call, x, "relu" if bounds == _RELU else "clamp", bounds)


@kernel(LeakyRelu)
def leaky_relu(op: LeakyRelu, call: Call) -> Iterator[Dispatch]:
    yield _unary(call, call[op.x], "leaky_relu", a=op.slope)


@kernel(Elu)
def elu(op: Elu, call: Call) -> Iterator[Dispatch]:
    yield _unary(call, call[op.x], "elu", a=op.alpha * op.scale, b=op.scale, c=op.input_scale)


@kernel(Hardshrink)
def hardshrink(op: Hardshrink, call: Call) -> Iterator[Dispatch]:
    yield _unary(call, call[op.x], "hardshrink", a=op.threshold)


def _unary(
    call: Call,
    x: Operand,
    function: str,
    bounds: tuple[float, float] = _UNBOUNDED,
    a: float = 0.0,
    b: float = 0.0,
    c: float = 0.0,
) -> Dispatch:
    """A function of float32 or int32; a, b and c are what wgsl/unary.wgsl takes for its numbers."""
    low, high = bounds
    count = numel(x.shape)
    return Dispatch(
        "unary",
        {"x": x.id, "y": call.out.id},
        {
            "count": count,
            "low": f32(low),
            "high": f32(high),
            "a": f32(a),
            "b": f32(b),
            "c": f32(c),
            "integer_low": _within(low, _INT32),
            "integer_high": _within(high, _INT32),
        },
        threads=count,
        constants={"function": function, "integer": x.dtype == "int32"},
    )


def _within(x: float, limits: tuple[int, int]) -> int:
    return int(min(max(x, limits[0]), limits[1]))


@kernel(Lookup)
def lookup(op: Lookup, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    yield gathered(x, call.out, x.shape, strides(x.shape, x.layout_name), op.table)


# --- several elements, broadcast


def _bound(operand: Operand | Const) -> int | Const:
    return operand.id if isinstance(operand, Operand) else operand


def _walk(out: Operand, *operands: Operand | Const) -> dict[str, Param]:
    """Params of a walk over the elements of `out`. A constant that stands in place of an operand is one element."""
    return broadcast_params(out.shape, *(o.shape if isinstance(o, Operand) else () for o in operands))


def _integers(
    y: Operand,
    function: str,
    dtype: str,
    operands: tuple[Operand | Const, Operand | Const],
    alpha: float = 1.0,
    bounds: tuple[float, float] = _UNBOUNDED,
) -> Dispatch:
    """A function of integers that are not int32, in 64 bits."""
    numbers = int(alpha), *(_within(bound, _INT64) for bound in bounds)
    words = (struct.unpack("<2I", (n % 2**64).to_bytes(8, "little")) for n in numbers)
    item, count = ITEMSIZE[y.dtype], numel(y.shape)
    a, b = operands
    return Dispatch(
        "integers",
        {"a": _bound(a), "b": _bound(b), "y": y.id},
        _walk(y, a, b) | dict(zip(("alpha", "low", "high"), words, strict=True)),
        threads=cdiv(count, 4) if item == 1 else count,
        constants={"function": function, "dtype": dtype, "y_item": item},
    )


def _layout(op: Op, reads: Sequence[Tensor], results: Sequence[Tensor]) -> LayoutName | None:
    """Tensors that are walked lie in row-major order; quantized int8 is at home in any layout."""
    return None if results[0].quantization else "plain"


@kernel(Binary, layout=_layout)
def binary(op: Binary, call: Call) -> Iterator[Dispatch]:
    """By dtype: quantized int8, integers that are computed in 64 bits, or float32 and int32."""
    a, b, y = call[op.a], call[op.b], call.out
    if y.quantization is not None:
        yield _binary_int8(op, call, op.function, op.alpha)
    elif a.dtype in _WIDE:
        yield _integers(y, op.function, a.dtype, (a, b), op.alpha)
    else:
        integer = a.dtype == "int32"
        numbers: dict[str, Param] = {
            "alpha": f32(op.alpha),
            "integer_alpha": (int(op.alpha) + 2**31) % 2**32 - 2**31 if integer else 0,
        }
        yield Dispatch(
            "binary",
            {"a": a.id, "b": b.id, "y": y.id},
            _walk(y, a, b) | numbers,
            threads=numel(y.shape),
            constants={"function": op.function, "integer": integer},
        )


@kernel(FixedPointSum)
def fixed_point_sum(op: FixedPointSum, call: Call) -> Iterator[Dispatch]:
    multipliers = dict(zip(("a_multiplier", "b_multiplier"), op.multipliers, strict=True))
    fixed = {**multipliers, "bias": op.bias, "shift": op.shift}
    yield _binary_int8(op, call, "fixed_point_sum", 1.0, fixed)


@kernel(ScaledProduct)
def scaled_product(op: ScaledProduct, call: Call) -> Iterator[Dispatch]:
    yield _binary_int8(op, call, "scaled_product", op.factor)


@kernel(LookupPair, layout=lambda op, reads, results: "plain" if results[0].dtype == "bool" else None)
def lookup_pair(op: LookupPair, call: Call) -> Iterator[Dispatch]:
    a, b, y = call[op.a], call[op.b], call.out
    yield Dispatch(
        "lookup_pair",
        {"a": a.id, "b": b.id, "table": Const(op.table), "y": y.id},
        _bytes_walk(a, b, y),
        threads=y.layout.words,
    )


def _bytes_walk(a: Operand, b: Operand, y: Operand) -> dict[str, Param]:
    """Params of a walk over the words of y, of bytes in any layout."""
    return {
        "rank": len(y.shape),
        "tensor": words_params(y.layout),
        "axes": axes_params(reversed(axes_of(y.shape, _strides(a, y.shape), _strides(b, y.shape)))),
    }


def _binary_int8(
    op: Binary | FixedPointSum | ScaledProduct,
    call: Call,
    function: str,
    alpha: float,
    fixed: Mapping[str, int] = MappingProxyType({"a_multiplier": 0, "b_multiplier": 0, "bias": 0, "shift": 0}),
) -> Dispatch:
    """int8 and int8, or int8 and float32, to int8. `fixed` are the numbers of a sum in fixed point."""
    a, b, out = call[op.a], call[op.b], call.out
    y, is_float, grid = out.layout, b.dtype == "float32", op.through.grid if op.through else out.per_tensor
    a_table, b_table = (op.a_table, op.b_table) if isinstance(op, Binary) else (None, None)
    tables = [b"" if op.through is None else op.through.table, a_table or b"", b_table or b""]
    bind: dict[str, int | Const] = {
        "a": a.id,
        "b": b.id,
        "tables": Const(_one_after_another(tables, (256, 1024, 1024))),
        "y": out.id,
    }
    arithmetic = {
        "a_zero_point": a.zero_point,
        "a_scale": f32(a.scale),
        "b_zero_point": 0 if is_float else b.zero_point,
        "b_scale": 1.0 if is_float else f32(b.scale),
        "alpha": f32(alpha),
        "inv_y_scale": f32(1.0 / grid.scale),
        "y_zero_point": grid.zero_point,
        "y_min": op.bounds[0],
        "y_max": op.bounds[1],
        "y_scale": f32(grid.scale),
        **fixed,
    }
    looked_up = zip(("through_table", "looks_up_a", "looks_up_b"), map(bool, tables), strict=True)
    constants: dict[str, bool | str] = {"function": function, **dict(looked_up)}
    constants["divides"] = op.__dict__.get("divides", False) or any(x.edge and x.edge.divides for x in (a, b))
    alike = all(t.dtype == "int8" and t.shape == out.shape and t.layout.same_bytes(y) for t in (a, b))
    if alike and y.words % 4 == 0 and not (a.edge or b.edge or out.edge):
        flat: dict[str, Param] = {"groups": y.words // 4, "arithmetic": arithmetic}
        return Dispatch("binary_int8_flat", bind, flat, threads=y.words // 4, constants=constants)
    params, overrides = edges(out)
    params |= _bytes_walk(a, b, out) | {"arithmetic": arithmetic}
    params |= {"a_by": quantizing(a.edge), "b_by": quantizing(b.edge)}
    constants |= {"b_is_float": is_float, **overrides}
    constants |= {"quantizes_a": a.edge is not None, "quantizes_b": b.edge is not None}
    return Dispatch("binary_int8", bind, params, y.words, constants)


def _one_after_another(tables: Sequence[bytes], sizes: Sequence[int]) -> bytes:
    """Tables at their places, those that are missing as zeros; one word where there is none."""
    data = b"".join(table.ljust(size, b"\0") for table, size in zip(tables, sizes, strict=True))
    return data if any(tables) else bytes(4)


def _strides(operand: Operand, out: Shape) -> list[int]:
    """Strides that read an operand in its layout as if it had the shape `out`: bytes of int8, elements of float32."""
    sizes = zip(operand.shape, strides(operand.shape, operand.layout_name), strict=True)
    return [0] * (len(out) - len(operand.shape)) + [0 if size == 1 else stride for size, stride in sizes]


# --- truth values


@kernel(Compare, layout="plain")
def compare(op: Compare, call: Call) -> Iterator[Dispatch]:
    a, b, y = call[op.a], call[op.b], call.out
    if a.dtype in _WIDE:
        yield _integers(y, op.function, a.dtype, (a, b))
    else:
        yield _truth(op.function, a, b, y)


@kernel(Logical)
def logical(op: Logical, call: Call) -> Iterator[Dispatch]:
    yield _truth(op.function, call[op.a], call[op.b], call.out)


def _truth(function: str, a: Operand, b: Operand, y: Operand) -> Dispatch:
    return Dispatch(
        "compare",
        {"a": a.id, "b": b.id, "y": y.id},
        _walk(y, a, b),
        threads=cdiv(numel(y.shape), 4),
        constants={"function": function, "dtype": a.dtype},
    )


@kernel(ClampBy)
def clamp_by(op: ClampBy, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    integer = x.dtype == "int32"
    lowest, highest = (Const(struct.pack("<i" if integer else "<f", n)) for n in (_INT32 if integer else _UNBOUNDED))
    low = lowest if op.low is None else call[op.low]
    high = highest if op.high is None else call[op.high]
    yield Dispatch(
        "clamp_by_tensors",
        {"x": x.id, "low": _bound(low), "high": _bound(high), "y": y.id},
        _walk(y, x, low, high),
        threads=numel(y.shape),
        constants={"integer": integer},
    )


@kernel(Where, layout="plain")
def where(op: Where, call: Call) -> Iterator[Dispatch]:
    condition, a, b, y = call[op.condition], call[op.a], call[op.b], call.out
    item, count = ITEMSIZE[y.dtype], numel(y.shape)
    yield Dispatch(
        "where",
        {"condition": condition.id, "a": a.id, "b": b.id, "y": y.id},
        _walk(y, condition, a, b),
        threads=cdiv(count, 4) if item == 1 else count,
        constants={"item": item},
    )
