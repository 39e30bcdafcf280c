"""The browser: the only module that touches `js`.

WebGPU objects, error scopes, loss, reading back, live counts, and fetching a file. Facts behind the code: a missing
adapter is None or jsnull by Pyodide's version, so truth is tested; a device without requiredLimits stays at the
defaults; invalid objects look like valid ones, so every creation and submit runs within error scopes; after a loss
everything seems to succeed and only mapAsync rejects; Pyodide reports a future that fails while nothing waits for it,
even where something will; its conversions of arrays and texts fail above 2 GiB, some of them silently.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from importlib.resources import files
from time import perf_counter
from typing import Any, TypeVar

import js
from pyodide.code import run_js
from pyodide.ffi import JsException, can_run_sync, create_proxy, run_sync, to_js

from webq8.errors import CannotBlock, ClosedError, DeviceError, DeviceLost, InputError, NoAdapter, ShaderError
from webq8.ir import Limits, Plan, ProgramPlan, Slot, Step
from webq8.kernels import wgsl
from webq8.stages import Steps

__all__ = [
    "Adapter",
    "Device",
    "Loaded",
    "block",
    "device",
    "fetch",
    "live",
    "read",
    "request_ahead",
    "to_bytes",
    "to_python",
    "use_bytes",
    "with_pauses",
]

_js = getattr(js, "webq8Replay", None) or run_js(
    files("webq8.backends.browser").joinpath("replay.js").read_text("utf-8")
)
_device: "asyncio.Future[Device] | None" = None  # the last one that was requested
_PATIENCE = 15.0  # seconds: some browsers never answer where a driver hangs
_LIMITS = {
    "max_buffer_size": "maxBufferSize",
    "max_storage_buffer_binding_size": "maxStorageBufferBindingSize",
    "max_compute_workgroups_per_dimension": "maxComputeWorkgroupsPerDimension",
    "max_compute_workgroup_storage_size": "maxComputeWorkgroupStorageSize",
}
_TURN = 0.012  # seconds of a stage until the page has a turn
_BATCH_MS, _BATCHES = 30, 5  # a submit and its answer can cost 15 ms
_SOFTWARE = ("swiftshader", "llvmpipe", "lavapipe", "softpipe", "microsoft basic render")  # where no flag says so
_HELP = (
    "check chrome://gpu, update the graphics driver, or run Chromium with --enable-unsafe-webgpu "
    "--use-webgpu-adapter=swiftshader to compute on the CPU"
)
_MATRIX = "chromium-experimental-subgroup-matrix"
_FEATURES = ("timestamp-query", "subgroups", _MATRIX)  # asked for where the adapter has them

T = TypeVar("T")

# kernel, overrides, bindings that are writable beside what the WGSL says
Variant = tuple[str, tuple[tuple[str, int | float | bool], ...], tuple[str, ...]]


def _variant(step: Step) -> Variant:
    return step.kernel, step.constants, step.writable


def _locate(buffer: Any, found: Callable[[int, int], None]) -> None:
    """Calls `found` with a buffer's address and size."""
    import ctypes

    class View(ctypes.Structure):
        _fields_ = [
            ("address", ctypes.c_void_p),
            ("owner", ctypes.py_object),
            ("size", ctypes.c_ssize_t),
            ("rest", ctypes.c_char * 64),
        ]

    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(buffer), ctypes.byref(view), 0)
    place = view.address or 0, view.size
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    found(*place)


_memory = _js.memory(create_proxy(_locate), create_proxy(b"\0"))  # single bytes are part of Python itself


def to_bytes(array: Any) -> bytearray:
    """The bytes of a JavaScript typed array or ArrayBuffer."""
    copied = bytearray(array.byteLength)
    _js.copy(_memory, array, copied)
    return copied


def use_bytes(buffer: Any, use: Callable[[Any], Any]) -> Any:
    """What a JavaScript function makes of the bytes of a Python buffer, which it is given as a Uint8Array."""
    return _memory(buffer, use)


def _text(error: JsException) -> str:
    return str(getattr(error, "message", "") or error)


