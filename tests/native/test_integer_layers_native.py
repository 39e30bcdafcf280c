"""Biases of integers and weights with zero points by every kernel, for both classes of devices and by each tile."""

import numpy as np
import pytest
from integer_layers import LAYERS, Layer
from webq8.kernels import select
from webq8.passes import required
from webq8.runtime.load import compile_graphs
from webq8.stages import drive


def check(layers: list[Layer]) -> None:
    failed = []
    for layer in layers:
        with drive(compile_graphs({"forward": required(layer.graph())}, layer.id, "native")) as program:
            got = program.run(layer.x())
        if not np.array_equal(got, layer.wanted()):
            failed.append(layer.id)
    assert not failed


@pytest.mark.usefixtures("kernels")
def test_layers() -> None:
    check(LAYERS)


# subgroup matrices are written in a language extension of Chromium's
@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("tile", [name for name in select.TILES if not name.startswith("matrix")])
def test_products_by_each_tile(monkeypatch: pytest.MonkeyPatch, tile: str) -> None:
    monkeypatch.setattr(select, "tile", lambda *_: select.TILES[tile])
    check([layer for layer in LAYERS if layer.zero_points == "none" and layer.case.op != "q8ta_conv2d_dw"])
