"""Train and export a small convolutional network on the digits.

    pip install -r tests/export/requirements.txt
    python tests/export/cnn.py

It holds one of each: a general convolution, depthwise and pointwise ones, max-pool, a residual add with relu, the mean
over the map, and a linear layer. (1, 1, 8, 8) in 0..1 gives logits (1, 10). The mean drops its dimensions, which the
Vulkan delegate does not take: so the file has two delegates with ``aten::mean.out`` between them.

The split of the digits is that of ``digits.py``. The golden holds all test digits.
"""

from __future__ import annotations

import torch
from common import (
    NETWORKS,
    SEED,
    Digits,
    Residual,
    accuracy,
    conv_bn,
    deterministic,
    load,
    one_by_one,
    quantize,
    save_network,
    wiggle,
)
from torch import Tensor, nn
from torch.nn import functional


class Cnn(nn.Module):
    """Digits as (N, 1, 8, 8) in 0..1 to logits (N, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *conv_bn(1, 16, kernel=3),
            nn.ReLU(),
            *conv_bn(16, 16, kernel=3, groups=16),
            nn.ReLU(),
            *conv_bn(16, 32, kernel=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            Residual(*conv_bn(32, 32, kernel=3, groups=32), nn.ReLU(), *conv_bn(32, 32, kernel=1)),
            nn.ReLU(),
            *conv_bn(32, 64, kernel=3),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Recognize."""
        return self.head(self.features(x).mean((2, 3)))


def train(digits: Digits) -> nn.Module:
    """Train on digits that are wiggled anew in every epoch."""
    torch.manual_seed(SEED)
    model = Cnn()
    epochs, pixels, targets = 60, digits.pixels, digits.targets
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        wiggled = wiggle(pixels, shift=0.8, angle=0.2, stretch=0.12)
        for chosen in torch.randperm(len(pixels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(wiggled[chosen]), targets[chosen], label_smoothing=0.05).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def main() -> None:
    """Write the network and its golden."""
    deterministic()
    training, test = load()
    model = train(training)
    quantized = quantize(model, list(training.pixels.split(1)))
    logits = one_by_one(quantized, test.pixels)
    save_network(
        NETWORKS,
        "cnn",
        quantized,
        test.pixels,
        logits,
        labels=test.labels,
        float_accuracy=accuracy(one_by_one(model, test.pixels), test),
        int8_accuracy=accuracy(logits, test),
    )


if __name__ == "__main__":
    main()
