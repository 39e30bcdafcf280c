"""int8 convolutions over channels-last maps."""

from collections.abc import Iterator, Mapping

from webq8.dtypes import cdiv, round_up
from webq8.handlers.epilogue import epilogue_params, per_channel
from webq8.handlers.gemm import CONVOLUTION, TRANSPOSED, gemm
from webq8.handlers.linear import matrix_product
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
from webq8.handlers.tuning import band
from webq8.handlers.weights import int32s, pack_phases, pack_rows, pack_windows, row_sums, sums_by_tap
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []

_TILE = 4  # output pixels of a thread on software adapters
# Of a row that such a thread takes its pixels from, and of all results: with fewer, one word a thread is faster.
_FEWEST_PIXELS, _FEWEST_WORDS = 3, 48
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
    if not a.IC or a.IC % a.groups or a.OC % a.groups:
        raise BadArg(f"groups = {a.groups} does not divide {a.IC} input and {a.OC} output channels")
    check_terms(a.R)


def _check_depthwise(a: Args) -> None:
    if not a.groups == a.IC == a.OC or a.kernel != (a.KH, a.KW):
        raise BadArg(
            f"a depthwise convolution needs groups = {a.groups} equal to {a.IC} input and {a.OC} output channels "
            f"and weights of its kernel's size {a.kernel}"
        )
    check_terms(a.R)


def _operations(a: Args, transposed: bool = False) -> int:
    """Of all taps, those outside of the map as well; a transposed convolution takes every tap for each input pixel."""
    pixels = a.N * (a.H * a.W if transposed else a.OH * a.OW)
    return int(2 * pixels * a.OC * a.R)


def _maps(a: Args) -> dict[str, Param]:
    return {
        "y_height": a.OH,
        "y_width": a.OW,
        "x_height": a.H,
        "x_width": a.W,
        "pad_height": a.padding[0],
        "pad_width": a.padding[1],
    }


def _steps(a: Args) -> dict[str, Param]:
    return {
        "kernel_width": a.kernel[1],
        "stride_height": a.stride[0],
        "stride_width": a.stride[1],
        "dilation_height": a.dilation[0],
        "dilation_width": a.dilation[1],
    }


