"""Makes tests/data/states/*.pte and *.npz: programs that keep values between runs, and what torch gives for several.

python tests/export/states.py
"""

from pathlib import Path

import numpy as np
import torch
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

FOLDER = Path(__file__).parents[1] / "data" / "states"
RUNS = 5


class Sum(torch.nn.Module):
    """A running sum, which begins with values of its own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.register_buffer("total", torch.arange(6.0).reshape(2, 3))
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.linear(self.total)


class Frames(torch.nn.Module):
    """A convolution over the frames of this run and the last ones before it; there are zeros before the first."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.register_buffer("past", torch.zeros(1, 4, 5))
        self.conv = torch.nn.Conv1d(4, 2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frames = torch.cat([self.past, x], 2)
        self.past.copy_(frames[:, :, -5:])
        return self.conv(frames)


class Twice(torch.nn.Module):
    """A value that is written twice in a run: the second one is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("value", torch.arange(3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.value.add_(x)
        between = self.value * 2.0
        self.value.mul_(0.5)
        return between + self.value


def write(name: str, module: torch.nn.Module, x: torch.Tensor, *initial: str) -> None:
    """`initial`: the buffers whose first values are in the file."""
    exported = torch.export.export(module.eval(), (x,))
    config = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass([*initial])]) if initial else None
    program = to_edge_transform_and_lower(exported).to_executorch(config)
    (FOLDER / f"{name}.pte").write_bytes(program.buffer)
    torch.manual_seed(5)
    inputs = [torch.randn(x.shape) for _ in range(RUNS)]
    outputs = [module(x).detach().numpy().copy() for x in inputs]
    np.savez(FOLDER / f"{name}.npz", inputs=np.stack([x.numpy() for x in inputs]), outputs=np.stack(outputs))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write("sum", Sum(), torch.zeros(2, 3), "total")
    write("frames", Frames(), torch.zeros(1, 4, 2))
    write("twice", Twice(), torch.zeros(3), "value")
