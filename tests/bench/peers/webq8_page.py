"""What webq8.js calls: loads MobileNetV2 and runs it from numpy to numpy."""

import io
import time

import numpy as np
import webq8


class Network:
    """Runs the first input of its golden, an .npz."""

    def __init__(self, golden):
        rows = np.load(io.BytesIO(golden.to_bytes()))
        self.x, self.want = rows["in0"][:1], rows["out0"][0].astype(float)

    async def load(self, url):
        self.program = await webq8.load(url)
        self.load_ms = self.program.load_ms
        self.replay = self.program._loaded.replays["forward"]
        self.destination = bytearray(self.replay.size)

    async def cosine(self):
        """Of a run's output and the golden's."""
        got = (await self.program(self.x))[0].astype(float)
        return float(got @ self.want / np.linalg.norm(got) / np.linalg.norm(self.want))

    async def numpy_to_numpy(self, warm, samples):
        """The median in ms, after `warm` ms of the same."""
        since = time.perf_counter()
        while (time.perf_counter() - since) * 1e3 < warm:
            await self.program(self.x)
        times = []
        for _ in range(samples):
            start = time.perf_counter()
            await self.program(self.x)
            times.append((time.perf_counter() - start) * 1e3)
        return sorted(times)[len(times) // 2]
