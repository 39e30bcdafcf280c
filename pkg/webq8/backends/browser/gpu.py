"""WebGPU of the page that Python runs in.

Facts behind the code: a missing adapter is None or jsnull by Pyodide's version, so truth is tested; a device without
requiredLimits stays at the defaults; invalid objects look like valid ones, so every creation and submit runs within
error scopes; after a loss everything seems to succeed and only mapAsync rejects; Pyodide reports a future that fails
while nothing waits for it, even where something will.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any, TypeVar

import js
from pyodide.ffi import JsException, can_run_sync, run_sync

from webq8.backends.base import OnShader
from webq8.backends.browser.bridge import memory, message, replay_js, text_of, to_object
from webq8.backends.gpu_program import GpuProgram, Usage, Variant
from webq8.errors import CannotBlock, DeviceError, DeviceLost, NoAdapter, ShaderError
from webq8.ir.plan import Plan, ProgramPlan, Slot
from webq8.kernels import wgsl
from webq8.stages import Steps
from webq8.target import FEATURES, Adapter, target_of

__all__ = ["Device", "block", "device", "live", "pace", "request_ahead"]

_device: "asyncio.Future[Device] | None" = None  # the last one that was requested
_PATIENCE = 15.0  # seconds: some browsers never answer where a driver hangs
_LIMITS = {
    "max_buffer_size": "maxBufferSize",
    "max_storage_buffer_binding_size": "maxStorageBufferBindingSize",
    "max_compute_workgroups_per_dimension": "maxComputeWorkgroupsPerDimension",
    "max_compute_workgroup_storage_size": "maxComputeWorkgroupStorageSize",
}
_TURN = 0.012  # seconds of a stage until the page has a turn
_HELP = (
    "check chrome://gpu, update the graphics driver, or run Chromium with --enable-unsafe-webgpu "
    "--use-webgpu-adapter=swiftshader to compute on the CPU"
)

T = TypeVar("T")


def _observed(future: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
    """Marks the exception of a future as seen, since Pyodide would report it although something waits later."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future


def _layout(kernel: str, writable: Sequence[str]) -> str:
    """The key under which replay.js keeps a bind group layout."""
    return " ".join([kernel, *writable])


def _piece(buffers: Sequence[Any], slot: Slot) -> list[Any]:
    return [buffers[slot.buffer], slot.offset, slot.size]


def live() -> dict[str, int]:
    """GPU buffers that webq8 holds, their bytes, and submits so far."""
    return {name: int(getattr(replay_js.counts, name)) for name in ("buffers", "bytes", "submits")}


def adapter_of(info: Any) -> Adapter:
    """The adapter that a GPUAdapterInfo describes."""
    names = {name: str(getattr(info, name, "")) for name in ("vendor", "architecture", "device", "description")}
    sizes = {getattr(info, "subgroupMinSize", 0), getattr(info, "subgroupMaxSize", 0)}
    matrices = [
        (c.componentType, c.resultComponentType, c.M, c.N, c.K)
        for c in getattr(info, "subgroupMatrixConfigs", None) or ()
    ]
    fallback = bool(getattr(info, "isFallbackAdapter", False))
    return Adapter(**names, fallback=fallback, subgroup_sizes=frozenset(sizes), matrices=tuple(matrices))


async def device() -> "Device":
    """The page's device, requested once, and again after a loss.

    Raises NoAdapter where the browser has no WebGPU, or no adapter for it.
    """
    requested = _requested()
    if not requested.done():
        await asyncio.wait([requested])  # others wait for it too, whatever cancels this
    return requested.result()


async def request_ahead() -> None:
    """Begins to request the page's device, while something else goes on. Errors come from `device`."""
    _requested()
    await asyncio.sleep(0)  # a task begins when others wait


def _requested() -> "asyncio.Future[Device]":
    global _device
    if _device is None or (_device.done() and (_device.cancelled() or _device.exception() or _device.result().lost)):
        _device = _observed(asyncio.ensure_future(_request()))
    return _device


