"""Normalizations of float32 tensors. Variances are over n."""

from webq8.dtypes import numel
from webq8.ir.ops.core import Op, Types
from webq8.ir.types import BadArg, MaybeRef, Ref, Shape, Tensor

__all__ = ["BatchNorm", "BatchNormOfItself", "GroupNorm", "LayerNorm", "RMSNorm"]


def _check_weights(types: Types, weight: MaybeRef, bias: MaybeRef, letter: str, shape: Shape) -> None:
    for name, ref in (("weight", weight), ("bias", bias)):
        if ref is not None and types[ref].shape != shape:
            raise BadArg(f"{name}: {letter} = {list(types[ref].shape)} disagrees with {letter} = {list(shape)} of x")


def _channels(x: Tensor) -> int:
    if len(x.shape) < 2:
        raise BadArg(f"x: {list(x.shape)} has no channels")
    return x.shape[1]


class LayerNorm(Op):
    """y = (x − mean) · rstd · weight + bias over the last `rank` axes, whose sizes weight and bias have.

    Results: y, the mean, and rstd = 1 / √(variance + eps), in both of which these axes have size 1.
    """

    x: Ref
    weight: MaybeRef
    bias: MaybeRef
    rank: int
    eps: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        shape = types[self.x].shape
        lead = len(shape) - self.rank
        _check_weights(types, self.weight, self.bias, "W", shape[lead:])
        statistic = Tensor((*shape[:lead], *(1,) * self.rank), "float32")
        return Tensor(shape, "float32"), statistic, statistic


class RMSNorm(Op):
    """y = x · rstd · weight over the last `rank` axes, whose sizes weight has.

    Results: y, and rstd = 1 / √(mean(x²) + eps), in which these axes have size 1.
    """

    x: Ref
    weight: MaybeRef
    rank: int
    eps: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        shape = types[self.x].shape
        lead = len(shape) - self.rank
        _check_weights(types, self.weight, None, "W", shape[lead:])
        return Tensor(shape, "float32"), Tensor((*shape[:lead], *(1,) * self.rank), "float32")


class GroupNorm(Op):
    """y = (x − mean) · rstd · weight + bias over each of `groups` groups of channels of x [N, C, …]; weight and bias
    are [C].

    Results: y, the mean, and rstd = 1 / √(variance + eps), both [N, groups].
    """

    x: Ref
    weight: MaybeRef
    bias: MaybeRef
    groups: int
    eps: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        channels = _channels(x)
        if channels % self.groups:
            raise BadArg(f"group = {self.groups} does not divide {channels} channels")
        _check_weights(types, self.weight, self.bias, "C", (channels,))
        statistic = Tensor((x.shape[0], self.groups), "float32")
        return Tensor(x.shape, "float32"), statistic, statistic


class BatchNorm(Op):
    """y = (x − mean) / √(variance + eps) · weight + bias with the numbers of each channel of x [N, C, …]; the others
    are [C]."""

    x: Ref
    weight: MaybeRef
    bias: MaybeRef
    mean: Ref
    variance: Ref
    eps: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        channels = (_channels(x),)
        _check_weights(types, self.weight, self.bias, "C", channels)
        for name, ref in (("mean", self.mean), ("variance", self.variance)):
            if types[ref].shape != channels:
                raise BadArg(f"{name}: C = {list(types[ref].shape)} disagrees with C = {list(channels)} of x")
        return (Tensor(x.shape, "float32"),)


class BatchNormOfItself(Op):
    """y = (x − mean) · rstd · weight + bias with the statistics of each channel of x [N, C, …] itself, as in training;
    weight and bias [C].

    Results: y, the mean, and rstd = 1 / √(variance + eps), both [C].
    """

    x: Ref
    weight: MaybeRef
    bias: MaybeRef
    eps: float

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x = types[self.x]
        channels, count = _channels(x), numel(x.shape)
        _check_weights(types, self.weight, self.bias, "C", (channels,))
        if channels and count <= channels:
            raise BadArg(f"x: {list(x.shape)} has {count // channels} elements a channel; more than one is needed")
        statistic = Tensor((channels,), "float32")
        return Tensor(x.shape, "float32"), statistic, statistic
