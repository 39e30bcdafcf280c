"""Every exception that webq8 raises on purpose.

Webq8Error
├── FormatError      the file is damaged, or says something that cannot be true
├── Unsupported      the file is sound, but asks for something webq8 does not do; lists all of it
├── InputError       an argument given to a program or an op is wrong
├── LimitError       the work does not fit the device (or the int32 accumulator), found while planning
├── DeviceError      the GPU side failed
│   ├── NoAdapter    the browser gives no WebGPU adapter
│   ├── DeviceLost   the GPU device went away
│   └── ShaderError  WGSL did not compile, or a pipeline was refused
├── ClosedError      the program was closed before
├── CannotBlock      `run()` where the browser cannot block; `await program(...)` works everywhere
└── HostError        desktop side: no Chromium, no runtime files, or the page did not answer
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
    "Problem",
    "ShaderError",
    "Unsupported",
    "Webq8Error",
    "raise_problems",
]


class Webq8Error(Exception):
    """Base of all."""


class FormatError(Webq8Error, ValueError):
    """The file is damaged, or says something that cannot be true."""


class Unsupported(Webq8Error):
    """The file is sound, but asks for something webq8 does not do."""


class InputError(Webq8Error, ValueError):
    """An argument given to a program or an op is wrong."""


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


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a call of a graph; `kind` is the exception it leads to."""

    node: str
    op: str
    reason: str
    kind: type[Webq8Error] = Unsupported

    def __str__(self) -> str:
        return ": ".join(part for part in (self.node, self.op, self.reason) if part)


def raise_problems(what: str, problems: Sequence[Problem]) -> None:
    """Raises one error that lists all `problems` (nothing where there are none).

    A damaged file outranks an unsupported one: what a broken file asks for is not worth supporting.
    """
    if not problems:
        return
    kinds = [p.kind for p in problems]
    kind = next((k for k in (FormatError, InputError, LimitError) if k in kinds), kinds[0])
    lines = [str(p) for p in problems]
    if len(lines) == 1:
        raise kind(f"{what}: {lines[0]}")
    raise kind(f"{what}: {len(lines)} problems:\n" + "\n".join(f"  - {line}" for line in lines))
