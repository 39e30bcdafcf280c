"""A program that can be called: loads a file, plans it, runs it on the GPU or by the reference."""

import io
import os
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from webq8.arrays import to_array
from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, as_buffer, has_buffer, numel, round_up
from webq8.errors import ClosedError, InputError, LimitError, NoAdapter, Webq8Error
from webq8.formats import read_file
from webq8.ir.graph import Fixed, Graph
from webq8.ir.plan import Plan
from webq8.ir.types import Tensor
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import check_memory, check_some, lower_file, plan_methods, rewrite
from webq8.runtime.inputs import fit
from webq8.stages import Steps, finish
from webq8.target import Target

if TYPE_CHECKING:
    from webq8.backends.browser.gpu import Adapter, Loaded
    from webq8.runtime.profiling import Profile

__all__ = ["MethodSpec", "Program", "Source", "TensorSpec", "ValueSpec", "compile_graphs", "drive", "inspect", "load"]

T = TypeVar("T")
Source = str | os.PathLike[str] | bytes | bytearray | memoryview | io.IOBase | Any  # Any: a value of JavaScript
Progress = Callable[[float, str], None]
_PATIENCE = 60.0  # seconds in which a server must say something
_READ = 0.5  # the part of the progress that reading the file takes; the rest is shaders


@dataclass(frozen=True)
class TensorSpec:
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


