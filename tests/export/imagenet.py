"""Build MobileNetV2 and ResNet-18 at 224x224, batch 1, quantized, with their goldens.

    pip install -r tests/export/requirements.txt
    python tests/export/imagenet.py OUT_DIR

Writes mobilenet_v2.pte and resnet18.pte (4 and 12 MB) and one .npz each to OUT_DIR: too large to commit, so tests build
them on demand and keep them in a cache.

The networks are those of the papers (https://arxiv.org/abs/1801.04381 and https://arxiv.org/abs/1512.03385), in the
form that torchvision made common. The weights are random (seeded): trained ones are in no package. Two things are taken
over from trained networks. The statistics of every batch normalization are those that photographs produce at that very
place, so that the signal neither dies nor explodes on its way. And a small error stays small: with plain random weights
one rounding in 10,000 done differently in each layer turns MobileNetV2's output to a cosine of 0.98, which would make
its golden useless. ``draw`` says what helps; with it it stays near 0.9995, and the outputs still depend on the input.

The inputs of the goldens are crops of photographs that were seen neither then nor in calibration.
``float_cosine`` is how well the quantized model follows the float one: the smallest cosine of the two outputs.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from common import (
    SEED,
    TEST_PHOTOS,
    TRAIN_PHOTOS,
    Residual,
    conv_bn,
    crops,
    deterministic,
    one_by_one,
    photograph,
    quantize,
    save_network,
)
from torch import Tensor, nn
from torch.nn import functional

SIZE = 224
CLASSES = 1000
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, by colour
STATISTICS, CALIBRATION = 12, 12  # how many crops


def inverted_residual(inputs: int, outputs: int, stride: int, expansion: int) -> nn.Module:
    """Widen, filter each channel alone, narrow without activation; add the input where the shapes agree."""
    hidden = inputs * expansion
    widen = [] if expansion == 1 else [*conv_bn(inputs, hidden, kernel=1), nn.ReLU6()]
    filtered = [*conv_bn(hidden, hidden, kernel=3, stride=stride, groups=hidden), nn.ReLU6()]
    layers = [*widen, *filtered, *conv_bn(hidden, outputs, kernel=1)]
    return Residual(*layers) if stride == 1 and inputs == outputs else nn.Sequential(*layers)


def mobilenet_v2() -> nn.Module:
    """The one of width 1."""
    layers: list[nn.Module] = [*conv_bn(3, 32, kernel=3, stride=2), nn.ReLU6()]
    channels = 32
    for expansion, width, repeats, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(repeats):
            layers.append(inverted_residual(channels, width, first_stride if i == 0 else 1, expansion))
            channels = width
    layers += [*conv_bn(channels, 1280, kernel=1), nn.ReLU6()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, CLASSES))


class BasicBlock(nn.Module):
    """Two convolutions beside a shortcut, which is a convolution of its own where the shapes differ."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        first, second = conv_bn(inputs, outputs, kernel=3, stride=stride), conv_bn(outputs, outputs, kernel=3)
        self.body = nn.Sequential(*first, nn.ReLU(), *second)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(*conv_bn(inputs, outputs, kernel=1, stride=stride))

    def forward(self, x: Tensor) -> Tensor:
        """Add and cut off."""
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet18() -> nn.Module:
    """Four stages of two blocks."""
    layers: list[nn.Module] = [*conv_bn(3, 64, kernel=7, stride=2), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
    channels = 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [BasicBlock(channels, width, stride), BasicBlock(width, width, stride=1)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def draw(module: nn.Module) -> None:
    """Draw the weights of one module, so that errors do not grow from layer to layer.

    - Kernels see areas as well as edges: what is smooth, like a photograph, outweighs what is not, like rounding.
    - Most values lie above zero before an activation. One that cuts off half of them, and a normalization that then
      stretches the rest, amplify differences.
    - A residual block adds less than what it passes on.
    """
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        if module.kernel_size != (1, 1):
            area = torch.randn(module.weight.shape[:2])[..., None, None]
            module.weight.data += area * module.weight.data.std()
    elif isinstance(module, Residual):
        nn.init.constant_(module[-1].weight, 0.5)
    elif isinstance(module, BasicBlock):
        nn.init.constant_(module.body[-1].weight, 0.5)
    if isinstance(module, nn.Sequential):
        for layer, following in pairwise(module):
            if isinstance(following, nn.ReLU | nn.ReLU6):
                nn.init.constant_(layer.bias, 1)


def initialize(model: nn.Module, images: Tensor) -> nn.Module:
    """Draw the weights, then take the statistics of the normalizations from the images."""
    model.apply(draw)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # the plain average of all batches: here of one
    with torch.no_grad():
        model.train()(images)
    return model.eval()


def colour(photo: np.ndarray) -> np.ndarray:
    """A photograph as (H, W, 3), also where it is grey."""
    return photo if photo.ndim == 3 else np.repeat(photo[..., None], 3, axis=2)


def inputs_from(photos: tuple[str, ...], count: int, rng: np.random.Generator) -> Tensor:
    """Crops of the photographs as the networks take them: float32 (count, 3, 224, 224), normalized."""
    cut = crops([colour(photograph(name)) for name in photos], count, SIZE, SIZE, rng)
    pixels = torch.from_numpy(cut.astype(np.float32) / 255).permute(0, 3, 1, 2)
    mean, deviation = (torch.tensor(numbers).view(1, 3, 1, 1) for numbers in (MEAN, DEVIATION))
    return ((pixels - mean) / deviation).contiguous()


def main(folder: Path) -> None:
    """Write both networks and their goldens."""
    deterministic()
    rng = np.random.default_rng(SEED)
    statistics, calibration = (inputs_from(TRAIN_PHOTOS, count, rng) for count in (STATISTICS, CALIBRATION))
    inputs = inputs_from(TEST_PHOTOS, len(TEST_PHOTOS), rng)
    for make in (mobilenet_v2, resnet18):
        torch.manual_seed(SEED)
        model = initialize(make(), statistics)
        quantized = quantize(model, list(calibration.split(1)))
        outputs = one_by_one(quantized, inputs)
        cosine = functional.cosine_similarity(outputs, one_by_one(model, inputs)).min().item()
        save_network(folder, make.__name__, quantized, inputs, outputs, float_cosine=cosine)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/export/imagenet.py OUT_DIR")
    main(Path(sys.argv[1]))
