"""What gpu_page.js runs on a machine with a real GPU: correctness of every op case, ceilings, kernels, networks.

Each figure is the median of batches (`GpuProgram.device_ms`), after the card was kept busy: idle, it clocks far lower.
"""

import io
import json
import re
import time
from contextlib import contextmanager
from urllib.parse import parse_qs

import numpy as np
import webq8
from chained import chained
from webq8 import ops
from webq8.backends.browser import gpu
from webq8.backends.browser.bridge import to_object
from webq8.backends.browser.page import fetch
from webq8.budget import Budget
from webq8.formats import read_file
from webq8.kernels import select
from webq8.plan.planner import plan_program
from webq8.runtime.ceilings import measure_ceilings
from webq8.runtime.compile import lower_file, rewrite
from webq8.stages import drive


async def main(query: str) -> str:
    asked = parse_qs(query)
    wanted = asked.get("parts", ["ceilings,linear"])[0].split(",")
    cases = re.compile(asked.get("cases", [""])[0])
    device = await gpu.device()
    found = {"adapter": str(device.adapter), "packed_dot": device.target.packed_dot, "live": gpu.live()}
    await measure_ceilings(device)  # warms the card up
    for part in wanted:
        start = time.perf_counter()
        found[part] = await (CHECKS[part](cases) if part in CHECKS else FIGURES[part]())
        found[f"{part} s"] = round(time.perf_counter() - start, 1)
    return json.dumps(found)


def int8(*shape):
    return np.random.default_rng(1).integers(-128, 128, shape, np.int8)


def linear(m, n, k):
    scales, bias = np.full(n, 0.01, np.float32), np.zeros(n, np.float32)
    return int8(m, k), (0.02, 3, int8(n, k), None, scales, 1.5, -4, bias, "none")


def conv(n, ic, oc, size, kernel, stride=1, name="q8ta_conv2d"):
    pad = kernel // 2
    weight = int8(kernel, kernel, oc) if name == "q8ta_conv2d_dw" else int8(oc, kernel * kernel * ic)
    scales, groups = np.full(oc, 0.01, np.float32), ic if name == "q8ta_conv2d_dw" else 1
    geometry = ((kernel,) * 2, (stride,) * 2, (pad,) * 2, (1, 1), groups, "none")
    args = (0.02, 3, weight, None, scales, 1.5, -4, np.zeros(oc, np.float32), *geometry)
    return int8(n, ic, size, size), args


def transposed(n, ic, oc, size, kernel):
    """With stride 2, to twice the size."""
    pad = kernel // 2 if kernel > 2 else 0
    extra = 2 * size - ((size - 1) * 2 - 2 * pad + kernel)
    geometry = ((kernel,) * 2, (2, 2), (pad,) * 2, (extra,) * 2, (1, 1), 1, "none")
    weight, scales = int8(oc, kernel * kernel * ic), np.full(oc, 0.01, np.float32)
    args = (0.02, 3, weight, None, scales, 1.5, -4, np.zeros(oc, np.float32), *geometry)
    return int8(n, ic, size, size), args


# --- parts


def apart(got, want, case) -> int | str:
    """How far int8 results are apart, or where others differ; 0 where they agree."""
    if got.dtype == np.int8:
        return int(np.abs(got.astype(int) - want).max(initial=0))
    bad = np.argwhere(~np.isclose(got, want, max(case.rtol, 1e-6), max(case.atol, 1e-6), equal_nan=True))
    if not len(bad):
        return 0
    return f"{len(bad)}, first {bad[:3].tolist()}: {got[tuple(bad[0])]}, {want[tuple(bad[0])]}"


async def compare(cases) -> dict[str, object]:
    """Cases against the reference: which differ, and by how much (a fused multiply-add may cost one)."""
    by_one, wrong = set(), []
    for case in cases:
        tensors = [getattr(ops, case.op)(*case.args()) for _ in range(2)]
        pairs = zip(*(t if isinstance(t, tuple) else (t,) for t in tensors), strict=True)
        for ours, reference in pairs:
            difference = apart(await ours.numpy(), drive(reference.numpy("cpu")), case)
            if difference == 1:
                by_one.add(case.op)
            elif difference:
                wrong.append(f"{case.id}: {difference}")
    ops.close()
    return {"cases": len(cases), "wrong": wrong, "apart by one": sorted(by_one)}


