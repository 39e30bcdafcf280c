"""Pools of maps, int8 or float32."""

from collections.abc import Iterator

from webq8.dtypes import numel
from webq8.ir.ops.pool import AdaptiveAvgPool2d, AvgPool2d, MaxPool2d, MaxPool2dIndices
from webq8.ir.plan import Dispatch, Param
from webq8.kernels.average import Means, adaptive_spans, mean_int8, pool_int8, pool_spans
from webq8.kernels.reduce import mean_float
from webq8.kernels.registry import Call, kernel
from webq8.kernels.windows import maps_params, window_params

__all__: list[str] = []


@kernel(MaxPool2d, layout="channels")
def max_pool2d(op: MaxPool2d, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    if x.dtype == "float32":
        yield _max_pool2d_float(op, call, index=False)
        return
    params: dict[str, Param] = {
        "words": y.layout.words,
        "channel_words": y.layout.padded // 4,
        "maps": maps_params(x.shape, y.shape),
        "window": window_params(*op.window),
    }
    yield Dispatch("max_pool2d_int8", {"x": x.id, "y": y.id}, params, threads=y.layout.words)


@kernel(MaxPool2dIndices)
def max_pool2d_indices(op: MaxPool2dIndices, call: Call) -> Iterator[Dispatch]:
    yield _max_pool2d_float(op, call, index=True)


def _max_pool2d_float(op: MaxPool2d | MaxPool2dIndices, call: Call, index: bool) -> Dispatch:
    x, y = call[op.x], call.out
    results = numel(y.shape)
    params: dict[str, Param] = {
        "results": results,
        "maps": maps_params(x.shape, y.shape),
        "window": window_params(*op.window),
    }
    return Dispatch("max_pool2d", {"x": x.id, "y": y.id}, params, results, {"index": index, "wide": y.dtype == "int64"})


@kernel(AvgPool2d, layout="channels")
def avg_pool2d(op: AvgPool2d, call: Call) -> Iterator[Dispatch]:
    x, y = call[op.x], call.out
    if x.dtype == "int8":
        rows, columns = (pool_spans(op.window, n, x.shape[2 + n], y.shape[2 + n], op.count_include_pad) for n in (0, 1))
        yield pool_int8(Means(x, y, op.table, op.bounds, op.through, dict(op.steps)), rows, columns, op.divisor)
        return
    results = numel(y.shape)
    params: dict[str, Param] = {
        "results": results,
        "divisor": op.divisor or 0,
        "maps": maps_params(x.shape, y.shape),
        "window": window_params(*op.window),
    }
    constants = {"count_include_pad": op.count_include_pad}
    yield Dispatch("avg_pool2d", {"x": x.id, "y": y.id}, params, results, constants)


@kernel(AdaptiveAvgPool2d, layout="channels")
def adaptive_avg_pool2d(op: AdaptiveAvgPool2d, call: Call) -> Iterator[Dispatch]:
    """One window for the whole map is a mean over two axes."""
    x, y = call[op.x], call.out
    whole = (len(x.shape) - 2, len(x.shape) - 1) if op.size == (1, 1) else None
    if x.dtype == "int8":
        means = Means(x, y, op.table, op.bounds, op.through)
        if whole:
            yield mean_int8(means, whole)
            return
        rows, columns = (adaptive_spans(x.shape[2 + n], op.size[n]) for n in (0, 1))
        yield pool_int8(means, rows, columns)
        return
    if whole:
        yield mean_float(x, y, whole)
        return
    results = numel(y.shape)
    params: dict[str, Param] = {"results": results, "maps": maps_params(x.shape, y.shape)}
    yield Dispatch("adaptive_avg_pool2d", {"x": x.id, "y": y.id}, params, results)
