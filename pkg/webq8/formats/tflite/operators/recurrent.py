"""Operators with a state of their own, which the next run finds."""

from webq8.errors import FormatError, Unsupported
from webq8.formats import xnnpack
from webq8.formats.tflite.schema import lowers
from webq8.formats.tflite.values import Emitter, Lowered, Value, quantization_of
from webq8.formats.tflite.windows import one_scale
from webq8.ir.types import BadArg, PerTensor, Ref

__all__: list[str] = []

_LSTM_INPUTS, _PEEPHOLES, _STATES = 24, range(9, 12), (18, 19)


@lowers("UNIDIRECTIONAL_SEQUENCE_LSTM", activation="0b", cell_clip="1f", time_major="3?", diagonal="5?")
def unidirectional_sequence_lstm(
    g: Emitter, *values: Value | None, activation: int, cell_clip: float, time_major: int, diagonal: int
) -> Lowered:
    given = (*values, *(None,) * (_LSTM_INPUTS - len(values)))
    others = {"peepholes": _PEEPHOLES, "a projection": (16, 17), "layer normalization": range(20, 24)}
    for name, places in others.items():
        if any(given[i] is not None for i in places):
            raise BadArg(f"{name} is not supported", Unsupported)
    if diagonal or activation != 4 or len(g.intermediates) < 5:
        raise BadArg("other forms than that with tanh, and a scale of what it hides, are not supported", Unsupported)
    needed = [_needed(given, i) for i in (0, *range(1, 9), *range(12, 16), *_STATES)]
    x, h, c = needed[0], needed[-2], needed[-1]
    if (x.dtype, c.dtype) != ("int8", "int16"):
        raise BadArg(f"{x.dtype} with a state of {c.dtype} is not supported; int8 with int16 is", Unsupported)
    hidden = quantization_of(g.intermediates[4])
    if not isinstance(hidden, PerTensor):
        raise BadArg("what it hides has no scale")
    constants = [value.ref for value in needed[1:-2]]
    y, next_h, next_c = xnnpack.lstm(
        g.builder,
        x.ref,
        h.ref,
        c.ref,
        constants[:4],
        constants[4:8],
        constants[8:],
        hidden,
        one_scale(g),
        cell_clip,
        bool(time_major),
    )
    g.leave(h, next_h)
    g.leave(c, next_c)
    return y


def _needed(given: tuple[Value | None, ...], place: int) -> Value:
    if (value := given[place]) is None:
        raise BadArg(f"without input {place} is not supported", Unsupported)
    return value


@lowers("SVDF", rank="0i", activation="1b")
def svdf(
    g: Emitter, x: Value, feature: Value, time: Value, bias: Value | None, state: Value, *, rank: int, activation: int
) -> Lowered:
    if x.dtype != "int8":
        raise BadArg(f"{x.dtype} is not supported; int8 is", Unsupported)
    if rank < 1:
        raise BadArg(f"rank {rank}", FormatError)
    added: Ref | None = None if bias is None else bias.ref
    y, left = xnnpack.svdf(g.builder, x.ref, state.ref, feature.ref, time.ref, added, rank, one_scale(g))
    g.leave(state, left)
    return y