async def _request() -> "Device":
    gpu = getattr(getattr(js, "navigator", None), "gpu", None)
    if not gpu:
        raise NoAdapter(
            "this browser has no WebGPU here; use Chrome or Edge 127 or newer, Safari 26 or Firefox 141, "
            "and a page served over https or from localhost"
        )
    asked = {"powerPreference": "high-performance"}
    adapter = await _answered(gpu.requestAdapter, to_object(asked), "an adapter", NoAdapter)
    if not adapter:  # older GPUs, whose drivers lack what WebGPU's core takes
        asked["featureLevel"] = "compatibility"
        adapter = await _answered(gpu.requestAdapter, to_object(asked), "an adapter", NoAdapter)
    if not adapter:
        raise NoAdapter(f"the browser has WebGPU but gives no adapter: {_HELP}")
    required = {name: getattr(adapter.limits, name) for name in _LIMITS.values()}
    features = [name for name in FEATURES if adapter.features.has(name)]
    wanted = to_object({"requiredLimits": required, "requiredFeatures": features})
    raw = await _answered(adapter.requestDevice, wanted, "a device", DeviceError)
    return Device(raw, adapter_of(getattr(adapter, "info", None)))


async def _answered(request: Callable[[Any], Awaitable[Any]], asked: Any, wanted: str, error: type[DeviceError]) -> Any:
    """Awaits the answer of the browser to a request; raises `error` where it refuses or stays silent."""
    try:
        return await asyncio.wait_for(request(asked), _PATIENCE)
    except JsException as e:
        raise error(f"the browser refuses {wanted} of WebGPU ({text_of(e)}): {_HELP}") from None
    except TimeoutError:
        raise error(f"the browser has not given {wanted} of WebGPU within {_PATIENCE:g} seconds: {_HELP}") from None


