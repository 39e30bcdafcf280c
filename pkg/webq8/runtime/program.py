"""Programs: they check inputs, run methods on a backend, and return results as users take them."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from webq8.arrays import to_array
from webq8.backends.base import Loaded, Output, Run
from webq8.backends.find import DeviceName
from webq8.backends.gpu_program import GpuProgram, GpuTensor
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import ClosedError, InputError, Webq8Error, plain, shown
from webq8.formats import Shapes
from webq8.ir.plan import Plan
from webq8.ir.types import Tensor as Type
from webq8.runtime.inputs import fit
from webq8.runtime.specs import MethodSpec, TensorSpec, ValueSpec, listed
from webq8.runtime.tensor import Tensor
from webq8.target import Adapter

if TYPE_CHECKING:
    from webq8.runtime.profiling import Profile

__all__ = ["Program"]


class Program:
    """A loaded model. Get one from `webq8.load`; call it, then `close()` it (or use `with`).

    Attributes:
        methods: input and output specs of each method, by name; one that cannot run says why when it is called.
        device: "webgpu", "native" or "cpu".
        adapter: the GPU's description (`str()` is its name, `.software` tells CPU emulation); None on "cpu".
        load_ms: milliseconds that each stage of loading took.
    """

    def __init__(
        self,
        name: str,
        methods: Mapping[str, MethodSpec],
        refused: Mapping[str, Webq8Error],
        computing: Collection[str],
        plans: Mapping[str, Plan],
        loaded: Loaded,
        device: DeviceName,
        block: Callable[[Callable[[], Awaitable[Any]]], Any],
        load_ms: dict[str, float],
    ) -> None:
        self.name, self.methods, self.device, self.load_ms = name, methods, device, load_ms
        self.submits = 0
        self._refused, self._computing, self._plans = refused, computing, plans
        self._loaded, self._block = loaded, block
        self._closed = False
        self.reshaped: Callable[[Shapes], Awaitable[Program]] | None = None  # where the file leaves shapes open

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def adapter(self) -> Adapter | None:
        return self._loaded.device.adapter if self._loaded.device else None

    @property
    def lost(self) -> bool:
        """Whether the program's device was lost: it cannot run any more, and is to be loaded again."""
        return self._loaded.device is not None and bool(self._loaded.device.lost)

    async def for_shapes(self, shapes: Shapes) -> "Program":
        """The model for inputs of other shapes, as `load` takes them; those that are left out stay as they are here.

        The file is not read again. A program is made once for each shapes, and is to be closed as this one is. Raises
        InputError where the file leaves no shapes open, or where these do not fit.
        """
        self._check_open()
        if self.reshaped is None:
            raise InputError(f"shapes: those of {self.name} are fixed")
        return await self.reshaped(shapes)

    def spec(self, method: str | None = None) -> MethodSpec:
        """The inputs and outputs of a method; of "forward", or the only one, where no name is given."""
        return self.methods[self._method(method)]

    def dispatches(self, method: str | None = None) -> int:
        """GPU dispatches that a run of a method takes; 0 on "cpu"."""
        name = self._method(method)
        return len(self._plans[name].steps) if name in self._plans else 0

    def __call__(
        self, /, *inputs: Any, method: str | None = None, resident: bool = False, **named: Any
    ) -> Coroutine[Any, Any, Any]:
        """Runs a method: arrays in (or what the README's table lists), arrays out; a tuple where there are several.
        Inputs are given in order, by name (`program(image=x)`), or as one mapping by name, which may hold any names.
        What a method returns besides tensors, as constant methods do, is returned as Python has it.

        With `resident` tensors are not read back: they are `webq8.Tensor`s that stay on the device, for other programs
        and ops to take, or to be read later. Inputs are taken when this is called: they may change before it is
        awaited. Without numpy, outputs are `webq8.arrays.Array`s. `method` defaults to "forward", or to the only one.
        Raises InputError where an input's count, shape or values are wrong, ClosedError after `close()`; where this
        method cannot run, what `load` raises where none can.
        """
        name = self._method(method)
        sources = self._check(name, inputs, named)
        run = self._start(name, sources, read=not resident, keep=resident)
        return self._results(name, run, resident)

    def _start(self, method: str, sources: Sequence[Any], *, read: bool, keep: bool) -> Run | None:
        """Begins a run; None where a method computes nothing."""
        if method not in self._computing:
            return None
        run = self._loaded.start(method, sources, read=read, keep=keep)
        self.submits += len(self._plans[method].ends) if method in self._plans else 0
        return run

    async def _results(self, method: str, run: Run | None, resident: bool) -> Any:
        outputs = await self._loaded.finish(run) if run is not None else ()
        specs = self._tensors(method)
        return self._returned(method, map(_tensor if resident else _array, specs, outputs))

    async def compute(self, *inputs: Any) -> Output:
        """The first result of "forward", which is read and stays on the device; for `webq8.ops`."""
        sources = self._check(self._method("forward"), inputs, {})
        run = self._start("forward", sources, read=True, keep=True)
        return (await self._loaded.finish(run))[0]

    def _tensors(self, method: str) -> list[TensorSpec]:
        return [spec for spec in self.methods[method].outputs if isinstance(spec, TensorSpec)]

    def _returned(self, method: str, results: Iterable[Any]) -> Any:
        computed = iter(results)
        outputs = self.methods[method].outputs
        every = tuple(spec.value if isinstance(spec, ValueSpec) else next(computed) for spec in outputs)
        return every[0] if len(every) == 1 else every

    def run(self, /, *inputs: Any, method: str | None = None, resident: bool = False, **named: Any) -> Any:
        """The same without `await`: on the desktop, and in browsers that can block; raises CannotBlock elsewhere."""
        return self._block(lambda: self(*inputs, method=method, resident=resident, **named))

    def check(self, /, *inputs: Any, method: str | None = None, **named: Any) -> None:
        """Raises what a call with these arguments would raise because of them, without running."""
        self._check(self._method(method), inputs, named)

    def profile(
        self, /, *inputs: Any, method: str | None = None, runs: int = 10, **named: Any
    ) -> "Coroutine[Any, Any, Profile]":
        """Measures the GPU time of each dispatch of a method, with arguments as for a run: medians of `runs` runs.

        Also measures what the device reaches at most, once, and keeps it busy before, since an idle GPU is slow. Raises
        as a call does, InputError on "cpu" too, and DeviceError where the adapter has no timestamp queries.
        """
        name = self._method(method)
        if not isinstance(self._loaded, GpuProgram):
            raise InputError(f'{self.name}: profiling measures the GPU; load it with device="webgpu" or "native"')
        if name not in self._plans:
            raise InputError(f"{self.name}: {name} computes nothing that could be profiled")
        if runs < 1:
            raise InputError(f"runs: {runs} is less than 1")
        sources = [s if isinstance(s, GpuTensor) else bytes(s) for s in self._check(name, inputs, named)]
        self._loaded.device.check_timestamps()
        return self._profile(self._loaded, name, sources, runs)

    async def _profile(self, loaded: GpuProgram, name: str, sources: Sequence[Any], runs: int) -> "Profile":
        from webq8.runtime.ceilings import measure_ceilings
        from webq8.runtime.profiling import profile_of

        plan, times = self._plans[name], list[list[int]]()
        ceilings = await measure_ceilings(loaded.device)
        for _ in range(runs + 1):  # the first one warms caches
            self._method(name)  # it may have been closed meanwhile
            times.append(await loaded.profile(name, sources))
            self.submits += len(plan.ends)
        return profile_of((self.name, name, str(self.adapter)), plan.steps, times[1:], ceilings)

    def reset(self) -> None:
        """Has all values that the program keeps between runs be again what the file has. Runs that were begun before
        are not touched."""
        self._check_open()
        self._loaded.reset()

    def close(self) -> None:
        """Frees everything the program holds on the GPU. A closed program cannot run; closing twice is fine."""
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

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.name} was closed; load it again to run it")

    def _method(self, method: str | None) -> str:
        self._check_open()
        name = method or ("forward" if "forward" in self.methods else next(iter(self.methods)))
        if name not in self.methods or (method is None and name != "forward" and len(self.methods) > 1):
            raise InputError(f"{self.name} has no method {name!r}; it has {', '.join(self.methods)}: pass method=…")
        if name in self._refused:
            raise type(self._refused[name])(str(self._refused[name]))
        return name

    def _check(self, method: str, inputs: Sequence[Any], named: Mapping[str, Any]) -> list[memoryview | GpuTensor]:
        specs = self.methods[method].inputs
        if named or (len(inputs) == 1 and isinstance(inputs[0], Mapping)):
            inputs = _in_order(method, specs, inputs, named)
        if len(inputs) != len(specs):
            raise InputError(f"{method} takes {len(specs)} inputs ({listed(specs) or 'none'}), got {len(inputs)}")
        given = zip(inputs, specs, strict=True)
        return [self._source(x, spec, f"input {plain(spec.name)} of {method}") for x, spec in given]

    def _source(self, x: Any, spec: TensorSpec, name: str) -> memoryview | GpuTensor:
        """An input as a run takes it: a tensor that stays on this device as it is, anything else as its bytes."""
        if isinstance(x, Tensor):
            resident = x.resident_on(self._loaded.device, name)
            if resident and (x.shape, x.dtype) == (spec.shape, spec.dtype):
                return resident
            if x.unread:
                raise InputError(
                    f"{name}: expected {spec}, got {x.dtype} {list(x.shape)} on the device, where nothing is "
                    "converted; `await x.numpy()` reads it"
                )
        return fit(x, spec.shape, spec.dtype, name)


