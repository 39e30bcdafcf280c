"""Ops that carry values from one step of a sequence to the next: a workgroup takes all steps."""

from array import array
from collections.abc import Iterator

from webq8.dtypes import cast, cdiv
from webq8.fixed_point import Multiplier
from webq8.ir.ops.recurrent import LstmInt8, SvdfInt8
from webq8.ir.plan import Const, Dispatch
from webq8.kernels.registry import Call, Operand, kernel

__all__: list[str] = []


def _rows(weights: Operand) -> bytes:
    """Rows of int8, each in whole words."""
    count = weights.shape[-1]
    padding = bytes(-count % 4)
    return b"".join(bytes(weights.data[at : at + count]) + padding for at in range(0, len(weights.data), count or 1))


def _pair(multiplier: Multiplier) -> dict[str, int]:
    """The struct Multiplier of wgsl/parts/fixed_point.wgsl."""
    return {"significand": multiplier.significand, "exponent": multiplier.exponent}


@kernel(LstmInt8, layout="rows")
def lstm(op: LstmInt8, call: Call) -> Iterator[Dispatch]:
    x, weights = call[op.x], call[op.weights]
    y, h, c = call.outs
    steps, batch = x.shape[:2] if op.time_major else x.shape[1::-1]
    cells, inputs = weights.shape[1:]
    numbers = array("i", [n for multiplier in op.multipliers for n in multiplier])
    yield Dispatch(
        "lstm_int8",
        {
            "x": x.id,
            "old_h": call[op.h].id,
            "old_c": call[op.c].id,
            "weights": Const(_rows(weights) + _rows(call[op.recurrent])),
            "numbers": Const(bytes(call[op.biases].data) + numbers.tobytes()),
            "y": y.id,
            "h": h.id,
            "c": c.id,
        },
        {
            "batch": batch,
            "steps": steps,
            "batch_stride": 1 if op.time_major else steps,
            "step_stride": batch if op.time_major else 1,
            "cells": cells,
            "input_words": cdiv(inputs, 4),
            "x_row": x.layout.padded // 4,
            "y_row": y.layout.padded // 4,
            "zero_point": op.zero_point,
            "cell_exponent": op.cell_exponent,
            "clip": op.clip or 2**15,
            "hidden": _pair(op.hidden),
        },
        threads=64,
        constants={"lanes": 64},
    )


@kernel(SvdfInt8, layout="rows")
def svdf(op: SvdfInt8, call: Call) -> Iterator[Dispatch]:
    x, time = call[op.x], call[op.time]
    y, state = call.outs
    filters, memory = time.shape
    yield Dispatch(
        "svdf_int8",
        {
            "x": x.id,
            "old": call[op.state].id,
            "feature": Const(_rows(call[op.feature])),
            "time": Const(array("i", cast(time.data, "int16")).tobytes() + bytes(call[op.bias].data)),
            "y": y.id,
            "state": state.id,
        },
        {
            "batch": x.shape[0],
            "filters": filters,
            "memory": memory,
            "rank": op.rank,
            "input_words": cdiv(x.shape[1], 4),
            "inputs": x.shape[1],
            "x_row": x.layout.padded // 4,
            "y_row": y.layout.padded // 4,
            "x_zero_point": op.x_zero_point,
            "y_zero_point": op.y_zero_point,
            "newest": _pair(op.newest),
            "sum": _pair(op.sum),
        },
        threads=64,
        constants={"lanes": 64},
    )
