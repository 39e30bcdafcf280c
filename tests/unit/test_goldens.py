"""Every committed program that has results, by `device="cpu"`: single ops and whole networks."""

import json
from pathlib import Path

import numpy as np
import pytest
from cpu import program_on_cpu
from goldens import DATA, GLUE_GOLDENS, INT8_GOLDENS, Golden, array

MODELS = json.loads((DATA / "models" / "manifest.json").read_text())
WEB = DATA.parents[1] / "web" / "models"
DIGITS = np.load(WEB / "digits.npz")["images"].astype(np.float32) / 16
OF_DIGITS = np.load(DATA / "digits_golden.npz")
SOME = 20


def run_each(pte: Path, inputs: np.ndarray) -> np.ndarray:
    """Outputs of inputs of one row each."""
    data = pte.read_bytes()
    return np.concatenate([program_on_cpu(data, [inputs[i : i + 1]])[0] for i in range(len(inputs))])


def compare_quanta(got: np.ndarray, want: np.ndarray, share: float = 0.999, most: float = 1.5) -> None:
    """torch multiplies in float32, so a tie may be rounded the other way, in a layer or in several."""
    quanta = np.abs(got - want) / np.diff(np.unique(want)).min()
    assert (quanta < 0.5).mean() >= share
    assert quanta.max() < most


@pytest.mark.parametrize("golden", INT8_GOLDENS + GLUE_GOLDENS, ids=lambda golden: golden.name)
def test_golden(golden: Golden) -> None:
    golden.compare(program_on_cpu(golden.pte.read_bytes(), golden.inputs)[golden.output_index], most=2e-6)


def test_all_of_them_are_there() -> None:
    found = [golden.pte for golden in INT8_GOLDENS + GLUE_GOLDENS]
    assert len(found) == 54 + 460
    assert set(found) == {*(DATA / "goldens").glob("*.pte"), *(DATA / "goldens_glue").glob("*/*.pte")}


@pytest.mark.parametrize("name", MODELS)
def test_model(name: str) -> None:
    folder, spec = DATA / "models", MODELS[name]
    got = program_on_cpu((folder / f"{name}.pte").read_bytes(), [array(folder, spec["inputs"][0])])[0]
    compare_quanta(got, array(folder, spec["output"]))


@pytest.mark.parametrize("name", ["cnn", "superres", "unet"])
def test_network(name: str) -> None:
    with np.load(DATA / "networks" / f"{name}.npz") as golden:
        inputs, want = golden["in0"][:SOME], golden["out0"][:SOME]
    compare_quanta(run_each(DATA / "networks" / f"{name}.pte", inputs), want, share=0.95, most=2.5)


def test_classifier() -> None:
    rows = DIGITS[:SOME].reshape(SOME, 1, 64)
    got = np.concatenate([program_on_cpu((WEB / "classifier.pte").read_bytes(), [row])[0] for row in rows])
    np.testing.assert_array_equal(got, OF_DIGITS["logits"][:SOME])


def test_upscaler() -> None:
    got = run_each(WEB / "upscaler.pte", DIGITS[:SOME, None])
    compare_quanta(got, OF_DIGITS["upscaled"][:SOME], most=2.5)
