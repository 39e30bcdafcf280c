"""What kernels make of ops, and what a backend runs: dispatches, and plans."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from webq8.records import Record

__all__ = ["Alias", "Const", "Dispatch", "Param", "Params", "Plan", "ProgramPlan", "Slot", "StateSlots", "Step"]


class Const(Record):
    """Bytes that a kernel reads as they are, laid out by the function in kernels/ that made them."""

    HIDDEN = frozenset({"data"})

    data: bytes


# a number, the numbers of vectors, or a struct within the struct Params of a kernel
Param = int | float | tuple[int, ...] | tuple[float, ...] | Mapping[str, "Param"]
Params = Mapping[str, Param]


class Dispatch(Record):
    """One launch of a kernel.

    Attributes:
        bind: tensors, by their ids, or constants for the kernel's bindings.
        params: fills its struct Params.
        threads: how many it takes; the planner folds them into a grid.
        constants: values of its overrides, as numbers or by the names of WGSL constants.
        node: where in the file the op is that it belongs to.
        operations: of products, two for a multiply-add; 0 for kernels that mostly move data.
    """

    kernel: str
    bind: Mapping[str, "int | Const"]
    params: Params
    threads: int
    constants: Mapping[str, int | float | bool | str] = MappingProxyType({})
    node: str = ""
    operations: int = 0


class Alias(NamedTuple):
    """Takes the place of a dispatch where the bytes of a result are those of an operand: both have the same memory."""

    source: int
    target: int


class Slot(NamedTuple):
    """A piece of a buffer that a step binds: `buffer` is an index of `Plan.buffers`, or −1, −2, … for the buffers
    of constants."""

    buffer: int
    offset: int
    size: int


class Step(NamedTuple):
    """A dispatch as a device takes it; `slots` are in the order of the kernel's bindings.

    `writable` names bindings that the kernel only reads but that lie in a buffer it writes elsewhere: WebGPU binds a
    buffer either to read or to write in one dispatch, so those are bound to write as well. `operations` is as in
    Dispatch, `nbytes` the size of the tensors that the step reads and writes.
    """

    kernel: str
    slots: tuple[Slot, ...]
    constants: tuple[tuple[str, int | float | bool], ...]
    writable: tuple[str, ...]
    grid: tuple[int, int, int]
    node: str
    operations: int
    nbytes: int


class StateSlots(NamedTuple):
    """A value that is kept between runs, in a buffer of its own: a run finds it in `read`, as if it were an input, and
    leaves it in `left`, as if it were an output (row-major, whole words). `initial` is what the first run finds."""

    read: Slot
    left: Slot
    initial: bytes


class Plan(NamedTuple):
    """All that a device needs to run a method: sizes of activation buffers, the steps, and where tensors go in and out
    (row-major, whole words). `ends` are the numbers of steps after which a submit ends; the last is that of all.
    `largest` says of each buffer, for messages, what its largest tensor is and which node needs it."""

    buffers: tuple[int, ...]
    largest: tuple[str, ...]
    steps: tuple[Step, ...]
    ends: tuple[int, ...]
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    peak_bytes: int  # sum of `buffers`
    live_bytes: int  # the largest sum of simultaneously live tensors
    relayouts: int  # steps that only change a layout
    states: tuple[StateSlots, ...] = ()


class ProgramPlan(Record):
    """The plans of a program's methods and the constants they share, in few buffers; `largest` is as in Plan."""

    plans: Mapping[str, Plan]
    HIDDEN = frozenset({"constants"})

    constants: tuple[bytes | bytearray, ...]
    largest: tuple[str, ...]
