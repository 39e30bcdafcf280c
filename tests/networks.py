"""The networks too large to commit: built from the pinned packages when they are first needed, and kept in the cache.

python tests/networks.py        # builds them now and prints where they are
"""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from webq8.desktop.assets import cache_dir

EXPORT = Path(__file__).parent / "export"
REQUIREMENTS = EXPORT / "requirements.txt"


def large_networks() -> Path:
    """The folder with mobilenet_v2 and resnet18, each a .pte and the .npz of its golden."""
    script = EXPORT / "imagenet.py"

    def export(folder: Path) -> None:
        python = python_with("export", REQUIREMENTS)
        say("exporting MobileNetV2 and ResNet-18: minutes")
        run([str(python), str(script), str(folder)])

    return cached("networks", (script, EXPORT / "common.py", REQUIREMENTS), export)


def cached(name: str, sources: Sequence[Path], make: Callable[[Path], None]) -> Path:
    """A folder of the cache that `make` fills the first time, and again when the sources have changed."""
    folder = cache_dir() / f"{name}-{digest(sources)}"
    if not folder.exists():
        cache_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_dir()) as work:
            made = Path(work) / name
            made.mkdir()
            make(made)
            made.rename(folder)
    return folder


def python_with(name: str, requirements: Path) -> Path:
    """The Python of a virtual environment of the cache that has these requirements."""
    venv = cache_dir() / f"{name}-{digest([requirements])}"
    python, done = venv / "bin" / "python", venv / "complete"
    if not done.exists():
        say(f"installing {', '.join(requirements.read_text().split())}: this can take minutes")
        run([sys.executable, "-m", "venv", "--clear", str(venv)])
        run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)])
        done.touch()
    return python


def digest(files: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def say(text: str) -> None:
    print(f"webq8: {text}", file=sys.stderr)


def run(command: list[str]) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{finished.stdout[-2000:]}{finished.stderr[-4000:]}")


if __name__ == "__main__":
    print(large_networks())
