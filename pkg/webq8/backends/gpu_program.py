"""A program on any GPU: its buffers, and a replay of each method. How the GPU's objects are made is the device's part.

Nothing of WebGPU is called here, so that the order of things, and what is freed when something fails, is the same in
the browser, on the desktop and on the null device that tests count objects with.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from webq8.backends.base import Device, OnShader, Output
from webq8.dtypes import round_up
from webq8.errors import ClosedError, DeviceError, DeviceLost
from webq8.ir.plan import Plan, ProgramPlan, Step

__all__ = ["Gpu", "GpuProgram", "GpuTensor", "Replay", "Usage", "Variant"]

_BATCH_MS, _BATCHES = 30, 5  # a submit and its answer can cost 15 ms

Usage = Literal["constants", "activations", "kept"]
# kernel, overrides, bindings that are writable beside what the WGSL says
Variant = tuple[str, tuple[tuple[str, int | float | bool], ...], tuple[str, ...]]


def _variant(step: Step) -> Variant:
    return step.kernel, step.constants, step.writable


class Replay(Protocol):
    """A method that is encoded again for each run. A source is bytes, or a buffer of the device to copy from."""

    def run(self, destination: bytearray | None, kept: Sequence[Any] | None, *sources: Any) -> Awaitable[Any]:
        """Takes the sources and begins a run. When the returned awaitable ends, the outputs lie in `destination`, one
        after another, and in the buffers `kept`, one each."""

    def profile(self, destination: bytearray, *sources: Any) -> Awaitable[Any]:
        """A run whose results are the nanoseconds at which each step began and ended, pairs of 64-bit integers."""

    def time(self, repeats: int) -> Awaitable[float]:
        """Milliseconds of one replay, when `repeats` of them run back to back in one pass."""

    def close(self) -> None:
        """Frees what runs share; a run under way keeps what it needs."""


class Gpu(Device, Protocol):
    """What a program asks of a device. Buffers, pipelines and groups are its own objects."""

    def check_lost(self) -> None: ...

    async def load(self, program: ProgramPlan, on_shader: OnShader) -> "GpuProgram": ...

    async def guard(self, pending: Awaitable[Any]) -> Any:
        """Awaits work of the GPU; its errors become those of webq8."""

    def pipeline(self, variant: Variant) -> Any:
        """Begins to compile a variant, unless it is compiled already; `compiled` takes what this returns."""

    async def compiled(self, begun: Sequence[Any], on_shader: OnShader) -> Sequence[Any]:
        """Waits until all pipelines that were begun are there, and returns them."""

    def create_buffers(
        self, sizes: Sequence[int], usage: Usage, labels: Sequence[str]
    ) -> tuple[Sequence[Any], Awaitable[Any]]:
        """Buffers, which are there at once and the caller's to destroy; the awaitable tells whether there is room."""

    def destroy_buffer(self, buffer: Any) -> None: ...

    def write(self, buffer: Any, data: bytes | bytearray) -> Awaitable[Any]: ...

    def read(self, buffer: Any, destination: bytearray) -> Awaitable[Any]: ...

    def bind_groups(self, plan: Plan, buffers: Sequence[Any]) -> Awaitable[Any]: ...

    def replay(self, plan: Plan, pipelines: Sequence[Any], buffers: Sequence[Any], groups: Any) -> Replay: ...


class GpuTensor:
    """A buffer that holds one tensor. It is freed when it is closed or forgotten."""

    def __init__(self, device: Gpu, buffer: Any, size: int) -> None:
        self.device, self.size = device, size
        self._buffer = buffer

    def __del__(self) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        return self._buffer is not None and not self.device.lost

    def check(self) -> None:
        """Raises ClosedError or DeviceLost where the bytes are gone."""
        if self._buffer is None:
            raise ClosedError("this tensor was closed; compute it again")
        if self.device.lost:
            raise DeviceLost(f"the GPU device that held this tensor was lost ({self.device.lost}); compute it again")

    @property
    def buffer(self) -> Any:
        """The device's own object."""
        self.check()
        return self._buffer

    async def read(self) -> memoryview:
        destination = bytearray(self.size)
        await self.device.guard(self.device.read(self.buffer, destination))
        return memoryview(destination)

    def close(self) -> None:
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            self.device.destroy_buffer(buffer)


class _Run(NamedTuple):
    pending: Awaitable[Any]
    room: Awaitable[Any] | None  # for what is kept
    sizes: Sequence[int]
    destination: bytearray | None
    kept: Sequence[GpuTensor]
    held: Sequence[Any]  # sources, which nobody may free before the run has them


