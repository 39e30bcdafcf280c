"""Files on the GPU of the desktop: upstream's goldens, the networks, and each way of the container."""

from pathlib import Path

import networks
import numpy as np
import pytest
import webq8
from browser import test_goldens as goldens
from browser import test_goldens_glue as glue
from browser.test_program import CONSTANT, CONTAINERS, INPUTS
from webq8.backends import native
from webq8.stages import drive

DATA = Path(__file__).parents[1] / "data"
MODELS = Path(__file__).parents[2] / "web" / "models"

pytestmark = pytest.mark.usefixtures("kernels")


def load(path: Path, device: str = "native", **options: object) -> webq8.Program:
    return drive(webq8.load(path, device=device, **options))


@pytest.mark.parametrize("row", goldens.ROWS, ids=lambda row: row["pte"].removesuffix(".pte"))
def test_golden(row: dict) -> None:
    folder = DATA / "goldens"
    before = native.backend.live()
    with load(folder / row["pte"]) as program:
        got = program.run(*(goldens.array(folder, spec) for spec in row["inputs"]))
    golden, after = goldens.array(folder, row["golden"]), native.backend.live()
    if row["op"] in goldens.FLOAT_SUMS:
        np.testing.assert_allclose(got, golden, row["rtol"], row["atol"])
    else:
        np.testing.assert_array_equal(got, golden)
    assert after == before | {"submits": before["submits"] + 1}


@pytest.mark.parametrize(("folder", "row"), glue.ROWS, ids=[f"{row['op']}-{row['case']}" for _, row in glue.ROWS])
def test_golden_glue(folder: Path, row: dict) -> None:
    with load(folder / row["pte"]) as program:
        got = program.run(*(glue.array(folder, spec) for spec in row["inputs"]))
    got = got[row["golden"]["output_index"]] if isinstance(got, tuple) else got
    want = glue.array(folder, row["golden"])
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, row["rtol"], row["atol"])


@pytest.mark.parametrize("name", ["cnn", "superres", "unet", "mobilenet_v2", "resnet18"])
@pytest.mark.parametrize("optimizations", [None, ()], ids=["rewritten", "as it is"])
def test_network(name: str, optimizations: tuple[str, ...] | None) -> None:
    large = name in ("mobilenet_v2", "resnet18")
    folder = networks.large_networks() if large else DATA / "networks"
    inputs = np.load(folder / f"{name}.npz")["in0"][: 1 if large else 3]
    reference = load(folder / f"{name}.pte", "cpu")
    with load(folder / f"{name}.pte", optimizations=optimizations) as program:
        for i in range(len(inputs)):
            np.testing.assert_array_equal(program.run(inputs[i : i + 1]), reference.run(inputs[i : i + 1]))


@pytest.mark.parametrize(
    ("name", "method"), [("classifier", "forward"), ("classifier", "batch"), ("upscaler", "forward")]
)
def test_digits(name: str, method: str) -> None:
    images = (np.load(MODELS / "digits.npz")["images"] / 16).astype(np.float32)
    with load(MODELS / f"{name}.pte") as program:
        shape = program.methods[method].inputs[0].shape
        batches = images.reshape(-1, *shape)[:8]
        reference = load(MODELS / f"{name}.pte", "cpu")
        for x in batches:
            np.testing.assert_array_equal(program.run(x, method=method), reference.run(x, method=method))


@pytest.mark.parametrize("name", ["methods", "passed_on", "narrowed", "channels_last", "transposed", "valid"])
def test_ways_of_the_container(name: str) -> None:
    path = CONTAINERS / f"{name}.pte"
    inputs = INPUTS.get(name) or (np.load(path.with_suffix(".npz"))["in0"],)
    reference = load(path, "cpu")
    with load(path) as program:
        for given, methods in ((inputs, ("forward",)), ((), CONSTANT if name == "methods" else ())):
            for method in methods:
                got, want = program.run(*given, method=method), reference.run(*given, method=method)
                for g, w in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, want)), strict=True):
                    assert type(g) is type(w)
                    if isinstance(g, np.ndarray):
                        np.testing.assert_allclose(g, w, 1e-6, 1e-6, strict=True)
                    else:
                        assert g == w