@dataclass(frozen=True)
class ValueSpec:
    """A result that is no tensor: the file has it, and each call returns it."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class MethodSpec:
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec | ValueSpec, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}"


class Program:
    """A loaded model. Get one from `webq8.load`; call it, then `close()` it (or use `with`).

    Attributes:
        methods: input and output specs of each method, by name; one that cannot run says why when it is called.
        device: "webgpu" or "cpu".
        adapter: the GPU's description (`str()` is its name, `.software` tells CPU emulation); None on "cpu".
        load_ms: milliseconds that each stage of loading took.
    """

    def __init__(
        self,
        name: str,
        specs: Mapping[str, MethodSpec],
        graphs: Mapping[str, Graph],
        refused: Mapping[str, Webq8Error],
        plans: Mapping[str, Plan],
        loaded: "Loaded | None",
        load_ms: dict[str, float],
    ) -> None:
        self.name, self.load_ms = name, load_ms
        self.methods = dict(specs)
        self.submits = 0
        self._graphs, self._refused, self._plans, self._loaded = graphs, refused, plans, loaded
        self._closed = False

    @property
    def device(self) -> Literal["webgpu", "cpu"]:
        return "webgpu" if self._loaded else "cpu"

    @property
    def adapter(self) -> "Adapter | None":
        return self._loaded.device.adapter if self._loaded else None

    @property
    def lost(self) -> bool:
        """Whether the program's device was lost: it cannot run any more, and is to be loaded again."""
        return self._loaded is not None and bool(self._loaded.device.lost)

    def dispatches(self, method: str | None = None) -> int:
        """GPU dispatches that a run of a method takes; 0 on "cpu"."""
        name = self._method(method)
        return len(self._plans[name].steps) if name in self._plans else 0

    def __call__(self, *inputs: Any, method: str | None = None) -> Coroutine[Any, Any, Any]:
        """Runs a method: arrays in (or what the README's table lists), arrays out; a tuple where there are several.
        What a method returns besides tensors, as constant methods do, is returned as Python has it.

        Inputs are taken when this is called: they may change before it is awaited. Without numpy, outputs are
        `webq8.arrays.Array`s. `method` defaults to "forward", or to the only one. Raises InputError where an input's
        count, shape or values are wrong, ClosedError after `close()`; where this method cannot run, what `load` raises
        where none can.
        """
        name = self._method(method)
        buffers = self._check(name, inputs)
        if self._loaded is None or name not in self._plans:
            return self._reference(name, _copies(buffers))
        plan = self._plans[name]
        destination = bytearray(sum(s.size for s in plan.outputs))
        run = self._loaded.start(name, _whole_words(buffers), destination)
        self.submits += len(plan.ends)
        return self._results(self._loaded, name, run, destination)

    async def _results(self, loaded: "Loaded", method: str, run: Awaitable[Any], destination: bytearray) -> Any:
        await loaded.finish(run)
        results, at = [], 0
        for spec, slot in zip(self._tensors(method), self._plans[method].outputs, strict=True):
            size = numel(spec.shape) * ITEMSIZE[spec.dtype]
            results.append(to_array(memoryview(destination)[at : at + size], spec.shape, spec.dtype))
            at += slot.size
        return self._returned(method, results)

    def _tensors(self, method: str) -> list[TensorSpec]:
        return [spec for spec in self.methods[method].outputs if isinstance(spec, TensorSpec)]

    def _returned(self, method: str, results: Iterable[Any]) -> Any:
        computed = iter(results)
        outputs = self.methods[method].outputs
        every = tuple(spec.value if isinstance(spec, ValueSpec) else next(computed) for spec in outputs)
        return every[0] if len(every) == 1 else every

    def run(self, *inputs: Any, method: str | None = None) -> Any:
        """The same without `await`, where the browser can block; raises CannotBlock elsewhere."""
        if self._loaded is None:
            return drive(self(*inputs, method=method))
        from webq8.backends.browser import gpu

        return gpu.block(lambda: self(*inputs, method=method))

    def check(self, *inputs: Any, method: str | None = None) -> None:
        """Raises what a call with these arguments would raise because of them, without running."""
        self._check(self._method(method), inputs)

    def profile(self, *inputs: Any, method: str | None = None, runs: int = 10) -> "Coroutine[Any, Any, Profile]":
        """Measures the GPU time of each dispatch of a method, with the arguments of a call: medians of `runs` runs.

        Also measures what the device reaches at most, once, and keeps it busy before, since an idle GPU is slow. Raises
        as a call does, InputError on "cpu" too, and DeviceError where the adapter has no timestamp queries.
        """
        name = self._method(method)
        if self._loaded is None:
            raise InputError(f'{self.name}: profiling measures the GPU; load it with device="webgpu"')
        if name not in self._plans:
            raise InputError(f"{self.name}: {name} computes nothing that could be profiled")
        if runs < 1:
            raise InputError(f"runs: {runs} is less than 1")
        sources = _whole_words(_copies(self._check(name, inputs)))
        self._loaded.device.check_timestamps()
        return self._profile(self._loaded, name, sources, runs)

    async def _profile(self, loaded: "Loaded", name: str, sources: Sequence[Any], runs: int) -> "Profile":
        from webq8.runtime.ceilings import measure_ceilings
        from webq8.runtime.profiling import profile_of

        plan, times = self._plans[name], list[list[int]]()
        ceilings = await measure_ceilings(loaded.device)
        for _ in range(runs + 1):  # the first one warms caches
            self._method(name)  # it may have been closed meanwhile
            times.append(await loaded.profile(name, sources, len(plan.steps)))
            self.submits += len(plan.ends)
        return profile_of((self.name, name, str(self.adapter)), plan.steps, times[1:], ceilings)

    def close(self) -> None:
        """Frees everything the program holds on the GPU. A closed program cannot run; closing twice is fine."""
        if self._loaded is not None:
            self._loaded.close()
        self._closed = True

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"on {self.adapter or 'cpu'}"
        cannot = dict.fromkeys(self._refused, ", which cannot run")
        methods = "".join(f"\n  {name}{spec}{cannot.get(name, '')}" for name, spec in self.methods.items())
        return f"<webq8 program {self.name}, {state}{methods}>"

    def _method(self, method: str | None) -> str:
        if self._closed:
            raise ClosedError(f"{self.name} was closed; load it again to run it")
        name = method or ("forward" if "forward" in self.methods else next(iter(self.methods)))
        if name not in self.methods or (method is None and name != "forward" and len(self.methods) > 1):
            raise InputError(f"{self.name} has no method {name!r}; it has {', '.join(self.methods)}: pass method=…")
        if name in self._refused:
            raise type(self._refused[name])(str(self._refused[name]))
        return name

    def _check(self, method: str, inputs: Sequence[Any]) -> list[memoryview]:
        specs = self.methods[method].inputs
        if len(inputs) != len(specs):
            expected = ", ".join(map(str, specs)) or "none"
            raise InputError(f"{method} takes {len(specs)} inputs ({expected}), got {len(inputs)}")
        given = zip(inputs, specs, strict=True)
        return [fit(x, spec.shape, spec.dtype, f"input {i} of {method}") for i, (x, spec) in enumerate(given)]

    async def _reference(self, method: str, buffers: Sequence[memoryview]) -> Any:
        if not self._tensors(method):
            return self._returned(method, ())
        from webq8.backends.reference import run_graph

        specs = self.methods[method].inputs
        arrays = [to_array(b, s.shape, s.dtype) for b, s in zip(buffers, specs, strict=True)]
        try:
            return self._returned(method, run_graph(self._graphs[method], arrays))
        except MemoryError:
            raise LimitError(f"{self.name}: there is not enough memory to run {method}") from None


