"""Targets: the properties of a device that plans depend on, that is its limits and its class.

A class is a row of figures from measurements (tests/bench/README.md). kernels/select.py, the only module that chooses
kernels by the device, asks them of a Target; a new class of devices is a new row.
"""

from collections.abc import Collection

from webq8.records import Record

__all__ = [
    "FEATURES",
    "GPU",
    "MATRIX_GPU",
    "PACKED_DOT",
    "SOFTWARE",
    "Adapter",
    "DeviceClass",
    "Speed",
    "Target",
    "target_of",
]


class Speed(Record):
    """Operations and bytes a second of a slow device of a class."""

    operations: float
    nbytes: float


class DeviceClass(Record):
    """What the devices of a class have in common.

    Attributes:
        speed: the estimate by which long methods are cut into submits.
        tiles: the kernels of matrix products (names in kernels/select.py), those for the most results first; "small"
            and "deep" are always among them. Without any, products and convolutions are by threads that take a few
            results each.
        pixels: output pixels that a thread of a convolution takes.
        warm_up_ms: an idle device clocks several times lower.
        product_threads, copied_bytes: the work that ceilings are measured by.
        quantized: how many numbers a product may quantize as it reads them, rather than have a dispatch do it once.
        packed_dot: whether to use packed dot products, where the language has them.
        bands: whether threads of 3×3 depthwise convolutions take several rows, one after another.
        nudged: whether finished work has to be asked for, since the browser looks for it late.
    """

    speed: Speed
    tiles: tuple[str, ...]
    pixels: int
    warm_up_ms: float
    product_threads: int
    copied_bytes: int
    quantized: int
    packed_dot: bool
    bands: bool
    nudged: bool


# SwiftShader on two cores, as profiles of MobileNetV2 and ResNet-18 gave it: 0.7 to 7 · 10⁹ operations and 30 to
# 1,000 · 10⁶ bytes a second by kernel; together these estimate twice what the networks take. It emulates dot products
# instruction by instruction, and has no time to nudge.
SOFTWARE = DeviceClass(
    speed=Speed(3e9, 100e6),
    tiles=(),
    pixels=4,
    warm_up_ms=0,
    product_threads=2**12,
    copied_bytes=2**25,
    quantized=0,
    packed_dot=False,
    bands=False,
    nudged=False,
)
GPU = DeviceClass(
    speed=Speed(1e12, 20e9),  # a small integrated one
    tiles=("large", "small", "narrow", "deep"),
    pixels=1,
    warm_up_ms=400,
    product_threads=2**20,
    copied_bytes=2**28,  # beyond the caches of large GPUs
    quantized=2**20,
    packed_dot=True,
    bands=True,
    nudged=True,
)
# int8 subgroup matrices of 16×16×32 as well
MATRIX_GPU = GPU.replace(tiles=("matrix", "matrix_64", *GPU.tiles))


class Target(Record):
    """The device that a plan is for: the part of GPUSupportedLimits that it must keep (the defaults are WebGPU's own),
    its class, and whether its shaders have packed dot products."""

    max_buffer_size: int = 2**28
    max_storage_buffer_binding_size: int = 2**27
    max_compute_workgroups_per_dimension: int = 65535
    max_compute_workgroup_storage_size: int = 2**14
    kind: DeviceClass = GPU
    packed_dot: bool = True

    @property
    def dot4(self) -> str:
        """The part of WGSL modules that has their dot products of four int8."""
        return "dot4_packed" if self.packed_dot else "dot4_plain"


_SOFTWARE_NAMES = ("swiftshader", "llvmpipe", "lavapipe", "softpipe", "microsoft basic render")  # where no flag says so
PACKED_DOT = "packed_4x8_integer_dot_product"
_MATRIX = "chromium-experimental-subgroup-matrix"
# what wgsl/gemm_matrix*.wgsl are written for: types of components and results, M, N and K
_MATRIX_SHAPE = ("i8", "i32", 16, 16, 32)


class Adapter(Record):
    """What a backend tells of its GPU; `str()` is its name.

    `fallback`: it says that it computes on the CPU; `subgroup_sizes` and `matrices` as GPUAdapterInfo has them.
    """

    vendor: str = ""
    architecture: str = ""
    device: str = ""
    description: str = ""
    fallback: bool = False
    subgroup_sizes: frozenset[int] = frozenset()
    matrices: tuple[tuple[str, str, int, int, int], ...] = ()

    @property
    def software(self) -> bool:
        """Whether the CPU computes."""
        told = f"{self.vendor} {self.architecture} {self.device} {self.description}".lower()
        return self.fallback or any(name in told for name in _SOFTWARE_NAMES)

    def __str__(self) -> str:
        names = dict.fromkeys(p for p in (self.vendor, self.architecture, self.description) if p)
        return " ".join(names) or "unnamed GPU"


FEATURES = ("timestamp-query", "subgroups", _MATRIX)  # asked for where the adapter has them


def target_of(adapter: Adapter, limits: dict[str, int], features: Collection[str], language: Collection[str]) -> Target:
    """The target for a device with these limits (by the names of Target's fields), features and WGSL extensions."""
    matrices = _MATRIX in features and adapter.subgroup_sizes == {32} and _MATRIX_SHAPE in adapter.matrices
    kind = SOFTWARE if adapter.software else MATRIX_GPU if matrices else GPU
    return Target(**limits, kind=kind, packed_dot=kind.packed_dot and PACKED_DOT in language)
