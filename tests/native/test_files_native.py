"""Files on the GPU of the desktop: upstream's goldens, the networks, and each way of the container."""

from pathlib import Path

import networks
import numpy as np
import pytest
import webq8
from browser.test_program import CONSTANT, CONTAINERS, INPUTS
from goldens import DATA, GLUE_GOLDENS, INT8_GOLDENS, Golden
from webq8.backends import native
from webq8.stages import drive

MODELS = Path(__file__).parents[2] / "web" / "models"

pytestmark = pytest.mark.usefixtures("kernels")


def load(path: Path, device: str = "native", **options: object) -> webq8.Program:
    return drive(webq8.load(path, device=device, **options))


@pytest.mark.parametrize("golden", [*INT8_GOLDENS, *GLUE_GOLDENS], ids=lambda golden: golden.name)
def test_golden(golden: Golden) -> None:
    before = native.backend.live()
    with load(golden.pte) as program:
        got = program.run(*golden.inputs)
    golden.compare(got[golden.output_index] if isinstance(got, tuple) else got)
    assert native.backend.live() == before | {"submits": before["submits"] + 1}


@pytest.mark.parametrize("name", ["cnn", "superres", "unet", "mobilenet_v2", "resnet18"])
@pytest.mark.parametrize("optimizations", [None, ()], ids=["optimized", "as it is"])
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
