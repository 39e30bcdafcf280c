"""Many random graphs on the GPU against the reference: every failing seed with a line that reproduces it.

make soak                 # 5,000 seeds
python tests/soak.py --seed 17      # one of them, its graph printed
"""

import argparse
import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "browser")]

from random_graphs import random_graph
from test_differential import check_seed
from webq8.host import Browser
from webq8.ir import Graph, Tensor


def show(graph: Graph) -> None:
    def text(i: int) -> str:
        value = graph.values[i]
        return f"%{i} {value.dtype}{list(value.shape)}" if isinstance(value, Tensor) else repr(value)

    for call in graph.calls:
        print(f"{text(call.args[-1])} = {call.op}({', '.join(map(text, call.args[:-1]))})")
    print("outputs:", ", ".join(map(text, graph.outputs)))


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--seed", type=int, help="only this one")
    ask.add_argument("--count", type=int, default=5000)
    ask.add_argument("--gpu", default="swiftshader", choices=("swiftshader", "hardware"))
    args = ask.parse_args()
    if args.seed is not None:
        show(random_graph(args.seed)[0])
    seeds = range(args.count) if args.seed is None else [args.seed]
    failed = 0
    with Browser(gpu=args.gpu) as browser, browser.page(timeout=600) as page:
        print(f"adapter: {page.check_adapter()}")
        for seed in seeds:
            try:
                check_seed(page, seed)
            except Exception as e:
                failed += 1
                print(f"seed {seed} failed: {str(e).strip().splitlines()[0]}")
                print(f"  .venv/bin/python tests/soak.py --seed {seed}")
            if seed % 250 == 249:
                print(f"{seed + 1} seeds, {failed} failed")
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
