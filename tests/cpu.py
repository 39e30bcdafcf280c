"""Ops and programs by `device="cpu"`."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import webq8


def op_on_cpu(op: str, args: Sequence[Any]) -> list[np.ndarray]:
    """All results of an op of `webq8.ops`."""

    async def run() -> list[np.ndarray]:
        result = getattr(webq8.ops, op)(*args)
        return [await y.numpy("cpu") for y in (result if isinstance(result, tuple) else (result,))]

    return asyncio.run(run())


def program_on_cpu(data: bytes, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """All outputs of a model's method "forward"."""

    async def run() -> list[np.ndarray]:
        with await webq8.load(data, device="cpu") as program:
            outputs = await program(*inputs)
        return list(outputs) if isinstance(outputs, tuple | list) else [outputs]

    return asyncio.run(run())
