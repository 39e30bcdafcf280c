"""Normalizations of float32 tensors."""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from webq8.dtypes import numel
from webq8.ir.ops.norm import BatchNorm, BatchNormOfItself, GroupNorm, LayerNorm, RMSNorm
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import MaybeRef, f32
from webq8.kernels.lanes import lanes_for, shared_threads
from webq8.kernels.registry import Call, kernel

__all__: list[str] = []


def _affine(call: Call, weight: MaybeRef, bias: MaybeRef) -> tuple[dict[str, int | Const], dict[str, Param]]:
    """Bindings of weight and bias, and their strides as params: where an op has none, one element stands for all."""
    return (
        {
            "weight": Const(struct.pack("<f", 1.0)) if weight is None else call[weight].id,
            "bias": Const(struct.pack("<f", 0.0)) if bias is None else call[bias].id,
        },
        {"weight_stride": int(weight is not None), "bias_stride": int(bias is not None)},
    )


class _Rows(NamedTuple):
    """The rows of a normalization, each of `size` elements that are normalized together. `inner` neighbours share a
    weight, and after `groups` rows the weights begin again. A row lies in `runs` pieces, between
    those of the other rows."""

    rows: int
    size: int
    groups: int = 1
    inner: int = 1
    runs: int = 1


# what a dispatch writes, by the names in wgsl/normalize.wgsl
_CENTERED = ("ROWS", "MEANS", "INVERSE_DEVIATIONS")
_UNCENTERED = ("ROWS", "INVERSE_DEVIATIONS")


def _normalize(
    op: LayerNorm | RMSNorm | GroupNorm | BatchNormOfItself,
    call: Call,
    rows: _Rows,
    bias: MaybeRef,
    results: Sequence[str] = _CENTERED,
) -> Iterator[Dispatch]:
    """A dispatch for each result: x less its mean, over its standard deviation, or x over its root mean square; the
    means; and the inverses of these deviations."""
    x = call[op.x]
    bind, strides = _affine(call, op.weight, bias)
    params: dict[str, Param] = {
        "rows": rows.rows,
        "count": rows.size,
        "groups": rows.groups,
        "inner": max(rows.inner, 1),
        "run": max(rows.size // rows.runs, 1),
        **strides,
        "eps": f32(op.eps),
    }
    lanes = lanes_for(rows.size, rows.rows, contiguous=True)
    for out, result in zip(call.outs, results, strict=True):
        yield Dispatch(
            "normalize",
            {"x": x.id, **bind, "y": out.id},
            params,
            # no rows of nothing need to be written
            shared_threads(rows.rows, lanes) if numel(out.shape) else 0,
            {"lanes": lanes, "result": result, "centered": results is _CENTERED, "in_runs": rows.runs > 1},
        )


@kernel(LayerNorm)
def layer_norm(op: LayerNorm, call: Call) -> Iterator[Dispatch]:
    shape = call[op.x].shape
    lead = len(shape) - op.rank
    yield from _normalize(op, call, _Rows(numel(shape[:lead]), numel(shape[lead:])), op.bias)


@kernel(RMSNorm)
def rms_norm(op: RMSNorm, call: Call) -> Iterator[Dispatch]:
    shape = call[op.x].shape
    lead = len(shape) - op.rank
    yield from _normalize(op, call, _Rows(numel(shape[:lead]), numel(shape[lead:])), None, _UNCENTERED)


@kernel(GroupNorm)
def group_norm(op: GroupNorm, call: Call) -> Iterator[Dispatch]:
    batch, channels, *rest = call[op.x].shape
    inner = numel(tuple(rest))
    rows = _Rows(batch * op.groups, channels // op.groups * inner, op.groups, inner)
    yield from _normalize(op, call, rows, op.bias)


@kernel(BatchNorm)
def batch_norm(op: BatchNorm, call: Call) -> Iterator[Dispatch]:
    x = call[op.x]
    bind, strides = _affine(call, op.weight, op.bias)
    results, channels, inner = numel(x.shape), x.shape[1], numel(x.shape[2:])
    yield Dispatch(
        "batch_norm",
        {"x": x.id, **bind, "mean": call[op.mean].id, "variance": call[op.variance].id, "y": call.out.id},
        {"results": results, "channels": channels, "inner": inner, "eps": f32(op.eps), **strides},
        results,
    )


@kernel(BatchNormOfItself)
def batch_norm_of_itself(op: BatchNormOfItself, call: Call) -> Iterator[Dispatch]:
    """A row is a channel: a run in each map of the batch."""
    shape = call[op.x].shape
    channels = shape[1]
    count = numel(shape) // channels if channels else 0
    rows = _Rows(channels, count, max(channels, 1), count, runs=max(shape[0], 1))
    yield from _normalize(op, call, rows, op.bias)
