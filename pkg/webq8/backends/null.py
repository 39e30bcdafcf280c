"""A GPU that computes nothing: it counts the objects that are made of it, and can refuse any of them.

Tests ask it what a program holds, and what stays when something fails, over many plans in milliseconds. Results are
zeros. Everything above wgpu's interface is the real thing: `WgpuDevice` and `GpuProgram`.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from webq8.backends.wgpu_device import LIMITS, Counts, WgpuBackend, WgpuDevice
from webq8.target import Adapter, Target

__all__ = ["Null", "Refused", "backend"]


class Refused(Exception):
    """How the null GPU's calls fail."""


class Null:
    """A GPUDevice of wgpu's interface, and its queue.

    `made` counts by kind what was ever made, `alive` what is; `refuse` is called with the kind of each object before it
    is made, and may raise Refused.
    """

    features = frozenset({"timestamp-query"})

    def __init__(self) -> None:
        self.limits = {theirs: getattr(Target(), ours) for ours, theirs in LIMITS.items()}
        self.queue = self
        self.made: Counter[str] = Counter()
        self.alive: Counter[str] = Counter()
        self.refuse: Callable[[str], None] = lambda kind: None

    def _make(self, kind: str, **described: Any) -> "_Object":
        self.refuse(kind)
        return _Object(self, kind, described)

    def create_buffer(self, **described: Any) -> "_Object":
        return self._make("buffer", **described)

    def create_bind_group_layout(self, **described: Any) -> "_Object":
        return self._make("bind group layout", **described)

    def create_bind_group(self, **described: Any) -> "_Object":
        for entry in described["entries"]:
            entry["resource"]["buffer"].check()
        return self._make("bind group", **described)

    def create_pipeline_layout(self, **described: Any) -> "_Object":
        return self._make("pipeline layout", **described)

    def create_shader_module(self, **described: Any) -> "_Object":
        return self._make("shader module", **described)

    def create_compute_pipeline(self, **described: Any) -> "_Object":
        return self._make("pipeline", **described)

    def create_query_set(self, **described: Any) -> "_Object":
        return self._make("query set", **described)

    def create_command_encoder(self) -> "_Object":
        return self._make("encoder")

    def write_buffer(self, buffer: "_Object", offset: int, data: Any) -> None:
        self.refuse("write")
        buffer.check(offset + len(data))

    def submit(self, commands: list["_Object"]) -> None:
        self.refuse("submit")
        for bound in (b for c in commands for b in c.used):
            bound.check()


class _Object:
    """Any object of the null GPU: a buffer, an encoder and its pass, or what only has to be there."""

    def __init__(self, gpu: Null, kind: str, described: Mapping[str, Any]) -> None:
        self._gpu, self.kind = gpu, kind
        self.size = described.get("size", 0)
        self.used = [e["resource"]["buffer"] for e in described.get("entries", ()) if "resource" in e]
        self._destroyed = self._mapped = False
        gpu.made[kind] += 1
        gpu.alive[kind] += 1

    def __del__(self) -> None:
        self.destroy()

    def destroy(self) -> None:
        if not self._destroyed:
            self._gpu.alive[self.kind] -= 1
        self._destroyed = True

    def check(self, end: int = 0) -> None:
        """Refuses a use of what was destroyed, is mapped, or is too small."""
        if self._destroyed or self._mapped or end > self.size:
            raise Refused(f"a {self.kind} of {self.size} bytes is destroyed, mapped, or ends before {end}")

    # a buffer's

    def map_sync(self, mode: str, offset: int, size: int) -> None:
        self._gpu.refuse("map")
        self.check(offset + size)
        self._mapped = True

    def read_mapped(self, offset: int, size: int, copy: bool) -> bytes:
        assert self._mapped
        return bytes(size)

    def unmap(self) -> None:
        assert self._mapped
        self._mapped = False

    # an encoder's

    def begin_compute_pass(self, **described: Any) -> "_Object":
        return self

    def set_pipeline(self, pipeline: "_Object") -> None:
        pipeline.check()

    def set_bind_group(self, index: int, group: "_Object") -> None:
        self.used += group.used

    def dispatch_workgroups(self, x: int, y: int, z: int) -> None:
        pass

    def end(self) -> None:
        pass

    def copy_buffer_to_buffer(self, source: "_Object", at: int, target: "_Object", to: int, size: int) -> None:
        source.check(at + size)
        target.check(to + size)
        self.used += source, target

    def resolve_query_set(self, query_set: "_Object", first: int, count: int, target: "_Object", at: int) -> None:
        target.check(at + 8 * count)

    def finish(self) -> "_Object":
        return self


def _request(counts: Counts) -> WgpuDevice:
    return WgpuDevice(Null(), Adapter("null"), counts, (Refused,))


backend = WgpuBackend(_request)
