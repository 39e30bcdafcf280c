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


async def kernel_times(cases, plain_shaders):
    """Milliseconds of each case's kernel and of the plain one, and whether their bytes agree. Runs in the page."""
    from dataclasses import replace

    import numpy as np
    from webq8.handlers import conv
    from webq8.handlers.registry import REGISTRY
    from webq8.ir import Call, Graph, Method, Program, Tensor
    from webq8.kernels import wgsl
    from webq8.paths import resource_dir
    from webq8.runtime.load import compile_program

    for name, text in plain_shaders.items():
        (resource_dir("wgsl") / f"{name}.wgsl").write_text(text)

    def plain_handler(handler, software):
        def launch(a):
            a.limits = replace(a.limits, software=software)
            for dispatch in handler(a):
                plain = "plain_" + dispatch.kernel
                constants = {n: v for n, v in dispatch.constants.items() if n in wgsl.kernel(plain).overrides}
                yield replace(dispatch, kernel=plain, constants=constants, threads=a.out.layout.words)

        return launch

    rows = []
    for case in cases:
        spec = REGISTRY[case["op"]]
        # the plain shaders read what these kernels read
        windowed = "transposed" in case["op"]
        handler = (lambda a: [conv._windowed(a, transposed=True)]) if windowed else spec.handler
        plain = plain_handler(handler, software=not windowed)
        REGISTRY["bench.plain.default"] = replace(spec, name="bench.plain.default", handler=plain)
        values = [Tensor(tuple(case["x"].shape), "int8")]
        for value in case["args"]:
            if isinstance(value, np.ndarray):
                value = Tensor(tuple(value.shape), str(value.dtype), memoryview(value.tobytes()))
            values.append(tuple(value) if isinstance(value, list) else value)
        values.append(Tensor(tuple(case["y_shape"]), "int8"))
        programs = []
        for op in (case["op"], "bench.plain.default"):
            call = Call(op, tuple(range(len(values))), op)
            graph = Graph(tuple(values), (call,), (0,), (len(values) - 1,))
            programs.append(await compile_program(Program({"forward": Method("forward", graph)}), op))
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
        "y_shape": [m, n],
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
        "y_shape": [1, oc, size, size],
        "repeats": repeats,
    }


def transposed_case(ic, oc, size, kernel, padding, repeats):
    rng = np.random.default_rng(oc)
    int8 = lambda *shape: rng.integers(-128, 128, shape, np.int8)  # noqa: E731
    scales, bias = np.full(oc, 0.01, np.float32), np.zeros(oc, np.float32)
    geometry = [[kernel] * 2, [2, 2], [padding] * 2, [0, 0], [1, 1], 1]
    out = (size - 1) * 2 - 2 * padding + kernel
    return {
        "name": f"q8ta_conv2d_transposed {ic}→{oc}, {kernel}×{kernel}/2 at {size}×{size}",
        "op": "et_vk.q8ta_conv2d_transposed.default",
        "x": int8(1, ic, size, size),
        "args": [0.02, 3, int8(oc, kernel * kernel * ic), None, scales, 1.5, -4, bias, *geometry, "relu"],
        "y_shape": [1, oc, out, out],
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
        kernels = page.call(kernel_times, cases, shaders)
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
