"""The ceilings that kernels are held against, measured on the device at hand."""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from webq8.dtypes import cdiv
from webq8.ir.plan import Param, Plan, ProgramPlan, Slot, Step
from webq8.kernels import wgsl
from webq8.plan.planner import fold_grid
from webq8.runtime.profiling import Ceilings

if TYPE_CHECKING:
    from webq8.backends.gpu_program import Gpu

__all__ = ["measure_ceilings"]

_ROUNDS = 64
_ROUND_OPERATIONS = 64 * 8  # wgsl/ceiling_dot4.wgsl: 64 dot products of 4 pairs a round, 2 operations a pair
_measured: "WeakKeyDictionary[Gpu, Ceilings]" = WeakKeyDictionary()


async def measure_ceilings(device: "Gpu") -> Ceilings:
    """What the device reaches with packed dot products in registers, and with a copy. Leaves a GPU warmed up.

    Measured once a device (a second, about); later calls only warm up.
    """
    kind = device.target.kind
    dot4_ms = await _time(device, "ceiling_dot4", {"rounds": _ROUNDS}, kind.product_threads, 1024, kind.warm_up_ms)
    if device not in _measured:
        size = min(kind.copied_bytes, device.target.max_storage_buffer_binding_size // 16 * 16)
        copy_ms = await _time(device, "ceiling_copy", {"words": size // 16}, size // 16, size)
        operations = kind.product_threads * _ROUNDS * _ROUND_OPERATIONS
        _measured[device] = Ceilings(operations / dot4_ms * 1e-9, 2 * size / copy_ms * 1e-6)
    return _measured[device]


async def _time(
    device: "Gpu", name: str, params: dict[str, Param], threads: int, size: int, warm_up: float = 0
) -> float:
    """Milliseconds of a kernel that reads x and writes y, `size` bytes each."""
    kernel, packed = wgsl.kernel(name), wgsl.pack_params(wgsl.kernel(name), params)
    slots = Slot(0, 0, size), Slot(1, 0, size), Slot(-1, 0, len(packed))
    limit = device.target.max_compute_workgroups_per_dimension
    grid = fold_grid(cdiv(threads, kernel.workgroup_size), limit)
    step = Step(name, slots, (), (), grid, name, operations=0, nbytes=0)
    plan = Plan((size, size), ("x", "y"), (step,), (1,), (), (), 2 * size, 2 * size, relayouts=0)
    loaded = await device.load(ProgramPlan({name: plan}, (packed,), ("params",)), lambda *_: None)
    try:
        return await loaded.device_ms(name, warm_up)
    finally:
        loaded.close()
