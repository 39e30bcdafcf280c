"""Every kernel variant compiles with naga, the compiler of Firefox and of wgpu, on Mesa's lavapipe.

`gemm_matrix` and `gemm_matrix_64` are left out: they are written in a language extension of Chromium's.
"""

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import machine
import pytest
from variants import Variant, planned
from webq8.kernels import wgsl

CHILD = Path(__file__).with_name("compile_variants.py")
KERNELS = [name for name in wgsl.kernel_names() if not name.startswith("gemm_matrix")]


def compile_all(variants: Sequence[Variant]) -> dict[Variant, str | None]:
    """What naga says of each: null, or an error. Where it ends its process, that goes on with the next in a new one."""
    said: dict[Variant, str | None] = {}
    environment = machine.environment(machine.need("lavapipe"))
    while rest := variants[len(said) :]:
        child = subprocess.run(
            [sys.executable, str(CHILD)],
            input=pickle.dumps([tuple(v) for v in rest]),
            env=environment,
            capture_output=True,
            check=False,
        )
        said |= zip(rest, map(json.loads, child.stdout.splitlines()), strict=False)
        if child.returncode > 0:
            raise RuntimeError(child.stderr.decode())
        if child.returncode < 0:
            said[variants[len(said)]] = f"ended by signal {-child.returncode}: {child.stderr.decode()[-2000:]}"
    return said


@pytest.fixture(scope="module")
def said() -> dict[Variant, str | None]:
    return compile_all(sorted(planned(), key=repr))


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(said: dict[Variant, str | None], name: str) -> None:
    own = {variant: error for variant, error in said.items() if variant.kernel == name}
    assert own, f"no plan has {name}"
    failed = [f"{variant}: {error}" for variant, error in own.items() if error]
    assert not failed, "\n\n".join(failed)
