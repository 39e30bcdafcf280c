"""The main job, end to end: both digit models in headless Chromium, through Pyodide and WebGPU.

    make demo         # or: python web/examples/demo.py [--out digits.png] [--gpu hardware] [--chrome PATH]

Reads all 360 test scans with the classifier, enlarges them with the upscaler, compares both with the goldens of the
eager quantized models, and draws a contact sheet.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import webq8
from PIL import Image, ImageDraw, ImageFont
from webq8.desktop.chrome import Gpu
from webq8.desktop.host import Browser
from webq8.errors import Webq8Error

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "web" / "models"
GOLDEN = ROOT / "tests" / "data" / "digits_golden.npz"

CELL, GAP, COLUMNS, SHOWN = 96, 12, 6, 30
INK, PAPER, RIGHT, WRONG = (24, 26, 33), (250, 250, 252), (20, 110, 60), (190, 30, 40)


async def work(url, inputs, method):
    """Loads a model and runs it over all inputs. Runs in the page."""
    import time

    import numpy as np

    start = time.perf_counter()
    program = await webq8.load(url, on_progress=lambda fraction, text: print(f"  {fraction:4.0%}  {text}"))
    loaded = time.perf_counter()
    outputs, times = [], []
    for x in inputs:
        before = time.perf_counter()
        outputs.append(await program(x, method=method))
        times.append((time.perf_counter() - before) * 1e3)
    report = {
        "adapter": str(program.adapter),
        "software": program.adapter.software,
        "dispatches": program.dispatches(method),
        "load_ms": (loaded - start) * 1e3,
        "first_ms": times[0],
        "median_ms": sorted(times)[len(times) // 2],
    }
    program.close()
    return np.concatenate(outputs), report


def contact_sheet(images, labels, predictions, upscaled, adapter: str) -> Image.Image:
    """Scan, upscale and prediction side by side; wrong predictions come first and stand out."""
    order = np.argsort(predictions == labels, kind="stable")[:SHOWN]
    rows = -(-len(order) // COLUMNS)
    width, height = COLUMNS * (2 * CELL + 2 * GAP) + GAP, 48 + rows * (CELL + 26 + GAP)
    sheet = Image.new("RGB", (width, height), PAPER)
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(16)
    title = f"webq8: int8 on {adapter}. Each pair: a scan (8 x 8) and its upscale (32 x 32)"
    draw.text((GAP, 14), title, fill=INK, font=font)
    for place, i in enumerate(order):
        x = GAP + place % COLUMNS * (2 * CELL + 2 * GAP)
        y = 48 + place // COLUMNS * (CELL + 26 + GAP)
        for offset, pixels in ((0, images[i] / 16), (CELL + 2, upscaled[i, 0])):
            grey = Image.fromarray((255 - np.clip(pixels, 0, 1) * 255).astype(np.uint8))
            sheet.paste(grey.resize((CELL, CELL), Image.Resampling.NEAREST), (x + offset, y))
            draw.rectangle((x + offset, y, x + offset + CELL - 1, y + CELL - 1), outline=(205, 208, 216))
        right = predictions[i] == labels[i]
        text = f"reads {predictions[i]}" + ("" if right else f", is {labels[i]}")
        draw.text((x, y + CELL + 4), text, fill=RIGHT if right else WRONG, font=font)
    return sheet


def print_report(name: str, report: dict, agreement: float) -> None:
    print(
        f"{name}: {agreement:.3%} of outputs equal to the eager quantized model's, {report['dispatches']} dispatches a "
        f"run\n  load {report['load_ms']:.0f} ms, first run {report['first_ms']:.1f} ms, "
        f"median run {report['median_ms']:.2f} ms"
    )


def demo(out: Path, gpu: Gpu, chrome: str | None) -> None:
    digits, golden = np.load(MODELS / "digits.npz"), np.load(GOLDEN)
    images, labels = digits["images"], digits["labels"]
    pixels = (images / 16).astype(np.float32)
    print("starting Chromium and Python in it …")
    with Browser(gpu=gpu, chrome=chrome, root=MODELS) as browser, browser.page() as page:
        adapter = page.check_adapter()
        print(f"adapter: {adapter}")
        if gpu == "swiftshader":
            print("  (computes on the CPU: these times say nothing about a GPU)")
        print("classifier …")
        logits, read = page.call(work, "classifier.pte", list(pixels.reshape(-1, 1, 64)), "forward")
        print("upscaler …")
        upscaled, enlarge = page.call(work, "upscaler.pte", list(pixels[:, None, None]), "forward")
    predictions = logits.argmax(1)
    right = int((predictions == labels).sum())
    print(f"accuracy: {right} of {len(labels)} test digits, {right / len(labels):.2%}")
    print_report("classifier", read, float((logits == golden["logits"]).mean()))
    print_report("upscaler", enlarge, float((upscaled[: len(golden["upscaled"])] == golden["upscaled"]).mean()))
    contact_sheet(images, labels, predictions, upscaled, adapter).save(out)
    print(f"picture: {out}")


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--out", type=Path, default=Path("digits.png"), help="where the picture goes")
    ask.add_argument("--gpu", default="swiftshader", choices=("swiftshader", "hardware"))
    ask.add_argument("--chrome", help="the browser to use")
    args = ask.parse_args()
    try:
        demo(args.out, args.gpu, args.chrome)
    except Webq8Error as e:
        print(f"demo: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
