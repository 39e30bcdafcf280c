"""What ops with indices refuse, and what of them is computed when a file is loaded."""

from typing import Any

import numpy as np
import pytest
from graphs import Builder, Ref
from webq8 import ops
from webq8.backends.reference import run_graph
from webq8.errors import InputError, LimitError, Unsupported, Webq8Error
from webq8.formats.pte.lower import lower
from webq8.formats.pte.model import PteMethod
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.stages import drive
from webq8.target import Target

X = np.zeros((3, 4, 5), np.float32)
MASK = np.ones((3, 4), bool)


def indices(*shape: int, value: int = 0) -> np.ndarray:
    return np.full(shape, value, np.int64)


REFUSED: list[tuple[str, tuple[Any, ...], str]] = [
    ("index", (X, [indices(2, value=3)]), r"indices\[0\]: index 3 is outside of dimension 0, of size 3"),
    ("index", (X, [None, None, indices(2, value=-6)]), r"indices\[2\]: index -6 is outside of dimension 2"),
    ("index", (X, [None, None, None, indices(2)]), r"indices\[3\]: more indices than the 3 dimensions of \[3, 4, 5\]"),
    ("index", (X, [indices(2), indices(3)]), r"the shapes \[2\] and \[3\] do not broadcast"),
    ("index", (X, [None, None]), "index: there is no index"),
    ("index", (X, [MASK.T]), r"indices\[0\]: a mask \[4, 3\] for dimensions \[3, 4\] from 0 on"),
    ("index", (X, [np.array(True)]), r"indices\[0\]: a mask \[\] for dimensions \[\]"),
    ("index", (X, [X]), r"indices: expected int64 or int32 or bool or uint8 \[\.\.\.\], got float32"),
    ("index", (np.zeros((0, 2)), [indices(1)]), "x: expected float32"),
    ("index", (X[:0], [indices(1)]), r"indices\[0\]: there is nothing to index in dimension 0, of size 0"),
    ("index", (np.zeros((1,) * 8, np.int8), [indices(1, 2)]), "9 dimensions; at most 8 are supported"),
    ("index", (np.zeros((1,) * 8, np.int8), [indices(1)] * 7), "7 indexed dimensions; at most 6 are supported"),
    ("index_select", (X, 3, indices(2)), "dim 3 is out of range for 3 dimensions"),
    ("index_select", (X, 0, indices(1, value=-1)), "index: index -1 is outside of dimension 0, of size 3"),
    ("index_select", (X, 0, indices(2, 2)), r"an index \[2, 2\] for \[3, 4, 5\]"),
    ("gather", (X, 1, indices(3, 4)), r"an index \[3, 4\] for x \[3, 4, 5\]"),
    ("gather", (X, 1, indices(4, 9, 5)), r"an index \[4, 9, 5\] for x \[3, 4, 5\]"),
    ("embedding", (X[0], indices(2, value=4)), "indices: index 4 is outside of dimension 0, of size 4"),
    (
        "index_put",
        (X, [indices(2)], X[:2, :3]),
        r"values \[2, 3, 5\] do not broadcast to \[2, 4, 5\], the shape that is",
    ),
    ("index_put", (X, [indices(2)], np.zeros((1, 2, 4, 5), np.float32)), "values .* do not broadcast"),
    ("index_put", (X, [indices(2)], np.zeros((), np.int8)), "values: expected float32"),
    ("scatter", (X, 0, indices(1, 4, 6), X), r"an index \[1, 4, 6\] for x"),
    ("scatter", (X, 0, indices(2, 4, 5), X[:1]), r"an index \[2, 4, 5\] for src \[1, 4, 5\]"),
    ("slice_scatter", (X, X[:, :1], 1, 0, 2), r"src \[3, 1, 5\] is not of the shape \[3, 2, 5\] that it replaces"),
    ("slice_scatter", (X, X, 1, 0, 4, 0), "step = 0 must be at least 1"),
    ("select_scatter", (X, X[:, 0], 1, 4), "index = 4 is outside of dimension 1"),
    ("select_scatter", (X, X[0], 1, 0), r"src \[4, 5\] is not of the shape \[3, 5\]"),
    ("as_strided_copy", (X, (2, 3), (50, 5), 0), "element 60 of 60 does not exist"),
    ("as_strided_copy", (X, (2, 3), (-1, 5), 9), "must not be negative"),
    ("as_strided_copy", (X, (2, 3), (1,)), r"stride = \[1\] must have a number for each of size = \[2, 3\]"),
    ("unfold_copy", (X, 1, 5, 1), r"windows of 5 in steps of 1 do not fit dimension 1 of \[3, 4, 5\]"),
    ("unfold_copy", (X, 1, 2, 0), "windows of 2 in steps of 0"),
    ("copy", (X, X[:2]), r"\[2, 4, 5\] does not broadcast to \[3, 4, 5\]"),
    ("copy", (X[0], X), r"\[3, 4, 5\] does not broadcast to \[4, 5\]"),
    ("any", (X, (0, -3)), "names a dimension twice"),
    ("arange", (0, 5, -1), "no numbers lead from 0 to 5 in steps of -1"),
    ("arange", (0, 5, 0), "in steps of 0"),
    ("arange", (0, float("nan")), "no numbers lead from 0 to nan"),
    ("arange", (0, 1.5, 0.5, "int32"), "0 to 1.5 in steps of 0.5, not all of them integers, as int32"),
    ("arange", (0, 200, 1, "int8"), "an element = 199 does not fit int8"),
]