def _observed(future: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
    """A future whose exception is known to be looked at."""
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future


def _message(value: Any) -> bytes:
    """Numbers, lists and dicts with texts of this run in them, for replay.js to read."""
    return json.dumps(value).encode()


def _object(value: Any) -> Any:
    """A JS object of a dict, its lists as arrays."""
    return to_js(value, dict_converter=js.Object.fromEntries)


def _layout(kernel: str, writable: Sequence[str]) -> str:
    """The name that a bind group layout is kept by."""
    return " ".join([kernel, *writable])


def _piece(buffers: Sequence[Any], slot: Slot) -> list[Any]:
    return [buffers[slot.buffer], slot.offset, slot.size]


def live() -> dict[str, int]:
    """GPU buffers that webq8 holds, their bytes, and submits so far."""
    return {name: int(getattr(_js.counts, name)) for name in ("buffers", "bytes", "submits")}


class Adapter:
    """What the browser tells of its GPU; `str()` is its name."""

    def __init__(self, info: Any) -> None:
        names = "vendor", "architecture", "device", "description"
        self.vendor, self.architecture, self.device, self.description = (str(getattr(info, n, "")) for n in names)
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
    adapter = await _answered(gpu.requestAdapter, _object(asked), "an adapter", NoAdapter)
    if not adapter:  # older GPUs, whose drivers lack what WebGPU's core takes
        asked["featureLevel"] = "compatibility"
        adapter = await _answered(gpu.requestAdapter, _object(asked), "an adapter", NoAdapter)
    if not adapter:
        raise NoAdapter(f"the browser has WebGPU but gives no adapter: {_HELP}")
    required = {name: getattr(adapter.limits, name) for name in _LIMITS.values()}
    features = [name for name in _FEATURES if adapter.features.has(name)]
    wanted = _object({"requiredLimits": required, "requiredFeatures": features})
    raw = await _answered(adapter.requestDevice, wanted, "a device", DeviceError)
    return Device(raw, Adapter(getattr(adapter, "info", None)))


async def _answered(request: Callable[[Any], Awaitable[Any]], asked: Any, wanted: str, error: type[DeviceError]) -> Any:
    """What the browser answers to a request, or `error` where it refuses or is silent."""
    try:
        return await asyncio.wait_for(request(asked), _PATIENCE)
    except JsException as e:
        raise error(f"the browser refuses {wanted} of WebGPU ({_text(e)}): {_HELP}") from None
    except TimeoutError:
        raise error(f"the browser has not given {wanted} of WebGPU within {_PATIENCE:g} seconds: {_HELP}") from None


class Device:
    """A GPUDevice with its pipelines, cached by WGSL text and overrides."""

    def __init__(self, raw: Any, adapter: Adapter) -> None:
        self.raw, self.adapter = raw, adapter
        limits = {ours: int(getattr(raw.limits, theirs)) for ours, theirs in _LIMITS.items()}
        self.features = frozenset(name for name in _FEATURES if raw.features.has(name))
        int8_matrix = adapter.int8_matrix and _MATRIX in self.features
        self.limits = Limits(**limits, software=adapter.software, int8_matrix=int8_matrix)
        language = getattr(js.navigator.gpu, "wgslLanguageFeatures", None)
        has_packed_dot = language and language.has("packed_4x8_integer_dot_product")
        self.packed_dot = bool(has_packed_dot) and not adapter.software
        self.state = _js.watch(raw)
        self._modules: dict[str, int] = {}  # what replay.js knows WGSL texts by
        self._pipelines: dict[tuple[Any, ...], asyncio.Future[Any]] = {}

    @property
    def lost(self) -> str:
        """Why the device was lost; empty while it works."""
        return str(self.state.lost) if self.state.lost else ""

    async def guard(self, promise: Awaitable[Any], error: type[DeviceError] = DeviceError) -> Any:
        """Awaits a promise of WebGPU; its rejection becomes `error`, or DeviceLost where that is the reason."""
        try:
            return await promise
        except JsException as e:
            self.check_lost()
            raise error(_text(e)) from None

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

    def pipeline(self, variant: Variant) -> "asyncio.Future[Any]":
        """The compute pipeline of a kernel with these overrides, once. Compiling has begun when this returns."""
        name, constants, writable = variant
        source = wgsl.module_source(name, self.packed_dot, writable)
        key = (source, constants)
        future = self._pipelines.get(key)
        if future is None or (future.done() and future.exception()):
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
            descriptor = _message({"label": name, "constants": dict(constants), **layout, **module})
            promise = _js.pipeline(self.raw, self.state, _memory, descriptor)
            future = _observed(asyncio.ensure_future(self._compiled(name, source, promise)))
            self._pipelines[key] = future
        return future

    async def _compiled(self, name: str, source: str, pipeline: Awaitable[Any]) -> Any:
        try:
            return await self.guard(pipeline, ShaderError)
        except ShaderError as e:
            lines = await _js.shaderErrors(self.state, self._modules[source])
            raise ShaderError("\n".join([f"{name}.wgsl: {e}", *lines])) from None

    async def load(self, program: ProgramPlan, on_shader: Callable[[int, int], None]) -> "Loaded":
        """Compiles all shaders of a program at once, creates its buffers and uploads its constants."""
        loaded = Loaded(self)
        try:
            await loaded.prepare(program, on_shader)
            await self.guard(_js.answer(self.raw))  # a loss is known when the device has answered, not before
            self.check_lost()
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

    def __del__(self) -> None:
        self.close()

    async def prepare(self, program: ProgramPlan, on_shader: Callable[[int, int], None]) -> None:
        variants = {_variant(s) for plan in program.plans.values() for s in plan.steps}
        pipelines = {variant: self.device.pipeline(variant) for variant in variants}

        # all of this while shaders compile
        usage = js.GPUBufferUsage
        # an output may be a constant, so these are copied from as well
        constant = usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST
        constants = await self._buffers([len(c) for c in program.constants], constant, program.largest)
        for buffer, data in zip(constants, program.constants, strict=True):
            await self.device.guard(_js.write(self.device.raw, _memory, buffer, data))
        bound = {}
        for name, plan in program.plans.items():
            activation = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
            activations = await self._buffers(plan.buffers, activation, plan.largest)
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

    async def _buffers(self, sizes: Sequence[int], usage: int, labels: Sequence[str]) -> list[Any]:
        specs = [[size, usage, label] for size, label in zip(sizes, labels, strict=True)]
        created = _js.createBuffers(self.device.raw, _memory, _message(specs))
        buffers = list(created.buffers)
        self._held += buffers
        await self.device.guard(created.done)
        return buffers

    async def _bind_groups(self, plan: Plan, buffers: Sequence[Any]) -> Any:
        names, groups = [], []
        for step in plan.steps:
            k = wgsl.kernel(step.kernel)
            groups.append([[b.index, *_piece(buffers, s)] for b, s in zip(k.bindings, step.slots, strict=True)])
            names.append([f"{step.node}, {step.kernel}", _layout(step.kernel, step.writable)])
        device = self.device
        created = _js.bindGroups(device.raw, device.state, _memory, _message(names), _object(groups))
        return await device.guard(created)

    def _replay(self, plan: Plan, compiled: Sequence[Any], buffers: Sequence[Any], groups: Any) -> Any:
        return _js.replay(
            self.device.raw,
            _memory,
            self.device.limits.software,
            _object(compiled),
            groups,
            _object([n for s in plan.steps for n in s.grid]),
            _object(plan.ends),
            _object([_piece(buffers, s) for s in plan.inputs]),
            _object([_piece(buffers, s) for s in plan.outputs]),
        )

    def start(self, method: str, sources: Sequence[Any], destination: bytearray) -> Awaitable[Any]:
        """Takes `sources` and replays the method; what is returned is to be given to `finish`, and then its outputs lie
        in `destination`, one after another."""
        return self._run[method](destination, *sources)  # type: ignore[no-any-return]

    async def profile(self, method: str, sources: Sequence[Any], steps: int) -> list[int]:
        """Runs a method of so many steps; nanoseconds at which each began and ended, one pair after another."""
        times = bytearray(16 * steps)
        await self.finish(self.replays[method].profile(times, *sources))
        return memoryview(times).cast("Q").tolist()

    async def finish(self, run: Awaitable[Any]) -> None:
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


async def with_pauses(steps: Steps[T]) -> T:
    """The result of a stage, with pauses in which the page does what waits; background tabs are not slowed by them."""
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
    """The result of the awaitable that `begin` returns, without `await`, where the browser can wait (JavaScript Promise
    Integration)."""
    if not can_run_sync():
        raise CannotBlock(
            "run() needs JavaScript Promise Integration (Chrome or Edge 137 and newer) and Python called "
            "asynchronously, as by runPythonAsync; `await program(...)` works everywhere"
        )
    return run_sync(begin())


async def fetch(url: str, on_bytes: Callable[[int, int], None]) -> bytes:
    """Downloads a file; `on_bytes(so far, total or 0)`."""
    try:
        response = await js.fetch(url)
    except JsException as e:
        raise InputError(f"{url} cannot be fetched: {_text(e)}") from None
    return await _body(response, f"{url} cannot be fetched", on_bytes)


async def _body(response: Any, failed: str, on_bytes: Callable[[int, int], None]) -> bytes:
    """What a Response holds; `failed` begins the error where it does not come."""
    if not response.ok:
        raise InputError(f"{failed}: HTTP {response.status} {response.statusText}".rstrip())
    data = bytearray()
    try:
        if not response.body:  # an answer without content, or a browser without streams
            data = to_bytes(await response.arrayBuffer())
            if not data:
                raise InputError(f"{failed}: it has no content")
            return bytes(data)
        length = response.headers.get("content-length") or ""
        total = int(length) if length.isdecimal() else 0
        reader = response.body.getReader()
        try:
            while not (part := await _js.next(reader)).done:
                chunk = bytearray(part.size)
                part.copyTo(_memory, chunk)
                data += chunk
                on_bytes(len(data), total)
        except BaseException:
            with suppress(JsException):
                await reader.cancel()
            raise
    except JsException as e:
        after = f" after {len(data):,} bytes" if data else ""
        raise InputError(f"{failed}{after}: {_text(e)}") from None
    return bytes(data)


async def read(source: Any, on_bytes: Callable[[int, int], None]) -> tuple[bytes, str]:
    """The bytes and the name of a JavaScript typed array, ArrayBuffer, Blob, File or Response."""
    kind = _kind(source)
    try:
        if kind == "Response":
            failed = f"{source.url} cannot be fetched" if source.url else "source: this Response cannot be read"
            return await _body(source, failed, on_bytes), source.url
        if kind in ("Blob", "File"):
            return bytes(to_bytes(await source.arrayBuffer())), getattr(source, "name", "program")
        if _is_buffer(source, kind):
            return bytes(to_bytes(source)), "program"
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
