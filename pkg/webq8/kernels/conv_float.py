"""float32 convolutions."""

import math
from collections.abc import Iterator

from webq8.dtypes import cdiv, numel
from webq8.ir.ops.conv import Convolution
from webq8.ir.plan import Const, Dispatch, Param
from webq8.ir.types import f32
from webq8.kernels.registry import Call, kernel
from webq8.kernels.windows import maps_params, window_params

__all__: list[str] = []

_NOTHING = Const(bytes(4))  # a bias of zero


@kernel(Convolution)
def convolution(op: Convolution, call: Call) -> Iterator[Dispatch]:
    """Maps in one dimension have a height of one."""
    x, weight, y = call[op.x], call[op.weight], call.out
    flat = (1,) * (4 - len(x.shape))
    x_maps, y_maps, kernel = ((*flat, *t.shape[2:]) for t in (x, y, weight))
    taps, n, groups = numel(kernel), x.shape[0], op.groups
    in_channels, out_channels = x.shape[1] // groups, y.shape[1] // groups  # of a group
    single = out_channels == 1
    blocks = cdiv(out_channels, 1 if single else 4)
    threads = n * groups * blocks * numel(y_maps)
    pixels = numel(x_maps if op.transposed else y_maps)  # each takes every tap
    params: dict[str, Param] = {
        "maps": maps_params(x_maps, y_maps),
        "window": window_params(kernel, op.stride, op.padding, op.dilation),
        "groups": groups,
        "x_channels": in_channels,
        "y_channels": out_channels,
        "threads": threads,
        "blocks": blocks,
        # to the weights of the next input and output channel of a group
        "weight_input_stride": (out_channels if op.transposed else 1) * taps,
        "weight_output_stride": (1 if op.transposed else in_channels) * taps,
        "bias_stride": int(op.bias is not None),
        "low": f32(op.low),
        "high": f32(op.high),
    }
    yield Dispatch(
        "convolution",
        {
            "x": x.id,
            "weight": weight.id,
            "bias": _NOTHING if op.bias is None else call[op.bias].id,
            "y": y.id,
        },
        params,
        threads,
        {"transposed": op.transposed, "single": single, "clamped": (op.low, op.high) != (-math.inf, math.inf)},
        operations=2 * n * pixels * numel(weight.shape),
    )
