"""Programs of ExecuTorch operators that are called one after another, for pages that measure them."""

import numpy as np
from webq8.budget import Budget
from webq8.formats.pte.bind import Held, lower_call
from webq8.formats.pte.operators import OVERLOADS
from webq8.ir.builder import Builder
from webq8.ir.graph import Graph
from webq8.ir.types import Tensor
from webq8.passes import required
from webq8.runtime.load import compile_graphs


async def chained(operator: str, x: np.ndarray, layers):
    """A program that calls an operator once with each of these lists of arguments, after the result of the call before;
    the first call takes an input like x."""
    builder = Builder(Budget(None, operator))
    source = given = builder.add(Tensor(tuple(x.shape), str(x.dtype)))

    def argument(value):
        if isinstance(value, np.ndarray):
            value = Tensor(tuple(value.shape), str(value.dtype), memoryview(value.tobytes()))
            return Held(builder.add(value), value)
        return tuple(value) if isinstance(value, list) else value

    for number, args in enumerate(layers):
        builder.where = f"call {number}"
        held = Held(source, builder.type(source))
        source, problems = lower_call(OVERLOADS[operator], [held, *map(argument, args)], builder)
        assert not problems, problems
    graph = Graph(tuple(builder.tensors), tuple(builder.nodes), (given,), (source,))
    return await compile_graphs({"forward": required(graph)}, operator)
