"""Train and export a small super-resolution network: photographs to twice their size.

    pip install -r tests/export/requirements.txt
    python tests/export/superres.py

It works on luminance, (1, 1, 48, 50) -> (1, 1, 96, 100) in 0..1: convolutions and a pixel shuffle draw what a bilinear
zoom of the same input lacks. The small images are made by bicubic reduction and rounded to 8 bits. The golden holds
crops of three photographs that were seen neither in training nor in calibration; ``targets`` are the originals. The
baseline is bicubic zoom (by the same kernel).
"""

from __future__ import annotations

import numpy as np
import torch
from common import (
    NETWORKS,
    SEED,
    TEST_PHOTOS,
    TRAIN_PHOTOS,
    crops,
    deterministic,
    grey,
    one_by_one,
    photograph,
    psnr,
    quantize,
    save_network,
    to_unit,
)
from torch import Tensor, nn
from torch.nn import functional

HEIGHT, WIDTH = 48, 50  # of the small image
TEST_CROPS = 15


class SuperResolution(nn.Module):
    """(N, 1, H, W) to (N, 1, 2H, 2W)."""

    def __init__(self) -> None:
        super().__init__()
        self.detail = nn.Sequential(
            nn.Conv2d(1, 24, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.Conv2d(24, 24, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(24, 24, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.Conv2d(24, 4, kernel_size=3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Zoom and add detail."""
        return functional.interpolate(x, scale_factor=2, mode="bilinear") + self.detail(x)


def resize(images: Tensor, factor: float) -> Tensor:
    """Bicubic (a = -0.5, as in most programs that edit images), rounded to 8 bits."""
    resized = functional.interpolate(images, scale_factor=factor, mode="bicubic", antialias=True)
    return (resized * 255).round().clamp(0, 255) / 255


def turned(images: Tensor) -> Tensor:
    """Mirror all images, and swap their axes, or not, by chance."""
    flips = [axis for axis in (2, 3) if torch.rand(()) < 0.5]
    images = images.flip(flips)
    return images.transpose(2, 3) if torch.rand(()) < 0.5 else images


def train(photos: list[np.ndarray], rng: np.random.Generator) -> nn.Module:
    """Train on small random crops."""
    torch.manual_seed(SEED)
    model = SuperResolution()
    steps = 3000
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        target = turned(to_unit(crops(photos, 14, 56, 56, rng)))
        optimizer.zero_grad()
        functional.l1_loss(model(resize(target, 0.5)), target).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def main() -> None:
    """Write the network and its golden."""
    deterministic()
    rng = np.random.default_rng(SEED)
    photos = [grey(photograph(name)) for name in TRAIN_PHOTOS]
    model = train(photos, rng)
    calibration = resize(to_unit(crops(photos, 56, 2 * HEIGHT, 2 * WIDTH, rng)), 0.5)
    quantized = quantize(model, list(calibration.split(1)))

    targets = crops([grey(photograph(name)) for name in TEST_PHOTOS], TEST_CROPS, 2 * HEIGHT, 2 * WIDTH, rng)
    target = to_unit(targets)
    small = resize(target, 0.5)
    outputs = one_by_one(quantized, small)
    save_network(
        NETWORKS,
        "superres",
        quantized,
        small,
        outputs,
        targets=targets,
        float_psnr=psnr(one_by_one(model, small), target),
        int8_psnr=psnr(outputs, target),
        bicubic_psnr=psnr(resize(small, 2), target),
    )


if __name__ == "__main__":
    main()
