"""The protocol between the runtime and a backend: a device, and programs that are ready to run on it.

This layer knows no graph, no op and no kernel: it runs plans that are complete (`ir.plan.ProgramPlan`). It allocates no
tensors, since a plan says where each lies; it schedules nothing, since a plan's steps run in their order; and it
chooses nothing by what a device is, since the planner has done that by the device's `target`. Fetching files, reading
values of JavaScript, and other doors of a page are no part of it: they are `backends.browser.page`.

Coroutines of a backend wait only where its device makes them wait: on the desktop they end without an event loop.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from webq8.ir.plan import ProgramPlan
from webq8.records import Record
from webq8.stages import Steps
from webq8.target import Adapter, Target

__all__ = ["Backend", "Device", "Loaded", "OnShader", "Output", "Run"]

T = TypeVar("T")
OnShader = Callable[[int, int], None]  # (shaders that are compiled, all of them)


class Device(Protocol):
    """A GPU that programs are loaded on. It compiles a kernel once, however many programs have it."""

    adapter: Adapter
    target: Target

    @property
    def lost(self) -> str:
        """Why the device was lost; empty while it works."""

    def check_timestamps(self) -> None:
        """Raises DeviceError where the device has no timestamp queries."""

    async def load(self, program: ProgramPlan, on_shader: OnShader) -> "Loaded":
        """Compiles all shaders of a program, creates its buffers and uploads its constants. What was created is freed
        where that fails."""


class Output(Record):
    """A result of a run: its `data`, if the run was to read it, and the `gpu_program.GpuTensor` that stays on the GPU,
    if the run was to keep it."""

    data: memoryview | None
    resident: Any = None


Run = Any  # a run that was started, for `finish` of the same program


class Loaded(Protocol):
    """A program that is ready to run."""

    @property
    def device(self) -> Device | None:
        """The GPU that computes; None on the CPU."""

    def start(self, method: str, sources: Sequence[Any], *, read: bool = True, keep: bool = False) -> Run:
        """Takes the inputs, bytes or what stays on this device, and begins a run whose results are to be read, to be
        kept on the device, or both."""

    async def finish(self, run: Run) -> Sequence[Output]:
        """The results of a run."""

    def reset(self) -> None:
        """Has the next runs find in all states what the first has found."""

    def close(self) -> None:
        """Frees everything that the program holds; a run under way ends well, or raises ClosedError."""


class Backend(Protocol):
    """A kind of device, as a module of this package. There is one device at a time, and a new one after a loss."""

    async def device(self) -> Device:
        """The device, requested once. Raises NoAdapter where there is none."""

    async def request_ahead(self) -> None:
        """Begins to request the device where that takes its time, while something else goes on."""

    async def pace(self, steps: Steps[T]) -> T:
        """Runs a stage of loading, with pauses where the page needs them, and returns its result."""

    def block(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Waits for the awaitable that `begin` returns, without `await`. Raises CannotBlock where it cannot."""

    def live(self) -> Mapping[str, int]:
        """GPU buffers that are held, their bytes, and submits so far."""
