"""Normalizations of float32 tensors."""

from webq8.dtypes import numel
from webq8.formats.pte.schema import (
    F32,
    IGNORED,
    Argument,
    Bool,
    Int,
    Ints,
    Number,
    TensorArg,
    TensorList,
    lowers,
)
from webq8.ir.builder import Builder
from webq8.ir.ops.move import Reshape
from webq8.ir.ops.norm import BatchNorm, BatchNormOfItself, GroupNorm, LayerNorm, RMSNorm
from webq8.ir.types import BadArg, MaybeRef, Ref

__all__: list[str] = []

_EPS = Number(default=1e-5)
_FLT_EPSILON = 2.0**-23  # torch's for a null
_OF_SHAPE, _OF_CHANNELS = (TensorArg(("float32",), sizes, optional=True) for sizes in ("*W", "C"))


def _ref(x: Argument | None) -> MaybeRef:
    return None if x is None else x.ref


def _check_end(x: Argument, normalized_shape: tuple[int, ...]) -> None:
    rank = len(normalized_shape)
    if not rank or rank > len(x.shape) or x.shape[len(x.shape) - rank :] != normalized_shape:
        raise BadArg(f"normalized_shape {list(normalized_shape)} is not the end of {list(x.shape)}")


@lowers(
    "aten.native_layer_norm.default",
    "aten::native_layer_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=_OF_SHAPE,
    bias=_OF_SHAPE,
    eps=_EPS,
    out=TensorList((F32("*S"), F32("*M"), F32("*M"))),
)
def layer_norm(
    g: Builder,
    x: Argument,
    normalized_shape: tuple[int, ...],
    weight: Argument | None,
    bias: Argument | None,
    eps: float,
) -> tuple[Ref, ...]:
    """y = (x − mean) / √(variance + eps) · weight + bias over the last dimensions, `normalized_shape`; float32.

    Also gives the mean and 1 / √(variance + eps); the variance is over n.
    """
    _check_end(x, normalized_shape)
    return g.emit_all(LayerNorm(x.ref, _ref(weight), _ref(bias), len(normalized_shape), eps))


@lowers(
    "aten.native_group_norm.default",
    "aten::native_group_norm.out",
    x=F32("*S"),
    weight=_OF_CHANNELS,
    bias=_OF_CHANNELS,
    batch=Int(0),
    channels=Int(0),
    inner=Int(0),
    groups=Int(1),
    eps=_EPS,
    out=TensorList((F32("*S"), F32("N G"), F32("N G"))),
)
def group_norm(
    g: Builder,
    x: Argument,
    weight: Argument | None,
    bias: Argument | None,
    batch: int,
    channels: int,
    inner: int,
    groups: int,
    eps: float,
) -> tuple[Ref, ...]:
    """y = (x − mean) / √(variance + eps) · weight + bias over each of `groups` groups of x float32 [N, C, …].

    batch, channels, inner: N, C, and the number of elements of a channel. weight and bias are for each channel. Also
    gives the mean and 1 / √(variance + eps); the variance is over n.
    """
    if numel(x.shape) != batch * channels * inner:
        raise BadArg(f"x: {list(x.shape)} does not have {batch} · {channels} · {inner} elements")
    plain = x.shape[:2] == (batch, channels)
    x_ref = x.ref if plain else g.emit(Reshape(x.ref, (batch, channels, inner)))
    y, *statistics = g.emit_all(GroupNorm(x_ref, _ref(weight), _ref(bias), groups, eps))
    return (y if plain else g.emit(Reshape(y, x.shape)), *statistics)


def _rms_norm(
    g: Builder, x: Argument, normalized_shape: tuple[int, ...], weight: Argument | None, eps: float
) -> tuple[Ref, ...]:
    _check_end(x, normalized_shape)
    return g.emit_all(RMSNorm(x.ref, _ref(weight), len(normalized_shape), eps))


@lowers(
    "aten.rms_norm.default",
    "aten::rms_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=_OF_SHAPE,
    eps=Number(absent=_FLT_EPSILON, default=None),
    out=F32("*S"),
)
def rms_norm(g: Builder, x: Argument, normalized_shape: tuple[int, ...], weight: Argument | None, eps: float) -> Ref:
    """y = x / √(mean(x²) + eps) · weight over the last dimensions, `normalized_shape`; float32."""
    return _rms_norm(g, x, normalized_shape, weight, eps)[0]


@lowers(
    "aten._fused_rms_norm.default",
    "aten::_fused_rms_norm.out",
    x=F32("*S"),
    normalized_shape=Ints(),
    weight=_OF_SHAPE,
    eps=Number(absent=_FLT_EPSILON, default=None),
    out=TensorList((F32("*S"), F32("*M"))),
)
def fused_rms_norm(
    g: Builder, x: Argument, normalized_shape: tuple[int, ...], weight: Argument | None, eps: float
) -> tuple[Ref, ...]:
    """`rms_norm`, and 1 / √(mean(x²) + eps)."""
    return _rms_norm(g, x, normalized_shape, weight, eps)


@lowers("et_vk.rms_norm.default", x=F32("*S"), weight=TensorArg(("float32",), "*W"), eps=Number(), out=F32("*S"))
def rms_norm_of_rows(g: Builder, x: Argument, weight: Argument, eps: float) -> Ref:
    """y = x / √(mean(x²) + eps) · weight over the last dimension; float32."""
    return _rms_norm(g, x, x.shape[-1:], weight, eps)[0]


@lowers(
    "aten._native_batch_norm_legit_no_training.default",
    "aten::_native_batch_norm_legit_no_training.out",
    x=F32("*S"),
    weight=_OF_CHANNELS,
    bias=_OF_CHANNELS,
    mean=F32("C"),
    variance=F32("C"),
    momentum=IGNORED,
    eps=_EPS,
    out=TensorList((F32("*S"), F32("none"), F32("none"))),
)
def batch_norm(
    g: Builder,
    x: Argument,
    weight: Argument | None,
    bias: Argument | None,
    mean: Argument,
    variance: Argument,
    eps: float,
) -> tuple[Ref, ...]:
    """y = (x − mean) / √(variance + eps) · weight + bias with the numbers of each channel of x float32 [N, C, …].

    The other two outputs are empty, as torch's are.
    """
    y = g.emit(BatchNorm(x.ref, _ref(weight), _ref(bias), mean.ref, variance.ref, eps))
    nothing = g.constant(b"", (0,), "float32")
    return y, nothing, nothing


@lowers(
    "aten._native_batch_norm_legit.no_stats",
    "aten::_native_batch_norm_legit.no_stats_out",
    x=F32("*S"),
    weight=_OF_CHANNELS,
    bias=_OF_CHANNELS,
    training=Bool(default=True),
    momentum=IGNORED,
    eps=_EPS,
    out=TensorList((F32("*S"), F32("C"), F32("C"))),
)
def batch_norm_of_itself(
    g: Builder, x: Argument, weight: Argument | None, bias: Argument | None, training: bool, eps: float
) -> tuple[Ref, ...]:
    """y = (x − mean) / √(variance + eps) · weight + bias with the statistics of each channel of x float32 [N, C, …], as
    instance normalization has it. Also gives the mean and 1 / √(variance + eps); the variance is over n."""
    if not training:
        raise BadArg("training: False needs statistics, which this op has none of")
    return g.emit_all(BatchNormOfItself(x.ref, _ref(weight), _ref(bias), eps))
