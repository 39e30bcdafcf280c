"""Prints what a run costs around its kernels, beside a replay of the same plan without Python.

    python tests/bench/overhead.py [--gpu hardware] [--chrome PATH] [--networks mobilenet_v2 resnet18]

Times are means of runs that alternate with the replay's, first with the kernels, then with grids of no workgroups, so
that nothing but the overhead is left. "busy" is all but the wait for the GPU.
"""

import argparse
import sys
from pathlib import Path

from webq8.desktop.host import Browser

sys.path.append(str(Path(__file__).parents[1]))
from networks import large_networks

HERE = Path(__file__).parent
PARTS = ("checks", "upload, encode, submit", "wait", "read back, result")


async def overhead(url, rounds, runs, kernels):
    """Milliseconds of each part of a run, of a whole one and of a replay without Python. Runs in the page."""
    import js
    import numpy as np
    import webq8

    with await webq8.load(url) as program:
        replay = program._loaded.replays["forward"]
        if not kernels:
            replay.grids = replay.grids.map(lambda *_: 0)
        [spec] = program.methods["forward"].inputs
        x = np.zeros(spec.shape, spec.dtype)
        await program(x)
        parts, total, pure, pure_busy, now = [0.0] * 4, 0.0, 0.0, 0.0, js.performance.now
        for _ in range(rounds):
            took, busy = await js.webq8Overhead.pure(replay, runs)
            pure, pure_busy = pure + took / rounds, pure_busy + busy / rounds
            begun = now()
            for _ in range(runs):
                await program(x)
            total += (now() - begun) / runs / rounds
            unwatch = js.webq8Overhead.watch()
            for _ in range(runs):
                begun = now()
                await program(x)
                at = js.webq8Overhead.at
                times = [begun, at.pushErrorScope, at.waiting, at.mapped, now()]
                for i in range(4):
                    parts[i] += (times[i + 1] - times[i]) / runs / rounds
            unwatch()
        return {"parts": parts, "total": total, "pure": pure, "pure_busy": pure_busy}


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--gpu", default="swiftshader", choices=("swiftshader", "hardware"))
    ask.add_argument("--chrome")
    ask.add_argument("--networks", nargs="*", choices=("mobilenet_v2", "resnet18"), default=("mobilenet_v2",))
    args = ask.parse_args()
    # on the main thread, since a script can be added there
    with (
        Browser(gpu=args.gpu, chrome=args.chrome, root=HERE.parents[1]) as browser,
        browser.page(thread="main", timeout=600) as page,
    ):
        print(f"adapter: {page.check_adapter()}\n")
        browser.wait(page.tab.add_script_tag(url="/tests/bench/overhead.js"))
        for name in args.networks:
            browser.site.add(f"/{name}.pte", large_networks() / f"{name}.pte")
        models = {"a digit": "/web/models/classifier.pte"} | {name: f"/{name}.pte" for name in args.networks}
        for kernels in (True, False):
            print(f"{'ms, with kernels' if kernels else 'ms, without kernels':<20}", *(f"{p:>22}" for p in PARTS))
            for name, url in models.items():
                slow = kernels and args.gpu == "swiftshader" and name != "a digit"
                found = page.call(overhead, url, 2 if slow else 20, 1 if slow else 20, kernels)
                print(f"{name:<20}", *(f"{t:>22.3f}" for t in found["parts"]))
                busy = sum(found["parts"]) - found["parts"][2]
                print(
                    f"{'':<20}  whole {found['total']:.3f}, without Python {found['pure']:.3f}; "
                    f"busy {busy:.3f}, without Python {found['pure_busy']:.3f}"
                )
            print()


if __name__ == "__main__":
    main()
