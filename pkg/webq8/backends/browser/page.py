"""What only a page has: fetching as its browser does, and JavaScript's values as sources and inputs."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import js
from pyodide.ffi import JsException

from webq8.backends.browser.bridge import memory, replay_js, text_of, to_bytes
from webq8.errors import InputError

__all__ = ["fetch", "read", "to_python"]


async def fetch(url: str, on_bytes: Callable[[int, int], None]) -> bytes:
    """Downloads a file; `on_bytes(so far, total or 0)`."""
    try:
        response = await js.fetch(url)
    except JsException as e:
        raise InputError(f"{url} cannot be fetched: {text_of(e)}") from None
    return await _body(response, f"{url} cannot be fetched", on_bytes)


async def _body(response: Any, failed: str, on_bytes: Callable[[int, int], None]) -> bytes:
    """What a Response holds; `failed` begins the error where it does not come."""
    if not response.ok:
        raise InputError(f"{failed}: HTTP {response.status} {response.statusText}".rstrip())
    data = bytearray()
    try:
        if not response.body:  # an answer without content, or a browser without streams
            data = to_bytes(await response.arrayBuffer())
            if not data:
                raise InputError(f"{failed}: it has no content")
            return bytes(data)
        length = response.headers.get("content-length") or ""
        total = int(length) if length.isdecimal() else 0
        reader = response.body.getReader()
        try:
            while not (part := await replay_js.next(reader)).done:
                chunk = bytearray(part.size)
                part.copyTo(memory, chunk)
                data += chunk
                on_bytes(len(data), total)
        except BaseException:
            with suppress(JsException):
                await reader.cancel()
            raise
    except JsException as e:
        after = f" after {len(data):,} bytes" if data else ""
        raise InputError(f"{failed}{after}: {text_of(e)}") from None
    return bytes(data)


async def read(source: Any, on_bytes: Callable[[int, int], None]) -> tuple[bytes, str]:
    """The bytes and the name of a JavaScript typed array, ArrayBuffer, Blob, File or Response."""
    kind = _kind(source)
    try:
        if kind == "Response":
            failed = f"{source.url} cannot be fetched" if source.url else "source: this Response cannot be read"
            return await _body(source, failed, on_bytes), source.url
        if kind in ("Blob", "File"):
            return bytes(to_bytes(await source.arrayBuffer())), getattr(source, "name", "program")
        if _is_buffer(source, kind):
            return bytes(to_bytes(source)), "program"
    except (JsException, AttributeError) as e:  # a Response without a body has no reader
        raise InputError(f"source: this {kind} cannot be read: {e}") from None
    raise InputError(
        f"source: a JavaScript {kind} is not the bytes of a file: a typed array, ArrayBuffer, Blob, File or Response"
    )


def to_python(value: Any, name: str) -> tuple[str, Any]:
    """A JavaScript value's kind, and what Python has for it: memoryviews of buffers, lists of arrays, or the value."""
    kind = _kind(value)
    try:
        if kind == "ImageData":
            return kind, value.data.to_py().cast("B", (value.height, value.width, 4))
        if _is_buffer(value, kind) or js.Array.isArray(value):
            return kind, value.to_py()
    except (JsException, RuntimeError, TypeError) as e:  # detached, or of a type that Pyodide does not know
        raise InputError(f"{name}: this {kind} cannot be read: {e}") from None
    return kind, value


def _kind(value: Any) -> str:
    return str(js.Object.prototype.toString.call(value))[len("[object ") : -1]


def _is_buffer(value: Any, kind: str) -> bool:
    return bool(js.ArrayBuffer.isView(value)) or kind in ("ArrayBuffer", "SharedArrayBuffer")
