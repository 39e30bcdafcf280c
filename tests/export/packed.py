"""Many small files and arrays in one compressed file, which finds what they have in common."""

import io
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np


def add_row(
    arrays: dict[str, np.ndarray],
    name: str,
    kind: str,
    file: bytes,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
) -> None:
    """Adds NAME.KIND, NAME.in0, … and NAME.out0, …, and prints what they are."""
    arrays[f"{name}.{kind}"] = np.frombuffer(file, np.uint8)
    for which, values in (("in", inputs), ("out", outputs)):
        arrays |= {f"{name}.{which}{i}": np.asarray(x) for i, x in enumerate(values)}
    print(name, len(file), *(f"{y.dtype}{list(y.shape)}" for y in map(np.asarray, outputs)), flush=True)


def pack(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    plain = io.BytesIO()
    np.savez(plain, **arrays)
    path.write_bytes(lzma.compress(plain.getvalue(), preset=9))
