"""int8 convolutions over channels-last maps."""

from collections.abc import Iterator, Mapping

from webq8.dtypes import cdiv, round_up
from webq8.handlers.epilogue import epilogue_params, per_channel
from webq8.handlers.linear import GEOMETRY, gemm, matrix_product
from webq8.handlers.registry import (
    ACTIVATION,
    GROUPS,
    I8,
    IGNORED,
    SCALE,
    ZERO_POINT,
    Arg,
    Args,
    BadArg,
    Constant,
    Pair,
    check_terms,
    op,
)
from webq8.handlers.weights import int32s, pack_rows, pack_windows, row_sums, sums_by_tap
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []

_TILE = 4  # output pixels of a thread on software adapters
# How many x · weight a float32 sums exactly, whatever they are: 128 · 128 · 1,024 = 2²⁴.
_EXACT_PRODUCTS = 1024
# How many (x − x_zero_point) · weight a float32 sums exactly, whatever they are: 255 · 128 · 514 < 2²⁴.
_EXACT_TERMS = 514


def _geometry(**more: Arg) -> dict[str, Arg]:
    """Kernel, stride, padding and so on, in the order of the schemas; `more` comes before the dilation."""
    return {
        "kernel": Pair(1),
        "stride": Pair(1, default=(1, 1)),
        "padding": Pair(default=(0, 0)),
        **more,
        "dilation": Pair(1, default=(1, 1)),
        "groups": GROUPS,
        "activation": ACTIVATION,
        "out": I8("N OC OH OW", "channels"),
    }


def _declare(weight: str, geometry: Mapping[str, Arg]) -> dict[str, Arg]:
    return {
        "x": I8("N IC H W", "channels"),
        "x_scale": SCALE,
        "x_zero_point": ZERO_POINT,
        "weight": Constant("int8", weight),
        "weight_sums": IGNORED,
        "weight_scales": Constant("float32", "OC+", "scales"),
        "y_scale": SCALE,
        "y_zero_point": ZERO_POINT,
        "bias": Constant("float32", "OC+", "finite", optional=True),
        **geometry,
    }


def _sizes(a: Args) -> Mapping[str, int]:
    """Output sizes, by the formula in the documentation of `torch.nn.Conv2d`."""
    sizes = {}
    for axis, letter in enumerate("HW"):
        reach = a.dilation[axis] * (a.kernel[axis] - 1) + 1
        room = getattr(a, letter) + 2 * a.padding[axis] - reach
        if room < 0:
            raise BadArg(f"a kernel that reaches {reach} does not fit {letter} = {getattr(a, letter)} with its padding")
        sizes["O" + letter] = room // a.stride[axis] + 1
    return sizes | {"R": _row_length(a)}


def _transposed_sizes(a: Args) -> Mapping[str, int]:
    """Output sizes, by the formula in the documentation of `torch.nn.ConvTranspose2d`."""
    sizes = {}
    for axis, letter in enumerate("HW"):
        reach = a.dilation[axis] * (a.kernel[axis] - 1) + a.output_padding[axis] + 1
        size = (getattr(a, letter) - 1) * a.stride[axis] - 2 * a.padding[axis] + reach
        if size < 0:
            raise BadArg(f"padding {a.padding} leaves a negative output size")
        sizes["O" + letter] = size
    return sizes | {"R": _row_length(a)}


