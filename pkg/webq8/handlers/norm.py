"""Normalizations of float32 tensors."""

import struct
from collections.abc import Iterator, Mapping

from webq8.dtypes import numel
from webq8.handlers.reduce import lanes_for, shared_threads
from webq8.handlers.registry import F32, Args, BadArg, Int, Ints, Number, Operand, TensorArg, TensorList, f32, op
from webq8.ir import Const, Dispatch, Param

__all__: list[str] = []


def _affine(a: Args) -> tuple[dict[str, int | Const], dict[str, int]]:
    """Weight and bias and the distance of their elements: one element stands for all, where there are none."""
    weight: Operand | None = a.weight
    bias: Operand | None = a.bias
    return (
        {
            "weight": Const(struct.pack("<f", 1.0)) if weight is None else weight.id,
            "bias": Const(struct.pack("<f", 0.0)) if bias is None else bias.id,
        },
        {"weight_step": int(weight is not None), "bias_step": int(bias is not None)},
    )


def _rows(a: Args, count: int, groups: int, inner: int) -> Iterator[Dispatch]:
    """Normalizes rows of `count` elements; a weight serves `inner` of them, and `groups` rows follow each other."""
    rows = numel(a.out[1].shape)
    bind, steps = _affine(a)
    params: dict[str, Param] = {"rows": rows, "count": count, "groups": groups, "inner": max(inner, 1), **steps}
    lanes = lanes_for(count, rows, contiguous=True)
    for number, out in enumerate(a.out):
        yield Dispatch(
            "normalize",
            {"x": a.x.id, **bind, "y": out.id},
            params | {"eps": f32(a.eps)},
            # no rows of nothing need to be written
            shared_threads(rows, lanes) if numel(out.shape) else 0,
            {"lanes": lanes, "result": number},
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
    yield from _rows(a, numel(a.W), 1, 1)


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
    yield from _rows(a, a.channels // a.groups * a.inner, a.groups, a.inner)


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
