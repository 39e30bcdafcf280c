"""webq8: int8-quantized models and ops on the GPU of a web page, from Python."""

from webq8 import errors, ops
from webq8.ops import Tensor, tensor
from webq8.profiling import Profile
from webq8.runtime import MethodSpec, Program, TensorSpec, inspect, load

__all__ = ["MethodSpec", "Profile", "Program", "Tensor", "TensorSpec", "errors", "inspect", "load", "ops", "tensor"]
