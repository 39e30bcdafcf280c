"""int8 convolutions over channels-last maps."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from webq8.dtypes import cdiv, round_up
from webq8.handlers.epilogue import epilogue_params, per_channel, words_of
from webq8.handlers.registry import (
    ACTIVATION,
    GROUPS,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Args,
    BadArg,
    Constant,
    Pair,
    check_terms,
    op,
)
from webq8.ir import Const, Dispatch

__all__: list[str] = []


@dataclass(frozen=True)
class PackedWeights:
    """Weights of a grouped convolution as the words of x that each output channel reads.

    A group's channels may begin and end within a word of x, so each output channel reads `window` words from its
    `first` word on, with weights of zero outside of its group. `shared`: the four channels of every output word read
    the same words.
    """

    weights: Const  # vec4 of four channels' words [channel word, tap, window]
    tap_sums: Const  # int32 [tap, channel]
    first: Const  # int32 [channel]
    window: int
    shared: bool


def pack_weights(weight: memoryview, stride: int, oc: int, groups: int, taps: int, ic: int) -> PackedWeights:
    """Packs `weight[oc, tap·ic + c]` (rows `stride` bytes apart) with `ic` input channels a group."""
    per_group, padded = oc // groups, round_up(oc, 4)
    starts = [n // per_group * ic for n in range(oc)]
    window = max((cdiv(s + ic, 4) - s // 4 for s in starts), default=0)
    # the last window may not run past the pixel's words
    first = array("i", [min(s // 4, cdiv(ic * groups, 4) - window) for s in starts])
    packed = bytearray(padded * taps * window * 4)
    sums = array("i", bytes(4 * taps * padded))
    lead = window * 16
    for n in range(oc):
        word, lane = divmod(n, 4)
        shift = starts[n] - 4 * first[n]
        for tap in range(taps):
            at = n * stride + tap * ic
            row = weight[at : at + ic]
            sums[tap * padded + n] = sum(row.cast("b"))
            padded_row = (bytes(shift) + bytes(row)).ljust(4 * window, b"\0")
            block = memoryview(packed)[(word * taps + tap) * lead :][:lead]
            for byte in range(4):
                block[4 * lane + byte :: 16] = padded_row[byte::4]
    shared = all(len({*first[w : w + 4]}) == 1 for w in range(0, oc, 4))
    return PackedWeights(Const(bytes(packed)), Const(sums.tobytes()), words_of(first, padded), window, shared)


def _transposed_sizes(a: Args) -> Mapping[str, int]:
    """Output sizes, by the formula in the documentation of `torch.nn.ConvTranspose2d`."""
    sizes = {}
    for axis, letter in enumerate("HW"):
        stride, kernel, dilation = a.stride[axis], a.kernel[axis], a.dilation[axis]
        reach = dilation * (kernel - 1) + a.output_padding[axis] + 1
        size = (getattr(a, letter) - 1) * stride - 2 * a.padding[axis] + reach
        if size < 0:
            raise BadArg(f"padding {a.padding} leaves a negative output size")
        sizes["O" + letter] = size
    return sizes | {"R": a.kernel[0] * a.kernel[1] * (a.IC // a.groups)}


def _check_conv(a: Args) -> None:
    if a.IC % a.groups or a.OC % a.groups:
        raise BadArg(f"groups = {a.groups} does not divide {a.IC} input and {a.OC} output channels")
    check_terms(a.R)


@op(
    "et_vk.q8ta_conv2d_transposed.default",
    x=I8("N IC H W", "channels"),
    x_scale=SCALE,
    x_zero_point=ZERO_POINT,
    weight=Constant("int8", "OC R+"),
    weight_sums=IGNORED,
    weight_scales=Constant("float32", "OC+", "scales"),
    y_scale=SCALE,
    y_zero_point=ZERO_POINT,
    bias=Constant("float32", "OC+", "finite", optional=True),
    kernel=Pair(1),
    stride=Pair(1, default=(1, 1)),
    padding=Pair(default=(0, 0)),
    output_padding=Pair(default=(0, 0)),
    dilation=Pair(1, default=(1, 1)),
    groups=GROUPS,
    activation=ACTIVATION,
    out=I8("N OC OH OW", "channels"),
    derive=_transposed_sizes,
    check=_check_conv,
)
def conv2d_transposed(a: Args) -> Iterator[Dispatch]:
    """Transposed 2-D convolution, in gather form: output (oh, ow) takes tap (kh, kw) from input row
    ih = (oh + padding_h − kh·dilation_h) / stride_h where that is a whole number within the map, columns alike.

    x int8 [N, IC, H, W]; weight int8 [OC, Kh·Kw·IC/groups] as `weight[oc, (kh·Kw + kw)·IC/groups + ic]` (rows may be
    padded), weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW].
    """
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = a.kernel, a.stride, a.padding, a.dilation
    packed = pack_weights(a.weight.data, a.weight.shape[1], a.OC, a.groups, kh * kw, a.IC // a.groups)
    y = a.out.layout
    yield Dispatch(
        "conv2d_transposed",
        {
            "x": a.x.id,
            "weight": packed.weights,
            "tap_sums": packed.tap_sums,
            "first": packed.first,
            "channel": per_channel(a.weight_scales, a.bias, a.OC),
            "y": a.out.id,
        },
        {
            "words": y.words,
            "y_height": a.OH,
            "y_width": a.OW,
            "y_channel_words": y.padded // 4,
            "x_height": a.H,
            "x_width": a.W,
            "x_channel_words": a.x.layout.padded // 4,
            "window": packed.window,
            "kernel_height": kh,
            "kernel_width": kw,
            "stride_height": sh,
            "stride_width": sw,
            "pad_height": ph,
            "pad_width": pw,
            "dilation_height": dh,
            "dilation_width": dw,
        }
        | epilogue_params(a),
        threads=y.words,
        constants={"shared_window": packed.shared},
    )
