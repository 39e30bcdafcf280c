"""Where the package's data folders lie, and writing a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO


@cache
def resource_dir(name: str) -> Path:
    """`wgsl` or `web`: inside the package once installed from a wheel, atop the repository in an editable install."""
    package = Path(__file__).resolve().parent
    installed = package / name
    return installed if installed.is_dir() else package.parents[1] / name


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which becomes `path` at the end; after an exception nothing has changed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