def _copies(buffers: Sequence[memoryview]) -> list[memoryview]:
    return [memoryview(bytes(b)) for b in buffers]


def _whole_words(buffers: Sequence[memoryview]) -> list[Any]:
    """Buffers padded to what can be written to the GPU."""
    return [b if len(b) % 4 == 0 else bytes(b).ljust(round_up(len(b), 4), b"\0") for b in buffers]


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, as those of `device="cpu"` do; needs no event loop."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError("this coroutine waits; await it")


def _spec(inputs: Iterable[Tensor], outputs: Iterable[Tensor | Fixed]) -> MethodSpec:
    return MethodSpec(
        tuple(TensorSpec(t.shape, t.dtype) for t in inputs),
        tuple(ValueSpec(v.value) if isinstance(v, Fixed) else TensorSpec(v.shape, v.dtype) for v in outputs),
    )


def _graph_spec(graph: Graph) -> MethodSpec:
    tensors = graph.tensors
    return _spec((tensors[i] for i in graph.inputs), (o if isinstance(o, Fixed) else tensors[o] for o in graph.outputs))


async def load(
    source: Source,
    *,
    device: Literal["webgpu", "cpu"] = "webgpu",
    on_progress: Progress | None = None,
    optimizations: Collection[str] | None = None,
) -> Program:
    """Loads a `.pte` file that ExecuTorch exported for its Vulkan/WebGPU delegate.

    Args:
        source: a URL, a path, the file's bytes (anything with a buffer), or an open binary file; in a page also a typed
            array, ArrayBuffer, Blob, File or Response of JavaScript.
        device: "webgpu" runs in the page on the GPU; "cpu" runs the numpy reference, anywhere.
        on_progress: called with a fraction (rising, ending at 1) and a few words on what goes on.
        optimizations: the names of `webq8.rewrite.OPTIMIZATIONS` to apply; all of them by default. None changes a byte.

    Raises FormatError for a damaged file, Unsupported listing everything webq8 cannot run, LimitError where it does not
    fit the device, NoAdapter where the browser gives no GPU.
    """
    if device not in ("webgpu", "cpu"):
        raise InputError(f"device: {device!r} is not one of 'webgpu', 'cpu'")
    report = _Monotonic(on_progress)
    clock = _Clock()
    if device == "webgpu":
        with suppress(ImportError):  # on the desktop; compile_program says so
            from webq8.backends.browser import gpu

            await gpu.request_ahead()
    data, name = await _read(source, report)
    clock.lap("read")
    pace = _pace(device)
    file = await pace(read_file.steps(data, name))
    clock.lap("parse")
    budget, refused = Budget(file.size, name), dict[str, Webq8Error]()
    graphs = await pace(lower_file.steps(file, name, budget, refused))
    clock.lap("lower")
    specs = {n: _spec(method.inputs(), method.outputs()) for n, method in file.methods.items()}
    return await compile_graphs(graphs, name, device, report, clock, optimizations, specs, refused, budget)


