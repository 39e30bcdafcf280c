"""Committed TFLite and ONNX files, with what ai-edge-litert and onnxruntime make of them, and how near results must be.

Integers are equal, and floats as near as another order of their sums leaves them, but for what `ALLOWED` lists.
"""

import io
import lzma
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from goldens import DATA
from wakewords import wakewords
from webq8 import Program

KINDS = ("tflite", "onnx")


class Case(NamedTuple):
    """A file, or its bytes, with what consecutive runs are given and give; `right` has labels or masks of a network."""

    name: str
    model: Path | bytes
    runs: list[list[np.ndarray]]
    wanted: list[list[np.ndarray]]
    shapes: Mapping[str, int] = {}
    right: np.ndarray | None = None


class Allowed(NamedTuple):
    """How many of the values are equal at least, and by how many quanta others are off at most."""

    equal: float
    quanta: float


ALLOWED = {
    "int16_conv_2d": Allowed(0.9, 1),  # int16 is computed in float32
    # onnxruntime computes these in float32: sums of integers, scaled once, differ where a result lies on a tie
    "qlinear_add": Allowed(0.93, 1),
    "qlinear_add_s8": Allowed(0.96, 1),
    "qlinear_mul": Allowed(0.98, 1),
    "qdq_resize_linear": Allowed(0.98, 1),
    "cnn_qop_u8u8": Allowed(0.99, 1),
    "cnn_qdq_s8s8": Allowed(0.85, 1),
    "cnn_qdq_u8s8_pc": Allowed(0.95, 1),
    "unet_qdq_s8s8_pc": Allowed(0.95, 16),  # a quantum before the sigmoid is several after it
}
# floats whose terms cancel, or that are quantized on the way, as a share of the largest
NEAR = {
    "gelu": 1e-5,
    "resize_cubic": 1e-5,
    "transformer_dynamic_u8": 1e-4,
    "transformer_dynamic_s8": 2e-3,
    "transformer_dynamic": 3e-4,
    "cnn_dynamic": 2e-3,
}


def op_cases(kind: str) -> list[Case]:
    """Files of an op or two, as scripts of `export/` pack them."""
    found = []
    for path in sorted(DATA.glob(f"{kind}_*.npz.xz")):
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as packed:
            arrays = dict(packed)
        for name in (key.removesuffix(f".{kind}") for key in arrays if key.endswith(f".{kind}")):
            runs, wanted = ([_numbered(arrays, f"{name}.{which}")] for which in ("in", "out"))
            if f"{name}.runs" in arrays:
                runs, wanted = ([[*run] for run in zip(*stacked, strict=True)] for (stacked,) in (runs, wanted))
            found.append(Case(name, arrays[f"{name}.{kind}"].tobytes(), runs, wanted))
    return found


def network_cases(kind: str, most: int | None = None) -> list[Case]:
    """Whole networks; each row of their inputs is a run. `most` leaves out later rows."""
    found = []
    for path in sorted((DATA / kind).glob(f"*.{kind}")):
        with np.load(path.with_suffix(".npz")) as arrays:
            runs, wanted = ([*zip(*(x[:most, None] for x in _numbered(arrays, w)), strict=True)] for w in ("in", "out"))
            shapes = {"batch": 1} if kind == "onnx" and path.stem.startswith("cnn") else {}
            found.append(Case(path.stem, path, runs, wanted, shapes, arrays["right"][:most]))
    return found


def wakeword_cases() -> list[Case]:
    """The streaming models of pymicro-wakeword over their frames."""
    folder = wakewords()
    with np.load(DATA / "wakewords.npz") as arrays:
        return [
            Case(
                name,
                folder / f"{name}.tflite",
                *([[x[None]] for x in arrays[f"{name}.{which}"]] for which in ("in0", "out0")),
            )
            for name in sorted(key.removesuffix(".in0") for key in arrays if key.endswith(".in0"))
        ]


def _numbered(arrays: Mapping[str, np.ndarray], start: str) -> list[np.ndarray]:
    return [arrays[f"{start}{i}"] for i in range(sum(re.fullmatch(rf"{start}\d+", key) is not None for key in arrays))]


def outputs_of(program: Program, case: Case) -> list[list[np.ndarray]]:
    """What consecutive runs give. Inputs that a case lacks are what the run before gave, zeros at first."""
    inputs, found = (
        program.methods["forward" if "forward" in program.methods else next(iter(program.methods))].inputs,
        [],
    )
    kept = [np.zeros(spec.shape, spec.dtype) for spec in inputs[len(case.runs[0]) :]]
    for run in case.runs:
        got = program.run(*run, *kept)
        given = [*got] if isinstance(got, tuple) else [got]
        given, kept = given[: len(given) - len(kept)], given[len(given) - len(kept) :]
        found.append(given)
    return found


def check(case: Case, got: Iterable[list[np.ndarray]]) -> None:
    for output, wanted in zip(zip(*got, strict=True), zip(*case.wanted, strict=True), strict=True):
        compare(case.name, np.stack(output), np.stack(wanted))


def compare(name: str, got: np.ndarray, wanted: np.ndarray) -> None:
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    if name in ALLOWED:
        quantum = np.diff(np.unique(wanted)).min() if wanted.dtype.kind == "f" else 1
        off = np.abs(got.astype(np.float64) - wanted) / quantum
        assert (off < 0.5).mean() >= ALLOWED[name].equal
        assert off.max() < ALLOWED[name].quanta + 0.5
    elif wanted.dtype.kind == "f":
        np.testing.assert_allclose(got, wanted, 1e-5, NEAR.get(name, 1e-6) * np.abs(wanted).max(initial=1))
    else:
        np.testing.assert_array_equal(got, wanted)


def answers(case: Case, outputs: Iterable[list[np.ndarray]]) -> np.ndarray:
    """What a network says: a class for each input, a mask, or a class once all rows of a digit were given."""
    first = np.stack([run[0][0] for run in outputs])
    if case.name.startswith("unet"):
        return first.reshape(case.right.shape) > (0 if first.dtype == np.int8 else 0.5)
    every = len(case.runs) // len(case.right)
    return first[every - 1 :: every].argmax(1)
