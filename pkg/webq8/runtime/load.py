"""From a file to a program that is ready to run: reads, lowers, runs the passes, plans, uploads."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Literal, TypeVar

from webq8.backends.base import Backend
from webq8.backends.find import DEVICES, DeviceName, find_backend
from webq8.budget import Budget
from webq8.errors import InputError, LimitError, Webq8Error
from webq8.formats import Asked, File, Shapes, read_file
from webq8.ir.graph import Graph
from webq8.ir.types import Tensor
from webq8.runtime.compile import check_memory, check_some, lower_file, plan_methods, rewrite
from webq8.runtime.program import Program
from webq8.runtime.source import OnBytes, Source, beside, read
from webq8.runtime.specs import MethodSpec, graph_spec, spec_of
from webq8.stages import Steps, drive, finish

__all__ = ["Progress", "compile_graphs", "load"]

T = TypeVar("T")
Progress = Callable[[float, str], None]
_READ = 0.5  # the part of the progress that reading the file takes; the rest is shaders


async def load(
    source: Source,
    *,
    device: Literal["webgpu", "native", "cpu"] = "webgpu",
    on_progress: Progress | None = None,
    optimizations: Collection[str] | None = None,
    shapes: Shapes | None = None,
) -> Program:
    """Loads a TFLite, ONNX or ExecuTorch (`.pte`) model; which of them a file is, its bytes say.

    Args:
        source: a URL, a path, the file's bytes (anything with a buffer), or an open binary file; in a page also a typed
            array, ArrayBuffer, Blob, File or Response of JavaScript.
        device: "webgpu" runs in the page on the GPU; "native" runs on the desktop on the GPU (`webq8[native]`); "cpu"
            runs the numpy reference, anywhere.
        on_progress: called with a fraction (rising, ending at 1) and a few words on what goes on.
        optimizations: the names of `webq8.passes.OPTIMIZATIONS` to apply; all of them by default. None changes a byte.
        shapes: for an `.onnx` file whose inputs have open sizes, the size of each symbol by name, as in
            `{"batch": 1, "sequence": 128}`, or the whole shape of an input by the input's name. Other ones later:
            `Program.for_shapes`.

    Raises FormatError for a damaged file, Unsupported listing everything webq8 cannot run, LimitError where it does not
    fit the device, NoAdapter where there is no GPU.
    """
    if device not in DEVICES:
        raise InputError(f"device: {device!r} is not one of {', '.join(map(repr, DEVICES))}")
    backend = find_backend(device)
    report = _Monotonic(on_progress)
    clock = _Clock()
    if backend:
        await backend.request_ahead()
    data, name = await read(source, _on_bytes(report))
    clock.lap("read")
    pace = _pace(backend)
    file = await pace(read_file.steps(data, name, Asked(shapes or {}, beside(source))))
    clock.lap("parse")
    return await _Loading(name, device, optimizations).program(file, report, clock)


class _Loading:
    """How a file that was read becomes programs: one for each shapes that are asked for."""

    def __init__(self, name: str, device: DeviceName, optimizations: Collection[str] | None) -> None:
        self.name, self.device, self.optimizations = name, device, optimizations
        self.programs: dict[tuple[tuple[Tensor, ...], ...], Program] = {}  # by the types of all methods' inputs

    async def program(self, file: File, report: "_Monotonic | None" = None, clock: "_Clock | None" = None) -> Program:
        clock, budget, refused = clock or _Clock(), Budget(file.size, self.name), dict[str, Webq8Error]()
        graphs = await _pace(find_backend(self.device))(lower_file.steps(file, self.name, budget, refused))
        clock.lap("lower")
        specs = {n: spec_of(method) for n, method in file.methods.items()}
        options = self.device, report, clock, self.optimizations, specs, refused, budget
        program = await compile_graphs(graphs, self.name, *options)
        self.programs[_inputs(file)] = program
        if reshaped := file.reshaped:

            async def for_shapes(shapes: Shapes) -> Program:
                other = reshaped(shapes)
                found = self.programs.get(_inputs(other))
                return found if found and not found.closed else await self.program(other)

            program.reshaped = for_shapes
        return program


def _inputs(file: File) -> tuple[tuple[Tensor, ...], ...]:
    return tuple(method.inputs() for method in file.methods.values())


async def compile_graphs(
    graphs: dict[str, Graph],
    name: str,
    device: DeviceName = "webgpu",
    report: "_Monotonic | None" = None,
    clock: "_Clock | None" = None,
    optimizations: Collection[str] | None = None,
    specs: Mapping[str, MethodSpec] | None = None,
    refused: dict[str, Webq8Error] | None = None,
    budget: Budget | None = None,
) -> Program:
    """Optimizes, plans and uploads the graphs of a program's methods, by name, after `passes.required`.

    `specs` and `refused` are of all methods that the program's file has.
    """
    backend = find_backend(device)
    report, clock, pace = report or _Monotonic(None), clock or _Clock(), _pace(backend)
    refused, budget = {} if refused is None else refused, budget or Budget(None, name)
    specs = specs or {n: graph_spec(graph) for n, graph in graphs.items()}
    if backend is None:
        for n, graph in [*graphs.items()]:
            try:
                check_memory(graph, name)
            except LimitError as e:
                refused[n] = e
                del graphs[n]
    check_some(name, graphs, refused)
    computing = {n: g for n, g in graphs.items() if g.results or g.states}
    if backend is None:
        from webq8.backends.reference.program import ReferenceProgram

        report(1.0, "ready")
        reference = ReferenceProgram(name, computing)
        return Program(name, specs, refused, computing, {}, reference, device, _run_here, clock.laps)
    rewritten = {n: await pace(rewrite.steps(graph, optimizations, budget)) for n, graph in computing.items()}
    clock.lap("rewrite")
    owner = await backend.device()
    clock.lap("device")
    planned = await pace(plan_methods.steps(rewritten, owner.target, name, budget, refused))
    check_some(name, graphs.keys() - refused.keys(), refused)
    clock.lap("plan")

    def on_shader(done: int, total: int) -> None:
        report(_READ + (1 - _READ) * done / (total + 1), f"shader {done} of {total}")

    loaded = await owner.load(planned, on_shader)
    program = Program(name, specs, refused, computing, planned.plans, loaded, device, backend.block, clock.laps)
    clock.lap("compile")
    try:
        report(1.0, "ready")
    except BaseException:
        program.close()
        raise
    return program


def _pace(backend: Backend | None) -> Callable[[Steps[T]], Awaitable[T]]:
    """A function that runs a stage of loading: with the pauses of the backend for a GPU, else at once."""
    return backend.pace if backend else _at_once


def _run_here(begin: Callable[[], Awaitable[T]]) -> T:
    return drive(begin())


async def _at_once(steps: Steps[T]) -> T:
    return finish(steps)


def _on_bytes(report: "_Monotonic") -> OnBytes:
    """Reports a download. Without a known total, it creeps towards the end."""

    def on_bytes(done: int, total: int) -> None:
        # servers that compress announce less than what comes
        report(_READ * min(1, done / total if total else done / (done + 2**20)), f"{done:,} bytes")

    return on_bytes


class _Monotonic:
    """Passes on progress that never falls."""

    def __init__(self, callback: Progress | None) -> None:
        self.callback, self.reached = callback, 0.0

    def __call__(self, fraction: float, message: str) -> None:
        self.reached = max(self.reached, min(fraction, 1.0))
        if self.callback:
            self.callback(self.reached, message)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self.last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name], self.last = round((now - self.last) * 1e3, 3), now
