"""Normalizations."""

from webq8.errors import Unsupported
from webq8.formats.onnx.call import MICROSOFT, Call, Result, operator
from webq8.formats.onnx.operators.elementwise import binary, unary
from webq8.ir.ops.move import Pad
from webq8.ir.ops.norm import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from webq8.ir.ops.reduce import Mean, Sum
from webq8.ir.ops.rules import axis as axis_of
from webq8.ir.types import BadArg, Ref, Shape

_LEAST = 2.0**-126  # what zeros are divided by


@operator("BatchNormalization")
def batch_norm(c: Call) -> Result:
    c.ignore("momentum", "spatial")
    if c.integer("training_mode", 0) or len([o for o in c.node.outputs if o]) > 1:
        raise BadArg("training is not supported", Unsupported)
    return c.emit(BatchNorm(c.x(), c.x(1), c.x(2), c.x(3), c.x(4), c.fraction("epsilon", 1e-5)))


@operator("InstanceNormalization")
def instance_norm(c: Call) -> Result:
    op = GroupNorm(c.x(), c.x(1), c.x(2), c.shape()[1], c.fraction("epsilon", 1e-5))
    return c.emit_all(op)[0]


@operator("GroupNormalization")
def group_norm(c: Call) -> Result:
    c.ignore("stash_type")
    groups, channels = c.integer("num_groups"), c.shape()[1]
    weight, bias = c.x(1), c.x(2)
    if c.version < 21:  # a number a group
        each = channels // max(groups, 1)
        weight, bias = (
            c.reshaped(c.expanded(c.reshaped(w, (groups, 1)), (groups, each)), (groups * each,)) for w in (weight, bias)
        )
    return c.emit_all(GroupNorm(c.x(), weight, bias, groups, c.fraction("epsilon", 1e-5)))[0]


def _weight(c: Call, n: int, shape: Shape) -> Ref | None:
    found = c.maybe(n)
    return None if found is None else c.expanded(found, shape)


@operator("LayerNormalization")
def layer_norm(c: Call) -> Result:
    c.ignore("stash_type")
    x = c.shape()
    rank = len(x) - axis_of(c.integer("axis", -1), len(x))
    weight, bias = _weight(c, 1, x[len(x) - rank :]), _weight(c, 2, x[len(x) - rank :])
    return c.emit_all(LayerNorm(c.x(), weight, bias, rank, c.fraction("epsilon", 1e-5)))


@operator("RMSNormalization", "SimplifiedLayerNormalization")
@operator("SimplifiedLayerNormalization", domain=MICROSOFT)
def rms_norm(c: Call) -> Result:
    c.ignore("stash_type")
    x = c.shape()
    rank = len(x) - axis_of(c.integer("axis", -1), len(x))
    return c.emit_all(RMSNorm(c.x(), _weight(c, 1, x[len(x) - rank :]), rank, c.fraction("epsilon", 1e-5)))


@operator("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_layer_norm(c: Call) -> Result:
    simplified, eps = c.node.operator.startswith("SkipS"), c.fraction("epsilon", 1e-12)
    whole = binary(c, c.x(), c.x(1), "add")
    if c.has(3 if simplified else 4):
        whole = binary(c, whole, c.x(3 if simplified else 4), "add")
    weight = c.x(2)
    op = RMSNorm(whole, weight, 1, eps) if simplified else LayerNorm(whole, weight, c.maybe(3), 1, eps)
    y, *statistics = c.emit_all(op)
    mean = statistics[0]
    return y, mean, statistics[-1], whole


@operator("LpNormalization")
def power_norm(c: Call) -> Result:
    at, p = axis_of(c.integer("axis", -1), len(c.shape())), c.integer("p", 2)
    if p not in (1, 2):
        raise BadArg(f"p = {p} is not supported; 1 and 2 are", Unsupported)
    powers = unary(c, c.x(), "abs") if p == 1 else binary(c, c.x(), c.x(), "mul")
    total = c.emit(Sum(powers, (at,), True))
    length = total if p == 1 else unary(c, total, "sqrt")
    return binary(c, c.x(), binary(c, length, c.number(_LEAST), "maximum"), "div")


@operator("MeanVarianceNormalization")
def mean_variance_norm(c: Call) -> Result:
    axes = tuple(sorted(axis_of(a, len(c.shape())) for a in c.integers("axes", (0, 2, 3))))
    around = binary(c, c.x(), c.emit(Mean(c.x(), axes, True)), "add", -1.0)
    variance = c.emit(Mean(binary(c, around, around, "mul"), axes, True))
    return binary(c, around, binary(c, unary(c, variance, "sqrt"), c.number(1e-9), "add"), "div")


@operator("LRN")
def local_response_norm(c: Call) -> Result:
    """x / (bias + alpha / size · Σ x²)^beta, the sum over neighbouring channels."""
    x, size = c.shape(), c.integer("size")
    square = binary(c, c.x(), c.x(), "mul")
    before, after = [0] * len(x), [0] * len(x)
    before[1], after[1] = (size - 1) // 2, size - 1 - (size - 1) // 2
    around = c.emit(Pad(square, tuple(before), tuple(after), 0.0))
    total = c.sliced(around, 1, 0, x[1])
    for n in range(1, size):
        total = binary(c, total, c.sliced(around, 1, n, n + x[1]), "add")
    scaled = binary(c, total, c.number(c.fraction("alpha", 1e-4) / size), "mul")
    base = binary(c, scaled, c.number(c.fraction("bias", 1.0)), "add")
    return binary(c, c.x(), binary(c, base, c.number(c.fraction("beta", 0.75)), "pow"), "div")
