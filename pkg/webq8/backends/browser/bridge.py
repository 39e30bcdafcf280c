"""JavaScript's side of this page: replay.js, and what Python and JavaScript give each other.

Facts behind the code: Pyodide's conversions of arrays and texts fail above 2 GiB, some of them silently.
"""

import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import js
from pyodide.code import run_js
from pyodide.ffi import JsException, create_proxy, to_js

__all__ = ["memory", "message", "replay_js", "text_of", "to_bytes", "to_object", "use_bytes"]

replay_js = getattr(js, "webq8Replay", None) or run_js(
    files("webq8.backends.browser").joinpath("replay.js").read_text("utf-8")
)


def _locate(buffer: Any, found: Callable[[int, int], None]) -> None:
    """Calls `found` with a buffer's address and size."""
    import ctypes

    class View(ctypes.Structure):
        _fields_ = [
            ("address", ctypes.c_void_p),
            ("owner", ctypes.py_object),
            ("size", ctypes.c_ssize_t),
            ("rest", ctypes.c_char * 64),
        ]

    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(buffer), ctypes.byref(view), 0)
    place = view.address or 0, view.size
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    found(*place)


memory = replay_js.memory(create_proxy(_locate), create_proxy(b"\0"))  # single bytes are part of Python itself


def to_bytes(array: Any) -> bytearray:
    """The bytes of a JavaScript typed array or ArrayBuffer."""
    copied = bytearray(array.byteLength)
    replay_js.copy(memory, array, copied)
    return copied


def use_bytes(buffer: Any, use: Callable[[Any], Any]) -> Any:
    """Calls a JavaScript function with the bytes of a Python buffer as a Uint8Array, and returns its result."""
    return memory(buffer, use)


def text_of(error: JsException) -> str:
    return str(getattr(error, "message", "") or error)


def message(value: Any) -> bytes:
    """Encodes numbers, lists, dicts and texts for replay.js, since Pyodide may convert texts wrongly (see above)."""
    return json.dumps(value).encode()


def to_object(value: Any) -> Any:
    """Converts a dict to a JavaScript object, its lists to arrays."""
    return to_js(value, dict_converter=js.Object.fromEntries)
