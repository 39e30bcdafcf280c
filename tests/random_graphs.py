"""Random quantized graphs: shapes, parameters, and what can be fused, from a seed."""

from collections.abc import Callable

import numpy as np
from graphs import Builder, Params, Ref
from webq8.formats.pte.model import OperatorCall, PteMethod

DEPTH = 7


class _Random(Builder):
    """A builder that knows the quantization of its int8 tensors."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)
        self.params: dict[int, Params] = {}
        self.pool: list[int] = []  # int8 tensors so far
        self.extras: list[int] = []  # float32 tensors that shall be outputs as well

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def new_params(self) -> Params:
        zero_point = self.pick(-128, 127, int(self.rng.integers(-128, 128)))
        return float(self.rng.uniform(0.005, 0.2)), zero_point

    def keep(self, x: int, params: Params) -> int:
        self.params[x] = params
        self.pool.append(x)
        return x

    def quantized(self, x: int, params: Params) -> int:
        return self.keep(self.quantize(x, params), params)

    # --- int8 ops

    def conv(self, x: int) -> int:
        n, c, h, w = self.shape(x)
        oc, depthwise = self.pick(1, 4, 7, 16, 19), self.chance(0.3)
        if depthwise:
            oc = c
        kernel = (self.pick(1, 2, 3), self.pick(1, 2, 3))
        stride, dilation = (self.pick(1, 1, 2), self.pick(1, 1, 2)), (self.pick(1, 1, 2), self.pick(1, 1, 2))
        padding = tuple(
            int(self.rng.integers(0, 2)) + (k * d > s) for k, d, s in zip(kernel, dilation, (h, w), strict=True)
        )
        sizes = [
            (s + 2 * p - d * (k - 1) - 1) // t + 1
            for s, p, d, k, t in zip((h, w), padding, dilation, kernel, stride, strict=True)
        ]
        if min(sizes) < 1:
            return x
        groups = c if depthwise else 2 if c % 2 == 0 and oc % 2 == 0 and self.chance(0.2) else 1
        weight = (*kernel, oc) if depthwise else (oc, kernel[0] * kernel[1] * (c // groups))
        op = "et_vk.q8ta_conv2d_dw.default" if depthwise else "et_vk.q8ta_conv2d.default"
        return self._layer(op, x, weight, (n, oc, *sizes), oc, kernel, stride, padding, dilation, groups)

    def transposed(self, x: int) -> int:
        n, c, h, w = self.shape(x)
        if h * w > 200:
            return x
        oc, kernel, stride = (
            self.pick(1, 4, 6),
            (self.pick(1, 2, 3), self.pick(2, 3)),
            (self.pick(1, 2), self.pick(1, 2)),
        )
        extra = tuple(int(self.rng.integers(0, s)) for s in stride)
        sizes = [(s - 1) * t + k + e for s, t, k, e in zip((h, w), stride, kernel, extra, strict=True)]
        geometry = (kernel, stride, (0, 0), extra, (1, 1), 1)
        weight = (oc, kernel[0] * kernel[1] * c)
        return self._layer("et_vk.q8ta_conv2d_transposed.default", x, weight, (n, oc, *sizes), oc, *geometry)

    def linear_layer(self, x: int) -> int:
        *lead, k = self.shape(x)
        n = self.pick(1, 5, 16, 33)
        return self._layer("et_vk.q8ta_linear.default", x, (n, k), (*lead, n), n)

    def _layer(self, op: str, x: int, weight, out, channels: int, *geometry) -> int:
        # a scale under which results spread over int8
        terms = int(np.prod(weight)) // max(channels, 1)
        params = (0.01 * self.params[x][0] * 74 * 74 * max(terms, 1) ** 0.5 / 60, self.new_params()[1])
        options = {"x_params": self.params[x], "y_params": params, "activation": self.pick("none", "relu")}
        return self.keep(self.weighted(op, x, weight, out, channels, self.rng, *geometry, **options), params)

    def add(self, x: int) -> int:
        same = [y for y in self.pool if self.shape(y) == self.shape(x)]
        y, params = self.pick(*same), self.new_params()
        args = (Ref(x), Ref(y), *self.params[x], *self.params[y], *params, self.pick(1, 1.0, 2.0, -0.5))
        return self.keep(self.call("et_vk.q8ta_add.default", *args, out=(self.shape(x), "int8")), params)

    def relu(self, x: int) -> int:
        params = self.pick(self.params[x], self.new_params())
        args = (Ref(x), *self.params[x], *params)
        return self.keep(self.call("et_vk.q8ta_relu.default", *args, out=(self.shape(x), "int8")), params)

    # --- dequantize, float32 ops that run on int8 or have exact results, quantize

    def through_float(self, x: int) -> int:
        y, params = self.dequantize(x, self.params[x]), self.params[x]
        if self.chance(0.3):
            return self.quantized(self.moved_functions(y), self.new_params())
        for _ in range(self.rng.integers(0, 4)):
            y = self.pick(*FLOAT_OPS)(self, y)
        if self.chance(0.15):
            self.extras = [y]
        return self.quantized(y, params if self.chance(0.5) else self.new_params())

    def moved_functions(self, y: int) -> int:
        """One or two functions, which become a table, between moves. Their float32 results are no outputs: those differ
        between devices."""
        for _ in range(self.rng.integers(0, 3)):
            y = self.pick(*MOVES)(self, y)
        for _ in range(self.rng.integers(1, 3)):
            y = self.pick(_Random.function, _Random.gated, _Random.of_four)(self, y)
        for _ in range(self.rng.integers(0, 3)):
            y = self.pick(*MOVES)(self, y)
        return y

    def function(self, y: int) -> int:
        name, args = self.pick(
            *(
                (name, ())
                for name in ("sigmoid", "tanh", "silu", "hardswish", "hardsigmoid", "erf", "exp", "sin", "abs")
            ),
            ("gelu", ("tanh",)),
            ("gelu", ("none",)),
            ("elu", (1.0, 1.0, 1.0)),
            ("leaky_relu", (0.1,)),
        )
        return self.call(f"aten.{name}.default", Ref(y), *args, out=(self.shape(y), "float32"))

    def gated(self, y: int) -> int:
        """x · sigmoid(x) and the like, of two ops."""
        name = self.pick("sigmoid", "hardsigmoid", "tanh")
        gate = self.call(f"aten.{name}.default", Ref(y), out=(self.shape(y), "float32"))
        return self._of_two("mul", *self.pick((y, gate), (gate, y)))

    def of_four(self, y: int) -> int:
        """hardswish, of four ops."""
        three, six = (self.const(np.array(number, np.float32)) for number in (3, 6))
        total = self.call("aten.add.Tensor", Ref(y), three, 1, out=(self.shape(y), "float32"))
        bounded = self.call("aten.clamp.default", Ref(total), 0.0, 6.0, out=(self.shape(y), "float32"))
        return self._of_two("div", self._of_two("mul", y, bounded), six)

    def _of_two(self, name: str, a: int, b: int) -> int:
        args = (1,) if name in ("add", "sub") else ()
        kind = "default" if name in ("maximum", "minimum") else "Tensor"
        return self.call(f"aten.{name}.{kind}", Ref(a), Ref(b), *args, out=(self.shape(a), "float32"))

    def residual(self, y: int) -> int:
        """With an earlier tensor, a constant for each channel, or a number."""
        name, shape = self.pick("add", "sub", "mul", "maximum", "minimum"), self.shape(y)
        same = [x for x in self.pool if self.shape(x) == shape]
        channels = (*(1 for _ in shape[:-3]), *shape[-3:-2], 1, 1) if len(shape) > 2 else shape[-1:]
        vector = self.const(self.rng.normal(size=channels).astype(np.float32))
        number = self.const(np.array(self.rng.normal(), np.float32))
        other = self.pick(vector, number) if not same or self.chance(0.3) else self._dequantized(self.pick(*same))
        a, b = (other, y) if self.shape(other) == shape and self.chance(0.3) else (y, other)
        return self._of_two(name, a, b)

    def _dequantized(self, x: int) -> int:
        return self.dequantize(x, self.params[x])

    def unary(self, y: int) -> int:
        name, args = self.pick(
            ("relu", ()),
            ("hardtanh", (0.0, 6.0)),
            ("hardtanh", (-1.0, 1.0)),
            ("clamp", (None, 0.7)),
            ("clamp", (-0.3, None)),
        )
        return self.call(f"aten.{name}.default", Ref(y), *args, out=(self.shape(y), "float32"))

    def view(self, y: int) -> int:
        shape = self.shape(y)
        split = int(self.rng.integers(0, len(shape) + 1))
        new = (int(np.prod(shape[:split])), int(np.prod(shape[split:])))
        return self.call("aten.view_copy.default", Ref(y), new, out=(new, "float32"))

    def permute(self, y: int) -> int:
        order = tuple(int(i) for i in self.rng.permutation(len(self.shape(y))))
        out = tuple(self.shape(y)[i] for i in order)
        return self.call("aten.permute_copy.default", Ref(y), order, out=(out, "float32"))

    def unsqueeze(self, y: int) -> int:
        if len(self.shape(y)) > 4:
            return y
        at = int(self.rng.integers(0, len(self.shape(y)) + 1))
        out = (*self.shape(y)[:at], 1, *self.shape(y)[at:])
        return self.call("aten.unsqueeze_copy.default", Ref(y), at, out=(out, "float32"))

    def slice(self, y: int) -> int:
        axis = int(self.rng.integers(0, len(self.shape(y))))
        size = self.shape(y)[axis]
        start, step = int(self.rng.integers(0, size)), self.pick(1, 1, 2)
        out = list(self.shape(y))
        out[axis] = -(-(size - start) // step)
        args = (Ref(y), axis, start, size, step)
        return self.call("aten.slice_copy.Tensor", *args, out=(tuple(out), "float32"))

    def cat(self, y: int) -> int:
        same = [x for x in self.pool if self.shape(x) == self.shape(y)]
        other = self.dequantize(same[-1], self.params[same[-1]]) if same else y
        axis = int(self.rng.integers(0, len(self.shape(y))))
        out = list(self.shape(y))
        out[axis] *= 2
        return self.call("aten.cat.default", self.list(y, other), axis, out=(tuple(out), "float32"))

    def max_pool(self, y: int) -> int:
        if len(self.shape(y)) != 4:
            return y
        n, c, h, w = self.shape(y)
        kernel = (min(self.pick(2, 3), h), min(self.pick(2, 3), w))
        stride, padding = (self.pick(1, 2), self.pick(1, 2)), tuple(self.pick(0, k // 2) for k in kernel)
        sizes = tuple((s + 2 * p - k) // t + 1 for s, p, k, t in zip((h, w), padding, kernel, stride, strict=True))
        args = (Ref(y), kernel, stride, padding, (1, 1), False)
        if self.chance(0.5):
            return self.call("aten.max_pool2d.default", *args, out=((n, c, *sizes), "float32"))
        outs = [self.tensor((n, c, *sizes), dtype) for dtype in ("float32", "int32")]
        ids = [a if isinstance(a, Ref) else self.value(a) for a in args]
        call = OperatorCall("aten.max_pool2d_with_indices.default", (*ids, self.list(*outs)), f"node {len(self.calls)}")
        self.calls.append(call)
        return outs[0]

    def pixel_shuffle(self, y: int) -> int:
        if len(self.shape(y)) != 4 or self.shape(y)[1] % 4:
            return y
        n, c, h, w = self.shape(y)
        return self.call("aten.pixel_shuffle.default", Ref(y), 2, out=((n, c // 4, 2 * h, 2 * w), "float32"))


Step = Callable[[_Random, int], int]
FLOAT_OPS: tuple[Step, ...] = (
    _Random.unary,
    _Random.unary,
    _Random.view,
    _Random.permute,
    _Random.unsqueeze,
    _Random.slice,
    _Random.cat,
    _Random.max_pool,
    _Random.pixel_shuffle,
    _Random.residual,
    _Random.residual,
)
MOVES: tuple[Step, ...] = (_Random.view, _Random.permute, _Random.unsqueeze, _Random.slice)
MAP_OPS: tuple[Step, ...] = (
    _Random.conv,
    _Random.conv,
    _Random.transposed,
    _Random.add,
    _Random.relu,
    _Random.through_float,
)
ROW_OPS: tuple[Step, ...] = (_Random.linear_layer, _Random.add, _Random.relu, _Random.through_float)


def random_method(seed: int) -> tuple[PteMethod, list[np.ndarray]]:
    """A method of one input and one to three outputs, and that input."""
    b = _Random(seed)
    maps = b.chance(0.8)
    sizes = (1, 3, 4, 5, 8, 17)
    shape = (
        (b.pick(1, 1, 2), b.pick(*sizes), b.pick(*sizes[1:]), b.pick(*sizes[1:]))
        if maps
        else (b.pick(1, 3), b.pick(*sizes))
    )
    x = b.input(shape, "float32")
    y = b.quantized(x, b.new_params())
    for _ in range(b.rng.integers(1, DEPTH)):
        y = b.pick(*(MAP_OPS if len(b.shape(y)) == 4 else ROW_OPS))(b, y)
    outputs = [b.dequantize(y, b.params[y]) if b.chance(0.7) else y]
    outputs += b.extras
    if b.chance(0.2):
        outputs.append(b.pick(*b.pool))
    return b.method(*outputs), [b.rng.normal(size=shape).astype(np.float32)]
