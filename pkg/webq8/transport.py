"""Values between desktop Python and the Python of a page: one message of bytes each way, decoded alike on both sides.

A message is `u32 length of the head | head | bulk`. The head is JSON; scalars (also nan and inf) and lists are
themselves, anything else is an object with one key: "tuple", "dict" (pairs), "bytes" ([offset, size]) or "array"
([offset, size, dtype, shape]). Offsets count from the start of the bulk.
"""

import __future__

import builtins
import inspect
import json
import linecache
import traceback
from typing import Any

from webq8 import errors
from webq8.arrays import to_array
from webq8.dtypes import as_buffer

__all__ = ["MAX_BYTES", "Request", "answer", "kept", "pack", "result", "unpack"]

Request = dict[str, Any]  # source, name, args, kwargs; file and line of the source, where it has them

kept: dict[int, Any] = {}  # what functions leave in the page for later requests

MAX_BYTES = 2**30  # of a message; larger ones fit no wasm memory beside what they are made of
_ALIGNMENT = 16
_SCALARS = (bool, int, float, str)


def pack(value: Any) -> bytes:
    """Encodes None, bool, int, float, str, bytes, arrays, and lists, tuples and dicts of these as one message."""
    bulk: list[bytes | memoryview] = []
    head = json.dumps(_encode(value, bulk, [0]), separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % _ALIGNMENT)
    return b"".join([len(head).to_bytes(4, "little"), head, *bulk])


def unpack(message: bytes | bytearray | memoryview) -> Any:
    """Decodes the value of a message. Arrays are views of the message, writable where it is."""
    view = memoryview(message)
    start = 4 + int.from_bytes(view[:4], "little")
    return _decode(json.loads(bytes(view[4:start])), view[start:])


def _encode(value: Any, bulk: list[bytes | memoryview], end: list[int]) -> Any:
    if value is None or type(value) in _SCALARS:
        return value
    if isinstance(value, list):
        return [_encode(item, bulk, end) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, bulk, end) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_encode(key, bulk, end), _encode(item, bulk, end)] for key, item in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": _append(value, bulk, end)}
    data, shape, dtype = as_buffer(value, "a value sent between page and desktop")
    return {"array": [*_append(data, bulk, end), dtype, list(shape)]}


def _append(data: bytes | memoryview, bulk: list[bytes | memoryview], end: list[int]) -> tuple[int, int]:
    offset = end[0]
    padding = -len(data) % _ALIGNMENT
    bulk += [data, bytes(padding)]
    end[0] += len(data) + padding
    return offset, len(data)


def _decode(node: Any, bulk: memoryview) -> Any:
    if isinstance(node, list):
        return [_decode(item, bulk) for item in node]
    if not isinstance(node, dict):
        return node
    [(kind, content)] = node.items()
    if kind == "tuple":
        return tuple(_decode(item, bulk) for item in content)
    if kind == "dict":
        return {_decode(key, bulk): _decode(item, bulk) for key, item in content}
    offset, size, *spec = content
    data = bulk[offset : offset + size]
    if kind == "bytes":
        return bytes(data)
    dtype, shape = spec
    return to_array(data, tuple(shape), dtype)


async def answer(message: bytes | bytearray | memoryview) -> bytes:
    """The page's side: runs the requested function, and encodes its value or its exception as a message."""
    try:
        request: Request = unpack(message)
        value = _function(**request)(*request["args"], **request["kwargs"])
        reply = pack({"value": await value if inspect.isawaitable(value) else value})
        if len(reply) > MAX_BYTES:
            raise errors.LimitError(f"what {request['name']} returned takes {len(reply):,} bytes of {MAX_BYTES:,}")
        return reply
    except BaseException as error:  # whatever it is, the desktop is waiting for an answer
        return pack({"error": _describe(error)})


def result(message: bytes | bytearray | memoryview) -> Any:
    """The desktop's side: returns the value of an answer, or raises its exception."""
    __tracebackhide__ = True  # pytest shows the caller
    reply = unpack(message)
    if "error" in reply:
        raise _revive(**reply["error"])
    return reply["value"]


def _function(source: str, name: str, file: str = "", line: int = 1, **_: Any) -> Any:
    """Compiles the function, so that tracebacks show the file and lines where the caller has it."""
    import webq8

    file = file or f"<{name} in the page>"
    text = "\n" * (line - 1) + source
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "page", "webq8": webq8}
    # Annotations stay text: the names in them are the caller's and need not exist here.
    exec(compile(text, file, "exec", flags=__future__.annotations.compiler_flag), namespace)
    return namespace[name]


def _describe(error: BaseException) -> dict[str, Any]:
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    plain = all(arg is None or isinstance(arg, (*_SCALARS, bytes)) for arg in error.args)
    return {
        "module": type(error).__module__,
        "name": type(error).__name__,
        "args": list(error.args) if plain else [str(error)],
        "trace": "".join(traceback.format_exception(type(error), error, frames)),
    }


def _revive(module: str, name: str, args: list[Any], trace: str) -> BaseException:
    home = {"webq8.errors": errors, "builtins": builtins}.get(module)
    kind = getattr(home, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        error = kind(*args)
        error.add_note(f"It was raised in the page:\n{trace}")
        return error
    return errors.HostError(f"the page's Python failed:\n{trace}")
