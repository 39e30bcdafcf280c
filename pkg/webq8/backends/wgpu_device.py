"""A device by the interface of PyPI's wgpu: the machine's GPU (native.py), or one that computes nothing (null.py).

Facts behind the code: an error is raised by the call that it belongs to, but a submit that fails ends the process, so
what could fail is tried before; of a loss nothing tells but the errors of later calls; calls wait by themselves, so no
coroutine here needs an event loop; calls from several threads are fine, and a pipeline compiles without Python's lock.
"""

import os
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, TypeVar

from webq8.backends.base import OnShader
from webq8.backends.gpu_program import GpuProgram, Usage, Variant
from webq8.errors import DeviceError, DeviceLost, ShaderError, Webq8Error
from webq8.ir.plan import Plan, ProgramPlan
from webq8.kernels import wgsl
from webq8.stages import Done, Steps, drive, finish
from webq8.target import PACKED_DOT, Adapter, target_of

__all__ = ["LIMITS", "Counts", "WgpuBackend", "WgpuDevice"]

T = TypeVar("T")

LIMITS = {
    "max_buffer_size": "max-buffer-size",
    "max_storage_buffer_binding_size": "max-storage-buffer-binding-size",
    "max_compute_workgroups_per_dimension": "max-compute-workgroups-per-dimension",
    "max_compute_workgroup_storage_size": "max-compute-workgroup-storage-size",
}
_ACTIVATIONS = "STORAGE|COPY_SRC|COPY_DST"
_USAGES = {
    "constants": f"{_ACTIVATIONS}|UNIFORM",  # an output may be a constant, so these are copied from as well
    "activations": _ACTIVATIONS,
    "kept": _ACTIVATIONS,
    "staging": "MAP_READ|COPY_DST",
    "times": "QUERY_RESOLVE|COPY_SRC",
}
_WORD = 4
_MOST_QUERIES = 4096  # of a query set, by WebGPU's specification
_HEADINGS = ("Validation Error", "Caused by:", "In wgpu")
_LOST = "device is lost"  # stands in the errors of calls after a loss


@dataclass
class Counts:
    """Live objects of a backend's devices, and submits so far."""

    buffers: int = 0
    bytes: int = 0
    submits: int = 0


class WgpuBackend:
    """A kind of device whose calls wait by themselves; `base.Backend`. `request` makes the device."""

    def __init__(self, request: "Callable[[Counts], WgpuDevice]") -> None:
        self._request, self._counts = request, Counts()
        self._device: WgpuDevice | None = None  # the last one that was requested

    async def device(self) -> "WgpuDevice":
        if self._device is None or self._device.lost:
            self._device = self._request(self._counts)
        return self._device

    async def request_ahead(self) -> None:
        """Does nothing: the device is there at once."""

    async def pace(self, steps: Steps[T]) -> T:
        return finish(steps)

    def block(self, begin: Callable[[], Awaitable[T]]) -> T:
        return drive(begin())

    def live(self) -> dict[str, int]:
        return asdict(self._counts)


