"""What takes too long for every day: random graphs on the GPU against the reference, and damaged files.

make soak                                   # 5,000 graphs and 1,000,000 files
python tests/soak.py graphs --seed 17       # one of them, its graph printed
python tests/soak.py files --seed 17        # one of them, written to damaged.pte

Every failing seed comes with a line that reproduces it.
"""

import argparse
import multiprocessing
import os
import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent / "browser")]

import fuzz
from random_graphs import random_method
from test_differential import check_seed
from webq8.desktop.host import Browser
from webq8.formats.pte.model import PteMethod
from webq8.ir.types import Tensor


def show(method: PteMethod) -> None:
    def text(i: int) -> str:
        value = method.values[i]
        return f"%{i} {value.dtype}{list(value.shape)}" if isinstance(value, Tensor) else repr(value)

    for call in method.calls:
        print(f"{text(call.args[-1])} = {call.name}({', '.join(map(text, call.args[:-1]))})")
    print("outputs:", ", ".join(map(text, method.outputs)))


def graphs(seeds: range, gpu: str) -> int:
    """How many fail."""
    failed = 0
    with Browser(gpu=gpu) as browser, browser.page(timeout=600) as page:
        print(f"adapter: {page.check_adapter()}")
        for seed in seeds:
            try:
                check_seed(page, seed)
            except Exception as e:
                failed += 1
                print(f"seed {seed} failed: {str(e).strip().splitlines()[0]}")
                print(f"  .venv/bin/python tests/soak.py graphs --seed {seed}")
            if seed % 250 == 249:
                print(f"{seed + 1} seeds, {failed} failed")
    print(f"{len(seeds) - failed} passed, {failed} failed")
    return failed


def files(seeds: range) -> int:
    """How many of as many processes as there are processors had one that fails."""
    processes = os.cpu_count() or 1
    parts = [range(seeds.start + i, seeds.stop, processes) for i in range(processes)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return sum(pool.map(fuzz.main, parts))


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("kind", nargs="?", choices=("graphs", "files"), help="only these")
    ask.add_argument("--seed", type=int, help="only this one")
    ask.add_argument("--count", type=int, help="how many (5,000 graphs, 1,000,000 files)")
    ask.add_argument("--gpu", default="swiftshader", choices=("swiftshader", "hardware"))
    args = ask.parse_args()
    if args.seed is not None and args.kind is None:
        ask.error("--seed is of graphs or of files: say which")

    def seeds(count: int) -> range:
        return range(args.count or count) if args.seed is None else range(args.seed, args.seed + 1)

    failed = 0
    if args.kind != "files":
        if args.seed is not None:
            show(random_method(args.seed)[0])
        failed += graphs(seeds(5_000), args.gpu)
    if args.kind != "graphs":
        if args.seed is not None:
            Path("damaged.pte").write_bytes(fuzz.damage(fuzz.seeds(), args.seed)[1])
        failed += files(seeds(1_000_000))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