def _array(spec: TensorSpec, output: Output) -> Any:
    assert output.data is not None
    data, shape = output.data[: numel(spec.shape) * ITEMSIZE[spec.dtype]], spec.shape
    if spec.partial:  # rows of −1 are no results
        size = numel(shape[1:]) * ITEMSIZE[spec.dtype]
        rows = (data[at : at + size] for at in range(0, len(data), size))
        data = memoryview(b"".join(row for row in rows if row != b"\xff" * size))
        shape = (len(data) // size, *shape[1:])
    return to_array(data, shape, spec.dtype)


def _tensor(spec: TensorSpec, output: Output) -> Tensor:
    return Tensor.computed(Type(spec.shape, spec.dtype), output)


def _in_order(
    method: str, specs: Sequence[TensorSpec], inputs: Sequence[Any], named: Mapping[str, Any]
) -> Sequence[Any]:
    """Inputs of which some are given by name, by keywords or in one mapping."""
    names = [spec.name for spec in specs]
    mapping = len(inputs) == 1 and isinstance(inputs[0], Mapping)
    if not mapping and len(inputs) > len(names):
        return inputs
    first = inputs[0] if mapping else dict(zip(names, inputs, strict=False))
    for name in (*first, *named):
        if name not in names:
            raise InputError(f"{method} has no input {shown(name)}; it has {listed(specs) or 'none'}")
        if name in first and name in named:
            raise InputError(f"input {plain(name)} of {method} is given twice")
    given = {**first, **named}
    if missing := [spec for spec in specs if spec.name not in given]:
        raise InputError(f"{method} lacks {listed(missing)}")
    return [given[name] for name in names]
