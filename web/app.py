"""Two int8 models on the GPU of a web page: one reads a digit, one draws it four times as large.

The page's worker awaits `start` once, and then `pick` or `draw` for every digit.
"""

import asyncio
import io
import time

import numpy as np
import webq8
from pyodide.http import pyfetch


async def start(show):
    """Load both models and the test scans; `show(fraction, message)` follows how far that is."""
    loaded = [0.0, 0.0]

    def follow(model):
        def on_progress(fraction, message):
            loaded[model] = fraction
            show(sum(loaded) / len(loaded), message)

        return on_progress

    return Demo(
        *await asyncio.gather(
            webq8.load("models/classifier.pte", on_progress=follow(0)),
            webq8.load("models/upscaler.pte", on_progress=follow(1)),
            fetch_scans("models/digits.npz"),
        )
    )


class Demo:
    def __init__(self, classifier, upscaler, scans):
        self.classifier = classifier  # float32 (1, 64), each pixel 0 to 1 -> (1, 10) logits
        self.upscaler = upscaler  # float32 (1, 1, 8, 8) -> (1, 1, 32, 32)
        self.images = scans["images"]  # uint8 (360, 8, 8), each pixel 0 to 16
        self.labels = scans["labels"]

    def about(self):
        adapter = self.classifier.adapter
        return {
            "adapter": str(adapter),
            "software": adapter.software,
            "images": self.images.reshape(-1, 64),
            "labels": self.labels,
        }

    async def pick(self, index):
        return await self.read(self.images[index])

    async def draw(self, ink):
        """Read a drawing of 256 × 256 bytes, made smaller as the scans were: each pixel is the mean of its square."""
        squares = np.asarray(ink, np.float32).reshape(8, 32, 8, 32)
        return await self.read(squares.mean(axis=(1, 3)) * (16 / 255))

    async def read(self, scan):
        digit = (scan / 16).astype(np.float32)
        logits, classifier_cost = await timed(self.classifier, digit.reshape(1, 64))
        picture, upscaler_cost = await timed(self.upscaler, digit.reshape(1, 1, 8, 8))
        return {
            "digit": digit.ravel(),
            "scores": softmax(logits.ravel()),
            "upscale": picture.ravel(),
            "classifier": classifier_cost,
            "upscaler": upscaler_cost,
        }


async def timed(program, x):
    started = time.perf_counter()
    y = await program(x)
    return y, {"ms": (time.perf_counter() - started) * 1000, "dispatches": program.dispatches()}


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


async def fetch_scans(url):
    response = await pyfetch(url)
    response.raise_for_status()
    return np.load(io.BytesIO(await response.bytes()))
