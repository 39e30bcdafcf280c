"""Committed programs with their inputs and with what they give: upstream's, and those that `export/` made alike."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
