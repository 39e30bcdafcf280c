"""Writing a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from webq8.errors import InputError

__all__ = ["check_replaceable", "replacing"]


def check_replaceable(path: Path) -> None:
    """Raises InputError where a file cannot be written, or where something else than a file lies, such as a device."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write a file {path}: what lies there is no regular file, and is not replaced")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write a file {path}: {target.parent} is no folder that you may write to")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which becomes `path`, or what that links to, at the end; an exception changes nothing."""
    check_replaceable(path)
    path = path.resolve()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
