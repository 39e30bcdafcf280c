"""Makes tests/data/goldens_glue/kernel_calls: ops of torch's own, once as a kernel call outside of delegates (`.out`
form) and once in a Vulkan delegate, with what torch gives; in the format of upstream's goldens.

python tests/export/kernel_calls.py
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as everyone does
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

TARGET = Path(__file__).parents[1] / "data" / "goldens_glue" / "kernel_calls"

# resizing to a size with scales is none of the core ops
UNCHECKED = EdgeCompileConfig(_check_ir_validity=False)

OPS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "mean": (lambda x: x.mean((2, 3)), ((1, 3, 5, 7),)),
    "sum": (lambda x: x.sum(1, keepdim=True), ((2, 3, 5),)),
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
}


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
