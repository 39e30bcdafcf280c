"""float32 convolutions."""

import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from webq8.dtypes import cdiv
from webq8.errors import Unsupported
from webq8.handlers.registry import F32, GROUPS, Args, BadArg, Bool, Ints, Number, TensorArg, f32, op
from webq8.ir import Const, Dispatch

__all__: list[str] = []


def _spatial(a: Args, name: str) -> tuple[int, int]:
    """An argument for height and width; one integer serves both axes, and a 1-D convolution has a height of one."""
    values: tuple[int, ...] = getattr(a, name)
    axes = len(a.S) - 2
    least = 0 if name in ("padding", "output_padding") else 1
    if len(values) not in (1, axes) or min(values) < least:
        raise BadArg(f"{name}: {list(values)}; {axes} integers of at least {least} expected")
    values = values * axes if len(values) == 1 else values
    return values if len(values) == 2 else (least, values[0])


def _sizes(a: Args) -> Mapping[str, object]:
    """Geometry in two dimensions, and the output's shape by the formulas of `torch.nn.Conv2d` and `ConvTranspose2d`."""
    if len(a.S) not in (3, 4) or len(a.W) != len(a.S):
        text = f"x {list(a.S)}, weight {list(a.W)}: convolutions in one and two dimensions are supported"
        raise BadArg(text, Unsupported)
    flat = (1,) * (4 - len(a.S))
    shape: tuple[int, ...] = a.S
    n, ic, *size = *shape[:2], *flat, *shape[2:]
    kernel = (*flat, *a.W[2:])
    stride, padding, dilation = (_spatial(a, name) for name in ("stride", "padding", "dilation"))
    extra = _spatial(a, "output_padding") if a.transposed else (0, 0)
    if a.transposed and any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise BadArg(f"output_padding {extra} must be less than stride {stride} or dilation {dilation}")
    oc = a.W[1] * a.groups if a.transposed else a.W[0]
    per_group = a.W[0] if a.transposed else a.W[1] * a.groups
    if ic != per_group or ic % a.groups or oc % a.groups:
        raise BadArg(f"weight {list(a.W)} does not fit {ic} input channels in {a.groups} groups")
    out = []
    for i in range(2):
        reach = dilation[i] * (kernel[i] - 1) + 1
        if a.transposed:
            out.append((size[i] - 1) * stride[i] - 2 * padding[i] + reach + extra[i])
        else:
            out.append((size[i] + 2 * padding[i] - reach) // stride[i] + 1)
    if min(out) < (0 if a.transposed else 1) or min(kernel) < 1:
        raise BadArg(f"a kernel of {kernel} on a map of {tuple(size)} leaves an output of {tuple(out)}")
    return {
        "O": (n, oc, *out[len(flat) :]),
        "OC": oc,
        "geometry": {
            "groups": a.groups,
            "x_channels": ic // a.groups,
            "y_channels": oc // a.groups,
            "y_height": out[0],
            "y_width": out[1],
            "x_height": size[0],
            "x_width": size[1],
            "kernel_height": kernel[0],
            "kernel_width": kernel[1],
            "stride_height": stride[0],
            "stride_width": stride[1],
            "pad_height": padding[0],
            "pad_width": padding[1],
            "dilation_height": dilation[0],
            "dilation_width": dilation[1],
        },
    }


def _convolution(a: Args, low: float, high: float) -> Dispatch:
    geometry: dict[str, int] = a.geometry
    taps = geometry["kernel_height"] * geometry["kernel_width"]
    single = geometry["y_channels"] == 1
    blocks = cdiv(geometry["y_channels"], 1 if single else 4)
    side = "x" if a.transposed else "y"  # where every tap is taken for each pixel
    pixels = geometry[f"{side}_height"] * geometry[f"{side}_width"]
    threads = a.S[0] * a.groups * blocks * geometry["y_height"] * geometry["y_width"]
    return Dispatch(
        "convolution",
        {
            "x": a.x.id,
            "weight": a.weight.id,
            "bias": Const(struct.pack("<f", 0.0)) if a.bias is None else a.bias.id,
            "y": a.out.id,
        },
        geometry
        | {
            "threads": threads,
            "blocks": blocks,
            # where the weights of the next input and output channel of a group stand
            "w_input": (geometry["y_channels"] if a.transposed else 1) * taps,
            "w_output": (1 if a.transposed else geometry["x_channels"]) * taps,
            "bias_step": int(a.bias is not None),
            "low": f32(low),
            "high": f32(high),
        },
        threads,
        {"transposed": a.transposed, "single": single, "clamped": (low, high) != (-math.inf, math.inf)},
        operations=2 * a.S[0] * pixels * taps * geometry["x_channels"] * geometry["y_channels"] * a.groups,
    )


_SHAPES: dict[str, Any] = {
    "x": F32("*S"),
    "weight": F32("*W"),
    "bias": TensorArg(("float32",), "OC", optional=True),
    "stride": Ints(default=(1,)),
    "padding": Ints(default=(0,)),
    "dilation": Ints(default=(1,)),
    "transposed": Bool(default=False),
    "output_padding": Ints(default=(0,)),
    "groups": GROUPS,
}


@op("aten.convolution.default", "aten::convolution.out", **_SHAPES, out=F32("*O"), derive=_sizes)
def convolution(a: Args) -> Iterator[Dispatch]:
    """Convolution of x float32 [N, IC, H, W] or [N, IC, L], `transposed` or not.

    weight float32 [OC, IC/groups, Kh, Kw], transposed [IC, OC/groups, Kh, Kw]; bias [OC]; stride, padding, dilation and
    output_padding in elements, for each axis or one for all.
    """
    yield _convolution(a, -math.inf, math.inf)


@op(
    "et_vk.conv_with_clamp.default",
    "et_vk::conv_with_clamp.out",
    **_SHAPES,
    output_min=Number(absent=-math.inf, default=None),
    output_max=Number(absent=math.inf, default=None),
    out=F32("*O"),
    derive=_sizes,
)
def conv_with_clamp(a: Args) -> Iterator[Dispatch]:
    """`convolution`, clamped to output_min … output_max (no limit, where null)."""
    yield _convolution(a, a.output_min, a.output_max)
