"""From a file to a program that is ready to run: read, check, rewrite, plan, upload."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Literal, TypeVar

from webq8.backends.base import Backend
from webq8.backends.find import DEVICES, DeviceName, find_backend
from webq8.budget import Budget
from webq8.errors import InputError, LimitError, Unsupported, Webq8Error, raise_problems, shown
from webq8.formats import read_pte
from webq8.ir import Graph, Limits, Method, ProgramPlan, Tensor
from webq8.ir import Program as Parsed
from webq8.plan.planner import check_memory, find_problems, plan_program
from webq8.rewrite import has_constant_calls, optimize
from webq8.runtime.program import Program
from webq8.runtime.source import OnBytes, Source, read
from webq8.runtime.specs import spec_of
from webq8.stages import Stage, Steps, drive, finish

__all__ = ["Progress", "compile_program", "load", "rewrite"]

T = TypeVar("T")
Progress = Callable[[float, str], None]
_MOST_REASONS = 4  # why methods cannot run, in a message
_READ = 0.5  # the part of the progress that reading the file takes; the rest is shaders


async def load(
    source: Source,
    *,
    device: Literal["webgpu", "native", "cpu"] = "webgpu",
    on_progress: Progress | None = None,
    optimizations: Collection[str] | None = None,
) -> Program:
    """Loads a `.pte` file that ExecuTorch exported for its Vulkan/WebGPU delegate.

    Args:
        source: a URL, a path, the file's bytes (anything with a buffer), or an open binary file; in a page also a typed
            array, ArrayBuffer, Blob, File or Response of JavaScript.
        device: "webgpu" runs in the page on the GPU; "native" runs on the desktop on the GPU (`webq8[native]`); "cpu"
            runs the numpy reference, anywhere.
        on_progress: called with a fraction (rising, ending at 1) and a few words on what goes on.
        optimizations: the names of `webq8.rewrite.OPTIMIZATIONS` to apply; all of them by default. None changes a byte.

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
    parsed = await _pace(backend)(read_pte.steps(data, name))
    clock.lap("parse")
    return await compile_program(parsed, name, device, report, clock, optimizations)


async def compile_program(
    parsed: Parsed,
    name: str,
    device: DeviceName = "webgpu",
    report: "_Monotonic | None" = None,
    clock: "_Clock | None" = None,
    optimizations: Collection[str] | None = None,
) -> Program:
    """Checks, rewrites, plans and uploads a program that has been read."""
    backend = find_backend(device)
    report, clock, pace = report or _Monotonic(None), clock or _Clock(), _pace(backend)
    budget = Budget(parsed.size, name)
    graphs, refused = dict[str, Graph](), dict[str, Webq8Error]()
    for n, method in parsed.methods.items():
        graph, problems = await pace(find_problems.steps(method, budget))
        try:
            raise_problems(name if len(parsed.methods) == 1 else f"{name}, method {shown(n)}", problems)
            if backend is None:
                check_memory(graph, name)
            graphs[n] = graph
        except (Unsupported, LimitError) as e:
            refused[n] = e
    _check_some(name, graphs, refused)
    methods = {n: spec_of(Method(n, graphs.get(n, method.graph))) for n, method in parsed.methods.items()}
    computing = {n: g for n, g in graphs.items() if any(isinstance(g.values[i], Tensor) for i in g.outputs)}
    clock.lap("check")
    if backend is None:
        from webq8.backends.reference.program import ReferenceProgram

        report(1.0, "ready")
        return Program(name, methods, refused, {}, ReferenceProgram(name, computing), device, _run_here, clock.laps)
    rewritten = {n: await pace(rewrite.steps(graph, optimizations, budget)) for n, graph in computing.items()}
    clock.lap("rewrite")
    owner = await backend.device()
    clock.lap("device")
    planned = await pace(_planned(rewritten, owner.limits, name, budget, refused))
    _check_some(name, graphs.keys() - refused.keys(), refused)
    clock.lap("plan")

    def on_shader(done: int, total: int) -> None:
        report(_READ + (1 - _READ) * done / (total + 1), f"shader {done} of {total}")

    loaded = await owner.load(planned, on_shader)
    program = Program(name, methods, refused, planned.plans, loaded, device, backend.block, clock.laps)
    clock.lap("compile")
    try:
        report(1.0, "ready")
    except BaseException:
        program.close()
        raise
    return program


def _pace(backend: Backend | None) -> Callable[[Steps[T]], Awaitable[T]]:
    """How a stage of loading is done: on the way to a GPU as its backend needs it, elsewhere at once."""
    return backend.pace if backend else _at_once


def _run_here(begin: Callable[[], Awaitable[T]]) -> T:
    return drive(begin())


async def _at_once(steps: Steps[T]) -> T:
    return finish(steps)


def _check_some(name: str, methods: Collection[str], refused: Mapping[str, Webq8Error]) -> None:
    """Raises what is wrong with all methods where none can run; what they have in common is said once."""
    if methods:
        return
    reasons = {str(e).removeprefix(f"{name}, method {shown(n)}: "): str(e) for n, e in refused.items()}
    lines = [f"{name}: {next(iter(reasons)).removeprefix(f'{name}: ')}"] if len(reasons) == 1 else [*reasons.values()]
    more = [f"… and {len(lines) - _MOST_REASONS} more"] * (len(lines) > _MOST_REASONS)
    raise type(next(iter(refused.values())))("\n".join(lines[:_MOST_REASONS] + more))


def _planned(
    graphs: Mapping[str, Graph], limits: Limits, name: str, budget: Budget, refused: dict[str, Webq8Error]
) -> Steps[ProgramPlan]:
    """The plans of those methods that fit the device; adds the others to `refused`."""
    try:
        return (yield from plan_program.steps(graphs, limits, name, budget))
    except LimitError:
        for n, graph in graphs.items():
            try:
                yield from plan_program.steps({n: graph}, limits, name, budget)
            except LimitError as e:
                refused[n] = e
        rest = {n: g for n, g in graphs.items() if n not in refused}
        return (yield from plan_program.steps(rest, limits, name, budget))


@Stage
def rewrite(graph: Graph, optimizations: Collection[str] | None = None, budget: Budget | None = None) -> Steps[Graph]:
    """What is planned of a graph that was checked. Constants fold where numpy is there to compute them."""
    if has_constant_calls(graph):  # rarely; the reference takes its time to import
        try:
            from webq8.backends.reference import fold_constants
        except ImportError:
            pass
        else:
            graph = fold_constants(graph, budget)
    return (yield from optimize.steps(graph, optimizations))


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
