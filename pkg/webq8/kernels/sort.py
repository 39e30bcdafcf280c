"""The largest or smallest elements in order."""

from collections.abc import Iterator

from webq8.dtypes import numel
from webq8.ir.ops.sort import TopK
from webq8.ir.plan import Dispatch
from webq8.kernels.registry import Call, kernel

__all__: list[str] = []


@kernel(TopK)
def top_k(op: TopK, call: Call) -> Iterator[Dispatch]:
    """Each element finds its place in its row, and those that have one in a result go there."""
    x = call[op.x]
    size, inner = (x.shape[op.axis], numel(x.shape[op.axis + 1 :])) if x.shape else (1, 1)
    count = numel(x.shape)
    for index, y in enumerate(call.outs):
        yield Dispatch(
            "order",
            {"x": x.id, "y": y.id},
            {"count": count, "size": size, "inner": inner, "kept": op.k},
            threads=count,
            constants={
                "integer": x.dtype == "int32",
                "descending": op.largest,
                "index": bool(index),
                "wide": y.dtype == "int64",
            },
        )
