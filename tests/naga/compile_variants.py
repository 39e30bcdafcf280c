"""Compiles variants with naga, by PyPI's wgpu on a Vulkan driver that computes on the CPU. Takes pickled variants from
stdin; prints a line of JSON for each, its error or null. A panic of naga ends this process.
"""

import json
import pickle
import sys

import wgpu
from webq8.kernels import wgsl


def cpu_device() -> wgpu.GPUDevice:
    adapters = wgpu.gpu.enumerate_adapters_sync()
    found = [a for a in adapters if (a.info["backend_type"], a.info["adapter_type"]) == ("Vulkan", "CPU")]
    if not found:
        sys.exit(f"there is no Vulkan driver that computes on the CPU, only {[a.summary for a in adapters]}")
    return found[0].request_device_sync()  # with WebGPU's default limits


def pipeline(device: wgpu.GPUDevice, name: str, constants, writable, packed_dot: bool) -> None:
    """As `webq8.backends.browser.gpu.Device` makes it."""
    kernel = wgsl.kernel(name)
    entries = [
        {
            "binding": b.index,
            "visibility": wgpu.ShaderStage.COMPUTE,
            "buffer": {"type": "storage" if b.name in writable else b.type},
        }
        for b in kernel.bindings
    ]
    layout = device.create_pipeline_layout(bind_group_layouts=[device.create_bind_group_layout(entries=entries)])
    module = device.create_shader_module(label=name, code=wgsl.module_source(name, packed_dot, writable))
    compute = {"module": module, "entry_point": "main", "constants": dict(constants)}
    device.create_compute_pipeline(label=name, layout=layout, compute=compute)


def main() -> None:
    device = cpu_device()
    for variant in pickle.load(sys.stdin.buffer):
        error = None
        try:
            pipeline(device, *variant)
        except wgpu.GPUError as e:
            error = str(e)
        print(json.dumps(error), flush=True)


if __name__ == "__main__":
    main()
