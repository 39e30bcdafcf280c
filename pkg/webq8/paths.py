"""Where the package's data folders lie."""

from functools import cache
from pathlib import Path

from webq8.errors import InputError

__all__ = ["resource_dir"]


@cache
def resource_dir(name: str) -> Path:
    """`wgsl` or `web`: inside the package once installed from a wheel, atop the repository in an editable install."""
    package = Path(__file__).resolve().parent
    installed = package / name
    if installed.is_dir():
        return installed
    folder = package.parents[1] / name
    return _rendered(folder) if name == "wgsl" else folder


def _rendered(folder: Path) -> Path:
    """A checkout's kernels as a wheel holds them, brought up to date."""
    import runpy

    try:
        runpy.run_path(str(folder / "render.py"), run_name="__main__")
    except ImportError as e:
        raise InputError(f"kernels in {folder} have changed; rendering them needs Jinja2: {e}") from None
    return folder / "rendered"
