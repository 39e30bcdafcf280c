"""Normalizations of float32 tensors."""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from webq8.dtypes import numel
from webq8.handlers.reduce import lanes_for, shared_threads
from webq8.handlers.registry import F32, Args, BadArg, Bool, Int, Ints, Number, Operand, TensorArg, TensorList, f32, op
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []


def _affine(a: Args) -> tuple[dict[str, int | Const], dict[str, int]]:
    """Weight and bias and the distance of their elements: one element stands for all, where there are none."""
    weight: Operand | None = a.weight
    bias: Operand | None = vars(a).get("bias")
    return (
        {
            "weight": Const(struct.pack("<f", 1.0)) if weight is None else weight.id,
            "bias": Const(struct.pack("<f", 0.0)) if bias is None else bias.id,
        },
        {"weight_step": int(weight is not None), "bias_step": int(bias is not None)},
    )


class _Rows(NamedTuple):
    """What is normalized together: rows of `size` elements. A weight serves `inner` of them, and the rows share the
    weights in turns of `groups`. A row lies in `runs` pieces, those of all rows in turns."""

    rows: int
    size: int
    groups: int = 1
    inner: int = 1
    runs: int = 1


# what a kernel writes, in the order of `result` in wgsl/normalize.wgsl
_CENTERED = (0, 1, 2)
_UNCENTERED = (0, 2)


