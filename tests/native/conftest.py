"""The desktop's GPU, which here is lavapipe, whatever else the machine has."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import machine
import pytest
from webq8 import ops
from webq8.backends import native
from webq8.backends.wgpu_device import WgpuDevice
from webq8.stages import drive
from webq8.target import GPU, SOFTWARE


@pytest.fixture(scope="session")
def device() -> Iterator[WgpuDevice]:
    with patch.dict(os.environ, machine.environment(machine.need("lavapipe")), clear=True):
        found = drive(native.backend.device())
    assert "llvmpipe" in str(found.adapter)
    yield found
    ops.close()
    gc.collect()  # results of a call know it and it knows them, so they go together
    live = native.backend.live()
    assert (live["buffers"], live["bytes"]) == (0, 0)


@contextmanager
def planned_for(device: WgpuDevice, *, software: bool, packed_dot: bool) -> Iterator[None]:
    """Plans as for a device of a kind, whose kernels run here."""
    before = device.target
    assert before.kind is SOFTWARE
    device.target = before.replace(kind=SOFTWARE if software else GPU, packed_dot=packed_dot)
    ops.close()
    yield
    device.target = before
    ops.close()


@pytest.fixture
def gpu_kernels(device: WgpuDevice) -> Iterator[None]:
    with planned_for(device, software=False, packed_dot=True):
        yield


@pytest.fixture
def plain_dot(device: WgpuDevice) -> Iterator[None]:
    with planned_for(device, software=False, packed_dot=False):
        yield


@pytest.fixture(params=["software", "gpu"])
def kernels(request: pytest.FixtureRequest, device: WgpuDevice) -> Iterator[str]:
    """The kernels that a software adapter gets, and those that a GPU gets."""
    software = request.param == "software"
    with planned_for(device, software=software, packed_dot=not software):
        yield str(request.param)