async def compile_graphs(
    graphs: dict[str, Graph],
    name: str,
    device: Literal["webgpu", "cpu"] = "webgpu",
    report: "_Monotonic | None" = None,
    clock: "_Clock | None" = None,
    optimizations: Collection[str] | None = None,
    specs: Mapping[str, MethodSpec] | None = None,
    refused: dict[str, Webq8Error] | None = None,
    budget: Budget | None = None,
) -> Program:
    """Rewrites, plans and uploads the graphs of a program's methods, by name, as `passes.required` has given them.

    `specs` and `refused` are of all methods that the program's file has.
    """
    report, clock, pace = report or _Monotonic(None), clock or _Clock(), _pace(device)
    refused, budget = {} if refused is None else refused, budget or Budget(None, name)
    specs = specs or {n: _graph_spec(graph) for n, graph in graphs.items()}
    if device == "cpu":
        for n, graph in [*graphs.items()]:
            try:
                check_memory(graph, name)
            except LimitError as e:
                refused[n] = e
                del graphs[n]
    check_some(name, graphs, refused)
    if device == "cpu":
        try:
            import webq8.backends.reference  # noqa: F401 - tells early that numpy is missing
        except ImportError:
            raise InputError('device="cpu" needs numpy; install it, or run on "webgpu"') from None
        report(1.0, "ready")
        return Program(name, specs, graphs, refused, {}, None, clock.laps)
    try:
        from webq8.backends.browser import gpu
    except ImportError:
        raise NoAdapter(
            'WebGPU is only there in a web page: run this in Pyodide, use `webq8 run`, or pass device="cpu"'
        ) from None
    computing = {n: g for n, g in graphs.items() if g.results}
    rewritten = {n: await pace(rewrite.steps(graph, optimizations, budget)) for n, graph in computing.items()}
    clock.lap("rewrite")
    owner = await gpu.device()
    clock.lap("device")
    planned = await pace(plan_methods.steps(rewritten, owner.target, name, budget, refused))
    check_some(name, graphs.keys() - refused.keys(), refused)
    clock.lap("plan")

    def on_shader(done: int, total: int) -> None:
        report(_READ + (1 - _READ) * done / (total + 1), f"shader {done} of {total}")

    program = Program(name, specs, graphs, refused, planned.plans, await owner.load(planned, on_shader), clock.laps)
    clock.lap("compile")
    try:
        report(1.0, "ready")
    except BaseException:
        program.close()
        raise
    return program


def _pace(device: str) -> Callable[[Steps[T]], Awaitable[T]]:
    """How a stage of loading is done: on the way to a GPU with pauses for the page, elsewhere at once."""
    if device == "webgpu":
        with suppress(ImportError):
            from webq8.backends.browser import gpu

            return gpu.with_pauses
    return _at_once


async def _at_once(steps: Steps[T]) -> T:
    return finish(steps)