class WgpuDevice:
    """A GPUDevice of wgpu with its pipelines, cached by WGSL text and overrides; `base.Device`, and `gpu_program.Gpu`.

    `errors` are the exceptions by which its calls fail.
    """

    def __init__(self, raw: Any, adapter: Adapter, counts: Counts, errors: tuple[type[Exception], ...]) -> None:
        self.raw, self.adapter, self.counts = raw, adapter, counts
        self.features = frozenset(raw.features)
        self.lost = ""
        self._errors = errors
        self._modules: dict[str, Future[Any]] = {}
        self._layouts: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._pipelines: dict[tuple[Any, ...], Future[Any]] = {}
        self._compilers = ThreadPoolExecutor(os.cpu_count(), "webq8-compile")
        limits = {ours: raw.limits[theirs] for ours, theirs in LIMITS.items()}
        self.target = target_of(adapter, limits, self.features, self._language())

    def _language(self) -> tuple[str, ...]:
        """The extensions of WGSL that the compiler knows. wgpu does not list them, so a module is tried."""
        try:
            with self.failing():
                self.raw.create_shader_module(code="fn dot(x: u32) -> i32 { return dot4I8Packed(x, x); }")
        except DeviceError:
            return ()
        return (PACKED_DOT,)

    @contextmanager
    def failing(self, what: str = "", error: type[DeviceError] = DeviceError) -> Iterator[None]:
        """A context in which exceptions of wgpu become `error`, with a text that begins with `what`; or DeviceLost."""
        self.check_lost()
        try:
            yield
        except Webq8Error:
            raise
        except self._errors as e:
            reason = _reason(e)
            if _LOST in reason:
                self.lost = reason
                self.check_lost()
            raise error(f"{what}: {reason}" if what else reason) from None

    def check_lost(self) -> None:
        if self.lost:
            raise DeviceLost(f"the GPU device was lost ({self.lost}); load the program again")

    def check_timestamps(self) -> None:
        if "timestamp-query" not in self.features:
            raise DeviceError(f"{self.adapter} has no timestamp queries here, which profiling needs: use another GPU")

    async def load(self, program: ProgramPlan, on_shader: OnShader) -> GpuProgram:
        return await GpuProgram.load(self, program, on_shader)

    async def guard(self, pending: Awaitable[Any]) -> Any:
        return await pending

    # --- pipelines

    def pipeline(self, variant: Variant) -> "Future[Any]":
        name, constants, writable = variant
        source = wgsl.module_source(name, self.target.dot4, writable)

        def begin() -> Future[Any]:
            with self.failing():
                layout = self._layout(name, writable)
            module = self._once(self._modules, source, lambda: self._compilers.submit(self._parse, name, source))
            return self._compilers.submit(self._compile, name, module, constants, layout)

        return self._once(self._pipelines, (source, constants), begin)

    def _once(self, futures: "dict[Any, Future[Any]]", key: Any, begin: "Callable[[], Future[Any]]") -> "Future[Any]":
        """The future of a key. One that failed is not kept: its traceback would hold what the caller has made."""
        if key not in futures:
            futures[key] = future = begin()
            future.add_done_callback(lambda done: futures.pop(key) if done.exception() else None)
            return future
        return futures[key]

    def _layout(self, name: str, writable: tuple[str, ...]) -> Any:
        """The layout of a kernel's bindings."""
        if (name, writable) not in self._layouts:
            entries = [
                {
                    "binding": b.index,
                    "visibility": "COMPUTE",
                    "buffer": {"type": "storage" if b.name in writable else b.type},
                }
                for b in wgsl.kernel(name).bindings
            ]
            self._layouts[name, writable] = self.raw.create_bind_group_layout(label=name, entries=entries)
        return self._layouts[name, writable]

    def _parse(self, name: str, source: str) -> Any:
        with self.failing(f"{name}.wgsl", ShaderError):
            return self.raw.create_shader_module(label=name, code=source)

    def _compile(self, name: str, module: "Future[Any]", constants: tuple[tuple[str, Any], ...], layout: Any) -> Any:
        parsed = module.result()  # which was begun before this, so that a thread is there for it
        with self.failing(f"{name}.wgsl", ShaderError):
            return self.raw.create_compute_pipeline(
                label=name,
                layout=self.raw.create_pipeline_layout(bind_group_layouts=[layout]),
                compute={"module": parsed, "entry_point": "main", "constants": dict(constants)},
            )

    async def compiled(self, begun: Sequence["Future[Any]"], on_shader: OnShader) -> list[Any]:
        for done, future in enumerate(as_completed(begun), 1):
            future.result()
            on_shader(done, len(begun))
        return [future.result() for future in begun]

    # --- buffers

    def create_buffer(self, size: int, usage: str, label: str) -> Any:
        with self.failing(f"{label}, in a buffer of {size:,} bytes"):
            buffer = self.raw.create_buffer(label=label, size=size, usage=_USAGES[usage])
        self.counts.buffers += 1
        self.counts.bytes += size
        return buffer

    def create_buffers(
        self, sizes: Sequence[int], usage: Usage, labels: Sequence[str]
    ) -> tuple[list[Any], Awaitable[None]]:
        created = list[Any]()
        try:
            for size, label in zip(sizes, labels, strict=True):
                created.append(self.create_buffer(size, usage, label))
        except BaseException:
            for buffer in created:
                self.destroy_buffer(buffer)
            raise
        return created, Done(None)

    def destroy_buffer(self, buffer: Any) -> None:
        self.counts.buffers -= 1
        self.counts.bytes -= buffer.size
        with suppress(*self._errors):  # of a device that was lost there is nothing left to free
            buffer.destroy()

    def write(self, buffer: Any, data: bytes | bytearray | memoryview, offset: int = 0) -> Awaitable[None]:
        if len(data):
            with self.failing():
                self.raw.queue.write_buffer(buffer, offset, data)
        return Done(None)

    def submit(self, encode: Callable[[Any], None]) -> None:
        """Submits what `encode` adds to an encoder."""
        with self.failing():
            encoder = self.raw.create_command_encoder()
            encode(encoder)
            commands = encoder.finish()
            self.raw.queue.submit([commands])
        self.counts.submits += 1

    def read(self, buffer: Any, destination: bytearray) -> Awaitable[None]:
        staging = self.create_buffer(buffer.size, "staging", "a tensor to read")
        try:
            self.submit(lambda encoder: encoder.copy_buffer_to_buffer(buffer, 0, staging, 0, buffer.size))
            self.read_mapped(staging, destination)
        finally:
            self.destroy_buffer(staging)
        return Done(None)

    def read_mapped(self, staging: Any, destination: bytearray) -> None:
        """Copies a buffer to a destination of no more bytes, when what writes to the buffer is done."""
        if destination:
            with self.failing():
                staging.map_sync("READ", 0, len(destination))
                destination[:] = staging.read_mapped(0, len(destination), copy=False)
                staging.unmap()

    # --- programs

    async def bind_groups(self, plan: Plan, buffers: Sequence[Any]) -> list[Any]:
        groups = []
        for step in plan.steps:
            entries = [
                {
                    "binding": b.index,
                    "resource": {"buffer": buffers[slot.buffer], "offset": slot.offset, "size": slot.size},
                }
                for b, slot in zip(wgsl.kernel(step.kernel).bindings, step.slots, strict=True)
            ]
            label = f"{step.node}, {step.kernel}"
            with self.failing(label):
                layout = self._layout(step.kernel, step.writable)
                groups.append(self.raw.create_bind_group(label=label, layout=layout, entries=entries))
        return groups

    def replay(self, plan: Plan, pipelines: Sequence[Any], buffers: Sequence[Any], groups: Any) -> "_Replay":
        return _Replay(self, plan, pipelines, buffers, groups)


