"""Prints seconds that 1,000 calls take from a method of a file to its plan, for methods of 1,000 to 20,000 calls.

python tests/bench/planning.py
"""

import sys
import time
from pathlib import Path

from webq8.formats.pte.lower import lower
from webq8.passes import required
from webq8.plan.planner import plan_program
from webq8.runtime.compile import rewrite
from webq8.target import Target

sys.path.append(str(Path(__file__).parents[1]))
from large_graphs import FORMS

CALLS = (1000, 5000, 20_000)


def main() -> None:
    print(f"{'s per 1,000 calls':<20}", *(f"{n:>8,}" for n in CALLS), f"{'peak / live bytes':>20}")
    for name, form in FORMS.items():
        row = []
        for calls in CALLS:
            method = form(calls)
            start = time.process_time()
            graph = rewrite(required(lower(method, name)))
            plan = plan_program({"forward": graph}, Target()).plans["forward"]
            row.append((time.process_time() - start) / calls * 1000)
        print(f"{name:<20}", *(f"{s:>8.3f}" for s in row), f"{plan.peak_bytes / plan.live_bytes:>20.3f}", flush=True)


if __name__ == "__main__":
    main()