def _normalize(a: Args, rows: _Rows, eps: float, centered: bool = True) -> Iterator[Dispatch]:
    """x less its mean, over its standard deviation; or x over its root mean square. Then what each was."""
    bind, steps = _affine(a)
    outs: tuple[Operand, ...] = a.out if isinstance(a.out, tuple) else (a.out,)
    params: dict[str, Param] = {
        "rows": rows.rows,
        "count": rows.size,
        "groups": rows.groups,
        "inner": max(rows.inner, 1),
        "run": max(rows.size // rows.runs, 1),
        **steps,
        "eps": f32(eps),
    }
    lanes = lanes_for(rows.size, rows.rows, contiguous=True)
    for out, number in zip(outs, _CENTERED if centered else _UNCENTERED, strict=False):
        yield Dispatch(
            "normalize",
            {"x": a.x.id, **bind, "y": out.id},
            params,
            # no rows of nothing need to be written
            shared_threads(rows.rows, lanes) if numel(out.shape) else 0,
            {"lanes": lanes, "result": number, "centered": centered, "in_runs": rows.runs > 1},
        )


def _layer_sizes(a: Args) -> Mapping[str, tuple[int, ...]]:
    shape = a.normalized_shape
    if not shape or len(shape) > len(a.S) or a.S[len(a.S) - len(shape) :] != shape:
        raise BadArg(f"normalized_shape {list(shape)} is not the end of {list(a.S)}")
    return {"W": shape, "M": a.S[: len(a.S) - len(shape)] + (1,) * len(shape)}


@op(
    "aten.native_layer_norm.default",
    "aten::native_layer_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=TensorArg(("float32",), "*W", optional=True),
    bias=TensorArg(("float32",), "*W", optional=True),
    eps=Number(default=1e-5),
    out=TensorList((F32("*S"), F32("*M"), F32("*M"))),
    derive=_layer_sizes,
)
def layer_norm(a: Args) -> Iterator[Dispatch]:
    """y = (x − mean) / √(variance + eps) · weight + bias over the last dimensions, `normalized_shape`; float32.

    Also gives the mean and 1 / √(variance + eps); the variance is over n.
    """
    yield from _normalize(a, _Rows(numel(a.M), numel(a.W)), a.eps)


def _group_sizes(a: Args) -> Mapping[str, int]:
    if a.groups < 1 or a.channels % a.groups:
        raise BadArg(f"group = {a.groups} does not divide {a.channels} channels")
    if numel(a.S) != a.batch * a.channels * a.inner:
        raise BadArg(f"x: {list(a.S)} does not have {a.batch} · {a.channels} · {a.inner} elements")
    return {"C": a.channels, "N": a.batch, "G": a.groups}


@op(
    "aten.native_group_norm.default",
    "aten::native_group_norm.out",
    x=F32("*S"),
    weight=TensorArg(("float32",), "C", optional=True),
    bias=TensorArg(("float32",), "C", optional=True),
    batch=Int(0),
    channels=Int(0),
    inner=Int(0),
    groups=Int(1),
    eps=Number(default=1e-5),
    out=TensorList((F32("*S"), F32("N G"), F32("N G"))),
    derive=_group_sizes,
)
def group_norm(a: Args) -> Iterator[Dispatch]:
    """y = (x − mean) / √(variance + eps) · weight + bias over each of `groups` groups of x float32 [N, C, …].

    batch, channels, inner: N, C, and the number of elements of a channel. weight and bias are for each channel. Also
    gives the mean and 1 / √(variance + eps); the variance is over n.
    """
    count = a.channels // a.groups * a.inner
    yield from _normalize(a, _Rows(a.batch * a.groups, count, a.groups, a.inner), a.eps)


_FLT_EPSILON = 2.0**-23  # torch's for a null


def _last_size(a: Args) -> Mapping[str, tuple[int, ...]]:
    return _layer_sizes(Args(vars(a), {"normalized_shape": a.S[-1:]}))


@op(
    "et_vk.rms_norm.default",
    x=F32("*S"),
    weight=TensorArg(("float32",), "*W"),
    eps=Number(),
    out=F32("*S"),
    derive=_last_size,
)
@op(
    "aten._fused_rms_norm.default",
    "aten::_fused_rms_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=TensorArg(("float32",), "*W", optional=True),
    eps=Number(absent=_FLT_EPSILON, default=None),
    out=TensorList((F32("*S"), F32("*M"))),
    derive=_layer_sizes,
)
@op(
    "aten.rms_norm.default",
    "aten::rms_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=TensorArg(("float32",), "*W", optional=True),
    eps=Number(absent=_FLT_EPSILON, default=None),
    out=F32("*S"),
    derive=_layer_sizes,
)
def rms_norm(a: Args) -> Iterator[Dispatch]:
    """y = x / √(mean(x²) + eps) · weight over the last dimensions, `normalized_shape`; float32.

    `_fused_rms_norm` also gives 1 / √(mean(x²) + eps).
    """
    yield from _normalize(a, _Rows(numel(a.M), numel(a.W)), a.eps, centered=False)


def _batch_sizes(a: Args) -> Mapping[str, int]:
    if len(a.S) < 2:
        raise BadArg(f"x: {list(a.S)} has no channels")
    return {"C": a.S[1], "none": 0}


@op(
    "aten._native_batch_norm_legit_no_training.default",
    "aten::_native_batch_norm_legit_no_training.out",
    x=F32("*S"),
    weight=TensorArg(("float32",), "C", optional=True),
    bias=TensorArg(("float32",), "C", optional=True),
    mean=F32("C"),
    variance=F32("C"),
    momentum=Number(default=0.1),
    eps=Number(default=1e-5),
    out=TensorList((F32("*S"), F32("none"), F32("none"))),
    derive=_batch_sizes,
)
def batch_norm(a: Args) -> Iterator[Dispatch]:
    """y = (x − mean) / √(variance + eps) · weight + bias with the numbers of each channel of x float32 [N, C, …].

    The other two outputs are empty, as torch's are.
    """
    bind, steps = _affine(a)
    yield Dispatch(
        "batch_norm",
        {"x": a.x.id, **bind, "mean": a.mean.id, "variance": a.variance.id, "y": a.out[0].id},
        {"outputs": numel(a.S), "channels": a.C, "inner": numel(a.S[2:]), "eps": f32(a.eps), **steps},
        numel(a.S),
    )


def _check_statistics(a: Args) -> None:
    if not a.training:
        raise BadArg("training: False needs statistics, which this op has none of")
    if numel(a.S) == a.C > 0 or (a.C and not numel(a.S)):
        raise BadArg(f"x: {list(a.S)} has {numel(a.S) // a.C} elements a channel; more than one is needed")


@op(
    "aten._native_batch_norm_legit.no_stats",
    "aten::_native_batch_norm_legit.no_stats_out",
    x=F32("*S"),
    weight=TensorArg(("float32",), "C", optional=True),
    bias=TensorArg(("float32",), "C", optional=True),
    training=Bool(default=True),
    momentum=Number(default=0.1),
    eps=Number(default=1e-5),
    out=TensorList((F32("*S"), F32("C"), F32("C"))),
    derive=_batch_sizes,
    check=_check_statistics,
)
def batch_norm_of_itself(a: Args) -> Iterator[Dispatch]:
    """y = (x − mean) / √(variance + eps) · weight + bias with the statistics of each channel of x float32 [N, C, …], as
    instance normalization has it. Also gives the mean and 1 / √(variance + eps); the variance is over n."""
    count = numel(a.S) // a.C if a.C else 0
    yield from _normalize(a, _Rows(a.C, count, max(a.C, 1), count, runs=a.S[0]), a.eps)
