"""webq8: int8-quantized TFLite, ONNX and ExecuTorch models on the GPU of a web page, from Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from webq8 import errors
from webq8.runtime.inspect import inspect
from webq8.runtime.load import load
from webq8.runtime.program import Program
from webq8.runtime.specs import MethodSpec, TensorSpec
from webq8.runtime.tensor import Tensor

if TYPE_CHECKING:
    from webq8 import ops
    from webq8.ops import tensor
    from webq8.runtime.profiling import Profile

__version__ = "0.1.0"
__all__ = ["MethodSpec", "Profile", "Program", "Tensor", "TensorSpec", "errors", "inspect", "load", "ops", "tensor"]

# name -> its module, imported on first use: pages compile what they import, and a model's first answer needs none of it
_LATER = {"Profile": "runtime.profiling", "tensor": "ops", "ops": "ops"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_LATER[name]}")
    globals()[name] = module if name == "ops" else getattr(module, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
