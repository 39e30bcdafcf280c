"""Ops that carry values from one step of a sequence to the next, on int8 and in fixed point as TFLite has them.

A multiplier (significand, exponent) stands for significand · 2^(exponent − 31); a number is scaled by it in two
roundings, as `fixed_point.Multiplier.times` does it.
"""

from webq8.errors import LimitError, Unsupported
from webq8.fixed_point import Multiplier
from webq8.ir.ops.core import Op, Types
from webq8.ir.ops.rules import check_terms
from webq8.ir.types import BadArg, Ref, Tensor

__all__ = ["LSTM_GATES", "LstmInt8", "SvdfInt8"]

LSTM_GATES = ("input", "forget", "cell", "output")
_MOST = 1024  # cells, or filters of all sequences of a batch: what workgroups have memory for


class LstmInt8(Op):
    """A long short-term memory: x [B, T, I], or [T, B, I] with `time_major`, int8; y alike, with O for I.

    Each gate, of Q3.12, is Σ weights · x + bias, scaled, plus Σ recurrent · h + bias, scaled; biases hold the zero
    points. c = forget · c + input · cell, within `clip` where it is not 0; h = output · tanh(c), scaled by `hidden`,
    plus its zero point. sigmoid and tanh are those of gemmlowp in 16 bits; c stands for multiples of 2^cell_exponent.

    weights [4, O, I] and recurrent [4, O, O] are int8, biases [2, 4, O] int32, gates in the order of LSTM_GATES.
    h is int8 [B, O], c int16 [B, O]. Results: y, and h and c after the last step.
    """

    CONSTANTS = frozenset(("weights", "recurrent", "biases"))
    x: Ref
    h: Ref
    c: Ref
    weights: Ref
    recurrent: Ref
    biases: Ref
    multipliers: tuple[Multiplier, ...]  # of x for each gate, then of h
    hidden: Multiplier
    zero_point: int  # of h
    cell_exponent: int
    clip: int
    time_major: bool

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, h, c, weights = (types[ref].shape for ref in (self.x, self.h, self.c, self.weights))
        if len(x) != 3:
            raise BadArg(f"x: {list(x)}; sequences of vectors have three dimensions")
        cells, batch = weights[1], x[1 if self.time_major else 0]
        shapes = (h, c, types[self.recurrent].shape, types[self.biases].shape)
        if shapes != ((batch, cells), (batch, cells), (4, cells, cells), (2, 4, cells)) or weights[2] != x[2]:
            raise BadArg(f"x {list(x)}, states {list(h)} and {list(c)}, weights {list(weights)} do not fit")
        if cells > _MOST:
            raise BadArg(f"{cells} cells; at most {_MOST} are supported", LimitError)
        if cells % 2 and batch > 1:
            raise BadArg(f"{cells} cells, an odd number, for {batch} sequences are not supported", Unsupported)
        if not -15 <= self.cell_exponent <= -9:
            raise BadArg(f"a cell state of scale 2^{self.cell_exponent} is not supported", Unsupported)
        check_terms(max(x[2], cells))
        return Tensor((*x[:2], cells), "int8"), Tensor(h, "int8"), Tensor(c, "int16")

    def exact(self, types: Types) -> bool:
        return True


class SvdfInt8(Op):
    """A filter of features, then one of time: x [B, I] and feature [F, I], int8; y [B, F / rank], int8.

    The newest of a filter's M values is Σ (x − zero point) · feature, scaled by `newest`, in int16; the oldest is lost.
    y = Σ values · time over the M values of the `rank` filters of a unit, + bias, scaled by `sum`, + its zero point.

    time [F, M] is int16, bias [F / rank] int32. Results: y, and the state int16 [B, F · M] after this step.
    """

    CONSTANTS = frozenset(("feature", "time", "bias"))
    x: Ref
    state: Ref
    feature: Ref
    time: Ref
    bias: Ref
    rank: int
    newest: Multiplier
    sum: Multiplier
    x_zero_point: int
    y_zero_point: int

    def infer(self, types: Types) -> tuple[Tensor, ...]:
        x, state, feature, time = (types[ref].shape for ref in (self.x, self.state, self.feature, self.time))
        filters = feature[0]
        fits = len(x) == 2 and feature[1:] == x[1:] and time[:1] == (filters,) and state == (x[0], filters * time[1])
        if not fits or filters % self.rank or types[self.bias].shape != (filters // self.rank,):
            raise BadArg(f"x {list(x)}, state {list(state)}, filters {list(feature)} and {list(time)} do not fit")
        if x[0] * filters > _MOST:
            raise BadArg(f"{x[0] * filters} filters; at most {_MOST} are supported", LimitError)
        check_terms(x[1])
        return Tensor((x[0], filters // self.rank), "int8"), Tensor(state, "int16")

    def exact(self, types: Types) -> bool:
        return True