def _reason(error: Exception) -> str:
    """What wgpu says, without headings and the names of C functions."""
    lines = map(str.strip, str(error).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(_HEADINGS))


class _Replay:
    """A method that is encoded again for each run; `gpu_program.Replay`.

    All of a run is submitted when it begins: a queue keeps the order, so that runs may overlap though they share the
    activations, and buffers may be destroyed after it.
    """

    def __init__(
        self,
        device: WgpuDevice,
        plan: Plan,
        pipelines: Sequence[Any],
        buffers: Sequence[Any],
        groups: Sequence[Any],
    ) -> None:
        self.device, self.plan, self.pipelines, self.buffers, self.groups = device, plan, pipelines, buffers, groups
        self.idle: list[Any] = []  # staging buffers not in use: overlapping runs each need one
        self.closed = False

    def run(self, destination: bytearray | None, kept: Sequence[Any] | None, *sources: Any) -> Awaitable[None]:
        reading = _Reading(self, destination) if destination is not None else None

        def encode_outputs(encoder: Any) -> None:
            at = 0
            for i, (buffer, offset, size) in enumerate(self.plan.outputs):
                if reading:
                    encoder.copy_buffer_to_buffer(self.buffers[buffer], offset, reading.staging, at, size)
                if kept is not None:
                    encoder.copy_buffer_to_buffer(self.buffers[buffer], offset, kept[i], 0, size)
                at += size

        self._submit(sources, self._encode_in_one_pass, encode_outputs)
        return reading if reading is not None else Done(None)

    def _submit(
        self,
        sources: Sequence[Any],
        encode_steps: Callable[[Any, int, int], None],
        encode_outputs: Callable[[Any], None],
    ) -> None:
        """Takes the sources and submits all steps, in as many submits as the plan says."""
        first = 0
        for end in self.plan.ends:

            def encode(encoder: Any, first: int = first, end: int = end) -> None:
                if first == 0:
                    self._put(sources, encoder)
                encode_steps(encoder, first, end)
                if end == self.plan.ends[-1]:
                    encode_outputs(encoder)

            self.device.submit(encode)
            first = end

    def _put(self, sources: Sequence[Any], encoder: Any) -> None:
        for source, (buffer, offset, size) in zip(sources, self.plan.inputs, strict=True):
            if isinstance(source, bytes | bytearray | memoryview):
                self.device.write(self.buffers[buffer], source, offset)
            else:
                encoder.copy_buffer_to_buffer(source, 0, self.buffers[buffer], offset, size)

    def _encode(self, compute: Any, first: int, end: int) -> None:
        bound = None
        for i in range(first, end):
            if self.pipelines[i] is not bound:
                bound = self.pipelines[i]
                compute.set_pipeline(bound)
            compute.set_bind_group(0, self.groups[i])
            compute.dispatch_workgroups(*self.plan.steps[i].grid)

    def _encode_in_one_pass(self, encoder: Any, first: int, end: int) -> None:
        compute = encoder.begin_compute_pass()
        self._encode(compute, first, end)
        compute.end()

    async def profile(self, destination: bytearray, *sources: Any) -> None:
        device, raw, queries = self.device, self.device.raw, 2 * len(self.pipelines)
        size = max(16, 8 * queries)
        held = list[Any]()
        try:
            with device.failing():
                counts = [min(_MOST_QUERIES, queries - at) for at in range(0, queries, _MOST_QUERIES)]
                sets = [raw.create_query_set(type="timestamp", count=count) for count in counts]
            for usage in ("times", "staging"):
                held.append(device.create_buffer(size, usage, "the times of the steps"))
            times, staging = held

            def encode_steps(encoder: Any, first: int, end: int) -> None:
                for i in range(first, end):
                    number, at = divmod(2 * i, _MOST_QUERIES)
                    places = {"beginning_of_pass_write_index": at, "end_of_pass_write_index": at + 1}
                    compute = encoder.begin_compute_pass(timestamp_writes={"query_set": sets[number], **places})
                    self._encode(compute, i, i + 1)
                    compute.end()

            def encode_times(encoder: Any) -> None:
                for i, (query_set, count) in enumerate(zip(sets, counts, strict=True)):
                    encoder.resolve_query_set(query_set, 0, count, times, 8 * _MOST_QUERIES * i)
                if queries:
                    encoder.copy_buffer_to_buffer(times, 0, staging, 0, 8 * queries)

            self._submit(sources, encode_steps, encode_times)
            device.read_mapped(staging, destination)
        finally:
            for buffer in held:
                device.destroy_buffer(buffer)

    async def time(self, repeats: int) -> float:
        """Waits by reading a word that is copied at the end."""
        staging = self.device.create_buffer(_WORD, "staging", "a word to wait for")

        def encode(encoder: Any) -> None:
            compute = encoder.begin_compute_pass()
            for _ in range(repeats):
                self._encode(compute, 0, len(self.pipelines))
            compute.end()
            encoder.copy_buffer_to_buffer(self.buffers[0], 0, staging, 0, _WORD)

        try:
            start = perf_counter()
            self.device.submit(encode)
            self.device.read_mapped(staging, bytearray(_WORD))
            return (perf_counter() - start) * 1e3 / repeats
        finally:
            self.device.destroy_buffer(staging)

    def close(self) -> None:
        self.closed = True
        while self.idle:
            self.device.destroy_buffer(self.idle.pop())


class _Reading:
    """What a run's results are read by, once. Where nobody reads them, its buffer is given back all the same."""

    def __init__(self, replay: _Replay, destination: bytearray) -> None:
        self.replay, self.destination, self.staging = replay, destination, None
        size = max(16, sum(slot.size for slot in replay.plan.outputs))
        self.staging = replay.idle.pop() if replay.idle else replay.device.create_buffer(size, "staging", "the results")

    def __await__(self) -> Generator[None, None, None]:
        try:
            self.replay.device.read_mapped(self.staging, self.destination)
        finally:
            self._give_back()
        yield from ()

    def __del__(self) -> None:
        self._give_back()

    def _give_back(self) -> None:
        staging, self.staging = self.staging, None
        if staging is None:
            return
        if self.replay.closed:
            self.replay.device.destroy_buffer(staging)
        else:
            self.replay.idle.append(staging)
