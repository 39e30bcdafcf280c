"""Reads the file of a program from a URL, a path, bytes, an open file, or a value of JavaScript."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from webq8.dtypes import as_buffer, has_buffer
from webq8.errors import InputError
from webq8.formats.base import Beside

__all__ = ["OnBytes", "Source", "beside", "read", "read_here"]

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | io.IOBase | Any  # Any: a value of JavaScript
OnBytes = Callable[[int, int], None]  # (bytes that came, all of them or 0 where that is not known)
_PATIENCE = 60.0  # seconds in which a server must say something


async def read(source: Source, on_bytes: OnBytes) -> tuple[bytes, str]:
    """The bytes and the name of a source, fetched where it is a URL. Raises InputError where it is none."""
    if hasattr(source, "js_id"):
        from webq8.backends.browser import page

        data, url = await page.read(source, on_bytes)
        return data, _name(url)
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        if "://" in text or not os.path.exists(text):
            return await _fetch(text, on_bytes), _name(text)
    return read_here(source)


def read_here(source: Source) -> tuple[bytes, str]:
    """The bytes and the name of a source that needs no fetching."""
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


def beside(source: Source) -> Beside | None:
    """Reads other files of the folder that a model's file lies in; None where the source is no path."""
    if not isinstance(source, str | os.PathLike) or not os.path.exists(source):
        return None
    folder = Path(os.fsdecode(source)).resolve().parent

    def read_beside(name: str) -> memoryview:
        path = Path(os.path.realpath(folder / name)) if "\0" not in name else folder
        if not path.is_relative_to(folder) or not path.is_file():
            raise InputError(f"{name!r} is no file in the folder of the model")
        return memoryview(path.read_bytes())

    return read_beside


def _name(url: str) -> str:
    from urllib.parse import unquote  # pathlib brings it

    path = url.split("#")[0].split("?")[0].rstrip("/")
    return unquote(path.rpartition("/")[2]) or url or "program"


async def _fetch(url: str, on_bytes: OnBytes) -> bytes:
    try:
        from webq8.backends.browser import page
    except ImportError:
        return _download(url)
    return await page.fetch(url, on_bytes)


def _download(url: str) -> bytes:
    """Downloads a URL on the desktop."""
    if "://" not in url:
        return read_here(url)[0]
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