def inspect(source: Source) -> dict[str, Any]:
    """What is in a file, without a GPU: specs, ops with counts, dispatches, what is unsupported and why. JSON-able.

    Raises InputError where there is no such file, FormatError where it is damaged.
    """
    data, name = _read_here(source)
    file = read_file(data, name)
    budget = Budget(file.size, name)
    methods = {}
    for n, method in file.methods.items():
        spec = _spec(method.inputs(), method.outputs())
        graph, problems = finish(method.lower(budget))
        entry: dict[str, Any] = {
            "inputs": [{"shape": list(t.shape), "dtype": t.dtype} for t in spec.inputs],
            "outputs": [
                {"shape": list(v.shape), "dtype": v.dtype} if isinstance(v, TensorSpec) else {"value": v.value}
                for v in spec.outputs
            ],
            "ops": dict(method.operators()),
            "unsupported": [{"node": p.node, "op": p.op, "reason": p.reason} for p in problems],
        }
        entry |= {"dispatches": None, "relayouts": None, "peak_bytes": None, "live_bytes": None}
        if not problems:
            try:
                rewritten = rewrite(required(graph), None, budget)
                plan = plan_program({n: rewritten}, Target(), name, budget).plans[n]
            except Webq8Error as e:
                entry["unsupported"].append({"node": "plan", "op": "", "reason": str(e)})
            else:
                entry |= {"dispatches": len(plan.steps), "relayouts": plan.relayouts}
                entry |= {"peak_bytes": plan.peak_bytes, "live_bytes": plan.live_bytes}
        methods[n] = entry
    return {"model": name, "methods": methods}


async def _read(source: Source, report: "_Monotonic") -> tuple[bytes, str]:
    if hasattr(source, "js_id"):
        from webq8.backends.browser import gpu

        data, url = await gpu.read(source, _on_bytes(report))
        return data, _name(url)
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        if "://" in text or not os.path.exists(text):
            return await _fetch(text, report), _name(text)
    return _read_here(source)


def _read_here(source: Source) -> tuple[bytes, str]:
    """The bytes and the name of what needs no fetching."""
    if isinstance(source, bytes | bytearray):
        return bytes(source), "program"  # a copy of what may change while it is read, or later
    if isinstance(source, str | os.PathLike):
        path = Path(os.fsdecode(source))
        try:
            return path.read_bytes(), path.name
        except FileNotFoundError:
            raise InputError(f"source: {path} does not exist") from None
        except (OSError, ValueError) as e:  # a folder, no permission, a NUL in the name
            raise InputError(f"source: {path} cannot be read: {getattr(e, 'strerror', None) or e}") from None
    if hasattr(source, "read"):
        try:
            data = source.read()
        except (OSError, ValueError) as e:  # closed, or text that does not decode
            raise InputError(f"source: reading it fails: {e}; pass a file that is open in binary mode") from None
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError(f"source: reading it gives {type(data).__name__}; open the file in binary mode")
        return bytes(data), Path(str(getattr(source, "name", "program"))).name
    if has_buffer(source):
        return bytes(as_buffer(source, "source")[0]), "program"
    hint = "; await it first" if hasattr(source, "__await__") else ""
    raise InputError(f"source: a {type(source).__name__} is not a URL, path, bytes or binary file{hint}")


def _name(url: str) -> str:
    from urllib.parse import unquote  # pathlib brings it

    path = url.split("#")[0].split("?")[0].rstrip("/")
    return unquote(path.rpartition("/")[2]) or url or "program"


async def _fetch(url: str, report: "_Monotonic") -> bytes:
    try:
        from webq8.backends.browser import gpu
    except ImportError:
        return _download(url)

    return await gpu.fetch(url, _on_bytes(report))


def _on_bytes(report: "_Monotonic") -> Callable[[int, int], None]:
    """Reports a download. Without a known total, it creeps towards the end."""

    def on_bytes(done: int, total: int) -> None:
        # servers that compress announce less than what comes
        report(_READ * min(1, done / total if total else done / (done + 2**20)), f"{done:,} bytes")

    return on_bytes


def _download(url: str) -> bytes:
    """What a URL gives, on the desktop."""
    if "://" not in url:
        return _read_here(url)[0]
    import urllib.request  # brings half of the standard library, which pages do without
    from http.client import HTTPException
    from urllib.error import HTTPError

    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE) as response:
            return bytes(response.read())
    except HTTPError as e:
        e.close()
        reason = f"HTTP {e.code} {e.reason}"
    except (OSError, ValueError, HTTPException) as e:
        reason = str(getattr(e, "reason", e))
    raise InputError(f"{url} cannot be fetched: {reason}")


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
