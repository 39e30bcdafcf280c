"""Makes tests/data/containers/*.pte: small programs that show ways of the container which no model here has.

python tests/export/containers.py
"""

from pathlib import Path

import numpy as np
import torch
from common import quantize
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

FOLDER = Path(__file__).parents[1] / "data" / "containers"
Partitioners = list[VulkanPartitioner]


class TwoDelegates(torch.nn.Module):
    """A kernel call, which no partitioner takes, between two delegates."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(torch.asinh(torch.relu(x)))


class ElidedView(torch.nn.Module):
    """A view between two kernel calls: the exporter leaves it out and lets the two tensors share memory."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x).view(6, 20) + 1


class RepeatedList(torch.nn.Module):
    """A kernel call with a list of outputs, which comes again, as another value, as what it returns."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.split(x + 1.0, [3, 2], -1)


class Running(torch.nn.Module):
    """What webq8 has no op for, next to methods that it can run."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.asinh(x)


class Relu(torch.nn.Module):
    """A method that can run."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


class PassedOn(torch.nn.Module):
    """Outputs that are an input, a constant, and another output as well."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.relu(x + self.table)
        return y, x, self.table, y


class ChannelsLast(torch.nn.Module):
    """Input, weights and output in the order NHWC."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(8)
        self.conv = torch.nn.Conv2d(3, 4, (2, 3)).to(memory_format=torch.channels_last)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


class Narrowed(torch.nn.Module):
    """int64 that the delegate takes as int32: viewed, compared, indexed and handed out again."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.view(3, 4)
        return y.to(torch.float32) * 0.5, y.permute(1, 0), torch.cat([y, y], 0)


class Transposed(torch.nn.Module):
    """A transposed 1-D convolution: the exporter makes a delegate of its weights that hands on what it takes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(8)
        self.conv = torch.nn.ConvTranspose1d(4, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


class Valid(torch.nn.Module):
    """A padding that is a word: the exporter writes lists of one element."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(8)
        self.conv = torch.nn.Conv2d(4, 8, 3, padding="valid")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


class Stateful(torch.nn.Module):
    """Buffers that each call changes: a sum that begins with numbers of the file, and what the call before has left."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.arange(6.0).reshape(2, 3))
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total, before = torch.relu(x) + self.total, self.last * 2.0
        self.last.copy_(torch.relu(x) * 0.5)
        self.total.copy_(total)
        return total, before


def write_stateful(name: str) -> None:
    """With what the eager model gives, call after call."""
    exported = torch.export.export(Stateful(), (torch.zeros(2, 3),))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["total"])])
    (FOLDER / f"{name}.pte").write_bytes(to_edge_transform_and_lower(exported).to_executorch(config).buffer)
    model, inputs = Stateful(), torch.arange(24.0).reshape(4, 2, 3) - 9
    totals, befores = zip(*(map(torch.clone, model(x)) for x in inputs), strict=True)
    golden = {"in0": inputs.numpy(), "out0": torch.stack(totals).numpy(), "out1": torch.stack(befores).numpy()}
    np.savez(FOLDER / f"{name}.npz", **golden)


def export(name: str, module: torch.nn.Module, shape: tuple[int, ...], partitioners: Partitioners) -> None:
    write(name, module, torch.zeros(shape), partitioners)


def write(name: str, module: torch.nn.Module, x: torch.Tensor, partitioners: Partitioners) -> None:
    exported = torch.export.export(module, (x,))
    program = to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch()
    (FOLDER / f"{name}.pte").write_bytes(program.buffer)


def write_quantized(name: str, module: torch.nn.Module, x: torch.Tensor) -> None:
    """With what the eager quantized model gives for x."""
    quantized = quantize(module, [x])
    golden = {"in0": x.numpy(), "out0": quantized(x).detach().numpy()}
    write(name, quantized, x, [VulkanPartitioner()])
    np.savez(FOLDER / f"{name}.npz", **golden)


def methods(name: str) -> None:
    """Methods that can run and that cannot, and constant ones of every type."""
    constants = {"get_n": 7, "get_scale": 0.5, "is_quantized": True, "get_name": "cnn", "get_sizes": [1, 2]}
    table = {"get_table": torch.arange(6.0).reshape(2, 3)}
    programs = {
        method: torch.export.export(module, (torch.zeros(2, 3),))
        for method, module in (("running", Running()), ("forward", Relu()))
    }
    edge = to_edge_transform_and_lower(programs, constant_methods=constants | table)
    (FOLDER / f"{name}.pte").write_bytes(edge.to_executorch().buffer)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    export("two_delegates", TwoDelegates(), (3, 5), [VulkanPartitioner()])
    export("elided_view", ElidedView(), (2, 3, 4, 5), [])
    export("repeated_list", RepeatedList(), (2, 3, 4, 5), [])
    methods("methods")
    export("passed_on", PassedOn(), (2, 3), [])
    torch.manual_seed(9)
    image = torch.randn(1, 3, 5, 6).to(memory_format=torch.channels_last)
    write("channels_last", ChannelsLast(), image, [])
    np.savez(FOLDER / "channels_last.npz", in0=image.numpy(), out0=ChannelsLast()(image).detach().numpy())
    write("narrowed", Narrowed(), torch.zeros(1, 12, dtype=torch.int64), [VulkanPartitioner()])
    write_quantized("transposed", Transposed(), torch.randn(1, 4, 12))
    write_quantized("valid", Valid(), torch.randn(1, 4, 7, 9))
    write_stateful("stateful")
