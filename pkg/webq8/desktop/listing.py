"""The operators that webq8 takes, as a table for people: pkg/OPS.md is made of it (`webq8 ops --markdown`)."""

from webq8.formats.pte.operators import all_overloads
from webq8.formats.pte.schema import Arg, Overload, Scalar, TensorArg, TensorList

__all__ = ["markdown", "rows"]


def rows() -> list[tuple[str, str, str, str]]:
    """Rows (names, tensors, result, other arguments) of all operators; overloads with the same columns share a row."""
    names: dict[tuple[str, str, str, int], list[str]] = {}
    for overload in all_overloads().values():
        names.setdefault((*_columns(overload), id(overload.lower)), []).append(overload.name)
    return [(", ".join(alike), tensors, result, others) for (tensors, result, others, _), alike in names.items()]


def _columns(overload: Overload) -> tuple[str, str, str]:
    args = overload.args
    tensors = [f"{name}: {_tensor(arg)}" for name, arg in args.items() if not isinstance(arg, Scalar)]
    others = [f"{name}: {arg.text()}" for name, arg in args.items() if isinstance(arg, Scalar) and arg.text()]
    return "; ".join(tensors), _tensor(overload.out), "; ".join(others)


def _tensor(arg: Arg) -> str:
    if isinstance(arg, TensorList):
        return f"list of {' and '.join(map(_tensor, arg.elements))}"
    assert isinstance(arg, TensorArg)
    kind = f"as {arg.like}" if arg.like else " or ".join(arg.dtypes)
    notes = ["constant"] * arg.const + ["optional"] * arg.optional
    return f"{kind} [{', '.join(arg.sizes.split())}]{' (' + ', '.join(notes) + ')' if notes else ''}"


def markdown() -> str:
    """The text of pkg/OPS.md."""
    lines = [
        "# Ops",
        "",
        "Made by `webq8 ops --markdown` from the declarations; a test compares. A letter is the same size everywhere",
        "in a row, `*B` any number of leading sizes, `K+` at least K, `...` any shape. Sizes need no alignment; int32",
        "sums have at most 65,793 terms. What a row does not allow is refused when a file is loaded, with node and",
        "value.",
        "",
        "| op | tensors | result | other arguments |",
        "|---|---|---|---|",
    ]
    for names, tensors, result, others in sorted(rows()):
        ops = "<br>".join(f"`{name}`" for name in names.split(", "))
        lines.append(f"| {ops} | {_cell(tensors)} | {_cell(result)} | {_cell(others)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
