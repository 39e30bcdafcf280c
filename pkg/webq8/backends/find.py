"""Backends by the names that users give them."""

from typing import Literal

from webq8.backends.base import Backend
from webq8.errors import InputError, NoAdapter

__all__ = ["DEVICES", "DeviceName", "find_backend"]

DeviceName = Literal["webgpu", "native", "cpu", "null"]
DEVICES = ("webgpu", "native", "cpu")  # that compute something


def find_backend(name: DeviceName) -> Backend | None:
    """The backend that plans run on; None for "cpu", whose reference runs graphs.

    Raises InputError for another name, and NoAdapter or InputError where what it needs is not installed here.
    """
    if name == "webgpu":
        try:
            from webq8.backends.browser import gpu
        except ImportError:
            raise NoAdapter(
                'WebGPU is only there in a web page: run this in Pyodide, use `webq8 run`, or pass device="native" or '
                'device="cpu"'
            ) from None
        return gpu
    if name in ("native", "null"):
        try:
            from webq8.backends import native, null
        except ImportError:
            raise NoAdapter(f'device="{name}" is of the desktop\'s Python; a page has device="webgpu"') from None
        return native.backend if name == "native" else null.backend
    if name != "cpu":
        raise InputError(f"device: {name!r} is not one of {', '.join(map(repr, DEVICES))}")
    try:
        import webq8.backends.reference  # noqa: F401 - tells early that numpy is missing
    except ImportError:
        raise InputError('device="cpu" needs numpy; install it, or run on "webgpu"') from None
    return None
