"""Plants one error at a time in a copy of the checkout, and runs the tests that must find it.

python tests/planted.py [TEXT …]        # all, or those whose names hold one of the texts

Prints which test found each error, and how long that took; ends with 1 where one was not found, where the tests fail
without it, or where its text is not in the code any more.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from planted_errors import PLANTED, Planted

ROOT = Path(__file__).parents[1]
COPIED = ("pkg", "wgsl", "web", "tests", "pyproject.toml", "README.md", "LICENSE", "Makefile", "requirements.lock")
TESTS_FAILED = 1  # pytest's exit status; others are for tests that could not be collected, and the like


class DoesNotFit(Exception):
    """The text of a planted error does not stand in its file just once."""


def text_with(planted: Planted, root: Path = ROOT) -> str:
    """The file's text with the error in it."""
    path = root / planted.file
    text = path.read_text("utf-8") if path.exists() else ""
    if (count := text.count(planted.find)) != 1:
        lines = planted.find.strip().splitlines()
        raise DoesNotFit(f"{planted.error}: {lines[0]!r} stands {count} times in {planted.file}, not once")
    return text.replace(planted.find, planted.replace)


def run_tests(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Exit status and output of pytest in the copy, whose package and tests come before those of the checkout."""
    environment = os.environ | {"PYTHONPATH": str(copy / "pkg"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def plant(planted: Planted, copy: Path) -> tuple[bool, str]:
    """Whether a test found the error, and which; or what happened instead."""
    path = copy / planted.file
    original = path.read_text("utf-8")
    path.write_text(text_with(planted, copy), "utf-8")
    try:
        status, output = run_tests(copy, planted.tests)
    finally:
        path.write_text(original, "utf-8")
    if status == TESTS_FAILED and (failed := re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)):
        return True, failed[1]
    return False, "NOT FOUND" if status == 0 else f"pytest ended with {status}:\n{output[-2000:]}"


def main(texts: Sequence[str]) -> int:
    chosen = [p for p in PLANTED if not texts or any(text in p.error for text in texts)]
    for planted in chosen:
        try:
            text_with(planted)
        except DoesNotFit as e:
            print(e, file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
            else:
                shutil.copy(source, copy / name)
        for tests in dict.fromkeys(planted.tests for planted in chosen):
            status, output = run_tests(copy, tests)
            if status:
                print(f"without an error planted, {' '.join(tests)} ends with {status}:\n{output[-2000:]}")
                return 1
        missed = 0
        print("| error | file | found by | seconds |\n|---|---|---|---|")
        for planted in chosen:
            start = time.perf_counter()
            found, by = plant(planted, copy)
            missed += not found
            print(f"| {planted.error} | {planted.file} | {by} | {time.perf_counter() - start:.1f} |", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
