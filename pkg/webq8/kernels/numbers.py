"""Scales and zero points as kernels bind them: constants of the plan, or tensors that the run computes."""

import struct
from typing import NamedTuple

from webq8.dtypes import ITEMSIZE, numel
from webq8.ir.plan import Const
from webq8.ir.types import Dynamic, MaybeRef, PerTensor
from webq8.kernels.registry import Call, Operand

__all__ = ["Numbers", "numbers_of", "words_of"]


class Numbers(NamedTuple):
    """Scales and zero points, one of each or one for each channel, as kernels by channel bind them."""

    scales: int | Const
    zero_points: int | Const
    params: dict[str, int]  # the struct ByChannel of wgsl/parts/channels.wgsl
    wide_scales: bool  # float64
    by_channel: bool


def numbers_of(integers: Operand, scale: MaybeRef, zero_point: MaybeRef, call: Call) -> Numbers:
    """Those that integers have; `scale` and `zero_point` are what the op names."""
    quantization, shape = integers.quantization, integers.shape
    assert quantization is not None, "kernels are chosen by quantization"
    axis = None if isinstance(quantization, PerTensor) else quantization.axis
    size, inner = (1, 1) if axis is None else (shape[axis], numel(shape[axis + 1 :]))
    params = {"channels": max(size, 1), "inner": max(inner, 1)}
    if isinstance(quantization, Dynamic):
        assert scale is not None, "an op reads what its quantization names"
        assert zero_point is not None, "an op reads what its quantization names"
        scales, zeros = call[scale], call[zero_point]
        params |= {"scale_stride": words_of(scales), "zero_point_stride": words_of(zeros)}
        return Numbers(scales.id, zeros.id, params, scales.dtype == "float64", axis is not None)
    if isinstance(quantization, PerTensor):
        params |= {"scale_stride": 0, "zero_point_stride": 0}
        one, zero = Const(struct.pack("<f", quantization.scale)), Const(struct.pack("<i", quantization.zero_point))
        return Numbers(one, zero, params, False, False)
    params |= {"scale_stride": 1, "zero_point_stride": 1 if quantization.zero_points else 0}
    zero_points = Const(quantization.zero_points or bytes(4))
    return Numbers(Const(quantization.scales), zero_points, params, False, True)


def words_of(numbers: Operand) -> int:
    """Words from the scale or zero point of a channel to that of the next."""
    return ITEMSIZE[numbers.dtype] // 4
