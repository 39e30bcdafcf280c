"""What the parts of webq8 hand to each other: frozen data, no behaviour.

    bytes --formats--> Program --plan--> Plan --runtime--> results

A Graph is a flat list of calls over a table of values. Value ids are indices into `Graph.values`; a call's arguments
are value ids in the order of the op's schema, the output last. A tensor with `data` is a constant.

What is never a Value, and has no field to hide or to make, is a NamedTuple: those cost pages less to define and make.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from webq8.errors import Problem

__all__ = [
    "Alias",
    "Call",
    "Const",
    "Dispatch",
    "Graph",
    "Limits",
    "ListRef",
    "Method",
    "Param",
    "Plan",
    "Program",
    "ProgramPlan",
    "Slot",
    "Step",
    "Tensor",
    "Value",
]


@dataclass(frozen=True)
class Tensor:
    """A tensor as the user sees it: row-major `shape`, dtype name; `data` holds a constant's little-endian bytes."""

    shape: tuple[int, ...]
    dtype: str
    data: memoryview | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ListRef:
    """A list of values, by id (tensor lists, as `cat` takes them)."""

    ids: tuple[int, ...]


Value = Tensor | ListRef | int | float | bool | str | None | tuple[int, ...] | tuple[float, ...] | tuple[bool, ...]


class Call(NamedTuple):
    """`clamp` bounds the int8 results of an op with an epilogue: an activation that was fused into it."""

    op: str
    args: tuple[int, ...]
    node: str  # where it stands in the file, for messages
    clamp: tuple[int, int] = (-128, 127)


class Graph(NamedTuple):
    values: tuple[Value, ...]
    calls: tuple[Call, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Method(NamedTuple):
    """`problems` lists what the reader could not carry over; a method that has some cannot run."""

    name: str
    graph: Graph
    problems: tuple[Problem, ...] = ()


class Program(NamedTuple):
    """`size`: bytes of the file that it was read from, None where there was no file."""

    methods: Mapping[str, Method]
    size: int | None = None


@dataclass(frozen=True)
class Const:
    """Bytes that a kernel reads as they are, laid out by the handler that made them."""

    data: bytes = field(repr=False)


Param = int | float | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Dispatch:
    """One kernel launch. `bind` maps the kernel's WGSL variables to value ids or constants, `params` fills its struct
    Params by name, `constants` its overrides; `threads` is a flat count of invocations, folded into a grid later.
    `operations` counts what products take, two for a multiply-add; 0 for kernels that mostly move data."""

    kernel: str
    bind: Mapping[str, "int | Const"]
    params: Mapping[str, Param]
    threads: int
    constants: Mapping[str, int | float | bool] = field(default_factory=dict)
    node: str = ""
    operations: int = 0


@dataclass(frozen=True)
class Limits:
    """What a plan must know of its device: the part of GPUSupportedLimits that it must keep (the defaults are WebGPU's
    own), and what decides among kernels: whether the CPU emulates it, and whether it has int8 subgroup matrices of
    16×16×32."""

    max_buffer_size: int = 2**28
    max_storage_buffer_binding_size: int = 2**27
    max_compute_workgroups_per_dimension: int = 65535
    max_compute_workgroup_storage_size: int = 2**14
    software: bool = False
    int8_matrix: bool = False


class Alias(NamedTuple):
    """What a handler yields where its output's bytes are its input's: no kernel, the same memory."""

    source: int
    target: int


class Slot(NamedTuple):
    """A piece of a buffer that a step binds: `buffer` indexes `Plan.buffers`, or from −1 down the constants."""

    buffer: int
    offset: int
    size: int


class Step(NamedTuple):
    """A dispatch with everything resolved but GPU objects; `slots` in the order of the kernel's bindings.

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


class Plan(NamedTuple):
    """All that a device needs to run a method: sizes of activation buffers, the steps, and where tensors go in and out
    (row-major, whole words). `ends` are the numbers of steps after which a submit ends; the last is that of all.
    `largest` tells of each buffer, for messages, what its largest tensor is and which node needs it."""

    buffers: tuple[int, ...]
    largest: tuple[str, ...]
    steps: tuple[Step, ...]
    ends: tuple[int, ...]
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    peak_bytes: int  # sum of `buffers`
    live_bytes: int  # the largest sum of simultaneously live tensors
    relayouts: int  # steps that only change a layout


@dataclass(frozen=True)
class ProgramPlan:
    """The plans of a program's methods and the constants they share, in few buffers; `largest` is as in Plan."""

    plans: Mapping[str, Plan]
    constants: tuple[bytes | bytearray, ...] = field(repr=False)
    largest: tuple[str, ...]
