"""Normalizations, in float64."""

import math

import numpy as np

from webq8.backends.reference.core import Array, reference
from webq8.handlers.registry import Args


def _normalize(x: Array, eps: float) -> tuple[Array, Array, Array]:
    """Rows, normalized; their means and 1 / √(variance + eps)."""
    x = x.astype(np.float64)
    mean = x.sum(axis=1) / max(x.shape[1], 1)
    variance = ((x - mean[:, None]) ** 2).sum(axis=1) / np.float64(x.shape[1])
    rstd = 1 / np.sqrt(variance + eps)
    return (x - mean[:, None]) * rstd[:, None], mean, rstd


def _affine(a: Args, y: Array, shape: tuple[int, ...]) -> Array:
    weight = 1.0 if a.weight is None else a.weight.astype(np.float64).reshape(shape)
    given = vars(a).get("bias")
    bias = 0.0 if given is None else given.astype(np.float64).reshape(shape)
    return (y * weight + bias).astype(np.float32)


@reference("aten.native_layer_norm.default", "aten::native_layer_norm.out")
def _layer_norm(a: Args) -> tuple[Array, ...]:
    y, mean, rstd = _normalize(a.x.reshape(math.prod(a.M), math.prod(a.W)), a.eps)
    normalized = _affine(a, y.reshape(a.S), a.W)
    return normalized, mean.reshape(a.M).astype(np.float32), rstd.reshape(a.M).astype(np.float32)


@reference("aten.native_group_norm.default", "aten::native_group_norm.out")
def _group_norm(a: Args) -> tuple[Array, ...]:
    rows = a.x.reshape(a.batch * a.groups, a.channels // a.groups * a.inner)
    y, mean, rstd = _normalize(rows, a.eps)
    normalized = _affine(a, y.reshape(a.batch, a.channels, a.inner), (a.channels, 1)).reshape(a.S)
    shape = (a.batch, a.groups)
    return normalized, mean.reshape(shape).astype(np.float32), rstd.reshape(shape).astype(np.float32)


@reference("aten._native_batch_norm_legit_no_training.default", "aten::_native_batch_norm_legit_no_training.out")
def _batch_norm(a: Args) -> tuple[Array, ...]:
    shape = (a.C,) + (1,) * (a.x.ndim - 2)
    mean, variance = (t.astype(np.float64).reshape(shape) for t in (a.mean, a.variance))
    nothing = np.zeros(0, np.float32)
    return _affine(a, (a.x - mean) / np.sqrt(variance + a.eps), shape), nothing, nothing


@reference("aten._native_batch_norm_legit.no_stats", "aten::_native_batch_norm_legit.no_stats_out")
def _batch_norm_of_itself(a: Args) -> tuple[Array, ...]:
    channels_first = np.moveaxis(a.x, 1, 0)
    y, mean, rstd = _normalize(channels_first.reshape(a.C, a.x.size // max(a.C, 1)), a.eps)
    y = np.moveaxis(y.reshape(channels_first.shape), 0, 1)
    normalized = _affine(a, y, (a.C,) + (1,) * (a.x.ndim - 2))
    return normalized, mean.astype(np.float32), rstd.astype(np.float32)


def _root_mean_square(a: Args) -> tuple[Array, ...]:
    x = a.x.astype(np.float64).reshape(math.prod(a.M), math.prod(a.W))
    rms = 1 / np.sqrt((x**2).sum(axis=1) / np.float64(x.shape[1]) + a.eps)
    return _affine(a, (x * rms[:, None]).reshape(a.S), a.W), rms.reshape(a.M).astype(np.float32)


reference("aten._fused_rms_norm.default", "aten::_fused_rms_norm.out")(_root_mean_square)
reference("aten.rms_norm.default", "aten::rms_norm.out", "et_vk.rms_norm.default")(lambda a: _root_mean_square(a)[0])