@pytest.mark.parametrize(("op", "args", "text"), REFUSED, ids=[f"{op}-{n}" for n, (op, *_) in enumerate(REFUSED)])
def test_refused(op: str, args: tuple[Any, ...], text: str) -> None:
    with pytest.raises(InputError, match=text):
        getattr(ops, op)(*args)


@pytest.mark.parametrize(
    ("end", "dtype", "most"),
    [(2**31, "int64", "16,777,216"), (2**62, "int8", "134,217,728"), (1e300, None, "1,048,576")],
)
def test_a_sequence_larger_than_a_device_holds(end: float, dtype: str | None, most: str) -> None:
    with pytest.raises(LimitError, match=f"elements; at most {most} are supported here"):
        ops.arange(0, end, 1, dtype)


def method_of(op: str, x: tuple[int, ...], *args: Any, dtype: str = "float32") -> PteMethod:
    """A call of an op on a computed x; arrays are computed as well, lists are lists of them."""
    b = Builder()

    def argument(a: Any) -> Any:
        if isinstance(a, list):
            return b.list(*(-1 if v is None else argument(v) for v in a))
        return Ref(b.input(a.shape, str(a.dtype))) if isinstance(a, np.ndarray) else a

    y = b.call(op, Ref(b.input(x, dtype)), *map(argument, args), out=(x, dtype))
    return b.method(y)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (method_of("aten.index.Tensor", (3, 4), [MASK]), "indices: one of bool must be a constant"),
        (
            method_of("aten.index_put.default", (3, 4), [MASK[0, :3], indices(1)], np.zeros((), np.float32), False),
            "a mask that is computed is not supported beside other indices",
        ),
    ],
)
def test_masks_that_are_computed(method: PteMethod, text: str) -> None:
    with pytest.raises(Unsupported, match=text):
        lower(method, "test")


def test_values_for_a_mask_that_is_computed() -> None:
    values = np.zeros(12, np.float32)
    method = method_of("aten.index_put.default", (3, 4), [MASK], values, False)
    with pytest.raises(
        Webq8Error, match=r"values \[12\] do not broadcast to \[1\], the shape of one value for all that"
    ):
        lower(method, "test")


def test_what_is_constant_is_computed_at_load() -> None:
    """The indices of a padding, as exported: of them one dispatch is left, which reads."""
    b = Builder()
    x = Ref(b.input((1, 2, 6), "float32"))
    count = Ref(b.call("aten.arange.start_step", -2, 8, 1, None, None, None, False, out=((10,), "int32")))
    bounded = Ref(b.call("aten.clamp.default", count, 0, 5, out=((10,), "int32")))
    last = b.const(np.array(5, np.int32))
    flipped = Ref(b.call("aten.sub.Tensor", last, bounded, 1, out=((10,), "int32")))
    y = b.call("aten.index.Tensor", x, b.list(-1, -1, flipped), out=((1, 2, 10), "float32"))
    graph = b.graph(y)
    data = np.arange(12, dtype=np.float32).reshape(1, 2, 6)
    [got] = run_graph(graph, [data])
    np.testing.assert_array_equal(got, np.pad(data, ((0, 0), (0, 0), (2, 2)), mode="edge")[..., ::-1])
    plan = plan_program({"forward": rewrite(graph)}, Target()).plans["forward"]
    assert [step.kernel for step in plan.steps] == ["index_read"]


def test_float_sums_are_left_to_the_gpu() -> None:
    b = Builder()
    one = b.const(np.ones(3, np.float32))
    y = b.call("aten.add.Tensor", one, one, 1, out=((3,), "float32"))
    assert len(rewrite(b.graph(y)).nodes) == 1


def test_an_op_named_like_a_builtin_hides_none() -> None:
    truth = ops.any(X[0, 0])
    joined = ops.cat([X, X])  # asks any() whether there are tensors in the list
    assert (drive(truth.numpy("cpu")).shape, drive(joined.numpy("cpu")).shape) == ((), (6, 4, 5))
