"""Prints how much faster the kernels are than plain ones in the same Chromium, and what an inference costs around them.

    make bench                      # or: python tests/bench/bench.py [--gpu hardware] [--chrome PATH]

The plain shaders make four outputs a thread from the same packed data, with packed dot products. Only ratios of one run
mean anything on SwiftShader, which computes on the CPU.
"""

import argparse
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import peers
from webq8.desktop.host import Browser

sys.path.append(str(Path(__file__).parents[1]))
from networks import large_networks

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


async def kernel_times(cases, plain_shaders, chained_source):
    """Milliseconds of each case's kernel and of the plain one, and whether their bytes agree. Runs in the page."""
    from pathlib import Path

    Path("chained.py").write_text(chained_source)
    from chained import chained
    from webq8.kernels import wgsl
    from webq8.kernels.registry import KERNELS
    from webq8.paths import resource_dir
    from webq8.target import SOFTWARE

    for name, text in plain_shaders.items():
        (resource_dir("wgsl") / f"{name}.wgsl").write_text(text)

    async def plain_program(case, kind):
        """As `chained`, by plain kernels, with what the kernels for devices of this kind are bound to."""
        own = dict(KERNELS)

        def plain(registered):
            def dispatches(op, call):
                for dispatch in registered.dispatches(op, call.replace(target=call.target.replace(kind=kind))):
                    name = "plain_" + dispatch.kernel
                    constants = {n: v for n, v in dispatch.constants.items() if n in wgsl.kernel(name).overrides}
                    yield dispatch.replace(kernel=name, constants=constants, threads=call.out.layout.words)

            return registered._replace(dispatches=dispatches)

        KERNELS.update((op, plain(registered)) for op, registered in own.items())
        try:
            return await chained(case["op"], case["x"], [case["args"]])
        finally:
            KERNELS.update(own)

    rows = []
    for case in cases:
        # plain transposed convolutions read what conv2d_windowed reads
        kind = SOFTWARE.replace(pixels=1) if "transposed" in case["op"] else SOFTWARE
        programs = [await chained(case["op"], case["x"], [case["args"]]), await plain_program(case, kind)]
        outputs = [await p(case["x"]) for p in programs]
        # alternate, so that whatever else the machine does hits both alike
        times = [[], []]
        for _ in range(9):
            for p, measured in zip(programs, times, strict=True):
                measured.append(await p._loaded.replays["forward"].time(case["repeats"]))
        ours, plain = (sorted(t)[len(t) // 2] for t in times)
        rows.append(
            {"case": case["name"], "ms": ours, "plain_ms": plain, "equal": bool((outputs[0] == outputs[1]).all())}
        )
        adapter = str(programs[0].adapter)
        for p in programs:
            p.close()
    return {"adapter": adapter, "rows": rows}


async def inference(url):
    """What one digit costs, from numpy to numpy. Runs in the page."""
    import time

    import numpy as np
    import webq8
    from webq8.backends.browser import gpu

    program = await webq8.load(url)
    x = np.zeros((1, 64), np.float32)
    await program(x)
    before, times = gpu.live()["submits"], []
    for _ in range(200):
        start = time.perf_counter()
        await program(x)
        times.append((time.perf_counter() - start) * 1e3)
    result = {
        "median_ms": sorted(times)[100],
        "submits": (gpu.live()["submits"] - before) / 200,
        "dispatches": program.dispatches(),
        "encode_ns": program._loaded.replays["forward"].encodingTime(2000),
        "load_ms": program.load_ms,
    }
    program.close()
    return result


async def loading(url):
    """Milliseconds of each stage of loading a program, and of a run. Runs in the page."""
    import time

    import numpy as np
    import webq8

    program = await webq8.load(url)
    [spec] = program.methods["forward"].inputs
    x, times = np.zeros(spec.shape, np.float32), []
    for _ in range(3):
        start = time.perf_counter()
        await program(x)
        times.append((time.perf_counter() - start) * 1e3)
    stages = program.load_ms | {"dispatches": program.dispatches(), "run": min(times)}
    program.close()
    return stages


def linear_case(m, n, k, repeats):
    rng = np.random.default_rng(n)
    int8 = lambda *shape: rng.integers(-128, 128, shape, np.int8)  # noqa: E731
    return {
        "name": f"q8ta_linear {m}×{n}×{k}",
        "op": "et_vk.q8ta_linear.default",
        "x": int8(m, k),
        "args": [0.02, 3, int8(n, k), None, np.full(n, 0.01, np.float32), 1.5, -4, np.zeros(n, np.float32), "relu"],
        "repeats": repeats,
    }


def conv2d_case(ic, oc, size, kernel, groups, repeats):
    rng = np.random.default_rng(oc)
    int8 = lambda *shape: rng.integers(-128, 128, shape, np.int8)  # noqa: E731
    scales, bias = np.full(oc, 0.01, np.float32), np.zeros(oc, np.float32)
    geometry = [[kernel] * 2, [1, 1], [kernel // 2] * 2, [1, 1], groups]
    weight = int8(oc, kernel * kernel * ic) if groups == 1 else int8(kernel, kernel, oc)
    op = "q8ta_conv2d" if groups == 1 else "q8ta_conv2d_dw"
    return {
        "name": f"{op} {ic}→{oc}, {kernel}×{kernel} at {size}×{size}",
        "op": f"et_vk.{op}.default",
        "x": int8(1, ic, size, size),
        "args": [0.02, 3, weight, None, scales, 1.5, -4, bias, *geometry, "relu"],
        "repeats": repeats,
    }


def transposed_case(ic, oc, size, kernel, padding, repeats):
    rng = np.random.default_rng(oc)
    int8 = lambda *shape: rng.integers(-128, 128, shape, np.int8)  # noqa: E731
    scales, bias = np.full(oc, 0.01, np.float32), np.zeros(oc, np.float32)
    geometry = [[kernel] * 2, [2, 2], [padding] * 2, [0, 0], [1, 1], 1]
    return {
        "name": f"q8ta_conv2d_transposed {ic}→{oc}, {kernel}×{kernel}/2 at {size}×{size}",
        "op": "et_vk.q8ta_conv2d_transposed.default",
        "x": int8(1, ic, size, size),
        "args": [0.02, 3, int8(oc, kernel * kernel * ic), None, scales, 1.5, -4, bias, *geometry, "relu"],
        "repeats": repeats,
    }


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--gpu", default="swiftshader", choices=("swiftshader", "hardware"))
    ask.add_argument("--chrome")
    ask.add_argument("--json", action="store_true", help="print the raw numbers instead of a table")
    ask.add_argument("--networks", nargs="*", choices=("mobilenet_v2", "resnet18"), help="stages of loading these")
    ask.add_argument("--peers", action="store_true", help="MobileNetV2 here and in onnxruntime-web, instead")
    args = ask.parse_args()
    if args.peers:
        found = peers.measure(args.gpu, args.chrome)
        print(json.dumps(found)) if args.json else peers.print_table(found)
        return
    cases = [
        linear_case(256, 256, 256, 10),
        linear_case(512, 512, 512, 2),
        conv2d_case(64, 64, 28, 3, 1, 2),
        conv2d_case(96, 96, 28, 3, 96, 10),
        transposed_case(32, 16, 32, 4, 1, 10),
        transposed_case(32, 16, 32, 2, 0, 10),
    ]
    assembled = runpy.run_path(str(ROOT / "wgsl" / "render.py"))["assembled"]
    shaders = {path.stem: assembled(path.read_text("utf-8")) for path in HERE.glob("plain_*.wgsl")}
    with Browser(gpu=args.gpu, chrome=args.chrome, root=ROOT / "web") as browser, browser.page(timeout=600) as page:
        kernels = page.call(kernel_times, cases, shaders, (HERE / "chained.py").read_text("utf-8"))
        digit = page.call(inference, "/models/classifier.pte")
        stages = {}
        for name in args.networks or ():
            browser.site.add(f"/{name}.pte", large_networks() / f"{name}.pte")
            stages[name] = page.call(loading, f"/{name}.pte")
    if args.json:
        print(json.dumps({"kernels": kernels, "digit": digit, "loading": stages}))
        return
    print(f"adapter: {kernels['adapter']}\n")
    print(f"{'kernel':<52}{'ms':>9}{'plain ms':>10}{'ratio':>8}  bytes")
    for row in kernels["rows"]:
        same = "equal" if row["equal"] else "DIFFERENT"
        print(f"{row['case']:<52}{row['ms']:>9.3f}{row['plain_ms']:>10.3f}{row['plain_ms'] / row['ms']:>7.2f}×  {same}")
    print(
        f"\none digit, numpy to numpy: {digit['median_ms']:.2f} ms, {digit['dispatches']} dispatches, "
        f"{digit['submits']:g} submit; encoding {digit['encode_ns'] / 1e3:.2f} µs a dispatch"
    )
    for name, found in stages.items():
        print(f"\n{name}, ms: " + ", ".join(f"{stage} {value:.0f}" for stage, value in found.items()))


if __name__ == "__main__":
    main()
