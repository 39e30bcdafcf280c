"""What webq8.js calls: loads MobileNetV2 and runs it from numpy to numpy."""

import io
import time

import numpy as np
import webq8


async def start(url, golden):
    """Load the network at `url` and run it once, on the first input of its golden (an .npz)."""
    return await Network().load(url, np.load(io.BytesIO(golden.to_bytes())))


class Network:
    async def load(self, url, golden):
        self.x, want = golden["in0"][:1], golden["out0"][0].astype(float)
        self.program = await webq8.load(url)
        since = time.perf_counter()
        got = (await self.program(self.x))[0].astype(float)
        self.load_ms = self.program.load_ms | {"first run": (time.perf_counter() - since) * 1e3}
        self.cosine = float(got @ want / np.linalg.norm(got) / np.linalg.norm(want))
        self.replay = self.program._loaded.replays["forward"]
        self.destination = bytearray(self.replay.size)
        return self

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
