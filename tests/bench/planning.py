"""Prints seconds that 1,000 nodes take from a graph to its plan, for graphs of 1,000 to 20,000 nodes.

python tests/bench/planning.py
"""

import sys
import time
from pathlib import Path

from webq8.ir import Limits, Method
from webq8.plan.planner import check_method, plan_program
from webq8.runtime.load import rewrite

sys.path.append(str(Path(__file__).parents[1]))
from large_graphs import FORMS

NODES = (1000, 5000, 20_000)


def main() -> None:
    print(f"{'s per 1,000 nodes':<20}", *(f"{n:>8,}" for n in NODES), f"{'peak / live bytes':>20}")
    for name, form in FORMS.items():
        row = []
        for nodes in NODES:
            method = Method("forward", form(nodes))
            start = time.process_time()
            graph = rewrite(check_method(method, name))
            plan = plan_program({"forward": graph}, Limits()).plans["forward"]
            row.append((time.process_time() - start) / nodes * 1000)
        print(f"{name:<20}", *(f"{s:>8.3f}" for s in row), f"{plan.peak_bytes / plan.live_bytes:>20.3f}", flush=True)


if __name__ == "__main__":
    main()
