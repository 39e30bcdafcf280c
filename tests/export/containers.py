"""Makes tests/data/containers/*.pte: small programs that show ways of the container which no model here has.

python tests/export/containers.py
"""

from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower

FOLDER = Path(__file__).parents[1] / "data" / "containers"
Partitioners = list[VulkanPartitioner]


class TwoDelegates(torch.nn.Module):
    """A kernel call, which no partitioner takes, between two delegates."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(torch.cumsum(torch.relu(x), 1))


class ElidedView(torch.nn.Module):
    """A view between two kernel calls: the exporter leaves it out and lets the two tensors share memory."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x).view(6, 20) + 1


class RepeatedList(torch.nn.Module):
    """A kernel call with a list of outputs, which comes again, as another value, as what it returns."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.split(x + 1.0, [3, 2], -1)


def export(name: str, module: torch.nn.Module, shape: tuple[int, ...], partitioners: Partitioners) -> None:
    exported = torch.export.export(module.eval(), (torch.zeros(shape),))
    program = to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch()
    (FOLDER / f"{name}.pte").write_bytes(program.buffer)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    export("two_delegates", TwoDelegates(), (3, 5), [VulkanPartitioner()])
    export("elided_view", ElidedView(), (2, 3, 4, 5), [])
    export("repeated_list", RepeatedList(), (2, 3, 4, 5), [])