def _row_length(a: Args) -> int:
    return int(a.kernel[0] * a.kernel[1] * (a.IC // a.groups))


def _check(a: Args) -> None:
    if a.IC % a.groups or a.OC % a.groups:
        raise BadArg(f"groups = {a.groups} does not divide {a.IC} input and {a.OC} output channels")
    check_terms(a.R)


def _check_depthwise(a: Args) -> None:
    if not a.groups == a.IC == a.OC or a.kernel != (a.KH, a.KW):
        raise BadArg(
            f"a depthwise convolution needs groups = {a.groups} equal to {a.IC} input and {a.OC} output channels "
            f"and weights of its kernel's size {a.kernel}"
        )
    check_terms(a.R)


def _params(a: Args) -> dict[str, Param]:
    (kh, kw), (sh, sw), (ph, pw), (dh, dw) = a.kernel, a.stride, a.padding, a.dilation
    return {
        "n_words": cdiv(a.OC, 4),
        "y_height": a.OH,
        "y_width": a.OW,
        "y_channel_words": a.out.layout.padded // 4,
        "x_height": a.H,
        "x_width": a.W,
        "x_channel_words": a.x.layout.padded // 4,
        "kernel_height": kh,
        "kernel_width": kw,
        "stride_height": sh,
        "stride_width": sw,
        "pad_height": ph,
        "pad_width": pw,
        "dilation_height": dh,
        "dilation_width": dw,
        **epilogue_params(a),
    }


@op(
    "et_vk.q8ta_conv2d.default",
    "et_vk.q8ta_conv2d_pw.default",
    **_declare("OC R+", _geometry()),
    derive=_sizes,
    check=_check,
    fuses_clamp=True,
)
def conv2d(a: Args) -> Iterator[Dispatch]:
    """2-D convolution: y[oc, oh, ow] = requantize(Σ (x[ic, ih, iw] − x_zero_point) · weight[oc, kh, kw, ic]) with
    ih = oh·stride_h + kh·dilation_h − padding_h, columns alike; outside of the map x is its zero point.

    x int8 [N, IC, H, W]; weight int8 [OC, Kh·Kw·IC/groups] as `weight[oc, (kh·Kw + kw)·IC/groups + ic]` (rows may be
    padded), weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW]. A pointwise one is a matrix product.
    """
    k_bytes = a.x.layout.padded
    if a.groups > 1 or k_bytes % 16:
        yield _windowed(a, transposed=False)
    elif a.kernel == (1, 1) and a.stride == (1, 1) and a.padding == (0, 0):
        yield from matrix_product(a, a.N * a.H * a.W, a.IC, a.OC, k_bytes)
    else:
        taps, stride = a.kernel[0] * a.kernel[1], a.weight.shape[1]
        padded, pixels = round_up(a.OC, 4), a.N * a.OH * a.OW
        bind: dict[str, int | Const] = {
            "x": a.x.id,
            "weight": pack_rows(a.weight.data, a.OC, stride, taps, a.IC, k_bytes),
            "channel": per_channel(a.weight_scales, a.bias, a.OC),
            "y": a.out.id,
        }
        if a.limits.software and a.IC <= _EXACT_PRODUCTS:
            sums = sums_by_tap(row_sums(a.weight.data, a.OC, stride, taps, a.IC), a.OC, taps, padded)
            threads = cdiv(pixels, _TILE) * padded // 4
            yield Dispatch("conv2d", bind | {"tap_sums": sums}, {"pixels": pixels, **_params(a)}, threads)
            return
        yield from gemm(
            bind | {"sums": int32s(row_sums(a.weight.data, a.OC, stride, 1, a.R), padded)},
            {
                "rows": pixels,
                "n_words": padded // 4,
                "y_stride": a.out.layout.padded // 4,
                "k_steps": taps * k_bytes // 16,
                **epilogue_params(a),
            },
            pixels,
            a.OC,
            {n: v for n, v in (_params(a) | {"channel_steps": k_bytes // 16}).items() if n in GEOMETRY},
        )


@op(
    "et_vk.q8ta_conv2d_dw.default",
    **_declare("KH KW OC", _geometry()),
    derive=_sizes,
    check=_check_depthwise,
    fuses_clamp=True,
)
def conv2d_depthwise(a: Args) -> Iterator[Dispatch]:
    """Depthwise 2-D convolution: each channel by a kernel of its own, as `q8ta_conv2d` with groups = IC = OC.

    x int8 [N, OC, H, W], weight int8 [Kh, Kw, OC], weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW].
    """
    taps, words, pixels = a.kernel[0] * a.kernel[1], a.x.layout.padded // 4, a.N * a.OH * a.OW
    bind: dict[str, int | Const] = {
        "x": a.x.id,
        "weight": pack_rows(a.weight.data, taps, a.OC, 1, a.OC, 4 * words),
        "channel": per_channel(a.weight_scales, a.bias, a.OC, 4 * words),
        "y": a.out.id,
    }
    params = _params(a) | {"n_words": words}
    if a.limits.software and taps <= _EXACT_TERMS:
        yield Dispatch(
            "conv2d_depthwise_floats", bind, params | {"pixels": pixels}, threads=cdiv(pixels, _TILE) * words
        )
        return
    wide = a.x.layout.padded % 16 == 0
    yield Dispatch(
        "conv2d_depthwise_wide" if wide else "conv2d_depthwise",
        bind,
        params | {"words": pixels * words},
        threads=pixels * words // (4 if wide else 1),
    )


@op(
    "et_vk.q8ta_conv2d_transposed.default",
    **_declare("OC R+", _geometry(output_padding=Pair(default=(0, 0)))),
    derive=_transposed_sizes,
    check=_check,
    fuses_clamp=True,
)
def conv2d_transposed(a: Args) -> Iterator[Dispatch]:
    """Transposed 2-D convolution, in gather form: output (oh, ow) takes tap (kh, kw) from input row
    ih = (oh + padding_h − kh·dilation_h) / stride_h where that is a whole number within the map, columns alike.

    x int8 [N, IC, H, W]; weight int8 [OC, Kh·Kw·IC/groups] as `weight[oc, (kh·Kw + kw)·IC/groups + ic]` (rows may be
    padded), weight_scales and bias float32 [OC]; y int8 [N, OC, OH, OW].
    """
    yield _windowed(a, transposed=True)


def _windowed(a: Args, transposed: bool) -> Dispatch:
    taps, ic, stride = a.kernel[0] * a.kernel[1], a.IC // a.groups, a.weight.shape[1]
    packed = pack_windows(a.weight.data, stride, a.OC, a.groups, taps, ic)
    n_words = cdiv(a.OC, 4)
    bind: dict[str, int | Const] = {
        "x": a.x.id,
        "weight": packed.weights,
        "first": packed.first,
        "channel": per_channel(a.weight_scales, a.bias, a.OC),
        "y": a.out.id,
    }
    params = {"window": packed.window, **_params(a)}
    constants = {"shared_window": packed.shared, "transposed": transposed}
    if a.limits.software and 4 * packed.window <= _EXACT_TERMS:
        constants["long_sums"] = taps * 4 * packed.window > _EXACT_TERMS
        # pixels of a thread lie so far apart that they take the same taps
        apart, rows = max(1, min(a.stride[1], a.OW)) if transposed else 1, a.N * a.OH
        blocks = cdiv(cdiv(a.OW, apart), _TILE)
        params |= {"rows": rows, "blocks": blocks, "apart": apart}
        return Dispatch("conv2d_windowed_floats", bind, params, rows * apart * blocks * n_words, constants=constants)
    words = a.N * a.OH * a.OW * n_words
    sums = row_sums(a.weight.data, a.OC, stride, taps, ic)
    return Dispatch(
        "conv2d_windowed",
        bind | {"tap_sums": sums_by_tap(sums, a.OC, taps, round_up(a.OC, 4))},
        params | {"words": words},
        threads=words,
        constants=constants,
    )
