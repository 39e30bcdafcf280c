"""The browser: the only module that touches `js`.

WebGPU objects, error scopes, loss, reading back, live counts, and fetching a file. Facts behind the code: a missing
adapter is None or jsnull by Pyodide's version, so truth is tested; a device without requiredLimits stays at the
defaults; invalid objects look like valid ones, so every creation and submit runs within error scopes; after a loss
everything seems to succeed and only mapAsync rejects.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any

import js
from pyodide.code import run_js
from pyodide.ffi import JsException, can_run_sync, run_sync, to_js

from webq8 import wgsl
from webq8.errors import CannotBlock, ClosedError, DeviceError, DeviceLost, InputError, NoAdapter, ShaderError
from webq8.ir import Limits, Plan, ProgramPlan, Slot, Step

__all__ = ["Adapter", "Device", "Loaded", "block", "device", "fetch", "live", "read", "request_ahead", "to_python"]

_js = getattr(js, "webq8Replay", None) or run_js(files("webq8").joinpath("replay.js").read_text("utf-8"))
_current: "Device | None" = None
_requesting = asyncio.Lock()
_LIMITS = {
    "max_buffer_size": "maxBufferSize",
    "max_storage_buffer_binding_size": "maxStorageBufferBindingSize",
    "max_compute_workgroups_per_dimension": "maxComputeWorkgroupsPerDimension",
    "max_compute_workgroup_storage_size": "maxComputeWorkgroupStorageSize",
}
_BATCH_MS, _BATCHES = 30, 5  # a submit and its answer can cost 15 ms
_SOFTWARE = ("swiftshader", "llvmpipe", "lavapipe", "softpipe", "microsoft basic render")  # where no flag says so
_MATRIX = "chromium-experimental-subgroup-matrix"
_FEATURES = ("timestamp-query", "subgroups", _MATRIX)  # asked for where the adapter has them

# kernel, overrides, bindings that are writable beside what the WGSL says
Variant = tuple[str, tuple[tuple[str, int | float | bool], ...], tuple[str, ...]]


def _variant(step: Step) -> Variant:
    return step.kernel, step.constants, step.writable


def _object(value: Any) -> Any:
    """A JS object of a dict, its lists as arrays: the one way in which descriptors are made."""
    return to_js(value, dict_converter=js.Object.fromEntries)


def _piece(buffers: Sequence[Any], slot: Slot) -> list[Any]:
    return [buffers[slot.buffer], slot.offset, slot.size]


def live() -> dict[str, int]:
    """GPU buffers that webq8 holds, their bytes, and submits so far."""
    return {name: int(getattr(_js.counts, name)) for name in ("buffers", "bytes", "submits")}


class Adapter:
    """What the browser tells of its GPU; `str()` is its name."""

    def __init__(self, info: Any) -> None:
        self.vendor, self.architecture = str(info.vendor), str(info.architecture)
        self.device, self.description = str(info.device), str(info.description)
        fallback = bool(getattr(info, "isFallbackAdapter", False))
        told = f"{self.vendor} {self.architecture} {self.device} {self.description}".lower()
        self.software = fallback or any(name in told for name in _SOFTWARE)
        sizes = {getattr(info, "subgroupMinSize", 0), getattr(info, "subgroupMaxSize", 0)}
        shapes = [
            (c.componentType, c.resultComponentType, c.M, c.N, c.K)
            for c in getattr(info, "subgroupMatrixConfigs", None) or ()
        ]
        # what wgsl/gemm_matrix*.wgsl are written for
        self.int8_matrix = sizes == {32} and ("i8", "i32", 16, 16, 32) in shapes

    def __str__(self) -> str:
        return (
            " ".join(dict.fromkeys(p for p in (self.vendor, self.architecture, self.description) if p)) or "unnamed GPU"
        )


async def device() -> "Device":
    """The page's device, requested once, and again after a loss.

    Raises NoAdapter where the browser has no WebGPU, or no adapter for it.
    """
    global _current
    async with _requesting:
        if _current is None or _current.lost:
            _current = await _request()
        return _current


async def request_ahead() -> None:
    """Begins to request the page's device, while something else goes on. Errors come from `device`."""
    if _current is None:
        request = asyncio.ensure_future(device())
        request.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.sleep(0)  # a task begins when others wait


