"""Every op in numpy, step by step in float32: the tests' oracle, and `device="cpu"`.

Written apart from the kernels (scatter where they gather, 64-bit accumulators), so that the two check each other.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from webq8.handlers import REGISTRY
from webq8.handlers.registry import Args, Operand, arguments, bind
from webq8.ir import Graph, Tensor
from webq8.rewrite import rewrite

__all__ = ["requantize", "run_graph"]

Array = npt.NDArray[Any]
Result = Array | tuple[Array, ...]  # a tuple for several outputs
_RUN: dict[str, Callable[[Args], Result]] = {}


def run_graph(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Runs a graph that `plan.check_method` has passed."""
    graph = rewrite(graph)
    arrays: dict[int, Array] = dict(zip(graph.inputs, inputs, strict=True))
    for i, v in enumerate(graph.values):
        if isinstance(v, Tensor) and v.data is not None:
            arrays[i] = np.frombuffer(v.data, v.dtype).reshape(v.shape)
    for call in graph.calls:
        args, _ = bind(REGISTRY[call.op], arguments(graph.values, call.args), call.node)
        assert args is not None, "check_method comes first"
        outs: tuple[Operand, ...] = args.out if isinstance(args.out, tuple) else (args.out,)
        for name, value in vars(args).items():
            if isinstance(value, Operand) and name != "out":
                setattr(args, name, arrays[value.id])
            elif isinstance(value, tuple) and value and isinstance(value[0], Operand) and name != "out":
                setattr(args, name, [arrays[v.id] for v in value])
        with np.errstate(all="ignore"):
            result = _RUN[call.op](args)
        for out, array in zip(outs, result if isinstance(result, tuple) else (result,), strict=True):
            assert (array.shape, array.dtype) == (out.shape, np.dtype(out.tensor.dtype)), call.op
            arrays[out.id] = array
    return [arrays[i] for i in graph.outputs]


def _op(*names: str) -> Callable[[Callable[[Args], Result]], Callable[[Args], Result]]:
    def register(function: Callable[[Args], Result]) -> Callable[[Args], Result]:
        for name in names:
            _RUN[name] = function
        return function

    return register


def _to_int8(scaled: Array, zero_point: int, low: int = -128, high: int = 127) -> Array:
    """Rounds half to even, adds the zero point, clamps in float; NaN gives the zero point."""
    q = np.clip(np.rint(scaled) + np.float32(zero_point), np.float32(low), np.float32(high))
    return np.where(np.isnan(scaled), zero_point, q).astype(np.int8)


def _inverse(scale: float) -> np.float32:
    return np.float32(1.0 / np.float64(scale))


def requantize(acc: Array, w_scales: Array, bias: Array | None, a: Args, axis: int) -> Array:
    """Accumulators to int8; `axis` is the output channels'."""
    shape = [1] * acc.ndim
    shape[axis] = -1
    channels = acc.shape[axis]
    v = acc.astype(np.float32) * np.float32(a.x_scale)
    v = v * w_scales[:channels].reshape(shape)
    if bias is not None:
        v = v + bias[:channels].reshape(shape)
    if a.activation == "relu":
        v = np.maximum(v, np.float32(0))
    return _to_int8(v * _inverse(a.y_scale), a.y_zero_point)


@_op("quantized_decomposed.quantize_per_tensor.default")
def _quantize(a: Args) -> Array:
    return _to_int8(a.x * _inverse(a.scale), a.zero_point, a.qmin, a.qmax)


@_op("quantized_decomposed.dequantize_per_tensor.default")
def _dequantize(a: Args) -> Array:
    result: Array = (a.x.astype(np.int32) - a.zero_point).astype(np.float32) * np.float32(a.scale)
    return result


@_op("et_vk.q8ta_linear.default", "et_vk.q8ta_linear_gemv.default")
def _linear(a: Args) -> Array:
    # float64 holds these sums exactly, and its matrix product is far faster than numpy's integer one
    acc = (a.x.astype(np.float64) - a.x_zero_point) @ a.weight[:, : a.K].astype(np.float64).T
    return requantize(acc.astype(np.int64), a.weight_scales, a.bias, a, -1)


@_op("et_vk.q8ta_conv2d_transposed.default")
def _conv2d_transposed(a: Args) -> Array:
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = a.kernel, a.stride, a.padding, a.dilation
    groups, ic, oc = a.groups, a.IC // a.groups, a.OC // a.groups
    x = (a.x.astype(np.float64) - a.x_zero_point).reshape(a.N, groups, ic, a.H, a.W)
    weight = a.weight[:, : kh * kw * ic].astype(np.float64).reshape(groups, oc, kh, kw, ic)
    # the whole plane that taps reach, cut to the output afterwards
    full = np.zeros((a.N, groups, oc, a.OH + ph + dh * kh + sh * a.H, a.OW + pw + dw * kw + sw * a.W))
    for i in range(kh):
        for j in range(kw):
            part = np.einsum("ngchw,goc->ngohw", x, weight[:, :, i, j])
            full[..., i * dh : i * dh + sh * a.H : sh, j * dw : j * dw + sw * a.W : sw] += part
    acc = full[..., ph : ph + a.OH, pw : pw + a.OW].reshape(a.N, a.OC, a.OH, a.OW)
    return requantize(acc.astype(np.int64), a.weight_scales, a.bias, a, 1)
