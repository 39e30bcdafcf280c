"""Every op in numpy, step by step in float32: the tests' oracle, and `device="cpu"`.

Written apart from the kernels (scatter where they gather, 64-bit accumulators), so that the two check each other. A
module a family of ops, as in handlers; a function takes the op's arguments with arrays in place of operands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from webq8.budget import Budget
from webq8.dtypes import ITEMSIZE, numel
from webq8.handlers import REGISTRY
from webq8.handlers.registry import Args, Operand, arguments, bind
from webq8.ir import Call, Graph, Tensor, Value
from webq8.rewrite import MOVING_OPS, reads, short_name, writes

__all__ = ["Array", "Result", "fold_constants", "reference", "run_graph"]

Array = npt.NDArray[Any]
Result = Array | tuple[Array, ...]  # a tuple for several outputs
_RUN: dict[str, Callable[[Args], Result]] = {}


def run_graph(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """The tensors among the outputs of a graph that `plan.check_method` has given."""
    arrays: dict[int, Array] = dict(zip(graph.inputs, inputs, strict=True))
    arrays |= _constants(graph.values, range(len(graph.values)))
    for call in graph.calls:
        arrays |= _run_call(graph.values, call, arrays)
    return [arrays[i] for i in graph.outputs if i in arrays]


def _constants(values: Sequence[Value], ids: Iterable[int]) -> dict[int, Array]:
    tensors = ((i, values[i]) for i in ids if i >= 0)
    return {
        i: np.frombuffer(t.data, t.dtype).reshape(t.shape)
        for i, t in tensors
        if isinstance(t, Tensor) and t.data is not None
    }


def _run_call(values: Sequence[Value], call: Call, arrays: Mapping[int, Array]) -> dict[int, Array]:
    """The outputs of a call by id, from `arrays` by id."""
    args, _ = bind(REGISTRY[call.op], arguments(values, call.args), call.node, clamp=call.clamp)
    assert args is not None, "check_method comes first"
    outs: tuple[Operand, ...] = args.out if isinstance(args.out, tuple) else (args.out,)
    for name, value in vars(args).items():
        if isinstance(value, Operand) and name != "out":
            setattr(args, name, arrays[value.id])
        elif isinstance(value, tuple) and any(isinstance(v, Operand) for v in value) and name != "out":
            setattr(args, name, [v and arrays[v.id] for v in value])
    with np.errstate(all="ignore"):
        result = _RUN[call.op](args)
    results = dict(zip((out.id for out in outs), result if isinstance(result, tuple) else (result,), strict=True))
    for out in outs:
        array = results[out.id]
        assert (array.shape, array.dtype) == (out.shape, np.dtype(out.tensor.dtype)), call.op
    return results


# ops whose results have the same bytes wherever they are computed, and those that have where no float is among them
_EXACT = {
    *MOVING_OPS, "_clone_dim_order", "_empty_dim_order", "_to_copy", "_to_dim_order_copy", "_unsafe_view",
    "alias_copy", "any", "arange", "as_strided", "as_strided_copy", "bitwise_and", "bitwise_not", "bitwise_or",
    "constant_pad_nd", "copy", "detach_copy", "embedding", "empty", "empty_like", "eq", "full", "full_like", "gather",
    "ge", "gt", "index", "index_put", "index_select", "le", "lift_fresh_copy", "logical_and", "logical_not",
    "logical_or", "lt", "ne", "ones", "ones_like", "pixel_unshuffle", "scalar_tensor", "scatter", "select_scatter",
    "slice_scatter", "split_with_sizes_copy", "unfold", "unfold_copy", "where", "zeros", "zeros_like",
}  # fmt: skip
_WHOLE = {
    "abs", "add", "clamp", "cumsum", "hardtanh", "maximum", "minimum", "mul", "neg", "relu", "rsub", "scatter_add",
    "sign", "sub",
}  # fmt: skip


def fold_constants(graph: Graph, budget: Budget | None = None) -> Graph:
    """Computes moves and conversions of constants now, once; what the budget does not afford is left to the GPU."""
    budget = budget or Budget(None, "")
    values, calls = list(graph.values), list[Call]()
    for call in graph.calls:
        read = reads(graph, call)
        out = [t for t in (values[i] for i in writes(graph, call)) if isinstance(t, Tensor)]
        given = [t for t in (values[i] for i in read if i >= 0) if isinstance(t, Tensor)]
        whole = all(t.dtype != "float32" for t in given + out)
        exact = short_name(call) in _EXACT or (short_name(call) in _WHOLE and whole)
        size = sum(numel(t.shape) * ITEMSIZE[t.dtype] for t in out)
        if not (exact and all(t.data is not None for t in given) and budget.affords(size)):
            calls.append(call)
            continue
        budget.keep(size)
        for i, array in _run_call(values, call, _constants(values, read)).items():
            values[i] = Tensor(array.shape, str(array.dtype), memoryview(array.tobytes()))
    return graph._replace(values=tuple(values), calls=tuple(calls))


def reference(*names: str) -> Callable[[Callable[[Args], Result]], Callable[[Args], Result]]:
    def register(function: Callable[[Args], Result]) -> Callable[[Args], Result]:
        for name in names:
            _RUN[name] = function
        return function

    return register
