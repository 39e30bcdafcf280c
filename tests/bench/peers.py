"""Prints how webq8's MobileNetV2 compares with onnxruntime-web's in the same Chromium.

python tests/bench/bench.py --peers          # here
python tests/bench/peers.py table FILE       # of the JSON that the page posted on another machine
python tests/bench/peers.py add DIR          # puts the page into a site, as pack.sh does
"""

import argparse
import json
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from webq8.desktop import assets
from webq8.desktop.bytecode import compile_wheels
from webq8.desktop.chrome import launch_options
from webq8.desktop.site import Site

sys.path.append(str(Path(__file__).parents[1]))
from networks import cached, large_networks, python_with, run

HERE = Path(__file__).parent / "peers"
ONNXRUNTIME_WEB = assets.Bundle(
    "onnxruntime-web-1.30.0",
    {
        "ort.webgpu.bundle.min.mjs": "0730816731ce2cdfb06f273da065d4a1c7091eb9d1756a83b2916c8a89d015e2",
        "ort-wasm-simd-threaded.asyncify.wasm": "39f9f0894d478800487ed9f7dbe92618498db320cf55c8e3d89adff8dce658da",
        "ort.jspi.bundle.min.mjs": "07ec090355e11b342c95436db54da2d0c2bd5b1d319745bfd3337e6bdcf170ac",
        "ort-wasm-simd-threaded.jspi.wasm": "a54c76f86b0f0d9572380cf1c6292a7b3903716ffcbcd6b0e5c7050bf430eb93",
    },
    (assets.Source("npm", "onnxruntime-web@1.30.0", "package/dist/"),),
)
OURS = "webq8 int8"
# the rest of the way to the first answer is downloading, and Python's own start
OWN_STAGES = {"import webq8", "load", "session", "first run"}
STEADY = ("back to back", "latency", "array to array")
# SwiftShader takes seconds a run
TIMING = {"swiftshader": "samples=1&warm=0&batch=0&limit=300", "hardware": ""}


def add_page(site: Path) -> None:
    """Adds the folder peers/ with all that its page loads, save webq8 and its network."""
    page = site / "peers"
    shutil.copytree(HERE, page, dirs_exist_ok=True, ignore=shutil.ignore_patterns("models.py", "*.txt", "__pycache__"))
    shutil.copytree(assets.fetch(ONNXRUNTIME_WEB), page / "ort", dirs_exist_ok=True)
    shutil.copytree(onnx_models(), page, dirs_exist_ok=True)


def onnx_models() -> Path:
    """The folder with MobileNetV2 as ONNX, float32 and int8."""
    script, requirements = HERE / "models.py", HERE / "requirements.txt"

    def make(folder: Path) -> None:
        run([str(python_with("onnx-export", requirements)), str(script), str(folder)])

    return cached("onnx", (script, requirements), make)


def measure(gpu: str, chrome: str | None) -> dict:
    """Runs the page in headless Chromium and returns what it posts."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder)
        with Site() as ours:
            ours.add_runtime()
            compile_wheels(ours)
            ours.export(site)
        for name in ("mobilenet_v2.pte", "mobilenet_v2.npz"):
            (site / "networks").mkdir(exist_ok=True)
            shutil.copy(large_networks() / name, site / "networks")
        add_page(site)
        with served(site) as url, playwright.chromium.launch(**launch_options(chrome, gpu)) as browser:
            page = browser.new_page()
            page.on("console", lambda message: print(message.text, file=sys.stderr))
            with page.expect_request("**/result", timeout=0) as posted:
                page.goto(f"{url}peers/index.html?{TIMING[gpu]}")
            found = posted.value.post_data_json
        if "error" not in found and ("swiftshader" in found["adapter"]) != (gpu == "swiftshader"):
            found["error"] = f"the browser offers {found['adapter']}, where {gpu} was asked for"
        return found


@contextmanager
def served(folder: Path):
    """The folder's address; isolated, as WebAssembly threads need it."""

    class Handler(SimpleHTTPRequestHandler):
        extensions_map = SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

        def end_headers(self) -> None:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
            super().end_headers()

        def do_POST(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def print_table(found: dict) -> None:
    """Each way's times, and how many times ours they are."""
    if "error" in found:
        sys.exit(found["error"])
    ways = {name: way for name, way in found.items() if isinstance(way, dict)}
    for name in [name for name, way in ways.items() if "error" in way]:
        print(f"{name}: {ways.pop(name)['error']}", file=sys.stderr)
    rows = {name: way | starting(way["stages"]) for name, way in ways.items()}
    columns = ("first answer", "own part of it", *STEADY)
    print(f"MobileNetV2 224×224, batch 1, in ms, on {found['adapter']}\n")
    print(f"{'':<28}" + "".join(f"{column:>22}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<28}" + "".join(f"{cell(row, rows.get(OURS, {}), column):>22}" for column in columns))
    print("\nthe way to the first answer:")
    for name, way in ways.items():
        print(f"{name}: {listed(way['stages'])}")
        if "loading" in way:
            print(f"    of loading: {listed(way['loading'])}")
    values = {name: np.array(way["values"]) for name, way in ways.items() if "values" in way}
    for name, y in values.items():
        want = next(iter(values.values()))
        print(f"{name}: cosine with the first {y @ want / np.linalg.norm(y) / np.linalg.norm(want):.4f}")
    if OURS in ways:
        one_pass = ways[OURS]["back to back in one pass"]
        print(f"{OURS}: cosine with its golden {ways[OURS]['cosine']:.4f}; back to back in one pass {one_pass:.2f}")


def starting(stages: dict[str, float]) -> dict[str, float]:
    own = sum(ms for name, ms in stages.items() if name in OWN_STAGES)
    return {"first answer": sum(stages.values()), "own part of it": own}


def cell(row: dict, ours: dict, column: str) -> str:
    if column not in row:
        return "–"
    ratio = f" {row[column] / ours[column]:>8.1f}×" if column in ours else ""
    return f"{row[column]:.2f}{ratio}"


def listed(times: dict[str, float]) -> str:
    return ", ".join(f"{name} {ms:.0f}" for name, ms in times.items())


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("task", choices=("table", "add"))
    ask.add_argument("path", type=Path)
    args = ask.parse_args()
    if args.task == "add":
        add_page(args.path)
    else:
        print_table(json.loads(args.path.read_text("utf-8")))


if __name__ == "__main__":
    main()
