"""Normalizations, computed in float64."""

from collections.abc import Sequence

import numpy as np

from oracle.core import oracle, single, wide


def _statistics(x: np.ndarray, axes: tuple[int, ...], eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean, and 1 / √(variance + eps), with the reduced axes kept."""
    mean = x.mean(axes, keepdims=True)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


def _affine(y: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None) -> np.ndarray:
    y = y if weight is None else y * weight
    return single(y if bias is None else y + bias)


def _by_channel(numbers: np.ndarray | None, x: np.ndarray) -> np.ndarray | None:
    return None if numbers is None else numbers.astype(np.float64).reshape(-1, *[1] * (x.ndim - 2))


@oracle("native_layer_norm")
def layer_norm(
    x: np.ndarray,
    shape: Sequence[int],
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    eps: float = 1e-5,
) -> tuple[np.ndarray, ...]:
    (real,) = wide(x)
    mean, factor = _statistics(real, tuple(range(x.ndim - len(shape), x.ndim)), eps)
    return _affine((real - mean) * factor, weight, bias), single(mean), single(factor)


@oracle("native_group_norm")
def group_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    batch: int,
    channels: int,
    inner: int,
    groups: int,
    eps: float = 1e-5,
) -> tuple[np.ndarray, ...]:
    assert x.shape[:2] == (batch, channels)
    assert x.size == batch * channels * inner
    real = x.astype(np.float64).reshape(batch, groups, channels // groups * inner)
    mean, factor = _statistics(real, (2,), eps)
    y = ((real - mean) * factor).reshape(x.shape)
    return _affine(y, _by_channel(weight, x), _by_channel(bias, x)), single(mean[..., 0]), single(factor[..., 0])


@oracle("_native_batch_norm_legit_no_training")
def batch_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    mean: np.ndarray,
    variance: np.ndarray,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[np.ndarray, ...]:
    centre, spread = _by_channel(mean, x), _by_channel(variance, x)
    y = (x.astype(np.float64) - centre) / np.sqrt(spread + eps)
    none = np.zeros(0, np.float32)
    return _affine(y, _by_channel(weight, x), _by_channel(bias, x)), none, none


@oracle("_native_batch_norm_legit")
def batch_norm_of_itself(
    x: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    training: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[np.ndarray, ...]:
    assert training
    (real,) = wide(x)
    mean, factor = _statistics(real, (0, *range(2, x.ndim)), eps)
    y = _affine((real - mean) * factor, _by_channel(weight, x), _by_channel(bias, x))
    return y, single(mean.ravel()), single(factor.ravel())


@oracle("_fused_rms_norm")
def fused_rms_norm(
    x: np.ndarray, shape: Sequence[int], weight: np.ndarray | None = None, eps: float | None = None
) -> tuple[np.ndarray, ...]:
    (real,) = wide(x)
    eps = float(np.finfo(np.float32).eps) if eps is None else eps
    factor = 1 / np.sqrt((real**2).mean(tuple(range(x.ndim - len(shape), x.ndim)), keepdims=True) + eps)
    return _affine(real * factor, weight, None), single(factor)


@oracle("rms_norm")
def rms_norm(
    x: np.ndarray, shape: Sequence[int], weight: np.ndarray | None = None, eps: float | None = None
) -> np.ndarray:
    return fused_rms_norm(x, shape, weight, eps)[0]


@oracle("et_vk.rms_norm.default")
def rms_norm_of_rows(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return fused_rms_norm(x, x.shape[-1:], weight, eps)[0]