async def _request() -> "Device":
    gpu = getattr(js.navigator, "gpu", None)
    if not gpu:
        raise NoAdapter(
            "this browser has no WebGPU here; use Chrome or Edge 127 or newer, Safari 26 or Firefox 141, "
            "and a page served over https or from localhost"
        )
    adapter = await gpu.requestAdapter(_object({"powerPreference": "high-performance"}))
    if not adapter:
        raise NoAdapter(
            "the browser has WebGPU but gives no adapter: check chrome://gpu, update the graphics driver, "
            "or run Chromium with --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader to compute on the CPU"
        )
    required = {name: getattr(adapter.limits, name) for name in _LIMITS.values()}
    features = [name for name in _FEATURES if adapter.features.has(name)]
    try:
        raw = await adapter.requestDevice(_object({"requiredLimits": required, "requiredFeatures": features}))
    except JsException as e:
        raise DeviceError(f"the adapter gives no device: {e}") from None
    return Device(raw, Adapter(adapter.info))


class Device:
    """A GPUDevice with its pipelines, cached by WGSL text and overrides."""

    def __init__(self, raw: Any, adapter: Adapter) -> None:
        self.raw, self.adapter = raw, adapter
        limits = {ours: int(getattr(raw.limits, theirs)) for ours, theirs in _LIMITS.items()}
        self.features = frozenset(name for name in _FEATURES if raw.features.has(name))
        int8_matrix = adapter.int8_matrix and _MATRIX in self.features
        self.limits = Limits(**limits, software=adapter.software, int8_matrix=int8_matrix)
        has_packed_dot = js.navigator.gpu.wgslLanguageFeatures.has("packed_4x8_integer_dot_product")
        self.packed_dot = bool(has_packed_dot) and not adapter.software
        self._state = _js.watch(raw)
        self._modules: dict[str, Any] = {}
        self._layouts: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._pipelines: dict[tuple[Any, ...], asyncio.Future[Any]] = {}

    @property
    def lost(self) -> str:
        """Why the device was lost; empty while it works."""
        return str(self._state.lost) if self._state.lost else ""

    async def guard(self, promise: Awaitable[Any], error: type[DeviceError] = DeviceError) -> Any:
        """Awaits a promise of WebGPU; its rejection becomes `error`, or DeviceLost where that is the reason."""
        try:
            return await promise
        except JsException as e:
            self.check_lost()
            raise error(str(e)) from None

    def check_lost(self) -> None:
        if self.lost:
            raise DeviceLost(f"the GPU device was lost ({self.lost}); load the program again") from None

    def check_timestamps(self) -> None:
        """Raises DeviceError where the adapter has no timestamp queries."""
        if "timestamp-query" not in self.features:
            raise DeviceError(
                f"{self.adapter} has no timestamp queries here, which profiling needs: use a browser and a GPU with "
                'the WebGPU feature "timestamp-query", as Chrome and Edge 121 and newer have on most'
            )

    def layout(self, k: wgsl.Kernel, writable: tuple[str, ...]) -> Any:
        if (k.name, writable) not in self._layouts:
            entries = [
                {
                    "binding": b.index,
                    "visibility": js.GPUShaderStage.COMPUTE,
                    "buffer": {"type": "storage" if b.name in writable else b.type},
                }
                for b in k.bindings
            ]
            self._layouts[k.name, writable] = self.raw.createBindGroupLayout(_object({"entries": entries}))
        return self._layouts[k.name, writable]

    def pipeline(self, variant: Variant) -> "asyncio.Future[Any]":
        """The compute pipeline of a kernel with these overrides, once. Compiling has begun when this returns."""
        name, constants, writable = variant
        source = wgsl.module_source(name, self.packed_dot, writable)
        key = (source, constants)
        future = self._pipelines.get(key)
        if future is None or (future.done() and future.exception()):

            def create() -> Any:
                if source not in self._modules:
                    self._modules[source] = self.raw.createShaderModule(_object({"label": name, "code": source}))
                bind_groups = [self.layout(wgsl.kernel(name), writable)]
                layout = self.raw.createPipelineLayout(_object({"bindGroupLayouts": bind_groups}))
                compute = {"module": self._modules[source], "entryPoint": "main", "constants": dict(constants)}
                descriptor = {"label": name, "layout": layout, "compute": compute}
                return self.raw.createComputePipelineAsync(_object(descriptor))

            promise = _js.scoped(self.raw, create)
            future = asyncio.ensure_future(self._compiled(name, self._modules[source], promise))
            self._pipelines[key] = future
        return future

    async def _compiled(self, name: str, module: Any, pipeline: Awaitable[Any]) -> Any:
        try:
            return await self.guard(pipeline, ShaderError)
        except ShaderError as e:
            info = await module.getCompilationInfo()
            lines = [f"  line {m.lineNum}: {m.message}" for m in info.messages if m.type == "error"]
            raise ShaderError("\n".join([f"{name}.wgsl: {e}", *lines])) from None

    async def load(self, program: ProgramPlan, on_shader: Callable[[int, int], None]) -> "Loaded":
        """Compiles all shaders of a program at once, creates its buffers and uploads its constants."""
        loaded = Loaded(self)
        try:
            await loaded.prepare(program, on_shader)
        except BaseException:
            loaded.close()
            raise
        return loaded


