"""Runs a folder of models and tells how near their results are to those beside them.

    python tests/public.py DIR [--device cpu|native] [NAME…]

A folder has manifest.json, a list of entries with `name`, and for each the model NAME.tflite, NAME.onnx or NAME.pte (or
the entry's `file`), its inputs and what they give: NAME.npz with in0, … and out0, …, or NAME.in0.npy, … and
NAME.WITNESS.out0.npy, …, where the witness is xnn (ai-edge-litert as it is), tflm or ref. Where an array has several
times as many rows as the model's, consecutive runs are stacked.

Each model has a line: runs, dispatches on a GPU, the share of values that are equal, of those that are one off, and
the largest difference. It is counted in steps: of integers; of floats that stand for integers their least distance; of
other floats 10⁻⁵ of the largest. Exit status 1 where something did not run, which is told below, 2 for a wrong folder.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import webq8
from webq8.errors import OpenShapes, Webq8Error
from webq8.formats.onnx.read import read_model
from webq8.runtime.source import beside, read_here
from webq8.stages import drive

WITNESSES = ("xnn", "tflm", "ref")
LEVELS = 256  # floats of at most so many values are dequantized integers


def model_of(folder: Path, entry: Mapping[str, Any]) -> Path:
    names = [entry["file"]] if "file" in entry else [f"{entry['name']}{end}" for end in (".tflite", ".onnx", ".pte")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"there is no {' or '.join(names)} in {folder}")


def arrays_of(folder: Path, name: str) -> tuple[list[np.ndarray], list[np.ndarray | None], str]:
    """Inputs, what they give (None where the file holds no plain array), and who says so."""
    packed = folder / f"{name}.npz"
    if packed.is_file():
        with np.load(packed) as arrays:
            given = [arrays[f"in{i}"] for i in range(_count(arrays.files, "in"))]
            return given, [_plain(arrays, f"out{i}") for i in range(_count(arrays.files, "out"))], "npz"
    inputs = _stacked(folder, f"{name}.in")
    for witness in WITNESSES:
        if outputs := _stacked(folder, f"{name}.{witness}.out"):
            return inputs, [*outputs], witness
    return inputs, [], "nobody"


def _count(names: Sequence[str], start: str) -> int:
    return sum(name.startswith(start) and name[len(start) :].isdigit() for name in names)


def _plain(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray | None:
    try:
        return arrays[name]
    except ValueError:  # a pickled object
        return None


def _stacked(folder: Path, start: str) -> list[np.ndarray]:
    found = []
    while (path := folder / f"{start}{len(found)}.npy").is_file():
        found.append(np.load(path))
    return found


def load(path: Path, inputs: Sequence[np.ndarray], device: str) -> tuple[webq8.Program, int]:
    """The program, and its dispatches on a GPU; open sizes are those of the inputs."""
    shapes: Mapping[str, Sequence[int]] = {}
    try:
        program = drive(webq8.load(path, device=device))
    except OpenShapes:
        names = [info.name for info in read_model(read_here(path)[0], path.name, beside(path)).graph.inputs]
        shapes = {name: x.shape for name, x in zip(names, inputs, strict=False)}
        program = drive(webq8.load(path, device=device, shapes=shapes))
    return program, next(iter(webq8.inspect(path, shapes=shapes)["methods"].values()))["dispatches"]


def consecutive(array: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The arrays of single runs that are stacked on the first axis, or on one of their own before it."""
    if array.ndim == len(shape) + 1 and array.shape[1:] == shape:
        return [*array]
    if shape and array.shape[1:] == shape[1:] and array.shape[0] % shape[0] == 0:
        return np.split(array, len(array) // shape[0])
    return [array]


def outputs_of(program: webq8.Program, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], int]:
    """The outputs of all runs, stacked, and how many runs there were."""
    specs = program.methods["forward" if "forward" in program.methods else next(iter(program.methods))].inputs
    if len(inputs) != len(specs):
        raise ValueError(f"{len(specs)} inputs, {len(inputs)} are beside it")
    runs = [*zip(*(consecutive(x, spec.shape) for x, spec in zip(inputs, specs, strict=True)), strict=True)] or [()]
    found = []
    for run in runs:
        got = program.run(*run)
        found.append(got if isinstance(got, tuple) else (got,))
    return [np.stack(output) for output in zip(*found, strict=True)], len(found)


def steps(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """How far each value is off, in steps of the result; floats of many values in units of 10⁻⁵ of the largest."""
    if wanted.dtype.kind != "f":
        return np.abs(got.astype(np.int64) - wanted.astype(np.int64)).astype(np.float64)
    values = np.unique(wanted[np.isfinite(wanted)])
    scale = (
        np.diff(values).min()
        if 1 < len(values) <= LEVELS and _even(values)
        else 1e-5 * np.abs(values).max(initial=1e-30)
    )
    off = np.abs(got.astype(np.float64) - wanted) / scale
    return np.where((got == wanted) | (np.isnan(got) & np.isnan(wanted)), 0, np.nan_to_num(off, nan=np.inf))


def _even(values: np.ndarray) -> bool:
    """Whether values are whole multiples of their least distance."""
    multiples = values / np.diff(values).min()
    return bool(np.abs(multiples - np.round(multiples)).max() < 0.01)


def line(folder: Path, entry: Mapping[str, Any], device: str) -> tuple[str, ...]:
    inputs, wanted, witness = arrays_of(folder, entry["name"])
    path = model_of(folder, entry)
    program, dispatches = load(path, inputs, device)
    with program:
        got, runs = outputs_of(program, inputs)
    if wanted and len(got) != len(wanted):
        raise ValueError(f"{len(got)} outputs, {len(wanted)} expected")
    off = [np.zeros(0)]
    for i, (y, w) in enumerate(zip(got, wanted, strict=False)):
        if w is None:
            witness = "nobody"
        elif (y.size, y.dtype) != (w.size, w.dtype) or y.shape[1:] not in (w.shape, w.shape[1:], (1, *w.shape[1:])):
            raise ValueError(
                f"output {i} of {runs} runs is {y.dtype} {list(y.shape)}, expected {w.dtype} {list(w.shape)}"
            )
        else:
            off.append(steps(y.reshape(w.shape), w).ravel())
    every = np.concatenate(off)
    if not every.size:
        return entry["name"], str(runs), str(dispatches), "-", "-", "-", witness
    equal, one = (every < 0.5).mean(), ((every >= 0.5) & (every < 1.5)).mean()
    return entry["name"], str(runs), str(dispatches), f"{equal:.3%}", f"{one:.3%}", f"{every.max():.3g}", witness


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these models")
    parser.add_argument("--device", choices=("cpu", "native"), default="cpu")
    chosen = parser.parse_args(arguments)
    try:
        entries = json.loads((chosen.folder / "manifest.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(f"{chosen.folder} has no manifest.json that can be read: {error}", file=sys.stderr)
        return 2
    entries = [e for e in entries if not chosen.names or e["name"] in chosen.names]
    rows, failures = [("model", "runs", "dispatches", "equal", "one off", "worst", "witness")], []
    for entry in entries:
        try:
            rows.append(line(chosen.folder, entry, chosen.device))
        except (Webq8Error, OSError, ValueError) as error:
            failures.append((entry["name"], f"{type(error).__name__}: {error}"))
            rows.append((entry["name"], "failed", *[""] * 5))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
        )
    for name, reason in failures:
        print(f"\n{name} did not run: {reason}", file=sys.stderr)
    print(f"\n{len(entries) - len(failures)} of {len(entries)} ran on {chosen.device}")
    return 1 if failures or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
