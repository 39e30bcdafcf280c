"""Train and export the two small models that the demo page and the tests run.

    pip install -r tests/export/requirements.txt
    python tests/export/digits.py

Both learn from scikit-learn's handwritten digits: 1797 real scans of 8x8 pixels with values 0..16, which ship inside
the scikit-learn package, so nothing is downloaded. 360 of them, stratified by digit, are kept for testing and are seen
neither in training nor in calibration.

``classifier``
    Linear layers with relu. It has two methods that share their weights: ``forward`` takes one digit as (1, 64) and
    gives logits (1, 10), ``batch`` takes 60 digits as (60, 64) and gives (60, 10).

``upscaler``
    Transposed convolutions with relu, (1, 1, 8, 8) -> (1, 1, 32, 32). The scans exist at 8x8 only, there is no sharper
    original to learn from. So the target is a crisp rendering of the same scan: a cubic-spline zoom to four times the
    size, then a contrast curve that turns grey into ink or paper (see ``crisp``). The spline alone could be had from a
    fixed filter; the curve cannot, it needs the nonlinear layers.

Each is exported as a user would: ``torch.export``, static int8 quantization with ``XNNPACKQuantizer`` (weights per
output channel), then ``to_edge_transform_and_lower`` with ``VulkanPartitioner``. The goldens are what PyTorch computes
for the test digits with the converted (quantized) models.

Everything is seeded and runs on one thread. Run twice on one machine, it writes the same bytes; another CPU may round
the training differently.
"""

from __future__ import annotations

import numpy as np
import scipy.ndimage
import torch
from common import ROOT, SEED, Digits, accuracy, deterministic, load, lower, one_by_one, psnr, quantize, wiggle
from torch import Tensor, nn
from torch.nn import functional

MODELS = ROOT / "web" / "models"
GOLDENS = ROOT / "tests" / "data" / "digits_golden.npz"

BATCH = 60
SCALE = 4


class Classifier(nn.Sequential):
    """Digits as (N, 64) in 0..1 to logits (N, 10)."""

    def __init__(self) -> None:
        super().__init__(
            nn.Linear(64, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )


class Upscaler(nn.Sequential):
    """Digits as (N, 1, 8, 8) in 0..1 to (N, 1, 32, 32): one layer to see shapes, two that double the size, one to draw.

    The layers differ on purpose: even and odd kernels, with and without output padding, and rows of weights (kernel
    height x kernel width x input channels) that are a multiple of 4 or, in the first layer, are not.
    """

    def __init__(self) -> None:
        super().__init__(
            nn.ConvTranspose2d(1, 16, kernel_size=3, stride=1, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 16, kernel_size=4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(16, 8, kernel_size=3, stride=2, padding=1, output_padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, kernel_size=3, stride=1, padding=1),
        )


def crisp(pixels: Tensor) -> Tensor:
    """Render (N, 1, 8, 8) in 0..1 four times as large, with hard edges: what the upscaler shall learn.

    The zoom treats pixels as areas (``grid_mode``), so the result lies exactly over the original. The curve is the
    smoothstep 3t^2 - 2t^3 of the grey values between 0.2 and 0.7.
    """
    zoom = (1, 1, SCALE, SCALE)
    smooth = scipy.ndimage.zoom(pixels.numpy(), zoom, order=3, mode="grid-constant", grid_mode=True)
    t = np.clip((smooth - 0.2) / 0.5, 0, 1)
    return torch.from_numpy((t * t * (3 - 2 * t)).astype(np.float32))


def train_classifier(digits: Digits) -> nn.Module:
    """Train on digits that are wiggled anew in every epoch."""
    torch.manual_seed(SEED)
    model = Classifier()
    epochs, pixels, targets = 400, digits.pixels, digits.targets
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        wiggled = wiggle(pixels, shift=0.8, angle=0.2, stretch=0.12).flatten(1)
        for chosen in torch.randperm(len(pixels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(wiggled[chosen]), targets[chosen], label_smoothing=0.05).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def train_upscaler(digits: Digits) -> nn.Module:
    """Train on wiggled digits against their crisp renderings."""
    torch.manual_seed(SEED)
    model = Upscaler()
    epochs, fresh = 60, 10
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        if epoch % fresh == 0:
            pixels = torch.cat([digits.pixels, wiggle(digits.pixels, shift=0.5, angle=0.5, stretch=0.1)])
            target = crisp(pixels)
        for chosen in torch.randperm(len(pixels)).split(64):
            optimizer.zero_grad()
            functional.mse_loss(model(pixels[chosen]), target[chosen]).backward()
            optimizer.step()
        schedule.step()
    return model.eval()


def make_classifier(train: Digits, test: Digits) -> dict[str, np.ndarray | float]:
    """Train, quantize and write the classifier; return its goldens."""
    model = train_classifier(train)
    quantized = quantize(model, list(train.pixels.flatten(1).split(BATCH)), dynamic_batch=True)
    examples = {"forward": torch.zeros(1, 64), "batch": torch.zeros(BATCH, 64)}
    (MODELS / "classifier.pte").write_bytes(lower(quantized, examples))

    inputs = test.pixels.flatten(1)
    logits = one_by_one(quantized, inputs)
    return {
        "logits": logits.numpy(),
        "float_accuracy": accuracy(one_by_one(model, inputs), test),
        "int8_accuracy": accuracy(logits, test),
    }


def make_upscaler(train: Digits, test: Digits) -> dict[str, np.ndarray | float]:
    """Train, quantize and write the upscaler; return its goldens."""
    model = train_upscaler(train)
    quantized = quantize(model, list(train.pixels.split(1)))
    (MODELS / "upscaler.pte").write_bytes(lower(quantized, {"forward": torch.zeros(1, 1, 8, 8)}))

    target = crisp(test.pixels)
    upscaled = one_by_one(quantized, test.pixels)
    bilinear = functional.interpolate(test.pixels, scale_factor=SCALE, mode="bilinear")
    return {
        "upscaled": upscaled.numpy(),
        "float_psnr": psnr(one_by_one(model, test.pixels), target),
        "int8_psnr": psnr(upscaled, target),
        "bilinear_psnr": psnr(bilinear, target),
    }


def main() -> None:
    """Write the models, the test digits and the goldens, and print how good the models are."""
    deterministic()
    MODELS.mkdir(parents=True, exist_ok=True)
    GOLDENS.parent.mkdir(parents=True, exist_ok=True)

    train, test = load()
    np.savez_compressed(MODELS / "digits.npz", images=test.images, labels=test.labels)
    goldens = make_classifier(train, test) | make_upscaler(train, test)
    np.savez_compressed(GOLDENS, **goldens)

    print("accuracy: float {float_accuracy:.4f}, int8 {int8_accuracy:.4f}".format(**goldens))
    print("PSNR: float {float_psnr:.2f} dB, int8 {int8_psnr:.2f} dB, bilinear {bilinear_psnr:.2f} dB".format(**goldens))


if __name__ == "__main__":
    main()
