"""Any model on the GPU of a web page: what is in it, and what it gives for inputs of the visitor's choice.

The page's worker awaits `start` once, and then a method of what it gives for every question.
"""

import io
import time
import zipfile
from pathlib import Path

import numpy as np
import webq8
from webq8.backends.find import find_backend
from webq8.errors import InputError, OpenShapes
from webq8.runtime.source import read

FOLDER = Path("model")  # where the files of a model lie in this page's memory
KINDS = (".tflite", ".onnx", ".pte")
MOST_ROWS, MOST_COLUMNS, TOP = 16, 12, 10  # that are shown of an output
GRAY = (0.299, 0.587, 0.114)
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's photographs
VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))

# what pixels from 0 to 255 become
SCALES = {
    "0 to 1": lambda pixels: pixels / 255,
    "−1 to 1": lambda pixels: pixels / 127.5 - 1,
    "0 to 255": lambda pixels: pixels,
    "−128 to 127": lambda pixels: pixels - 128,
    "ImageNet’s mean and deviation": lambda pixels: (pixels / 255 - MEAN) / DEVIATION,
}


async def start(show):
    device = await find_backend("webgpu").device()
    return Bench(device.adapter, show)


class Bench:
    """One model at a time, and the results of its last run."""

    def __init__(self, adapter, show):
        self.adapter, self.show_progress = adapter, show
        self.program, self.path, self.shapes, self.arrays = None, None, {}, {}
        self.outputs, self.meant = {}, {}  # as they are, and what they stand for

    def about(self):
        return {"adapter": str(self.adapter), "software": self.adapter.software}

    # --- the model

    async def fetch(self, address):
        """Look into the model at an address."""
        data, name = await read(address, lambda done, total: self.show_progress(0, f"Fetching: {done:,} bytes"))
        return self._keep({name: data})

    def open(self, files):
        """Look into a model that the visitor chose: its file, and those that it keeps its weights in."""
        return self._keep({file.name: file.data.to_bytes() for file in files})

    def _keep(self, files):
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.iterdir():
            old.unlink()
        for name, data in files.items():
            (FOLDER / Path(name).name).write_bytes(data)
        names = sorted(files, key=lambda name: not name.lower().endswith(KINDS))
        self.path = FOLDER / Path(names[0]).name
        return self.look()

    def look(self, shapes=None):
        """Look into the model that is there, with these sizes for what it leaves open."""
        self.close()
        self.shapes = shapes.to_py() if shapes else {}
        about = {"model": self.path.name, "size": self.path.stat().st_size}
        try:
            return {**about, **webq8.inspect(self.path, self.shapes)}
        except OpenShapes as error:
            return {**about, "open": {"symbols": error.symbols, "inputs": error.inputs, "reason": str(error)}}

    async def load(self, method):
        """Load the model, and tell what the inputs of a method can be."""
        if self.program is None:
            self.program = await webq8.load(self.path, on_progress=self.show_progress, shapes=self.shapes)
        self.method = method
        self.arrays.clear()
        return {
            "load_ms": sum(self.program.load_ms.values()),
            "inputs": [
                {"name": spec.name, "text": str(spec), "frames": frames(spec.shape), "scales": scales(spec)}
                for spec in self.program.spec(method).inputs
            ],
        }

    def close(self):
        if self.program:
            self.program.close()
        self.program = None
        self.outputs.clear()

    # --- inputs

    def zeros(self, name):
        spec = self._input(name)
        self.arrays[name] = np.zeros(spec.shape, spec.dtype)

    def noise(self, name):
        spec, rng = self._input(name), np.random.default_rng()
        if spec.dtype in ("int8", "uint8"):
            bounds = np.iinfo(spec.dtype)
            noise = rng.integers(bounds.min, bounds.max, spec.shape, spec.dtype, endpoint=True)
        elif spec.dtype.startswith("float"):
            noise = rng.normal(size=spec.shape).astype(spec.dtype)
        else:
            noise = rng.integers(0, 2, spec.shape).astype(spec.dtype)  # indices that any table has
        self.arrays[name] = noise

    def file(self, name, file_name, data):
        """An input from the bytes of an .npy or .npz file."""
        try:
            found = np.load(io.BytesIO(data.to_bytes()), allow_pickle=False)
            arrays = dict(found) if isinstance(found, np.lib.npyio.NpzFile) else {name: found}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputError(f"{file_name} is no .npy or .npz file of plain arrays: {error}") from None
        if name not in arrays and len(arrays) != 1:
            raise InputError(f"{file_name} has no array {name!r}; it holds {', '.join(arrays) or 'none'}")
        self.arrays[name] = arrays[name] if name in arrays else next(iter(arrays.values()))

    def image(self, name, pixels, frame, scale):
        """An input from red, green, blue and alpha of a picture that has the size of the frame."""
        spec = self._input(name)
        height, width, channels = frames(spec.shape)[frame]
        picture = np.asarray(pixels).reshape(height, width, 4).astype(np.float64)
        colors = picture[..., :3] @ GRAY if channels == 1 else picture[..., :channels]
        values = SCALES[scale](colors.reshape(height, width, channels))
        if frame == "NCHW":
            values = np.moveaxis(values, -1, 0)
        if spec.scale is not None:
            values = values / spec.scale + spec.zero_point
        if np.dtype(spec.dtype).kind in "iu":
            bounds = np.iinfo(spec.dtype)
            values = values.round().clip(bounds.min, bounds.max)
        self.arrays[name] = np.broadcast_to(values.astype(spec.dtype), spec.shape)  # the same for each of a batch

    def _input(self, name):
        return next(spec for spec in self.program.spec(self.method).inputs if spec.name == name)

    # --- runs

    async def run(self):
        started = time.perf_counter()
        results = await self.program(self.arrays, method=self.method)
        ms = (time.perf_counter() - started) * 1000
        specs = self.program.spec(self.method).outputs
        results = results if isinstance(results, tuple) else (results,)
        self.outputs = {spec.name: np.asarray(y) for spec, y in zip(specs, results, strict=True)}
        self.meant = {spec.name: meant(spec, self.outputs[spec.name]) for spec in specs}
        return {
            "ms": ms,
            "dispatches": self.program.dispatches(self.method),
            "outputs": [
                {"name": spec.name, "text": str(spec), "views": views(self.meant[spec.name])} for spec in specs
            ],
        }

    async def profile(self):
        profile = await self.program.profile(self.arrays, method=self.method)

        def rows(timings):
            longest = max((row.microseconds for row in timings), default=0) or 1
            return [
                {
                    "kernel": row.kernel,
                    "where": row.node,
                    "time": f"{row.microseconds:,.1f} µs",
                    "width": row.microseconds / longest,
                    "reached": min(1, row.reached),
                }
                for row in timings
            ]

        about, _, _ = str(profile).partition("\n\n")
        return {"about": about, "kernels": rows(profile.kernels), "dispatches": rows(profile.rows)}

    def reset(self):
        self.program.reset()

    def archive(self):
        """The outputs as an .npz file."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, output in self.outputs.items():
                with archive.open(f"{name}.npy", "w") as array:
                    np.lib.format.write_array(array, output)
        return file.getvalue()

    # --- what outputs look like

    def table(self, name, _plane):
        y = self.meant[name]
        rows = y.reshape(int(np.prod(y.shape[:-1])), y.shape[-1]) if y.ndim else y.reshape(1, 1)
        return {
            "rows": [
                {"at": index(y.shape[:-1], i), "cells": [shown(v) for v in row[:MOST_COLUMNS]]}
                for i, row in enumerate(rows[:MOST_ROWS])
            ],
            "more": f"{y.size:,} values in all" if rows[:MOST_ROWS, :MOST_COLUMNS].size < y.size else "",
        }

    def top(self, name, _plane):
        y = self.meant[name]
        values = y.ravel().astype(np.float64)
        order = np.argsort(-values, kind="stable")[:TOP]
        low, span = values.min(), np.ptp(values) or 1
        return {
            "top": [
                {"at": index(y.shape, i), "value": shown(y.ravel()[i]), "width": float((values[i] - low) / span)}
                for i in order
            ]
        }

    def picture(self, name, _plane):
        """An image: from black to white is one of the usual ranges that the values fill, or what they reach."""
        values = planes(self.meant[name]).astype(np.float64)
        low, high = extremes(values)
        for bottom, top in ((0, 1), (-1, 1), (0, 255), (-128, 127)):
            if bottom <= low and high <= top <= bottom + 4 * (high - low):
                low, high = bottom, top
                break
        bytes_ = 255 * (values - low) / ((high - low) or 1)
        pixels = np.moveaxis(np.nan_to_num(bytes_), 0, -1)
        return bitmap(pixels if len(values) > 1 else pixels.repeat(3, -1), low, high)

    def heat(self, name, plane):
        values = planes(self.meant[name])[plane].astype(np.float64)
        low, high = extremes(values)
        at = (values - low) / ((high - low) or 1) * (len(VIRIDIS) - 1)
        colors = [np.interp(at, range(len(VIRIDIS)), channel) for channel in zip(*VIRIDIS, strict=True)]
        return bitmap(np.nan_to_num(np.stack(colors, -1)), low, high)


def frames(shape):
    """How an input can hold a picture: for each order of its axes, the likely one first, height, width and channels."""
    if len(shape) not in (3, 4):
        return {}
    found = {"NCHW": (*shape[-2:], shape[-3]), "NHWC": shape[-3:]}
    fitting = {order: size for order, size in found.items() if size[2] in (1, 3, 4) and min(size) > 0}
    return dict(sorted(fitting.items(), key=lambda item: item[1][2] == 4))


def scales(spec):
    """The scales of pictures that fit an input, the likely one first."""
    if spec.scale is not None:  # the one that its integers span best
        bounds = (np.array([np.iinfo(spec.dtype).min, np.iinfo(spec.dtype).max]) - spec.zero_point) * spec.scale
        ends = {name: scale(np.array([0, 255.0])) for name, scale in [*SCALES.items()][:-1]}
        return sorted(SCALES, key=lambda name: np.abs(ends[name] - bounds).sum() if name in ends else np.inf)
    if spec.dtype.startswith("float"):
        return [*SCALES]
    return ["−128 to 127", "0 to 255"] if spec.dtype == "int8" else ["0 to 255", "−128 to 127"]


def meant(spec, y):
    """The numbers that an output stands for."""
    quantized = getattr(spec, "scale", None) is not None
    return (y.astype(np.float64) - spec.zero_point) * spec.scale if quantized else y


def planes(y):
    """An output as pictures: axes of channels first, and one number for all of them."""
    shape = y.shape[-3:] if y.ndim > 2 else (1, *y.shape)
    last = shape[2] < shape[0]
    y = y.reshape(-1, *shape)
    y = np.moveaxis(y, -1, 1) if last else y
    return y.reshape(-1, *y.shape[2:])


def views(y):
    """The ways to show an output, the best first, with how many planes each has."""
    if y.dtype.kind not in "biuf" or y.size == 0:
        return {"table": 1}
    if y.size == max(y.shape, default=1):
        return {"top": 1, "table": 1} if y.size > 2 else {"table": 1}
    numbers = {"table": 1, "top": 1}
    count, height, width = planes(y).shape
    if min(height, width) < 4 or max(height, width) > 8 * min(height, width):  # rows rather than a picture
        return {**numbers, "heat": count}
    pictures = {"picture": 1} if count in (1, 3, 4) and y.ndim > 2 else {}
    return {**pictures, "heat": count, **numbers}


def extremes(values):
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def bitmap(pixels, low, high):
    height, width, channels = pixels.shape
    rgba = np.full((height, width, 4), 255, np.uint8)
    rgba[..., :channels] = pixels.round().clip(0, 255)
    return {"width": width, "height": height, "pixels": rgba.ravel(), "low": shown(low), "high": shown(high)}


def index(shape, i):
    """The place of an element, without the axes that have one place only."""
    places = zip(np.unravel_index(i, shape), shape, strict=True) if shape else ()
    return ", ".join(str(place) for place, size in places if size > 1)


def shown(value):
    return f"{value:.5g}" if isinstance(value, float | np.floating) else str(value)
