"""Makes tests/data/two_delegates.pte: two Vulkan delegates with a kernel call (`cumsum`) between them.

python tests/export/two_delegates.py
"""

from pathlib import Path

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower

TARGET = Path(__file__).parents[1] / "data" / "two_delegates.pte"


class TwoDelegates(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(torch.cumsum(torch.relu(x), 1))


if __name__ == "__main__":
    exported = torch.export.export(TwoDelegates().eval(), (torch.zeros(3, 5),))
    program = to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()]).to_executorch()
    TARGET.write_bytes(program.buffer)
    print(f"{TARGET}: {len(program.buffer)} bytes")
