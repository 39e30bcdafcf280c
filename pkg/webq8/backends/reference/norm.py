"""Normalizations, in float64."""

import math

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.ir.ops.norm import BatchNorm, BatchNormOfItself, GroupNorm, LayerNorm, RMSNorm
from webq8.ir.types import MaybeRef

__all__: list[str] = []


def _normalize(x: Array, eps: float) -> tuple[Array, Array, Array]:
    """The normalized rows, their means, and 1 / √(variance + eps)."""
    x = x.astype(np.float64)
    mean = x.sum(axis=1) / max(x.shape[1], 1)
    variance = ((x - mean[:, None]) ** 2).sum(axis=1) / np.float64(x.shape[1])
    rstd = 1 / np.sqrt(variance + eps)
    return (x - mean[:, None]) * rstd[:, None], mean, rstd


def _affine(arrays: Arrays, y: Array, weight: MaybeRef, bias: MaybeRef, shape: tuple[int, ...]) -> Array:
    factor = 1.0 if weight is None else arrays[weight].astype(np.float64).reshape(shape)
    summand = 0.0 if bias is None else arrays[bias].astype(np.float64).reshape(shape)
    return np.asarray(y * factor + summand, np.float32)


def _statistics(arrays: Arrays, *statistics: Array) -> tuple[Array, ...]:
    """The second and later results: means and 1 / √(variance + eps)."""
    outs = zip(arrays.outs[1:], statistics, strict=True)
    return tuple(statistic.reshape(out.shape).astype(np.float32) for out, statistic in outs)


@reference(LayerNorm)
def layer_norm(op: LayerNorm, arrays: Arrays) -> tuple[Array, ...]:
    x = arrays[op.x]
    lead, shape = x.shape[: x.ndim - op.rank], x.shape[x.ndim - op.rank :]
    y, *statistics = _normalize(x.reshape(math.prod(lead), math.prod(shape)), op.eps)
    return _affine(arrays, y.reshape(x.shape), op.weight, op.bias, shape), *_statistics(arrays, *statistics)


@reference(RMSNorm)
def rms_norm(op: RMSNorm, arrays: Arrays) -> tuple[Array, ...]:
    x = arrays[op.x]
    lead, shape = x.shape[: x.ndim - op.rank], x.shape[x.ndim - op.rank :]
    rows = x.astype(np.float64).reshape(math.prod(lead), math.prod(shape))
    rms = 1 / np.sqrt((rows**2).sum(axis=1) / np.float64(rows.shape[1]) + op.eps)
    y = (rows * rms[:, None]).reshape(x.shape)
    return _affine(arrays, y, op.weight, None, shape), *_statistics(arrays, rms)


@reference(GroupNorm)
def group_norm(op: GroupNorm, arrays: Arrays) -> tuple[Array, ...]:
    x = arrays[op.x]
    batch, channels, inner = *x.shape[:2], math.prod(x.shape[2:])
    y, *statistics = _normalize(x.reshape(batch * op.groups, channels // op.groups * inner), op.eps)
    normalized = _affine(arrays, y.reshape(batch, channels, inner), op.weight, op.bias, (channels, 1))
    return normalized.reshape(x.shape), *_statistics(arrays, *statistics)


@reference(BatchNorm)
def batch_norm(op: BatchNorm, arrays: Arrays) -> Array:
    x = arrays[op.x]
    shape = (x.shape[1],) + (1,) * (x.ndim - 2)
    mean, variance = (arrays[ref].astype(np.float64).reshape(shape) for ref in (op.mean, op.variance))
    return _affine(arrays, (x - mean) / np.sqrt(variance + op.eps), op.weight, op.bias, shape)


@reference(BatchNormOfItself)
def batch_norm_of_itself(op: BatchNormOfItself, arrays: Arrays) -> tuple[Array, ...]:
    channels_first = np.moveaxis(arrays[op.x], 1, 0)
    channels = channels_first.shape[0]
    y, *statistics = _normalize(channels_first.reshape(channels, channels_first.size // max(channels, 1)), op.eps)
    y = np.moveaxis(y.reshape(channels_first.shape), 0, 1)
    shape = (channels,) + (1,) * (y.ndim - 2)
    return _affine(arrays, y, op.weight, op.bias, shape), *_statistics(arrays, *statistics)
