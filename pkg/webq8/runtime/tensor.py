"""Arrays that may live on a device: results that stay there, and what `webq8.ops` computes."""

from typing import Any, Protocol

from webq8.arrays import to_array
from webq8.backends.base import Device, Output
from webq8.backends.find import DeviceName
from webq8.backends.gpu_program import GpuTensor
from webq8.dtypes import ITEMSIZE, numel
from webq8.errors import InputError
from webq8.ir.types import Tensor as Type

__all__ = ["Computation", "Tensor"]


class Computation(Protocol):
    """Computes the values of a tensor when they are first read."""

    async def compute(self, tensor: "Tensor", device: DeviceName) -> Output: ...


class Tensor:
    """An array, which may stay on a device or may not be computed yet. `shape` and `dtype` are known at once.

    Its values never change. What stays on a device is freed by `close()`, or when the tensor is forgotten.
    """

    def __init__(self, kind: Type, data: memoryview | None = None, call: Computation | None = None) -> None:
        self._type, self._data, self._call = kind, data, call
        self._resident: GpuTensor | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self._type.shape

    @property
    def dtype(self) -> str:
        return self._type.dtype

    @classmethod
    def computed(cls, kind: Type, output: Output) -> "Tensor":
        """A result of a run."""
        tensor = cls(kind)
        tensor._take(output)
        return tensor

    def _take(self, output: Output) -> None:
        """Takes over a computed result."""
        if output.data is not None:
            self._data = output.data[: numel(self.shape) * ITEMSIZE[self.dtype]]
        self._resident, self._call = output.resident, None

    def __repr__(self) -> str:
        where = ""
        if self._call is not None:
            where = ", not computed yet"
        elif self._resident and self._resident.alive:
            where = f", on {self._resident.device.adapter}"
        elif self._data is None:
            where = ", gone"
        return f"<webq8 tensor {self.dtype} {list(self.shape)}{where}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self._values(), dtype, copy=copy)

    def __buffer__(self, flags: int) -> "memoryview[Any]":
        return memoryview(self._values())

    def _values(self) -> Any:
        if self._data is None:
            if self._call is not None:
                raise InputError(
                    "this tensor is not computed yet: `await y.numpy()` computes it, and gives a numpy array"
                )
            raise InputError("this tensor stays on its device: `await y.numpy()` reads it, and gives a numpy array")
        return to_array(self._data, self.shape, self.dtype)

    async def buffer(self, device: DeviceName = "webgpu") -> Any:
        """The values: a numpy array, or a `webq8.arrays.Array` where numpy is not installed.

        `device` says where they are computed, if they are not yet.
        """
        if self._data is None:
            if self._call is not None:
                self._take(await self._call.compute(self, device))
            if self._data is None:
                assert self._resident is not None, "a result is read or kept"
                self._take(Output(await self._resident.read(), self._resident))
        return self._values()

    async def numpy(self, device: DeviceName = "webgpu") -> Any:
        """The values as a numpy array, computed on first use by one submit to the GPU, and read.

        Raises InputError where numpy is not installed; `buffer()` works there.
        """
        try:
            import numpy as np
        except ImportError:
            raise InputError("numpy is not installed here; `await y.buffer()` gives an array without it") from None
        return np.asarray(await self.buffer(device))

    def close(self) -> None:
        """Frees what the tensor holds on a device; closing twice is fine. Values that were read stay."""
        if self._resident is not None:
            self._resident.close()

    @property
    def unread(self) -> bool:
        """Whether the values are on a device only."""
        return self._data is None and self._call is None

    def resident_on(self, device: Device | None, name: str) -> GpuTensor | None:
        """What of the tensor stays on a program's device; None where its values can be taken from Python.

        Raises InputError, which begins with `name`, where they are elsewhere only; DeviceLost or ClosedError where they
        are gone.
        """
        resident = self._resident
        if resident and resident.device is device and resident.alive:
            return resident
        if resident is None or self._data is not None:
            return None
        resident.check()
        here = device.adapter if device else "the CPU"
        raise InputError(
            f"{name}: this tensor stays on another device ({resident.device.adapter}) than the program's ({here}); "
            "`await x.numpy()` reads it"
        )
