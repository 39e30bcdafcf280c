"""The networks too large to commit: built from the pinned packages when they are first needed, and kept in the cache.

python tests/networks.py        # builds them now and prints where they are
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from webq8.assets import cache_dir

EXPORT = Path(__file__).parent / "export"
SOURCES = ("imagenet.py", "common.py", "requirements.txt")


def digest(*names: str) -> str:
    return hashlib.sha256(b"".join((EXPORT / name).read_bytes() for name in names)).hexdigest()[:16]


def export_python() -> Path:
    """A virtual environment with the exporter, one for each version of its requirements."""
    venv = cache_dir() / f"export-{digest('requirements.txt')}"
    python, done = venv / "bin" / "python", venv / "complete"
    if not done.exists():
        say("installing the exporter (torch, executorch): minutes")
        run([sys.executable, "-m", "venv", "--clear", str(venv)])
        run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(EXPORT / "requirements.txt")])
        done.touch()
    return python


def large_networks() -> Path:
    """The folder with mobilenet_v2 and resnet18, each a .pte and the .npz of its golden."""
    folder = cache_dir() / f"networks-{digest(*SOURCES)}"
    if not folder.exists():
        python = export_python()
        say("exporting MobileNetV2 and ResNet-18: minutes")
        with tempfile.TemporaryDirectory(dir=cache_dir()) as work:
            made = Path(work) / "networks"
            made.mkdir()
            run([str(python), str(EXPORT / "imagenet.py"), str(made)])
            made.rename(folder)
    return folder


def say(text: str) -> None:
    print(f"webq8: {text}", file=sys.stderr)


def run(command: list[str]) -> None:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{finished.stdout[-2000:]}{finished.stderr[-4000:]}")


if __name__ == "__main__":
    print(large_networks())