class Loaded:
    """A program on a device: its buffers, and a replay for each method."""

    def __init__(self, owner: Device) -> None:
        self.device = owner
        self.replays: dict[str, Any] = {}
        self._run: dict[str, Any] = {}
        self._held: list[Any] = []

    async def prepare(self, program: ProgramPlan, on_shader: Callable[[int, int], None]) -> None:
        variants = {_variant(s) for plan in program.plans.values() for s in plan.steps}
        pipelines = {variant: self.device.pipeline(variant) for variant in variants}

        # all of this while shaders compile
        usage = js.GPUBufferUsage
        # an output may be a constant, so these are copied from as well
        constant = usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST
        constants = await self._buffers([len(c) for c in program.constants], constant)
        for buffer, data in zip(constants, program.constants, strict=True):
            await self.device.guard(_js.write(self.device.raw, buffer, 0, data))
        bound = {}
        for name, plan in program.plans.items():
            activations = await self._buffers(plan.buffers, usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)
            # negative slots count the constants' buffers from -1 down
            buffers = [*activations, *reversed(constants)]
            bound[name] = buffers, await self._bind_groups(plan, buffers)

        for done, future in enumerate(asyncio.as_completed(pipelines.values()), 1):
            await future
            on_shader(done, len(pipelines))
        for name, plan in program.plans.items():
            compiled = [pipelines[_variant(s)].result() for s in plan.steps]
            self.replays[name] = self._replay(plan, compiled, *bound[name])
            self._run[name] = self.replays[name].run  # looked up once: each look crosses to JavaScript

    async def _buffers(self, sizes: Sequence[int], usage: int) -> list[Any]:
        def create() -> None:
            self._held.extend(_js.createBuffer(self.device.raw, size, usage) for size in sizes)

        await self.device.guard(_js.scoped(self.device.raw, create))
        return self._held[len(self._held) - len(sizes) :]

    async def _bind_groups(self, plan: Plan, buffers: Sequence[Any]) -> Any:
        groups = []
        for step in plan.steps:
            k = wgsl.kernel(step.kernel)
            slots = [[b.index, *_piece(buffers, s)] for b, s in zip(k.bindings, step.slots, strict=True)]
            groups.append([step.node, self.device.layout(k, step.writable), slots])
        raw = self.device.raw
        return await self.device.guard(_js.scoped(raw, lambda: _js.bindGroups(raw, _object(groups))))

    def _replay(self, plan: Plan, compiled: Sequence[Any], buffers: Sequence[Any], groups: Any) -> Any:
        return _js.replay(
            self.device.raw,
            self.device.limits.software,
            _object(compiled),
            groups,
            _object([n for s in plan.steps for n in s.grid]),
            _object(plan.ends),
            _object([_piece(buffers, s) for s in plan.inputs]),
            _object([_piece(buffers, s) for s in plan.outputs]),
        )

    async def run(self, method: str, sources: Sequence[Any], destination: bytearray) -> None:
        """Writes `sources`, replays the method, and fills `destination` with its outputs one after another."""
        await self._finished(self._run[method](destination, *sources))

    async def profile(self, method: str, sources: Sequence[Any], steps: int) -> list[int]:
        """Runs a method of so many steps; nanoseconds at which each began and ended, one pair after another."""
        times = bytearray(16 * steps)
        await self._finished(self.replays[method].profile(times, *sources))
        return memoryview(times).cast("Q").tolist()

    async def _finished(self, run: Awaitable[Any]) -> None:
        """Waits for a run. One of several submits cannot go on once the program is closed."""
        try:
            await self.device.guard(run)
        except DeviceError as e:
            if self.replays or isinstance(e, DeviceLost):
                raise
            raise ClosedError("the program was closed during a run that takes several submits") from None

    async def device_ms(self, method: str, warm_up: float = 0) -> float:
        """Milliseconds of one replay of a method on the device, after it was kept busy for `warm_up` milliseconds.

        The median of batches, each many replays in one pass, so that its submit and answer hardly count.
        """

        async def batch(repeats: int) -> float:
            taken: float = await self.device.guard(self.replays[method].deviceTime(repeats))
            self.device.check_lost()  # waiting for submitted work ends well all the same
            return taken

        await batch(1)  # ends after all that was uploaded before
        repeats, busy = 1, 0.0
        while (taken := await batch(repeats) * repeats) < _BATCH_MS or busy < warm_up:
            busy += taken
            repeats *= 2 if taken < _BATCH_MS else 1
        return sorted([await batch(repeats) for _ in range(_BATCHES)])[_BATCHES // 2]

    def close(self) -> None:
        for replay in self.replays.values():
            replay.close()
        self.replays.clear()
        self._run.clear()
        while self._held:
            _js.destroyBuffer(self._held.pop())


def block(awaitable: Awaitable[Any]) -> Any:
    """Waits for an awaitable without `await`, where the browser can (JavaScript Promise Integration)."""
    if not can_run_sync():
        close = getattr(awaitable, "close", None)
        if close:
            close()
        raise CannotBlock(
            "run() needs JavaScript Promise Integration (Chrome or Edge 137 and newer) and Python called "
            "asynchronously, as by runPythonAsync; `await program(...)` works everywhere"
        )
    return run_sync(awaitable)


async def fetch(url: str, on_bytes: Callable[[int, int], None]) -> bytes:
    """Downloads a file; `on_bytes(so far, total or 0)`."""
    try:
        response = await js.fetch(url)
    except JsException as e:
        raise InputError(f"{url} cannot be fetched: {e}") from None
    return await _body(response, url, on_bytes)


async def _body(response: Any, url: str, on_bytes: Callable[[int, int], None]) -> bytes:
    if not response.ok:
        raise InputError(f"{url} cannot be fetched: HTTP {response.status} {response.statusText}")
    total = int(response.headers.get("content-length") or 0)
    data = bytearray()
    reader = response.body.getReader()
    while not (part := await reader.read()).done:
        data += part.value.to_bytes()
        on_bytes(len(data), total)
    return bytes(data)


async def read(source: Any, on_bytes: Callable[[int, int], None]) -> tuple[bytes, str]:
    """The bytes and the name of a JavaScript typed array, ArrayBuffer, Blob, File or Response."""
    kind = _kind(source)
    try:
        if kind == "Response":
            return await _body(source, source.url, on_bytes), source.url
        if kind in ("Blob", "File"):
            return (await source.arrayBuffer()).to_bytes(), getattr(source, "name", "program")
        if _is_buffer(source, kind):
            return source.to_bytes(), "program"
    except (JsException, AttributeError) as e:  # a Response without a body has no reader
        raise InputError(f"source: this {kind} cannot be read: {e}") from None
    raise InputError(
        f"source: a JavaScript {kind} is not the bytes of a file: a typed array, ArrayBuffer, Blob, File or Response"
    )


def to_python(value: Any, name: str) -> tuple[str, Any]:
    """A JavaScript value's kind, and what Python has for it: memoryviews of buffers, lists of arrays, or the value."""
    kind = _kind(value)
    try:
        if kind == "ImageData":
            return kind, value.data.to_py().cast("B", (value.height, value.width, 4))
        if _is_buffer(value, kind) or js.Array.isArray(value):
            return kind, value.to_py()
    except (JsException, RuntimeError, TypeError) as e:  # detached, or of a type that Pyodide does not know
        raise InputError(f"{name}: this {kind} cannot be read: {e}") from None
    return kind, value


def _kind(value: Any) -> str:
    return str(js.Object.prototype.toString.call(value))[len("[object ") : -1]


def _is_buffer(value: Any, kind: str) -> bool:
    return bool(js.ArrayBuffer.isView(value)) or kind in ("ArrayBuffer", "SharedArrayBuffer")
