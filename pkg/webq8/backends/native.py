"""The GPU of this machine, on the desktop: WebGPU by PyPI's wgpu, whose WGSL compiler is naga, as Firefox's is.

It runs on Vulkan, Metal and DirectX 12; where there is no GPU, on Mesa's lavapipe, which computes on the CPU.
"""

import os
from typing import Any

from webq8.backends.wgpu_device import LIMITS, Counts, WgpuBackend, WgpuDevice
from webq8.errors import NoAdapter
from webq8.target import Adapter

__all__ = ["backend"]

_BACKENDS = ("Vulkan", "Metal", "DX12")  # looking for OpenGL's takes longer than a small model, and prints complaints
_FLAGS = ("Default", "AutomaticTimestampNormalization")  # to nanoseconds


def _request(counts: Counts) -> WgpuDevice:
    """This machine's device. Raises NoAdapter where wgpu is not installed, or finds no driver."""
    try:
        import wgpu
        from wgpu.backends.wgpu_native.extras import set_instance_extras
    except (ImportError, OSError) as e:
        raise NoAdapter(
            f'device="native" needs the package wgpu, which cannot be imported ({e}): pip install "webq8[native]"'
        ) from None
    if "XDG_RUNTIME_DIR" not in os.environ:  # no desktop: Mesa's layer that asks it for its GPU prints complaints
        os.environ.setdefault("NODEVICE_SELECT", "1")
    wanted = ["timestamp-query"]
    try:
        set_instance_extras(backends=_BACKENDS, flags=_FLAGS)
    except RuntimeError:  # others have used wgpu in this process before, and have chosen
        wanted = []  # of timestamps, whose unit may be any then
    errors = wgpu.GPUError, RuntimeError, ValueError
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        features = [name for name in wanted if name in adapter.features]
        limits = {name: adapter.limits[name] for name in LIMITS.values()}
        raw = adapter.request_device_sync(required_features=features, required_limits=limits)
    except errors as e:
        raise NoAdapter(
            f"wgpu finds no GPU here ({_one_line(e)}): install the GPU's Vulkan driver, or to compute on the CPU "
            "Mesa's lavapipe (on Debian and Ubuntu: apt-get install mesa-vulkan-drivers)"
        ) from None
    return WgpuDevice(raw, _adapter_of(adapter.info), counts, errors)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _adapter_of(info: Any) -> Adapter:
    """The adapter that a GPUAdapterInfo of wgpu describes."""
    names = {name: info[name] for name in ("vendor", "architecture", "device", "description")}
    return Adapter(**names, fallback=info["adapter_type"] == "CPU")


backend = WgpuBackend(_request)
