"""The editor of graphs: who reads a tensor, and what stays right when it is renamed."""

from webq8.ir.graph import Fixed, Graph, Node, State
from webq8.ir.ops.elementwise import Binary, Lookup
from webq8.ir.types import PerTensor, Ref, Tensor
from webq8.passes.editor import Editor
from webq8.passes.tables import IDENTITY

KIND = Tensor((4,), "int8", None, PerTensor(0.5, 0))
X, STATE, Y, Z = map(Ref, range(4))


def chain() -> Graph:
    """Two lookups in a row, whose last result is two outputs and the next value of a state."""
    nodes = (Node(Lookup(X, IDENTITY), (Y,), "first"), Node(Lookup(Y, IDENTITY), (Z,), "second"))
    return Graph((KIND,) * 4, nodes, (X,), (Z, Fixed(3), Z), (State(STATE, Z, KIND),))


def test_outputs_and_states_count_as_uses() -> None:
    editor = Editor(chain())
    assert [editor.uses(ref) for ref in (X, STATE, Y, Z)] == [1, 0, 1, 3]


def test_what_is_read_twice_counts_twice() -> None:
    double = Node(Binary(Y, Y, "add"), (Z,), "double")
    editor = Editor(chain()._replace(nodes=(chain().nodes[0], double)))
    assert editor.uses(Y) == 2
    assert editor.readers(Y) == [double]
    editor.remove(double)
    assert editor.uses(Y) == 0
    assert editor.readers(Y) == []


def test_a_renamed_tensor_passes_on_its_uses() -> None:
    editor = Editor(chain())
    editor.rename(Z, Y)
    assert [editor.uses(ref) for ref in (Y, Z)] == [4, 0]
    editor.rename(Y, X)
    assert [editor.uses(ref) for ref in (X, Y, Z)] == [5, 0, 0]
    graph = editor.graph()
    assert graph.outputs == (X, Fixed(3), X)
    assert graph.states[0].next == X
