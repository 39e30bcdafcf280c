"""Makes tests/data/goldens_glue/kernel_calls: ops of torch's own, once as a kernel call outside of delegates (`.out`
form) and once in a Vulkan delegate, with what torch gives; in the format of upstream's goldens.

python tests/export/kernel_calls.py
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import executorch.kernels.quantized  # noqa: F401 - has the kernels of quantized_decomposed
import torch
import torch.nn.functional as F  # noqa: N812 - as everyone does
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

TARGET = Path(__file__).parents[1] / "data" / "goldens_glue" / "kernel_calls"

# resizing to a size with scales is none of the core ops
UNCHECKED = EdgeCompileConfig(_check_ir_validity=False)

Q = torch.ops.quantized_decomposed


def dequantized(x: torch.Tensor, dtype: torch.dtype, *numbers: float) -> torch.Tensor:
    return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *numbers, dtype), *numbers, dtype)


def dynamically(x: torch.Tensor, low: int, high: int, dtype: torch.dtype) -> torch.Tensor:
    scale, zero_point = Q.choose_qparams.tensor(x, low, high, 1e-7, dtype)
    quantized = Q.quantize_per_tensor.tensor(x, scale, zero_point, low, high, dtype)
    return Q.dequantize_per_tensor.tensor(quantized, scale, zero_point, low, high, dtype)


OPS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "mean": (lambda x: x.mean((2, 3)), ((1, 3, 5, 7),)),
    "sum": (lambda x: x.sum(1, keepdim=True), ((2, 3, 5),)),
    "var": (lambda x: x.var((0, 2), correction=2), ((2, 3, 5),)),
    "var_of_all": (torch.var, ((3, 7),)),
    "prod": (lambda x: x.prod(1, keepdim=True), ((2, 5, 3),)),
    "prod_of_all": (lambda x: (x + 2).prod(), ((3, 5),)),
    "cumsum": (lambda x: x.cumsum(1), ((2, 7, 3),)),
    "cumsum_of_truths": (lambda x: (x > 0).cumsum(0), ((7, 3),)),
    "cumsum_of_int64": (lambda x: (x > 0).cumsum(-1).cumsum(1), ((2, 7, 3),)),
    "cumsum_of_int32": (lambda x: (x * 1e9).to(torch.int32).cumsum(1), ((3, 7),)),
    "amax": (lambda x: x.amax(-1), ((2, 3, 5),)),
    "argmax": (lambda x: x.argmax(1), ((3, 7),)),
    "softmax": (lambda x: x.softmax(-1), ((3, 7),)),
    "log_softmax": (lambda x: x.log_softmax(0), ((3, 7),)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), ((1, 3, 11, 13),)),
    "max_pool2d_with_indices": (lambda x: F.max_pool2d(x, 2, return_indices=True), ((1, 3, 10, 13),)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), ((1, 3, 10, 13),)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 2)), ((1, 3, 7, 5),)),
    "upsample_nearest2d": (lambda x: F.interpolate(x, scale_factor=2.5), ((1, 3, 7, 5),)),
    "upsample_nearest2d_to_size": (lambda x: torch.ops.aten.upsample_nearest2d(x, [11, 8], 1.6, None), ((1, 3, 7, 5),)),
    "upsample_bilinear2d": (
        lambda x: F.interpolate(x, size=(11, 13), mode="bilinear", align_corners=True),
        ((1, 3, 7, 5),),
    ),
    "linear": (F.linear, ((5, 7), (3, 7), (3,))),
    "addmm": (lambda x, w, b: torch.addmm(b, x, w, beta=0.5, alpha=2), ((5, 7), (7, 3), (3,))),
    "mm": (torch.mm, ((5, 7), (7, 3))),
    "bmm": (torch.bmm, ((2, 5, 7), (2, 7, 3))),
    "convolution": (lambda x, w, b: F.conv2d(x, w, b, 2, 1), ((1, 3, 9, 7), (5, 3, 3, 3), (5,))),
    "convolution_transposed": (lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1), ((1, 3, 5, 4), (3, 5, 3, 3))),
    "batch_norm": (lambda x, m, v: F.batch_norm(x, m, v * v), ((2, 3, 5, 4), (3,), (3,))),
    "layer_norm": (lambda x, w: F.layer_norm(x, (7,), w), ((5, 7), (7,))),
    "group_norm": (lambda x, w, b: F.group_norm(x, 3, w, b), ((2, 6, 5), (6,), (6,))),
    "instance_norm": (lambda x, w, b: F.instance_norm(x, None, None, w, b), ((2, 3, 5, 4), (3,), (3,))),
    "rms_norm": (lambda x, w: F.rms_norm(x, (7,), w), ((5, 7), (7,))),
    "power_of_number": (lambda x: torch.pow(10_000.0, x), ((7, 5),)),
    "atan2": (torch.atan2, ((2, 7, 5), (7, 1))),
    "sign": (torch.sign, ((7, 5),)),
    "sign_of_nan": (lambda x: torch.sign(x.sqrt() - 1), ((7, 5),)),
    "fmod": (torch.fmod, ((7, 5), (5,))),
    "fmod_by_number": (lambda x: torch.fmod(x, -0.3), ((7, 5),)),
    "remainder": (torch.remainder, ((7, 5), (7, 1))),
    "remainder_by_number": (lambda x: torch.remainder(x, -0.3), ((7, 5),)),
    "clamp_by_tensors": (torch.clamp, ((2, 7, 5), (7, 1), (5,))),
    "clamp_by_minimum": (lambda x, low: torch.clamp(x, min=low), ((2, 7, 5), (7, 1))),
    "max_of_all": (torch.max, ((3, 7),)),
    "max_of_dim": (lambda x: tuple(torch.max(x, 1)), ((2, 7, 3),)),
    "min_of_dim": (lambda x: tuple(torch.min(x, 0, keepdim=True)), ((7, 3),)),
    "topk": (lambda x: tuple(torch.topk(x, 3, 1)), ((2, 7, 3),)),
    "topk_of_smallest": (lambda x: tuple(torch.topk(x, 4, largest=False)), ((3, 7),)),
    "sort": (lambda x: tuple(torch.sort(x, 0, descending=True)), ((7, 3),)),
    "grid_sampler_bilinear": (lambda x, g: F.grid_sample(x, g, align_corners=False), ((2, 3, 5, 7), (2, 4, 6, 2))),
    "grid_sampler_nearest": (
        lambda x, g: F.grid_sample(x, g, "nearest", "border", align_corners=True),
        ((2, 3, 5, 7), (2, 4, 6, 2)),
    ),
    "grid_sampler_bicubic": (
        lambda x, g: F.grid_sample(x, g, "bicubic", "reflection", align_corners=False),
        ((2, 3, 5, 7), (2, 4, 6, 2)),
    ),
    "quantize_to_uint8": (lambda x: Q.quantize_per_tensor(x, 0.02, 128, 0, 255, torch.uint8), ((7, 5),)),
    "quantize_to_int16": (lambda x: Q.quantize_per_tensor(x, 1e-4, -9, -32768, 32767, torch.int16), ((7, 5),)),
    "quantize_to_int32": (lambda x: Q.quantize_per_tensor(x, 2e-9, 3, -(2**31), 2**31 - 1, torch.int32), ((7, 5),)),
    "quantize_by_tensors": (
        lambda x, s: Q.quantize_per_tensor.tensor(x, s.abs(), torch.tensor([3]), -128, 127, torch.int8),
        ((7, 5), (1,)),
    ),
    "quantize_per_channel": (
        lambda x, s: Q.quantize_per_channel(x, s.abs(), torch.tensor([0, 1, 2, 3, 4]), 1, -128, 127, torch.int8),
        ((2, 5, 3), (5,)),
    ),
    "quantize_and_back": (lambda x: dequantized(x, torch.uint8, 0.02, 77, 0, 255), ((7, 5),)),
    "quantize_to_int16_and_back": (lambda x: dequantized(x, torch.int16, 1e-4, 77, -9000, 9000), ((7, 5),)),
    "quantize_per_channel_and_back": (
        lambda x, s: Q.dequantize_per_channel(
            Q.quantize_per_channel(x, s.abs(), torch.tensor([0, 1, 2, 3, 4]), 1, 0, 255, torch.uint8),
            *(s.abs(), torch.tensor([0, 1, 2, 3, 4]), 1, 0, 255, torch.uint8),
        ),
        ((2, 5, 3), (5,)),
    ),
    "quantize_dynamically": (lambda x: dynamically(x, -128, 127, torch.int8), ((7, 5),)),
    "quantize_dynamically_to_uint8": (lambda x: dynamically(x, 0, 255, torch.uint8), ((7, 5),)),
}
# delegates have none of these, or drop pairs of quantizing and dequantizing
ONLY_KERNELS = (
    *("var", "prod", "cumsum", "power", "atan2", "sign"),
    *("fmod", "remainder", "clamp", "max", "min", "topk", "sort", "grid_sampler", "quantize"),
)


class Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def save(folder: Path, name: str, tensor: torch.Tensor) -> dict[str, Any]:
    array = tensor.detach().numpy()
    array.tofile(folder / name)
    return {"path": name, "shape": list(array.shape), "dtype": str(array.dtype)}


def rows(
    folder: Path, op: str, function: Callable[..., Any], inputs: tuple[torch.Tensor, ...], tolerance: float
) -> Iterator[dict[str, Any]]:
    """A function exported with and without a delegate, and a row for each of its outputs."""
    outputs = function(*inputs)
    specs = [save(folder, f"{op}.in{i}.bin", x) for i, x in enumerate(inputs)]
    cases: dict[str, list[VulkanPartitioner]] = {"kernel": [], "delegate": [VulkanPartitioner()]}
    if op.startswith(ONLY_KERNELS):
        del cases["delegate"]
    if op == "batch_norm":
        del cases["delegate"]  # its pass that fuses them fails on statistics that are inputs
    for case, partitioner in cases.items():
        exported = torch.export.export(Module(function).eval(), inputs)
        edge = to_edge_transform_and_lower(exported, partitioner=partitioner, compile_config=UNCHECKED)
        program = edge.to_executorch()
        pte = f"{op}__{case}.pte"
        (folder / pte).write_bytes(program.buffer)
        for i, y in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
            golden = {**save(folder, f"{op}.golden{i}.bin", y), "output_index": i}
            yield {
                "op": op,
                "case": f"{case}-{i}" if isinstance(outputs, tuple) else case,
                "pte": pte,
                "inputs": specs,
                "golden": golden,
                "atol": tolerance,
                "rtol": tolerance,
            }


def write_manifest(folder: Path, manifest: list[dict[str, Any]]) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{folder}: {len(manifest)} rows")


def random_inputs(shapes: tuple[tuple[int, ...], ...]) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return tuple(map(torch.randn, shapes))


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    ops = ((op, function, random_inputs(shapes)) for op, (function, shapes) in OPS.items())
    write_manifest(TARGET, [row for op in ops for row in rows(TARGET, *op, tolerance=1e-5)])
