"""Ops on int8 between a quantize and a dequantize, which their kernels do themselves: rows of the op table."""

from typing import Any

import numpy as np
from cases import CASES, Case
from oracle import expected
from webq8 import ops
from webq8.ir.graph import Graph
from webq8.kernels import select
from webq8.target import Target

__all__ = ["PRODUCTS", "ROWS", "arguments", "graph_of", "places", "quantizes_always", "run", "wanted"]

# By op: the places of its int8 operands, each with that of its scale, which its zero point follows; that of y's scale.
_PLACES: dict[str, tuple[list[tuple[int, int]], int]] = {
    **dict.fromkeys(("q8ta_linear", "q8ta_linear_gemv", "q8ta_conv2d", "q8ta_conv2d_pw"), ([(0, 1)], 6)),
    **dict.fromkeys(("q8ta_conv2d_dw", "q8ta_conv2d_transposed"), ([(0, 1)], 6)),
    "q8ta_add": ([(0, 2), (1, 4)], 6),
    "q8ta_relu": ([(0, 1)], 3),
    "mean_int8": ([(0, 1)], 5),
    "avg_pool2d_int8": ([(0, 1)], 9),
    "adaptive_avg_pool2d_int8": ([(0, 1)], 4),
}
ROWS = [case for case in CASES if case.op in _PLACES]
PRODUCTS = [case for case in ROWS if case.op.startswith(("q8ta_linear", "q8ta_conv2d")) and case.op != "q8ta_conv2d_dw"]


def places(case: Case) -> tuple[list[tuple[int, int]], int]:
    """Where the arguments of a row have its int8 operands and their scales, and y's scale."""
    return _PLACES[case.op]


def arguments(case: Case) -> list[Any]:
    """Those of a row, with float32 in place of int8: near what it stands for, some of it far away or no number."""
    args, rng = list(case.args()), np.random.default_rng(len(case.id))
    for at, scale_at in places(case)[0]:
        scale, zero_point = args[scale_at : scale_at + 2]
        near = args[at].astype(np.float32) - zero_point + rng.uniform(-0.6, 0.6, args[at].shape)
        x = np.asarray(near * scale, np.float32)
        x.ravel()[5::17] = np.resize(np.array([np.nan, np.inf, -np.inf], np.float32), x.ravel()[5::17].shape)
        args[at] = x
    return args


def wanted(case: Case) -> np.ndarray:
    """What the oracle computes, one step after the other."""
    args, (operands, y_at) = arguments(case), places(case)
    y_numbers = args[y_at : y_at + 2]
    for at, scale_at in operands:
        [args[at]] = expected("quantize_per_tensor", (args[at], *args[scale_at : scale_at + 2]))
    [y] = expected(case.op, tuple(args))
    return expected("dequantize_per_tensor", (y, *y_numbers))[0]


_QUANTIZES = select.quantizes


def quantizes_always(op: Any, reads: Any, y: Any, target: Target) -> bool:
    """In place of the rule of kernels/select.py: whatever it costs, where there is a kernel."""
    return _QUANTIZES(op, reads, y, target.replace(kind=target.kind.replace(quantized=2**62)))


async def run(op, args, operands, y_at):
    """In a page."""
    import webq8

    given = list(args)
    for at, scale_at in operands:
        given[at] = webq8.ops.quantize_per_tensor(args[at], *args[scale_at : scale_at + 2])
    y = getattr(webq8.ops, op)(*given)
    return await webq8.ops.dequantize_per_tensor(y, *args[y_at : y_at + 2]).buffer()


def graph_of(case: Case) -> tuple[Graph, list[np.ndarray]]:
    """The three or four steps, and their inputs."""
    args, (operands, y_at) = arguments(case), places(case)
    given = list(args)
    for at, scale_at in operands:
        given[at] = ops.quantize_per_tensor(args[at], *args[scale_at : scale_at + 2])
    y = ops.dequantize_per_tensor(getattr(ops, case.op)(*given), *args[y_at : y_at + 2])
    recording = ops._Recording()
    out = recording.visit(y)
    inputs = [np.frombuffer(leaf._data or b"", np.float32).reshape(leaf.shape) for leaf in recording.leaves]
    return recording.graph(out), inputs