def _taken(source: Any) -> Any:
    """A source as a replay takes it: a buffer of the device, or bytes in whole words, as WebGPU writes them."""
    if isinstance(source, GpuTensor):
        return source.buffer
    return source if len(source) % 4 == 0 else bytes(source).ljust(round_up(len(source), 4), b"\0")


class GpuProgram:
    """A loaded program; `base.Loaded`."""

    def __init__(self, device: Gpu) -> None:
        self.device = device
        self.replays: dict[str, Replay] = {}
        self._plans: Mapping[str, Plan] = {}
        self._run: dict[str, Any] = {}
        self._held: list[Any] = []

    def __del__(self) -> None:
        self.close()

    @classmethod
    async def load(cls, device: Gpu, program: ProgramPlan, on_shader: OnShader) -> "GpuProgram":
        """Prepares a program; frees what was created where that fails."""
        loaded = cls(device)
        try:
            await loaded._prepare(program, on_shader)
        except BaseException:
            loaded.close()
            raise
        return loaded

    async def _prepare(self, program: ProgramPlan, on_shader: OnShader) -> None:
        device = self.device
        begun = {v: device.pipeline(v) for v in {_variant(s): None for p in program.plans.values() for s in p.steps}}

        # all of this while shaders compile
        constants = await self._buffers([len(c) for c in program.constants], "constants", program.largest)
        for buffer, data in zip(constants, program.constants, strict=True):
            await device.guard(device.write(buffer, data))
        bound = {}
        for name, plan in program.plans.items():
            activations = await self._buffers(plan.buffers, "activations", plan.largest)
            # negative slots count the constants' buffers from -1 down
            buffers = [*activations, *reversed(constants)]
            bound[name] = buffers, await device.guard(device.bind_groups(plan, buffers))

        compiled = dict(zip(begun, await device.compiled([*begun.values()], on_shader), strict=True))
        self._plans = program.plans
        for name, plan in program.plans.items():
            pipelines = [compiled[_variant(s)] for s in plan.steps]
            self.replays[name] = device.replay(plan, pipelines, *bound[name])
            self._run[name] = self.replays[name].run  # looked up once: in a page each look crosses to JavaScript

    async def _buffers(self, sizes: Sequence[int], usage: Usage, labels: Sequence[str]) -> Sequence[Any]:
        buffers, room = self.device.create_buffers(sizes, usage, labels)
        self._held += buffers
        await self.device.guard(room)
        return buffers

    def start(self, method: str, sources: Sequence[Any], *, read: bool = True, keep: bool = False) -> _Run:
        sizes = [slot.size for slot in self._plans[method].outputs]
        taken = list(map(_taken, sources))
        kept, room = list[GpuTensor](), None
        if keep:
            buffers, room = self.device.create_buffers(sizes, "kept", ["a tensor that stays"] * len(sizes))
            kept = [GpuTensor(self.device, *pair) for pair in zip(buffers, sizes, strict=True)]
        destination = bytearray(sum(sizes)) if read else None
        pending = self._run[method](destination, [t.buffer for t in kept] if keep else None, *taken)
        return _Run(pending, room, sizes, destination, kept, sources)

    async def finish(self, run: _Run) -> list[Output]:
        await self._finish(run.pending)
        if run.room is not None:
            await self.device.guard(run.room)
        results, at = list[Output](), 0
        for i, size in enumerate(run.sizes):
            data = None if run.destination is None else memoryview(run.destination)[at : at + size]
            results.append(Output(data, run.kept[i] if run.kept else None))
            at += size
        return results

    async def _finish(self, pending: Awaitable[Any]) -> None:
        """Waits for a run. One of several submits cannot go on once the program is closed."""
        try:
            await self.device.guard(pending)
        except DeviceError as e:
            if self.replays or isinstance(e, DeviceLost):
                raise
            raise ClosedError("the program was closed during a run that takes several submits") from None

    async def profile(self, method: str, sources: Sequence[Any]) -> list[int]:
        """Runs a method; nanoseconds at which each step began and ended, one pair after another."""
        times = bytearray(16 * len(self._plans[method].steps))
        await self._finish(self.replays[method].profile(times, *map(_taken, sources)))
        return memoryview(times).cast("Q").tolist()

    async def device_ms(self, method: str, warm_up: float = 0) -> float:
        """Milliseconds of one replay of a method on the device, after it was kept busy for `warm_up` milliseconds.

        The median of batches, each many replays in one pass, so that its submit and answer hardly count.
        """

        async def batch(repeats: int) -> float:
            taken: float = await self.device.guard(self.replays[method].time(repeats))
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
            self.device.destroy_buffer(self._held.pop())
