"""Linear layers of an x that the run quantizes, by every kernel that makes them; to the last bit of a sum of floats."""

import numpy as np
import pytest
from dynamic_layers import LAYERS
from webq8.kernels import select
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive


def check() -> set[str]:
    kernels = set[str]()
    for layer in LAYERS:
        with drive(compile_graphs({"forward": required(layer.graph())}, layer.id, "native")) as program:
            y = program.run(*layer.inputs())
            kernels |= {step.kernel for step in program._plans["forward"].steps}
        # a fused multiply-add does not round what the bias is added to
        np.testing.assert_allclose(y, layer.wanted(), rtol=1e-6, atol=1e-5, err_msg=layer.id)
    return kernels


def test_layers(kernels: str) -> None:
    by = {"software": {"linear_dynamic"}, "gpu": {"gemm_small_dynamic"}}
    assert check() - {"relayout"} == by[kernels] | {"linear_gemv_dynamic"}


# subgroup matrices are written in a language extension of Chromium's
@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("tile", [name for name in select.TILES if not name.startswith("matrix")])
def test_each_tile(monkeypatch: pytest.MonkeyPatch, tile: str) -> None:
    monkeypatch.setattr(select, "tile", lambda *_: select.TILES[tile])
    assert f"{select.TILES[tile].kernel}_dynamic" in check()
