"""Train and export a small U-Net that finds handwriting on photographs.

    pip install -r tests/export/requirements.txt
    python tests/export/unet.py

The scenes are made of real images only: one or two digit scans, enlarged, turned and inked lighter or darker than what
lies below them, over a crop of a photograph (luminance). (1, 1, 36, 44) in 0..1 gives one logit per pixel, positive
where there is ink. Test scenes use digits and photographs that were seen neither in training nor in calibration.

The network halves the map twice (36x44, 18x22, 9x11), comes back with transposed convolutions and joins what it saw on
the way down by concatenation. In the golden ``targets`` are the true masks (0 or 1) and IoU is intersection over union
of all ink pixels. The baseline is Otsu's threshold, of light ink or of dark, whichever fits a scene better.
"""

from __future__ import annotations

import numpy as np
import skimage
import torch
from common import (
    NETWORKS,
    SEED,
    TEST_PHOTOS,
    TRAIN_PHOTOS,
    Digits,
    conv_bn,
    crops,
    deterministic,
    grey,
    load,
    one_by_one,
    photograph,
    quantize,
    save_network,
    to_unit,
)
from torch import Tensor, nn
from torch.nn import functional

HEIGHT, WIDTH = 36, 44
TEST_SCENES = 24


def double(inputs: int, outputs: int) -> nn.Module:
    """Two convolutions: the block a U-Net is made of."""
    first, second = conv_bn(inputs, outputs, kernel=3), conv_bn(outputs, outputs, kernel=3)
    return nn.Sequential(*first, nn.ReLU(), *second, nn.ReLU())


class UNet(nn.Module):
    """Scenes as (N, 1, H, W) in 0..1 to logits of the same shape; H and W are multiples of 4."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.down1 = double(1, width)
        self.down2 = double(width, 2 * width)
        self.bottom = double(2 * width, 4 * width)
        self.pool = nn.MaxPool2d(2)
        self.grow2 = nn.ConvTranspose2d(4 * width, 2 * width, kernel_size=2, stride=2)
        self.up2 = double(4 * width, 2 * width)
        self.grow1 = nn.ConvTranspose2d(2 * width, width, kernel_size=4, stride=2, padding=1)
        self.up1 = double(2 * width, width)
        self.head = nn.Conv2d(width, 1, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        """Segment."""
        fine = self.down1(x)
        coarse = self.down2(self.pool(fine))
        y = self.bottom(self.pool(coarse))
        y = self.up2(torch.cat([self.grow2(y), coarse], dim=1))
        y = self.up1(torch.cat([self.grow1(y), fine], dim=1))
        return self.head(y)


def uniform(count: int, low: float, high: float) -> Tensor:
    """Random numbers (N,)."""
    return low + (high - low) * torch.rand(count)


def strokes(pixels: Tensor) -> Tensor:
    """Draw each digit somewhere on a map of the scene's size, 2.2 to 3.8 times as large and turned: ink 0..1."""
    count = len(pixels)
    turn, size = uniform(count, -0.6, 0.6), 8 * uniform(count, 2.2, 3.8)
    right, down = uniform(count, -0.55, 0.55), uniform(count, -0.45, 0.45)
    across, along = WIDTH / size, HEIGHT / size
    rows = [across * turn.cos(), -along * turn.sin(), -across * right, across * turn.sin(), along * turn.cos()]
    theta = torch.stack([*rows, -along * down], dim=1).reshape(-1, 2, 3)
    grid = functional.affine_grid(theta, [count, 1, HEIGHT, WIDTH], align_corners=False)
    grown = functional.grid_sample(pixels, grid, mode="bicubic", align_corners=False)
    return ((grown - 0.35) / 0.3).clamp(0, 1)


def scenes(digits: Digits, photos: list[np.ndarray], count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Scenes as the network takes them (N, 1, H, W), and their masks (bool, same shape)."""
    ground = to_unit(crops(photos, count, HEIGHT, WIDTH, rng))
    mask = torch.zeros(ground.shape, dtype=torch.bool)
    for present in (1.0, 0.6):
        ink = strokes(digits.pixels[torch.randint(len(digits.images), (count,))])
        ink *= (torch.rand(count, 1, 1, 1) < present).float()
        below = (ground * ink).sum((1, 2, 3), keepdim=True) / ink.sum((1, 2, 3), keepdim=True).clamp(min=1)
        contrast = uniform(count, 0.25, 0.6).view(-1, 1, 1, 1)
        colour = torch.where(below > 0.5, below - contrast, below + contrast).clamp(0, 1)
        ground = ground + ink * (colour - ground)
        mask |= ink > 0.5
    return (ground * 255).round() / 255, mask


def iou(found: Tensor, mask: Tensor) -> float:
    """Intersection over union of all ink pixels."""
    return ((found & mask).sum().double() / (found | mask).sum()).item()


def otsu(images: Tensor, mask: Tensor) -> Tensor:
    """What a threshold finds, told whether the ink of a scene is lighter or darker than the ground."""

    def better(image: Tensor, truth: Tensor) -> Tensor:
        light = image > skimage.filters.threshold_otsu(image.numpy())
        return max(light, ~light, key=lambda found: iou(found, truth))

    return torch.stack([better(*pair) for pair in zip(images, mask, strict=True)])


def train(digits: Digits, photos: list[np.ndarray], rng: np.random.Generator) -> nn.Module:
    """Train on new scenes in every step."""
    torch.manual_seed(SEED)
    model = UNet()
    steps = 2000
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        images, mask = scenes(digits, photos, 28, rng)
        optimizer.zero_grad()
        functional.binary_cross_entropy_with_logits(model(images), mask.float()).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


def main() -> None:
    """Write the network and its golden."""
    deterministic()
    rng = np.random.default_rng(SEED)
    train_digits, test_digits = load()
    photos = [grey(photograph(name)) for name in TRAIN_PHOTOS]
    model = train(train_digits, photos, rng)
    calibration, _ = scenes(train_digits, photos, 140, rng)
    quantized = quantize(model, list(calibration.split(1)))

    images, mask = scenes(test_digits, [grey(photograph(name)) for name in TEST_PHOTOS], TEST_SCENES, rng)
    logits = one_by_one(quantized, images)
    save_network(
        NETWORKS,
        "unet",
        quantized,
        images,
        logits,
        targets=mask.numpy().astype(np.uint8),
        float_iou=iou(one_by_one(model, images) > 0, mask),
        int8_iou=iou(logits > 0, mask),
        otsu_iou=iou(otsu(images, mask), mask),
    )


if __name__ == "__main__":
    main()
