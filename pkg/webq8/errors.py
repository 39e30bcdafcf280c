"""Every exception that webq8 raises on purpose.

Webq8Error
├── FormatError      the file is damaged, or says something that cannot be true
├── Unsupported      the file is sound, but asks for something webq8 does not do; lists all of it
├── InputError       an argument given to a program or an op is wrong
│   └── OpenShapes   the file leaves sizes of its inputs open: load it with `shapes`
├── LimitError       the work does not fit the device (or the int32 accumulator), found while planning
├── DeviceError      the GPU side failed
│   ├── NoAdapter    the browser gives no WebGPU adapter
│   ├── DeviceLost   the GPU device went away
│   └── ShaderError  WGSL did not compile, or a pipeline was refused
├── ClosedError      the program was closed before
├── CannotBlock      `run()` where the browser cannot block; `await program(...)` works everywhere
└── HostError        desktop side: no Chromium, no runtime files, or the page did not answer
"""

from collections.abc import Iterable, Sequence

from webq8.records import Record

__all__ = [
    "CannotBlock",
    "ClosedError",
    "DeviceError",
    "DeviceLost",
    "FormatError",
    "HostError",
    "InputError",
    "LimitError",
    "NoAdapter",
    "OpenShapes",
    "Problem",
    "ShaderError",
    "Unsupported",
    "Webq8Error",
    "plain",
    "raise_problems",
    "shown",
]

_LONGEST_TEXT = 100  # characters of a name or value in a message
_MOST_ITEMS = 8  # of a list in a message
_MOST_DIGITS = 40  # of a number in a message
_MOST_LINES = 20  # of a message that lists problems


class Webq8Error(Exception):
    """The base of all exceptions of webq8."""


class FormatError(Webq8Error, ValueError):
    """The file is damaged, or says something that cannot be true."""


class Unsupported(Webq8Error):
    """The file is sound, but asks for something webq8 does not do."""


class InputError(Webq8Error, ValueError):
    """An argument given to a program or an op is wrong."""


class OpenShapes(InputError):
    """The file leaves sizes of its inputs open: those of `symbols`, a number each, and the whole shapes of `inputs`."""

    def __init__(self, message: str, symbols: Sequence[str] = (), inputs: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.symbols, self.inputs = symbols, inputs


class LimitError(Webq8Error):
    """The work does not fit the device or the int32 accumulator."""


class DeviceError(Webq8Error, RuntimeError):
    """The GPU side failed."""


class NoAdapter(DeviceError):
    """The browser gives no WebGPU adapter."""


class DeviceLost(DeviceError):
    """The GPU device went away; loading again asks for a new one."""


class ShaderError(DeviceError):
    """WGSL did not compile, or a pipeline was refused."""


class ClosedError(Webq8Error, RuntimeError):
    """The program was closed before."""


class CannotBlock(Webq8Error, RuntimeError):
    """`run()` was called where the browser cannot block."""


class HostError(Webq8Error, RuntimeError):
    """The desktop side failed: no Chromium, no runtime files, or the page did not answer."""


def plain(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Text of a file for a message: on one line, cut where it is long, without characters that control a terminal."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in cut)


def shown(value: object) -> str:
    """A value of a file or of a caller for a message: as Python writes it, cut where it is long."""
    if isinstance(value, str):
        return f"'{plain(value)}'"
    if isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        return f"a number of some {int(value.bit_length() * 0.30103) + 1} digits"
    if isinstance(value, tuple | list):
        items = [shown(v) for v in value[:_MOST_ITEMS]]
        more = len(value) - len(items)
        return f"[{', '.join(items + [f'… {more} more'] * (more > 0))}]"
    return plain(repr(value))


class Problem(Record):
    """One thing that is wrong with a call in a file, or with a node of a graph; `kind` is the exception it leads to.
    A problem without a `node` concerns the whole method, and makes its other problems not worth telling."""

    node: str
    op: str
    reason: str
    kind: type[Webq8Error] = Unsupported

    def __str__(self) -> str:
        return ": ".join(part for part in (self.node, plain(self.op), self.reason) if part)


def raise_problems(what: str, problems: Sequence[Problem]) -> None:
    """Raises one error that lists all `problems` (nothing where there are none).

    A damaged file outranks an unsupported one: what a broken file asks for is not worth supporting.
    """
    if not problems:
        return
    kinds = [p.kind for p in problems]
    kind = next((k for k in (FormatError, InputError, LimitError) if k in kinds), kinds[0])
    lines = list(_grouped(problems))
    if len(lines) == 1:
        raise kind(f"{what}: {lines[0]}")
    more = len(lines) - _MOST_LINES
    lines = lines[:_MOST_LINES] + [f"… and {more} more of other kinds"] * (more > 0)
    raise kind(f"{what}: {len(problems)} problems:\n" + "\n".join(f"  - {line}" for line in lines))


def _grouped(problems: Sequence[Problem]) -> Iterable[str]:
    """One line for each problem; problems of several nodes with the same reason share a line."""
    nodes: dict[tuple[str, str], list[str]] = {}
    for p in problems:
        nodes.setdefault((p.op, p.reason), []).append(p.node)
    for (op, reason), at in nodes.items():
        if len(at) == 1 or not any(at):
            yield str(Problem(at[0], op, reason))
        else:
            few = at if len(at) <= 3 else at[:2]
            more = f", and {len(at) - len(few)} more" if len(few) < len(at) else ""
            yield f"{len(at)} × {Problem('', op, reason)} ({'; '.join(few)}{more})"
