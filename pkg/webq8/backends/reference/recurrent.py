"""Ops that carry values from one step of a sequence to the next, in whole arrays of 64-bit integers."""

import numpy as np

from webq8.backends.reference.core import Array, Arrays, reference
from webq8.fixed_point import Multiplier
from webq8.ir.ops.recurrent import LstmInt8, SvdfInt8

__all__: list[str] = []


def _clipped(v: Array, bits: int = 16) -> Array:
    return np.asarray(np.clip(v, -(1 << (bits - 1)), (1 << (bits - 1)) - 1))


def _halves_away(v: Array, exponent: int) -> Array:
    """v / 2^exponent, rounded."""
    half = (1 << exponent) >> 1
    return np.asarray(np.sign(v) * ((np.abs(v) + half) >> exponent))


def _scaled(v: Array, by: Multiplier) -> Array:
    high: Array = ((v << max(by.exponent, 0)) * by.significand + (1 << 30)) >> 31
    return _halves_away(high, max(-by.exponent, 0))


def _times(a: Array, b: Array | int) -> Array:
    return np.asarray(np.right_shift(a * b + (1 << 14), 15))


def _exp(a: Array, bits: int) -> Array:
    """e^a of numbers up to 0 with so many of 15 bits before the point."""
    quarter = 2 ** (13 - bits)
    within = a % quarter - quarter
    x = within * 2**bits + 2**12
    x2 = _times(x, x)
    rest = _halves_away(_times(_halves_away(_times(x2, x2), 2) + _times(x2, x), 10923) + x2, 1)
    result = _clipped(28918 + _times(x + rest, 28918))
    for i, power in enumerate((25520, 19875, 12055, 4435, 600, 11, 0)[: bits + 2]):
        result = np.where((within - a) // (quarter << i) % 2 == 1, _times(result, power), result)
    if bits == 6:
        result = np.where(a < -(2**14), 0, result)
    return np.where(a == 0, 2**15 - 1, result)


def _quotient(v: Array) -> Array:
    """2 / (1 + v)."""
    half = np.asarray((v + 2**15) // 2)
    x = 23130 + _times(half, -15420)
    for _ in range(3):
        x = x + _clipped(4 * _times(x, 2**13 - _times(half, x)))
    return x


def _sigmoid(a: Array) -> Array:
    positive = _clipped(2 * _quotient(_exp(-np.abs(a), 3)))
    return np.where(a == 0, 2**14, np.where(a > 0, positive, 2**15 - 1 - positive))


def _tanh(a: Array, bits: int) -> Array:
    return np.sign(a) * _clipped(4 * (_quotient(_exp(-np.abs(a), bits + 1)) - 2**13))


@reference(LstmInt8)
def lstm(op: LstmInt8, arrays: Arrays) -> tuple[Array, ...]:
    x, h, c, w, r, b = (arrays[ref].astype(np.int64) for ref in (op.x, op.h, op.c, op.weights, op.recurrent, op.biases))
    steps = []
    for v in x if op.time_major else x.swapaxes(0, 1):
        gates = [
            _clipped(
                _scaled(h @ r[n].T + b[1, n], op.multipliers[4 + n])
                + _clipped(_scaled(v @ w[n].T + b[0, n], op.multipliers[n]))
            )
            for n in range(4)
        ]
        let_in, keep, show = (_sigmoid(gates[n]) for n in (0, 1, 3))
        new = _halves_away(let_in * _tanh(gates[2], 3), 30 + op.cell_exponent)
        c = _clipped(_halves_away(keep * c, 15) + new)
        if op.clip:
            c = np.clip(c, -op.clip, op.clip)
        h = _clipped(_scaled(show * _tanh(c, 15 + op.cell_exponent), op.hidden) + op.zero_point, 8)
        steps.append(h)
    y = np.stack(steps, 0 if op.time_major else 1)
    return y.astype(np.int8), h.astype(np.int8), c.astype(np.int16)


@reference(SvdfInt8)
def svdf(op: SvdfInt8, arrays: Arrays) -> tuple[Array, ...]:
    x, state, feature, time, bias = (
        arrays[ref].astype(np.int64) for ref in (op.x, op.state, op.feature, op.time, op.bias)
    )
    batch, (filters, memory) = len(x), time.shape
    newest = _clipped(_scaled((x - op.x_zero_point) @ feature.T, op.newest))
    values = np.concatenate([state.reshape(batch, filters, memory)[..., 1:], newest[..., None]], -1)
    sums = (values * time).sum(-1).reshape(batch, -1, op.rank).sum(-1) + bias
    y = _clipped(_scaled(sums, op.sum) + op.y_zero_point, 8)
    return y.astype(np.int8), values.reshape(state.shape).astype(np.int16)