class Device:
    """A GPUDevice with its pipelines, cached by WGSL text and overrides; `base.Device`, and `gpu_program.Gpu`."""

    def __init__(self, raw: Any, adapter: Adapter) -> None:
        self.raw, self.adapter = raw, adapter
        limits = {ours: int(getattr(raw.limits, theirs)) for ours, theirs in _LIMITS.items()}
        self.features = frozenset(name for name in FEATURES if raw.features.has(name))
        language = getattr(js.navigator.gpu, "wgslLanguageFeatures", None) or ()
        self.target = target_of(adapter, limits, self.features, frozenset(map(str, language)))
        self.state = replay_js.watch(raw)
        self._modules: dict[str, int] = {}  # what replay.js knows WGSL texts by
        self._pipelines: dict[tuple[Any, ...], asyncio.Future[Any]] = {}
        use = js.GPUBufferUsage
        activations = use.STORAGE | use.COPY_SRC | use.COPY_DST
        # an output may be a constant, so these are copied from as well
        self._usages = {"constants": activations | use.UNIFORM, "activations": activations, "kept": activations}

    @property
    def lost(self) -> str:
        return str(self.state.lost) if self.state.lost else ""

    async def load(self, program: ProgramPlan, on_shader: OnShader) -> GpuProgram:
        return await GpuProgram.load(self, program, on_shader)

    async def guard(self, pending: Awaitable[Any], error: type[DeviceError] = DeviceError) -> Any:
        """Awaits a promise of WebGPU; its rejection becomes `error`, or DeviceLost where that is the reason."""
        try:
            return await pending
        except JsException as e:
            self.check_lost()
            raise error(text_of(e)) from None

    def check_lost(self) -> None:
        if self.lost:
            raise DeviceLost(f"the GPU device was lost ({self.lost}); load the program again") from None

    def check_timestamps(self) -> None:
        if "timestamp-query" not in self.features:
            raise DeviceError(
                f"{self.adapter} has no timestamp queries here, which profiling needs: use a browser and a GPU with "
                'the WebGPU feature "timestamp-query", as Chrome and Edge 121 and newer have on most'
            )

    def pipeline(self, variant: Variant) -> "asyncio.Future[Any]":
        name, constants, writable = variant
        source = wgsl.module_source(name, self.target.dot4, writable)
        key = (source, constants)
        future = self._pipelines.get(key)
        if future is None:
            entries = [
                {
                    "binding": b.index,
                    "visibility": js.GPUShaderStage.COMPUTE,
                    "buffer": {"type": "storage" if b.name in writable else b.type},
                }
                for b in wgsl.kernel(name).bindings
            ]
            layout = {"layout": _layout(name, writable), "entries": entries}
            module = {"module": self._modules.setdefault(source, len(self._modules)), "code": source}
            descriptor = message({"label": name, "constants": dict(constants), **layout, **module})
            promise = replay_js.pipeline(self.raw, self.state, memory, descriptor)
            future = _observed(asyncio.ensure_future(self._compiled(name, source, promise)))
            self._pipelines[key] = future
            # one that failed is not kept: its traceback would hold what the caller has made
            future.add_done_callback(lambda f: self._pipelines.pop(key) if f.cancelled() or f.exception() else None)
        return future

    async def _compiled(self, name: str, source: str, pipeline: Awaitable[Any]) -> Any:
        try:
            return await self.guard(pipeline, ShaderError)
        except ShaderError as e:
            lines = await replay_js.shaderErrors(self.state, self._modules[source])
            raise ShaderError("\n".join([f"{name}.wgsl: {e}", *lines])) from None

    async def compiled(self, begun: Sequence["asyncio.Future[Any]"], on_shader: OnShader) -> list[Any]:
        for done, future in enumerate(asyncio.as_completed(begun), 1):
            await future
            on_shader(done, len(begun))
        await self.guard(replay_js.answer(self.raw))  # a loss is known when the device has answered, not before
        self.check_lost()
        return [future.result() for future in begun]

    def create_buffers(
        self, sizes: Sequence[int], usage: Usage, labels: Sequence[str]
    ) -> tuple[list[Any], Awaitable[Any]]:
        specs = [[size, self._usages[usage], label] for size, label in zip(sizes, labels, strict=True)]
        created = replay_js.createBuffers(self.raw, memory, message(specs))
        return list(created.buffers), created.done

    def destroy_buffer(self, buffer: Any) -> None:
        replay_js.destroyBuffer(buffer)

    def write(self, buffer: Any, data: bytes | bytearray) -> Awaitable[Any]:
        return replay_js.write(self.raw, memory, buffer, data)  # type: ignore[no-any-return]

    def read(self, buffer: Any, destination: bytearray) -> Awaitable[Any]:
        return replay_js.read(self.raw, memory, self.target.kind.nudged, buffer, destination)  # type: ignore[no-any-return]

    def bind_groups(self, plan: Plan, buffers: Sequence[Any]) -> Awaitable[Any]:
        names, groups = [], []
        for step in plan.steps:
            k = wgsl.kernel(step.kernel)
            groups.append([[b.index, *_piece(buffers, s)] for b, s in zip(k.bindings, step.slots, strict=True)])
            names.append([f"{step.node}, {step.kernel}", _layout(step.kernel, step.writable)])
        described = message(names), to_object(groups)
        return replay_js.bindGroups(self.raw, self.state, memory, *described)  # type: ignore[no-any-return]

    def replay(self, plan: Plan, pipelines: Sequence[Any], buffers: Sequence[Any], groups: Any) -> Any:
        return replay_js.replay(
            self.raw,
            memory,
            self.target.kind.nudged,
            to_object(pipelines),
            groups,
            to_object([n for s in plan.steps for n in s.grid]),
            to_object(plan.ends),
            to_object([_piece(buffers, s) for s in plan.inputs]),
            to_object([_piece(buffers, s) for s in plan.outputs]),
        )


async def pace(steps: Steps[T]) -> T:
    """Runs a stage with pauses in which the page does what waits, and returns its result. Background tabs
    do not make the pauses longer."""
    end = perf_counter() + _TURN
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: T = done.value
            return result
        if perf_counter() > end:
            await asyncio.sleep(0)
            end = perf_counter() + _TURN


def block(begin: Callable[[], Awaitable[Any]]) -> Any:
    """Waits for the awaitable that `begin` returns, without `await`, where the browser can (JavaScript Promise
    Integration)."""
    if not can_run_sync():
        raise CannotBlock(
            "run() needs JavaScript Promise Integration (Chrome or Edge 137 and newer) and Python called "
            "asynchronously, as by runPythonAsync; `await program(...)` works everywhere"
        )
    return run_sync(begin())
