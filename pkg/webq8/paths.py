"""Where the package's data folders lie."""

from functools import cache
from pathlib import Path

from webq8.errors import InputError

__all__ = ["resource_dir"]


@cache
def resource_dir(name: str) -> Path:
    """The folder `wgsl` or `web`: in the package if installed from a wheel, else at the top of the repository."""
    package = Path(__file__).resolve().parent
    installed = package / name
    if installed.is_dir():
        return installed
    folder = package.parents[1] / name
    return _rendered(folder) if name == "wgsl" else folder


def _rendered(folder: Path) -> Path:
    """The folder of a checkout's rendered kernels, as a wheel holds them; renders what has changed."""
    import runpy

    try:
        runpy.run_path(str(folder / "render.py"), run_name="__main__")
    except ImportError as e:
        raise InputError(f"kernels in {folder} have changed; rendering them needs Jinja2: {e}") from None
    return folder / "rendered"
