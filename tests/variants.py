"""Every variant of a kernel that plans for any kind of device, over the op table and all networks at hand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import networks
from cases import CASES, Case
from webq8 import ops
from webq8.errors import Unsupported
from webq8.formats.pte.lower import lower
from webq8.formats.pte.read import read_program
from webq8.ir.graph import Graph
from webq8.kernels import select
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.target import SOFTWARE, Target

ROOT = Path(__file__).parents[1]
TILES = [name for name in select.TILES if not name.startswith("matrix")]  # those need Chromium's subgroup matrices


class Variant(NamedTuple):
    """What makes a shader module and its pipeline: see `webq8.backends.browser.gpu.Device.pipeline`."""

    kernel: str
    constants: tuple[tuple[str, int | float | bool], ...]
    writable: tuple[str, ...]
    packed_dot: bool


def planned() -> set[Variant]:
    """Software adapters have no packed dot products; GPUs do by their browser."""
    variants = {Variant(name, (), (), packed) for name in ("ceiling_dot4", "ceiling_copy") for packed in (False, True)}

    def plan(graphs: dict[str, Graph], target: Target) -> None:
        for plan in plan_program(graphs, target).plans.values():
            for step in plan.steps:
                for packed in (False,) if target.kind is SOFTWARE else (False, True):
                    variants.add(Variant(step.kernel, step.constants, step.writable, packed))

    table = [(case, {case.id: graph_of(case)}) for case in CASES]
    for graphs in [*(graphs for _, graphs in table), *programs()]:
        for optimizations in (None, ()):
            rewritten = {name: rewrite(graph, optimizations) for name, graph in graphs.items()}
            plan(rewritten, Target(kind=SOFTWARE))
            plan(rewritten, Target())
    for name in TILES:
        with every_product_by(select.TILES[name]):
            for case, graphs in table:
                if case.op.startswith(("q8ta_linear", "q8ta_conv2d")):
                    plan({name: rewrite(graph) for name, graph in graphs.items()}, Target())
    return variants


def graph_of(case: Case) -> Graph:
    """What `webq8.ops` plans of a case; all results of an op with several are outputs."""
    results = getattr(ops, case.op)(*case.args())
    recording = ops._Recording()
    outputs = tuple(recording.visit(y) for y in (results if isinstance(results, tuple) else (results,)))
    return required(recording.graph(*outputs))


def programs() -> Iterator[dict[str, Graph]]:
    """The methods of every file that can be planned; a few of the containers hold ops that webq8 has not."""
    folders = ROOT / "tests" / "data", ROOT / "web" / "models", networks.large_networks()
    for file in [file for folder in folders for file in sorted(folder.rglob("*.pte"))]:
        try:
            methods = read_program(file.read_bytes(), file.name).methods
            yield {name: required(lower(method, file.name)) for name, method in methods.items()}
        except Unsupported:
            assert file.parent.name == "containers", file


@contextmanager
def every_product_by(tile: select.Tile) -> Iterator[None]:
    rules: Callable[..., select.Tile] = select.tile
    select.tile = lambda *_: tile
    try:
        yield
    finally:
        select.tile = rules
