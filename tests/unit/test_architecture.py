"""What holds the package together: layers, public names, and who may touch `js`."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import webq8
from webq8 import errors, ops
from webq8.formats.pte.operators import all_overloads
from webq8.ir.ops.core import Op
from webq8.ir.ops.move import Bitcast
from webq8.kernels import kernel_of

PACKAGE = Path(webq8.__file__).parent

# From the ground up: a module imports only modules above it in this list. A name stands for all that lies below it,
# but for what has a line of its own; a package's modules import each other, without circles.
LAYERS = [
    "records",
    "errors",
    "stages",
    "budget",
    "paths",
    "dtypes",
    "arrays",
    "scatter",
    "target",
    "fixed_point",
    "ir",
    "decimals",
    "numerics",
    "formats",
    "passes",
    "plan",
    "plan.layout",
    "plan.memory",
    "plan.submits",
    "kernels",
    "plan.planner",
    "backends.base",
    "backends",
    "backends.reference",
    "backends.browser",
    "backends.find",
    "runtime",
    "ops",
    "__init__",
    "transport",
    "desktop",
]


def name_of(path: Path) -> str:
    """A module's name below the package; a folder's own module has the folder's."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def layer(name: str) -> str:
    """The longest line of the list that stands for a module."""
    return max((line for line in LAYERS if f"{name}.".startswith(f"{line}.")), key=len, default="")


def imports(path: Path) -> set[str]:
    """Names of webq8's modules that a file imports, wherever in the file; "__init__" for the package's public names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    inside = {name.removeprefix("webq8").removeprefix(".") for name in found if f"{name}.".startswith("webq8.")}
    return {_module(name) for name in inside}


def _module(name: str) -> str:
    """The module that a dotted name is, or is in."""
    while name and name not in NAMES:
        name = name.rpartition(".")[0]
    return name or "__init__"


MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = {name_of(path): path for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = layer(name_of(path))
    for imported in map(layer, imports(path)):
        assert imported == own or LAYERS.index(imported) < LAYERS.index(own), f"{own} imports {imported}"


def test_every_module_has_a_layer() -> None:
    assert all(map(layer, NAMES))
    assert {layer(name) for name in NAMES} == set(LAYERS)


def test_there_are_no_circles() -> None:
    remaining = {name: imports(path) - {name} for name, path in NAMES.items()}
    while free := {name for name, needed in remaining.items() if needed.isdisjoint(remaining)}:
        remaining = {name: needed for name, needed in remaining.items() if name not in free}
    assert not remaining


@pytest.mark.parametrize(
    ("libraries", "home"),
    [({"js", "pyodide", "pyodide_js"}, "backends.browser."), ({"wgpu"}, "backends.native")],
    ids=["page", "desktop"],
)
def test_only_a_backend_touches_its_device(libraries: set[str], home: str) -> None:
    for name, path in NAMES.items():
        tree = ast.parse(path.read_text("utf-8"))
        names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
        foreign = {n for n in names if n.split(".")[0] in libraries}
        assert not foreign or name.startswith(home), f"{name} imports {foreign}"


def test_importing_is_light() -> None:
    """A page waits for this; these are slow to import there, and loaded where they are used."""
    slow = {
        "asyncio",
        "email",
        "hashlib",
        "urllib.request",
        "webq8.runtime.ceilings",
        "webq8.ops",
        "webq8.runtime.profiling",
    }
    slow |= {"webq8.backends.reference", "webq8.runtime.ceilings", "webq8.runtime.profiling", "dataclasses"}
    code = f"import sys, webq8; print(sorted({slow} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_public_names() -> None:
    assert webq8.__all__ == [
        "MethodSpec",
        "Profile",
        "Program",
        "Tensor",
        "TensorSpec",
        "errors",
        "inspect",
        "load",
        "ops",
        "tensor",
    ]
    assert dir(webq8) == sorted(webq8.__all__)
    assert all(hasattr(webq8, name) for name in webq8.__all__)
    assert not hasattr(webq8, "nothing")
    shorts = {spec.short for spec in all_overloads().values() if "::" not in spec.name}
    assert dir(ops) == sorted({"Tensor", "close", "tensor"} | shorts)


def test_the_exception_tree_is_the_drawn_one() -> None:
    drawn = [line.strip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "──" in line]
    classes = {n: c for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, Exception)}
    assert sorted([*drawn, "Webq8Error"]) == sorted(classes)
    for name in ("NoAdapter", "DeviceLost", "ShaderError"):
        assert issubclass(classes[name], errors.DeviceError)
    assert all(issubclass(c, errors.Webq8Error) for c in classes.values())


def kinds_of(op: type[Op]) -> set[type[Op]]:
    """The ops below one, but for those that only serve others as a base."""
    below = set().union(*map(kinds_of, op.__subclasses__())) if op.__subclasses__() else set()
    return below if op.__name__ in ("Op", "Elementwise", "Reduction", "_OfTwo", "_Windows", "_Write") else {op, *below}


def test_every_op_has_kernels_and_a_reference() -> None:
    all_overloads()
    from webq8.backends.reference import core

    kinds = kinds_of(Op)
    assert len(kinds) > 50
    for kind in kinds - {Bitcast}:  # which the planner takes for what it is
        assert kind.__doc__, kind
        assert kernel_of(kind), kind
    assert kinds == core._RUN.keys()


def test_ops_explain_themselves() -> None:
    for spec in all_overloads().values():
        assert spec.lower.__doc__, spec.name
    for name, spec in vars(ops)["_SHORT"].items():
        assert list(inspect.signature(getattr(ops, name)).parameters) == list(spec.args)


def test_unknown_op_names_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="q8ta_linear"):
        _ = ops.q8ta_nothing