def chosen(cases: re.Pattern):
    """The op cases whose names match."""
    from cases import CASES

    return [case for case in CASES if cases.search(case.id)]


async def correctness(cases: re.Pattern):
    """Every case by the kernels that it gets here."""
    return await compare(chosen(cases))


async def tile_names() -> list[str]:
    """The tiles that this GPU has kernels for."""
    return list((await gpu.device()).target.kind.tiles)


@contextmanager
def by_tile(name: str):
    """Has matrix products take one tile, whatever the rules say."""
    rules, select.tile = select.tile, lambda *_: select.TILES[name]
    try:
        yield
    finally:
        select.tile = rules


async def tiles(cases: re.Pattern):
    """Every matrix product and convolution by each tile that this GPU has."""
    found = {}
    products = [
        c for c in chosen(cases) if c.op.startswith(("q8ta_linear", "q8ta_conv2d")) and c.op != "q8ta_conv2d_dw"
    ]
    for name in await tile_names():
        with by_tile(name):
            found[name] = await compare(products)
    return found


async def timed(name, problem):
    x, args = problem
    program = await chained(name, x, [args])
    steps = program._plans["forward"].steps
    # inputs and outputs of a program are row-major; within a network no change of layout is needed
    kept = [i for i, step in enumerate(steps) if step.kernel != "relayout"]
    keep(program._loaded.replays["forward"], steps, kept)
    kernels = [s.kernel for s in steps if s.kernel != "relayout"]
    ms = await program._loaded.device_ms("forward")
    program.close()
    return ms, kernels


def keep(replay, steps, kept) -> None:
    """Replays only the steps of these numbers from now on."""
    replay.grids = to_object([n for i in kept for n in steps[i].grid])
    replay.pipelines = to_object([replay.pipelines[i] for i in kept])
    replay.groups = to_object([replay.groups[i] for i in kept])


