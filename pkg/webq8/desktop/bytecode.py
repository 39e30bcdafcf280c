"""Puts bytecode into the wheels of a site, since pages would compile source anew on every visit."""

import io
import zipfile

from webq8.desktop.host import Browser
from webq8.desktop.site import Site, zip_wheel

__all__ = ["compile_wheels"]


def compile_wheels(site: Site) -> None:
    """Replaces the wheels of a site by ones for the very Python that loads them, which compiles them in a page.

    They keep their names, and hold no source. Raises HostError where there is no Chromium.
    """
    with Browser() as browser:
        for version, wheels in site.wheels().items():
            with browser.page(version) as page:
                for path, wheel in wheels.items():
                    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
                        contents = {name: archive.read(name) for name in archive.namelist()}
                    sources = {name: contents.pop(name) for name in [*contents] if name.endswith(".py")}
                    site.add(path, zip_wheel(contents | page.call(_compiled, sources)))


def _compiled(sources: dict[str, bytes]) -> dict[str, bytes]:
    """Runs in the page: the files that Python imports where the sources are missing."""
    import py_compile
    from pathlib import Path
    from tempfile import TemporaryDirectory

    compiled = {}
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "source.py"), Path(folder, "target.pyc")
        for name, text in sources.items():
            source.write_bytes(text)
            # by hash, since a time would make every wheel another
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(str(source), str(target), name, doraise=True, invalidation_mode=mode)
            compiled[f"{name}c"] = target.read_bytes()
    return compiled
