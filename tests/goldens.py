"""Committed models with their inputs and with what they give: upstream's programs, and what `export/` made."""

import io
import json
import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parent / "data"
# their float32 results come from sums in float32, in another order than upstream's
_FLOAT_SUMS = ("linear_qcs4w", "linear_q8ta_q8csw")


@dataclass(frozen=True)
class Golden:
    """`rtol` and `atol` are 0 where the bytes are equal."""

    name: str
    pte: Path
    inputs: list[np.ndarray]
    output: np.ndarray
    output_index: int
    rtol: float
    atol: float

    def compare(self, got: np.ndarray, most: float = np.inf) -> None:
        """`most` bounds the tolerances, where a device is more precise than upstream's, which has 10⁻³."""
        assert (got.shape, got.dtype) == (self.output.shape, self.output.dtype)
        np.testing.assert_allclose(got, self.output, min(self.rtol, most), min(self.atol, most))


def array(folder: Path, spec: dict) -> np.ndarray:
    return np.fromfile(folder / spec["path"], spec["dtype"]).reshape(spec["shape"])


def _read(folder: Path, exact: bool) -> Iterator[Golden]:
    for row in json.loads((folder / "manifest.json").read_text()):
        golden = row["golden"]
        inputs = [array(folder, spec) for spec in row["inputs"]]
        close = (row["rtol"], row["atol"]) if not exact or row["op"] in _FLOAT_SUMS else (0.0, 0.0)
        yield Golden(
            row["pte"].removesuffix(".pte"),
            folder / row["pte"],
            inputs,
            array(folder, golden),
            golden["output_index"],
            *close,
        )


# float32 outputs of these are dequantized int8, so they too are equal to the byte
INT8_GOLDENS = [*_read(DATA / "goldens", exact=True)]
GLUE_GOLDENS = [g for folder in sorted((DATA / "goldens_glue").iterdir()) for g in _read(folder, exact=False)]


class Case(NamedTuple):
    """A file, or its bytes, with what consecutive runs are given and give."""

    name: str
    model: Path | bytes
    runs: list[list[np.ndarray]]
    wanted: list[list[np.ndarray]]


def _numbered(arrays: Mapping[str, np.ndarray], start: str) -> list[np.ndarray]:
    return [arrays[f"{start}{i}"] for i in range(sum(re.fullmatch(rf"{start}\d+", key) is not None for key in arrays))]


def op_cases(kind: str) -> list[Case]:
    """Files of an op or two of a kind, "tflite" or "onnx", as `export/tflite_ops.py` and `export/onnx_ops.py` pack them."""
    with np.load(io.BytesIO(lzma.decompress((DATA / f"{kind}_ops.npz.xz").read_bytes()))) as packed:
        arrays = dict(packed)
    names = [key.removesuffix(f".{kind}") for key in arrays if key.endswith(f".{kind}")]
    return [
        Case(n, arrays[f"{n}.{kind}"].tobytes(), [_numbered(arrays, f"{n}.in")], [_numbered(arrays, f"{n}.out")])
        for n in names
    ]


def network_cases(kind: str) -> list[Case]:
    """Whole networks of a kind; each row of their inputs is a run."""
    found = []
    for path in sorted((DATA / kind).glob(f"*.{kind}")):
        with np.load(path.with_suffix(".npz")) as arrays:
            runs, wanted = (list(map(list, zip(*(x[:, None] for x in _numbered(arrays, w)), strict=True))) for w in ("in", "out"))
        found.append(Case(path.stem, path, runs, wanted))
    return found
