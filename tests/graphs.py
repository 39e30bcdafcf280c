"""Methods of `.pte` files written call by call, lowered here, or sent to a page and lowered there."""

from typing import Any

import numpy as np
from webq8.formats.pte.lower import lower
from webq8.formats.pte.model import ListRef, OperatorCall, PteMethod
from webq8.ir.graph import Graph
from webq8.ir.types import Tensor

QUANTIZE = "quantized_decomposed.quantize_per_tensor.default"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default"
LINEAR = "et_vk.q8ta_linear.default"
TRANSPOSED = "et_vk.q8ta_conv2d_transposed.default"

Params = tuple[float, int]  # scale and zero point


class Ref(int):
    """A value id among arguments (a plain int is a value of its own)."""


class Builder:
    """Collects values and calls; every method returns the id of the tensor it makes."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.calls: list[OperatorCall] = []
        self.inputs: list[int] = []

    def value(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, shape: tuple[int, ...], dtype: str, data: np.ndarray | None = None) -> int:
        return self.value(Tensor(shape, dtype, None if data is None else memoryview(data.tobytes())))

    def shape(self, i: int) -> tuple[int, ...]:
        return self.values[i].shape

    def input(self, shape: tuple[int, ...], dtype: str) -> int:
        self.inputs.append(self.tensor(shape, dtype))
        return self.inputs[-1]

    def const(self, data: np.ndarray) -> Ref:
        return Ref(self.tensor(data.shape, str(data.dtype), data))

    def list(self, *ids: int) -> Ref:
        return Ref(self.value(ListRef(tuple(ids))))

    def call(self, op: str, *args: Any, out: tuple[tuple[int, ...], str]) -> int:
        ids = [a if isinstance(a, Ref) else self.value(a) for a in args]
        y = self.tensor(*out)
        self.calls.append(OperatorCall(op, (*ids, y), f"node {len(self.calls)}"))
        return y

    def quantize(self, x: int, params: Params = (0.05, 0)) -> int:
        return self.call(QUANTIZE, Ref(x), *params, -128, 127, None, out=(self.shape(x), "int8"))

    def dequantize(self, x: int, params: Params = (0.05, 0)) -> int:
        return self.call(DEQUANTIZE, Ref(x), *params, -128, 127, None, None, out=(self.shape(x), "float32"))

    def linear(self, x: int, n: int, rng: np.random.Generator | None = None, **options: Any) -> int:
        *lead, k = self.shape(x)
        return self.weighted(LINEAR, x, (n, k), (*lead, n), n, rng, **options)

    def weighted(
        self,
        op: str,
        x: int,
        weight: tuple[int, ...],
        out: tuple[int, ...],
        channels: int,
        rng: np.random.Generator | None = None,
        *geometry: Any,
        x_params: Params = (0.05, 0),
        y_params: Params = (0.05, 0),
        activation: str = "none",
    ) -> int:
        """A linear layer or convolution: ones for weights without `rng`, random ones and a bias with it."""
        data = np.ones(weight, np.int8) if rng is None else rng.integers(-128, 128, weight, np.int8)
        scales = np.full(channels, 0.01, np.float32)
        bias = None if rng is None else self.const(rng.normal(size=channels).astype(np.float32))
        args = (Ref(x), *x_params, self.const(data), None, self.const(scales), *y_params, bias, *geometry, activation)
        return self.call(op, *args, out=(out, "int8"))

    def method(self, *outputs: int) -> PteMethod:
        return PteMethod("forward", tuple(self.values), tuple(self.calls), tuple(self.inputs), outputs)

    def graph(self, *outputs: int) -> Graph:
        return lower(self.method(*outputs), "graph")


def sendable(method: PteMethod) -> dict[str, Any]:
    """A method as what `PythonPage.call` can send; `received` in the page makes a method of it again."""

    def value(v: Any) -> Any:
        if isinstance(v, Tensor):
            data = None if v.data is None else np.frombuffer(v.data, v.dtype).reshape(v.shape)
            return {"tensor": (list(v.shape), v.dtype, data)}
        return {"list": [int(i) for i in v.ids]} if isinstance(v, ListRef) else {"plain": v}

    return {
        "values": [value(v) for v in method.values],
        "calls": [(c.name, [int(i) for i in c.args], c.where) for c in method.calls],
        "inputs": list(method.inputs),
        "outputs": [int(i) for i in method.outputs],
    }


async def run_graph_in_page(sent, inputs, optimizations):
    """Compiles a method with these optimizations (None: all), runs it once in a page; outputs and dispatches."""
    from webq8.formats.pte.lower import lower
    from webq8.formats.pte.model import ListRef, OperatorCall, PteMethod
    from webq8.ir.types import Tensor
    from webq8.passes import required
    from webq8.runtime.load import compile_graphs

    def value(entry):
        [(kind, content)] = entry.items()
        if kind == "tensor":
            shape, dtype, data = content
            return Tensor(tuple(shape), dtype, None if data is None else memoryview(bytes(memoryview(data).cast("B"))))
        return ListRef(tuple(content)) if kind == "list" else content

    values = tuple(value(v) for v in sent["values"])
    calls = tuple(OperatorCall(name, tuple(args), where) for name, args, where in sent["calls"])
    method = PteMethod("forward", values, calls, tuple(sent["inputs"]), tuple(sent["outputs"]))
    graphs = {"forward": required(lower(method, "graph"))}
    program = await compile_graphs(graphs, "graph", optimizations=optimizations)
    with program:
        outputs = await program(*inputs)
        return list(outputs) if isinstance(outputs, tuple) else [outputs], program.dispatches()
