"""Prints milliseconds that loading takes in Pyodide, before there are buffers and shaders.

    python tests/bench/loading.py [--rounds 30] [--pages 5]

Importing webq8: medians of fresh pages, with the site's wheels as source and as bytecode. From a network's bytes to its
plan: the first time in a page, which imports what the network needs, and medians of more rounds there.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from webq8.desktop.bytecode import compile_wheels
from webq8.desktop.chrome import launch_options
from webq8.desktop.site import Site

sys.path.append(str(Path(__file__).parents[1]))
from networks import large_networks

NETWORKS = ("mobilenet_v2", "resnet18")
STARTING = """async () => {
  const { startPython } = await import("/python.js");
  globalThis.python = await startPython("0.27.7");
  python.pyimport("numpy");
  const page = await (await fetch("/loading_page.py")).text();
  python.FS.writeFile("loading_page.py", page);
  return python.pyimport("loading_page").imported();
}"""
STAGES = """async ([url, rounds]) => {
  const data = python.toPy(await (await fetch(url)).arrayBuffer());
  return python.pyimport("loading_page").stages(data.tobytes(), rounds).toJs({ dict_converter: Object.fromEntries });
}"""


def measure(browser: Browser, url: str, rounds: int) -> tuple[float, dict[str, Any]]:
    """Of a fresh page: milliseconds of importing webq8, and of each stage of loading, by network and round."""
    with browser.new_page() as page:
        page.goto(f"{url}icon.svg")
        imported = page.evaluate(STARTING)
        return imported, {name: page.evaluate(STAGES, [f"/{name}.pte", rounds]) for name in NETWORKS if rounds}


def table(title: str, rounds: Sequence[dict[str, float]]) -> str:
    """A line: medians of the stages, and of their sum."""
    stages = {stage: median(row[stage] for row in rounds) for stage in rounds[0]} | {
        "sum": median(sum(row.values()) for row in rounds)
    }
    return f"{title:<28}" + ", ".join(f"{stage} {ms:.1f}" for stage, ms in stages.items())


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rounds", type=int, default=30)
    ask.add_argument("--pages", type=int, default=5)
    args = ask.parse_args()
    with Site() as site, sync_playwright() as playwright, playwright.chromium.launch(**launch_options()) as browser:
        site.add_runtime()
        site.add("/loading_page.py", Path(__file__).with_name("loading_page.py"))
        for name in NETWORKS:
            site.add(f"/{name}.pte", large_networks() / f"{name}.pte")
        for wheels in ("source", "bytecode"):
            if wheels == "bytecode":
                compile_wheels(site)
            imports = [measure(browser, site.url, 0)[0] for _ in range(args.pages)]
            print(f"{f'import webq8, {wheels}':<28}{median(imports):.1f}", flush=True)
        _, found = measure(browser, site.url, args.rounds + 1)
        for name, (first, *rounds) in found.items():
            print(table(f"{name}, first", [first]))
            print(table(name, rounds), flush=True)


if __name__ == "__main__":
    main()