async def linears():
    rows = {}

    async def measure(note: str, *problems) -> None:
        for m, n, k in problems:
            ms, kernels = await timed("et_vk.q8ta_linear.default", linear(m, n, k))
            rows[f"{m}x{n}x{k}{note}"] = {"ms": ms, "TOPS": 2e-9 * m * n * k / ms, "kernels": kernels}

    problems = ((4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (512, 4864, 896))
    await measure("", *problems, (1000, 1003, 1001))
    with by_tile("large"):
        await measure(" by packed dot products", *problems)
    for sets in (1, 2, 6):
        rows[f"gemv 8192x8192, {sets} weights in turn"] = await gemv(8192, sets)
    return rows


async def gemv(n: int, sets: int):
    """A chain of layers with weights of their own: no cache holds them."""
    x, (scale, zero_point, weight, *rest) = linear(1, n, n)
    layers = [(scale, zero_point, np.roll(weight, i), *rest) for i in range(sets)]
    program = await chained("et_vk.q8ta_linear_gemv.default", x, layers)
    steps = program._plans["forward"].steps
    ms = await program._loaded.device_ms("forward") / len(steps)
    program.close()
    return {"ms": ms, "GB/s": n * n * 1e-6 / ms, "kernels": [s.kernel for s in steps]}


async def sweep():
    """Every tile for many problems: what select.py was written from."""
    rows, target = {}, (await gpu.device()).target
    problems = (
        (4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024), (512, 4864, 896), (392, 512, 4608), (49, 512, 4608),
        (196, 256, 2304), (784, 128, 1152), (3136, 64, 576), (12544, 96, 16), (3136, 24, 144), (784, 32, 144),
        (784, 192, 32), (196, 384, 64), (196, 96, 576), (49, 160, 960), (49, 960, 160), (49, 1280, 320), (8, 1000, 512),
    )  # fmt: skip
    for m, n, k in problems:
        best, row = select.tile(m, n, k // 16, 1, target), {}
        for name in await tile_names():
            with by_tile(name):
                ms, _ = await timed("et_vk.q8ta_linear.default", linear(m, n, k))
            row[name + (" (chosen)" if select.TILES[name] == best else "")] = round(ms * 1e3, 1)
        rows[f"{m}x{n}x{k}, us"] = row
    return rows


async def convs():
    rows = {}
    for n, ic, oc, size, kernel, name in (
        (8, 64, 64, 56, 3, "q8ta_conv2d"),
        (8, 128, 128, 28, 3, "q8ta_conv2d"),
        (8, 256, 256, 14, 3, "q8ta_conv2d"),
        (8, 512, 512, 7, 3, "q8ta_conv2d"),
        (8, 256, 64, 56, 1, "q8ta_conv2d_pw"),
        (8, 960, 160, 7, 1, "q8ta_conv2d_pw"),
        (1, 512, 512, 7, 3, "q8ta_conv2d"),
    ):
        ms, kernels = await timed(f"et_vk.{name}.default", conv(n, ic, oc, size, kernel, name=name))
        flat, _ = await timed("et_vk.q8ta_linear.default", linear(n * size * size, oc, kernel * kernel * ic))
        tops = 2e-9 * n * size * size * oc * kernel * kernel * ic / ms
        rows[f"{kernel}x{kernel} {ic}-{oc} at {size} x{n}"] = {
            "ms": ms,
            "TOPS": tops,
            "of linear": flat / ms,
            "kernels": kernels,
        }
    for kernel in (2, 3):
        problem, each = transposed(8, 64, 32, 64, kernel), {}
        for name in await tile_names():
            with by_tile(name):
                each[name] = (await timed("et_vk.q8ta_conv2d_transposed.default", problem))[0]
        ms, kernels = await timed("et_vk.q8ta_conv2d_transposed.default", problem)
        m, k = 8 * 64 * 64, 64 * kernel * kernel
        flat, _ = await timed("et_vk.q8ta_linear.default", linear(m, 32, k))
        tops = 2e-9 * m * 32 * k / ms
        rows[f"transposed {kernel}x{kernel}/2 64-32 at 64 x8"] = {
            "ms": ms,
            "TOPS": tops,
            "of linear": flat / ms,
            "kernels": kernels,
            "ms by tile": each,
        }
    for stride in (1, 2):
        n = 112
        problem = conv(n, 192, 192, 56, 3, stride, "q8ta_conv2d_dw")
        ms, kernels = await timed("et_vk.q8ta_conv2d_dw.default", problem)
        moved = n * 192 * 56 * 56 * (1 + 1 / stride**2)
        rows[f"depthwise 192 at 56 s{stride} x{n}"] = {"ms": ms, "GB/s": moved * 1e-6 / ms, "kernels": kernels}
    return rows


async def growth():
    """Time of a convolution over its operations, batch by batch: level once the GPU is full."""
    rows = {}
    for n in (1, 2, 4, 8, 16, 32, 64):
        ms, kernels = await timed("et_vk.q8ta_conv2d.default", conv(n, 64, 64, 56, 3))
        rows[f"3x3 64-64 at 56 x{n}"] = {"us per image": ms * 1e3 / n, "kernels": kernels}
        m = 512 * n
        ms, kernels = await timed("et_vk.q8ta_linear.default", linear(m, 1024, 1024))
        rows[f"{m}x1024x1024"] = {"us per 512 rows": ms * 1e3 / n, "kernels": kernels}
    return rows


async def elementwise():
    n, rows = 2**26, {}
    x = np.zeros(n, np.float32)
    quantize = (0.05, 0, -128, 127, None)
    for name, full, data, args, moved in (
        ("quantize", "quantized_decomposed.quantize_per_tensor.default", x, quantize, 5),
        (
            "dequantize",
            "quantized_decomposed.dequantize_per_tensor.default",
            x.astype(np.int8),
            (*quantize, None),
            5,
        ),
        (
            "add",
            "et_vk.q8ta_add.default",
            x.astype(np.int8),
            (x.astype(np.int8), 0.1, 0, 0.1, 0, 0.1, 0, 1.0),
            3,
        ),
    ):
        shape = (n // 4096, 4096)
        args = tuple(a.reshape(shape) if isinstance(a, np.ndarray) else a for a in args)
        ms, kernels = await timed(full, (data.reshape(shape), args))
        rows[name] = {"ms": ms, "GB/s": moved * n * 1e-6 / ms, "kernels": kernels}
    return rows


async def compiling():
    """Milliseconds that each pipeline of MobileNetV2 takes to compile, one after another; only true in a fresh page."""
    device = await gpu.device()
    name = "mobilenet_v2"
    file, budget = read_file(await fetch(f"networks/{name}.pte", lambda *_: None), name), Budget(None, name)
    graphs = {n: rewrite(graph) for n, graph in lower_file(file, name, budget, {}).items()}
    plan = plan_program(graphs, device.target, name, budget).plans["forward"]
    rows = {}
    for step in plan.steps:
        start = time.perf_counter()
        await device.pipeline((step.kernel, step.constants, step.writable))
        ms = (time.perf_counter() - start) * 1e3
        if ms > 1:
            rows[f"{step.kernel} {dict(step.constants)} {step.writable}"] = round(ms)
    return rows


async def networks():
    rows = {}
    for name in ("mobilenet_v2", "resnet18"):
        program = await webq8.load(f"networks/{name}.pte")
        golden = np.load(io.BytesIO(await fetch(f"networks/{name}.npz", lambda *_: None)))
        x, want = golden["in0"][:1], golden["out0"][0].astype(float)
        got = (await program(x))[0].astype(float)
        times = []
        for _ in range(50):
            start = time.perf_counter()
            await program(x)
            times.append((time.perf_counter() - start) * 1e3)
        digit = await webq8.load("models/classifier.pte")
        zeros, floor = np.zeros((1, 64), np.float32), []
        for _ in range(50):
            start = time.perf_counter()
            await digit(zeros)
            floor.append((time.perf_counter() - start) * 1e3)
        rows[name] = {
            "digit numpy to numpy ms": sorted(floor)[25],
            "cosine": got @ want / np.linalg.norm(got) / np.linalg.norm(want),
            "back to back ms": await program._loaded.device_ms("forward"),
            "numpy to numpy ms": sorted(times)[25],
            "dispatches": program.dispatches(),
            "load": program.load_ms,
            "encode us": program._loaded.replays["forward"].encodingTime(200) / 1e3,
        }
        program.close()
    return rows


async def profile():
    """GPU time of the networks: microseconds by kernel, and the slowest dispatches."""
    rows = {}
    for name in ("mobilenet_v2", "resnet18"):
        program = await webq8.load(f"networks/{name}.pte")
        [spec] = program.methods["forward"].inputs
        found = await program.profile(np.zeros(spec.shape, np.float32), runs=30)
        slowest = sorted(found.rows, key=lambda row: -row.microseconds)[:15]
        rows[name] = {
            "us": found.microseconds,
            "us from first to last": found.elapsed,
            "resolution us": found.resolution,
            "us by kernel": {row.kernel: round(row.microseconds, 1) for row in found.kernels},
            "slowest": [f"{r.microseconds:.1f} {r.kernel} {r.node}, {r.reached:.0%} of ceiling" for r in slowest],
        }
        program.close()
    return rows


async def ceilings():
    """Packed dot products with everything in registers, and a copy: what kernels are held against."""
    found = await measure_ceilings(await gpu.device())
    return {"dot4 TOPS": found.tops, "copy GB/s": found.gbps}


CHECKS = {"correctness": correctness, "tiles": tiles}
FIGURES = {
    "ceilings": ceilings,
    "linear": linears,
    "sweep": sweep,
    "conv": convs,
    "growth": growth,
    "elementwise": elementwise,
    "networks": networks,
    "compiling": compiling,
    "profile": profile,
}