def _params(a: Args) -> dict[str, Param]:
    return {
        "n_words": cdiv(a.OC, 4),
        "y_channel_words": a.out.layout.padded // 4,
        "x_channel_words": a.x.layout.padded // 4,
        "kernel_height": a.kernel[0],
        **_maps(a),
        **_steps(a),
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
    k_bytes, software = a.x.layout.padded, a.limits.software
    if a.groups > 1 or (software and k_bytes % 16):
        yield _windowed(a, transposed=False)
    elif a.kernel == (1, 1) and a.stride == (1, 1) and a.padding == (0, 0) and k_bytes % 16 == 0:
        yield from matrix_product(a, a.N * a.H * a.W, a.IC, a.OC, k_bytes)
    elif software:
        yield _direct(a)
    else:
        taps, stride = a.kernel[0] * a.kernel[1], a.weight.shape[1]
        row = round_up(taps * k_bytes, 16)
        yield gemm(
            a,
            pack_rows(a.weight.data, a.OC, stride, taps, a.IC, k_bytes, row),
            int32s(row_sums(a.weight.data, a.OC, stride, 1, a.R), round_up(a.OC, 4)),
            rows=a.N * a.OH * a.OW,
            columns=a.OC,
            steps=row // 16,
            operations=_operations(a),
            rows_are=CONVOLUTION,
            pixel_words=min(k_bytes // 4, 4),
            geometry=_gathered(a, a.OH, a.OW),
        )


def _gathered(a: Args, rows_height: int, rows_width: int) -> dict[str, Param]:
    """What wgsl/gemm_io.wgsl gathers rows by."""
    return {
        **_maps(a),
        **_steps(a),
        "rows_height": rows_height,
        "rows_width": rows_width,
        "channel_steps": max(1, a.x.layout.padded // 16),
    }


def _direct(a: Args) -> Dispatch:
    taps, padded, pixels = a.kernel[0] * a.kernel[1], round_up(a.OC, 4), a.N * a.OH * a.OW
    sums = row_sums(a.weight.data, a.OC, a.weight.shape[1], taps, a.IC)
    return Dispatch(
        "conv2d",
        {
            "x": a.x.id,
            "weight": pack_rows(a.weight.data, a.OC, a.weight.shape[1], taps, a.IC, a.x.layout.padded),
            "tap_sums": sums_by_tap(sums, a.OC, taps, padded),
            "channel": per_channel(a.weight_scales, a.bias, a.OC),
            "y": a.out.id,
        },
        {"pixels": pixels, **_params(a)},
        threads=cdiv(pixels, _TILE) * padded // 4,
        constants={"long_sums": a.IC > _EXACT_PRODUCTS},
        operations=_operations(a),
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
    if a.limits.software and taps <= _EXACT_TERMS and pixels * words >= _FEWEST_WORDS:
        yield Dispatch(
            "conv2d_depthwise_floats",
            bind,
            params | {"pixels": pixels},
            threads=cdiv(pixels, _TILE) * words,
            operations=_operations(a),
        )
        return
    if not a.limits.software and a.kernel == (3, 3) and a.dilation == (1, 1) and a.stride in ((1, 1), (2, 2)):
        yield _depthwise_3x3(a, bind)
        return
    wide = a.x.layout.padded % 16 == 0
    yield Dispatch(
        "conv2d_depthwise_wide" if wide else "conv2d_depthwise",
        bind,
        params | {"words": pixels * words},
        threads=pixels * words // (4 if wide else 1),
        operations=_operations(a),
    )


def _depthwise_3x3(a: Args, bind: Mapping[str, int | Const]) -> Dispatch:
    words, strips = a.x.layout.padded // 4, cdiv(a.OW, 4 // a.stride[1])
    band_rows = band(a.OH, a.N * strips * words)
    bands = cdiv(a.OH, band_rows)
    threads = a.N * bands * strips * words
    return Dispatch(
        "conv2d_depthwise_3x3",
        bind,
        {
            **_maps(a),
            **epilogue_params(a),
            "threads": threads,
            "stride": a.stride[0],
            "n_words": words,
            "strips": strips,
            "bands": bands,
            "band_rows": band_rows,
        },
        threads,
        operations=_operations(a),
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
    k_bytes = a.x.layout.padded
    # strides beyond the kernel make phases without a tap
    gaps = any(s > k for s, k in zip(a.stride, a.kernel, strict=True))
    if gaps or a.groups > 1 or k_bytes % 16 or a.dilation != (1, 1) or a.limits.software:
        yield _windowed(a, transposed=True)
        return
    weight, sums = pack_phases(a.weight.data, a.OC, a.weight.shape[1], a.kernel, a.stride, a.IC, k_bytes)
    height, width = (cdiv(size, apart) for size, apart in zip((a.OH, a.OW), a.stride, strict=True))
    most_taps = cdiv(a.kernel[0], a.stride[0]) * cdiv(a.kernel[1], a.stride[1])
    yield gemm(
        a,
        weight,
        sums,
        rows=a.N * height * width,
        columns=a.OC,
        steps=most_taps * k_bytes // 16,
        operations=_operations(a, transposed=True),
        rows_are=TRANSPOSED,
        geometry=_gathered(a, height, width),
        strides=a.stride,
        kernel=a.kernel,
    )


def _windowed(a: Args, transposed: bool) -> Dispatch:
    taps, ic, stride = a.kernel[0] * a.kernel[1], a.IC // a.groups, a.weight.shape[1]
    packed = pack_windows(a.weight.data, stride, a.OC, a.groups, taps, ic)
    n_words = cdiv(a.OC, 4)
    words = a.N * a.OH * a.OW * n_words
    bind: dict[str, int | Const] = {
        "x": a.x.id,
        "weight": packed.weights,
        "first": packed.first,
        "channel": per_channel(a.weight_scales, a.bias, a.OC),
        "y": a.out.id,
    }
    params = {"window": packed.window, **_params(a)}
    constants = {"shared_window": packed.shared, "transposed": transposed}
    operations = _operations(a, transposed)
    # pixels of a thread lie so far apart that they take the same taps
    apart = max(1, min(a.stride[1], a.OW)) if transposed else 1
    many = words >= _FEWEST_WORDS and _FEWEST_PIXELS * apart <= a.OW
    if a.limits.software and 4 * packed.window <= _EXACT_TERMS and many:
        constants["long_sums"] = taps * 4 * packed.window > _EXACT_TERMS
        rows, blocks = a.N * a.OH, cdiv(cdiv(a.OW, apart), _TILE)
        params |= {"rows": rows, "blocks": blocks, "apart": apart}
        threads = rows * apart * blocks * n_words
        return Dispatch("conv2d_windowed_floats", bind, params, threads, constants, operations=operations)
    sums = row_sums(a.weight.data, a.OC, stride, taps, ic)
    return Dispatch(
        "conv2d_windowed",
        bind | {"tap_sums": sums_by_tap(sums, a.OC, taps, round_up(a.OC, 4))},
        params | {"words": words},
        threads=words,
        constants=constants,
        operations=operations,
    )
