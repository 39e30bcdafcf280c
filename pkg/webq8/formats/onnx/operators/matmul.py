"""Products of matrices."""

from collections import Counter

from webq8.dtypes import numel
from webq8.errors import Unsupported
from webq8.formats.onnx.call import MICROSOFT, Call, Result, operator
from webq8.formats.onnx.operators.elementwise import binary
from webq8.ir.ops.matmul import MatMul
from webq8.ir.ops.move import Strided
from webq8.ir.ops.reduce import Sum
from webq8.ir.ops.rules import broadcast
from webq8.ir.types import BadArg, Ref

__all__ = ["product"]


@operator("MatMul")
def matmul(c: Call) -> Result:
    return product(c, c.x(), c.x(1))


def product(c: Call, a: Ref, b: Ref, transposed: bool = False, alpha: float = 1.0) -> Ref:
    """a · b as numpy's matmul has it; `transposed`: the last two axes of b are swapped."""
    x, y = c.g.type(a).shape, c.g.type(b).shape
    if not x or not y:
        raise BadArg(f"{list(x)} and {list(y)} have no product")
    if len(y) == 1:
        column = c.reshaped(b, (1, *y) if transposed else (*y, 1))
        return c.reshaped(product(c, a, column, transposed, alpha), x[:-1])
    if len(x) == 1:
        made = product(c, c.reshaped(a, (1, *x)), b, transposed, alpha)
        shape = c.g.type(made).shape
        return c.reshaped(made, (*shape[:-2], shape[-1]))
    if numel(y[:-2]) == 1 and len(y) > 2:  # one matrix for all of a
        lead = broadcast(x[:-2], y[:-2])
        a, b = c.reshaped(a, (*lead, *x[-2:])), c.reshaped(b, y[-2:])
    elif len(y) > 2:
        lead = broadcast(x[:-2], y[:-2])
        a, b = c.expanded(a, (*lead, *x[-2:])), c.expanded(b, (*lead, *y[-2:]))
    return c.emit(MatMul(a, b, transposed=transposed, alpha=alpha))


@operator("FusedMatMul", domain=MICROSOFT)
def fused_matmul(c: Call) -> Result:
    if c.integer("transBatchA", 0) or c.integer("transBatchB", 0):
        raise BadArg("transBatchA and transBatchB are not supported", Unsupported)
    a = c.x()
    if c.integer("transA", 0):
        rank = len(c.shape())
        a = c.permuted(a, (*range(rank - 2), rank - 1, rank - 2))
    return product(c, a, c.x(1), bool(c.integer("transB", 0)), c.fraction("alpha", 1.0))


@operator("Gemm")
def gemm(c: Call) -> Result:
    a = c.permuted(c.x(), (1, 0)) if c.integer("transA", 0) else c.x()
    alpha, beta = c.fraction("alpha", 1.0), c.fraction("beta", 1.0)
    return c.emit(MatMul(a, c.x(1), c.maybe(2), bool(c.integer("transB", 0)), alpha, beta))


# --- sums over named axes


@operator("Einsum")
def einsum(c: Call) -> Result:
    equation = c.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(c.inputs):
        raise BadArg(f"equation: {equation!r} has {len(terms)} terms for {len(c.inputs)} inputs")
    named = [_named(equation, term, len(c.shape(n))) for n, term in enumerate(terms)]
    if not arrow:
        counts = Counter("".join(named))
        right = "..." * ("..." in left) + "".join(sorted(n for n, many in counts.items() if many == 1 and n.isalpha()))
    dots = max(("".join(n for n in term if n.isdigit()) for term in named), key=len)
    result = right.replace("...", dots)
    if not set(result) <= set("".join(named)) or len(set(result)) != len(result):
        raise BadArg(f"equation: {equation!r} has no such result")
    operands = [_diagonal(c, c.x(n), term) for n, term in enumerate(named)]
    (x, names), *rest = operands
    for n, (y, other) in enumerate(rest):
        later = result + "".join(more for _, more in rest[n + 1 :])
        x, names = _contracted(c, x, names, y, other, later)
    x, names = _summed(c, x, names, result)
    return c.permuted(x, [names.index(n) for n in result])


def _named(equation: str, term: str, rank: int) -> str:
    """A term with a letter for each axis; those of an ellipsis are digits, counted from the end."""
    count = rank - len(term.replace("...", ""))
    if count < 0 or ("..." not in term and count) or count > 8:
        raise BadArg(f"equation: the term {term!r} of {equation!r} for {rank} dimensions")
    return term.replace("...", "".join(str(n) for n in reversed(range(count))))


def _diagonal(c: Call, x: Ref, names: str) -> tuple[Ref, str]:
    """x with each name once: axes of one name are their diagonal."""
    once = "".join(dict.fromkeys(names))
    if once == names:
        return x, names
    shape = c.g.type(x).shape
    steps = [numel(shape[n + 1 :]) for n in range(len(shape))]
    sizes = tuple(shape[names.index(n)] for n in once)
    strides = tuple(sum(s for s, own in zip(steps, names, strict=True) if own == n) for n in once)
    return c.emit(Strided(x, sizes, strides)), once


def _summed(c: Call, x: Ref, names: str, kept: str) -> tuple[Ref, str]:
    """x summed over the axes that nothing needs any more."""
    axes = tuple(n for n, name in enumerate(names) if name not in kept)
    return (c.emit(Sum(x, axes, False)) if axes else x), "".join(n for n in names if n in kept)


def _contracted(c: Call, a: Ref, of_a: str, b: Ref, of_b: str, later: str) -> tuple[Ref, str]:
    """The product of two, summed over the axes that both have and nothing needs later, as one product of matrices."""
    a, of_a = _summed(c, a, of_a, of_b + later)
    b, of_b = _summed(c, b, of_b, of_a + later)
    batch = "".join(n for n in of_a if n in of_b and n in later)
    inner = "".join(n for n in of_a if n in of_b and n not in later)
    rows, columns = ("".join(n for n in own if n not in batch + inner) for own in (of_a, of_b))
    sizes = dict(zip(of_a, c.g.type(a).shape, strict=True))
    for name, size in zip(of_b, c.g.type(b).shape, strict=True):
        sizes[name] = max(size, sizes.get(name, 1)) if size else 0

    def lie(x: Ref, own: str, order: str) -> Ref:
        x = c.permuted(x, [own.index(n) for n in order])
        return c.expanded(x, tuple(sizes[n] for n in order))

    def count(names: str) -> int:
        return numel(tuple(sizes[n] for n in names))

    a, b = lie(a, of_a, batch + rows + inner), lie(b, of_b, batch + inner + columns)
    if not inner and not rows and not columns:
        return binary(c, a, b, "mul"), batch
    lead = (count(batch),) if batch else ()
    a, b = c.reshaped(a, (*lead, count(rows), count(inner))), c.reshaped(b, (*lead, count(inner), count(columns)))
    names = batch + rows + columns
    return c.reshaped(c.emit(MatMul(a, b)), tuple(sizes[n] for n in names)), names
