"""What the export scripts share: the data sets, the flow from a model to a .pte, the measures and the goldens.

Nothing is downloaded. The digits lie inside the scikit-learn package, the photographs inside scikit-learn and
scikit-image (those that are in the wheel itself; scikit-image would fetch others).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import skimage
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from executorch.exir import to_edge_transform_and_lower
from sklearn.datasets import load_digits, load_sample_image
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn import functional
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT / "tests" / "data" / "networks"

SEED = 0
TEST_DIGITS = 360

# Crops of the test photographs are committed as goldens, so these three are in the public domain (CC0).
TRAIN_PHOTOS = ("china.jpg", "flower.jpg", "astronaut", "rocket", "brick", "gravel", "grass")
TEST_PHOTOS = ("camera", "chelsea", "coffee")


class Digits(NamedTuple):
    """One part of the data set: pixels 0..16 as uint8 (N, 8, 8), labels as uint8 (N,)."""

    images: np.ndarray
    labels: np.ndarray

    @property
    def pixels(self) -> Tensor:
        """The images as the models take them: float32 (N, 1, 8, 8) in 0..1."""
        return torch.from_numpy(self.images.astype(np.float32) / 16).unsqueeze(1)

    @property
    def targets(self) -> Tensor:
        """The labels as the loss takes them."""
        return torch.from_numpy(self.labels.astype(np.int64))


def load() -> tuple[Digits, Digits]:
    """Split the data set into training and test digits."""
    images, labels = load_digits(return_X_y=True)
    split = train_test_split(
        images.reshape(-1, 8, 8).astype(np.uint8),
        labels.astype(np.uint8),
        test_size=TEST_DIGITS,
        stratify=labels,
        random_state=SEED,
    )
    train_images, test_images, train_labels, test_labels = split
    return Digits(train_images, train_labels), Digits(test_images, test_labels)


def wiggle(pixels: Tensor, shift: float, angle: float, stretch: float) -> Tensor:
    """Move, turn and resize every image a little, each by its own random amounts (pixels, radians, fraction)."""

    def amount(limit: float) -> Tensor:
        return (torch.rand(len(pixels)) * 2 - 1) * limit

    turn, wide, high = amount(angle), 1 + amount(stretch), 1 + amount(stretch)
    right, down = amount(shift) / 4, amount(shift) / 4  # the grid runs from -1 to 1 over 8 pixels
    rows = [wide * turn.cos(), -turn.sin(), right, turn.sin(), high * turn.cos(), down]
    grid = functional.affine_grid(torch.stack(rows, dim=1).reshape(-1, 2, 3), list(pixels.shape), align_corners=False)
    return functional.grid_sample(pixels, grid, align_corners=False)


def photograph(name: str) -> np.ndarray:
    """One photograph as uint8: (H, W, 3), or (H, W) where it is grey itself."""
    return load_sample_image(name) if name.endswith(".jpg") else getattr(skimage.data, name)()


def grey(photo: np.ndarray) -> np.ndarray:
    """The luminance of a photograph as uint8 (H, W)."""
    return photo if photo.ndim == 2 else np.round(skimage.color.rgb2gray(photo) * 255).astype(np.uint8)


def crops(photos: list[np.ndarray], count: int, height: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Cut ``count`` pieces of one size out of random places, taking the photographs in turn."""

    def cut(photo: np.ndarray) -> np.ndarray:
        top = rng.integers(photo.shape[0] - height + 1)
        left = rng.integers(photo.shape[1] - width + 1)
        return photo[top : top + height, left : left + width]

    return np.stack([cut(photos[i % len(photos)]) for i in range(count)])


def to_unit(images: np.ndarray) -> Tensor:
    """Grey uint8 (N, H, W) as float32 (N, 1, H, W) in 0..1."""
    return torch.from_numpy(images.astype(np.float32) / 255).unsqueeze(1)


def conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """Convolution of odd kernel that keeps the size (or divides it by the stride), and its normalization."""
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class Residual(nn.Sequential):
    """x plus what the layers make of it."""

    def forward(self, x: Tensor) -> Tensor:
        """Add the two."""
        return x + super().forward(x)


def quantize(model: nn.Module, calibration: list[Tensor], dynamic_batch: bool = False) -> nn.Module:
    """Quantize to int8, statically: the ranges are those that the calibration inputs produce."""
    dynamic_shapes = ({0: torch.export.Dim("n", min=1, max=4096)},) if dynamic_batch else None
    example = (calibration[0],)
    exported = torch.export.export(model, example, dynamic_shapes=dynamic_shapes).module()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(exported, quantizer)
    for batch in calibration:
        prepared(batch)
    return convert_pt2e(prepared)


def lower(model: nn.Module, examples: dict[str, Tensor]) -> bytes:
    """Make the bytes of a .pte, with one method for each example input."""
    programs = {name: torch.export.export(model, (example,)) for name, example in examples.items()}
    return to_edge_transform_and_lower(programs, partitioner=[VulkanPartitioner()]).to_executorch().buffer


def one_by_one(model: nn.Module, inputs: Tensor) -> Tensor:
    """Run the model on every input alone, as the page does."""
    with torch.no_grad():
        return torch.cat([model(row) for row in inputs.split(1)])


def accuracy(logits: Tensor, digits: Digits) -> float:
    """Fraction of digits recognized."""
    return (logits.argmax(1) == digits.targets).double().mean().item()


def psnr(images: Tensor, target: Tensor) -> float:
    """Peak signal-to-noise ratio in dB over all images, for a peak of 1."""
    return -10 * functional.mse_loss(images.double(), target.double()).log10().item()


def deterministic() -> None:
    """Let a second run on the same machine give the same bytes."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def save_network(
    folder: Path, name: str, model: nn.Module, inputs: Tensor, outputs: Tensor, **extras: np.ndarray | float
) -> None:
    """Write NAME.pte, which takes one row of the inputs, and NAME.npz.

    In the .npz ``in0`` holds the test inputs, one to a row, and ``out0`` what the quantized model makes of each row
    alone; the extras are labels or targets (uint8), and the measures (scalars).
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.pte").write_bytes(lower(model, {"forward": torch.zeros_like(inputs[:1])}))
    np.savez_compressed(folder / f"{name}.npz", in0=inputs.numpy(), out0=outputs.numpy(), **extras)
    measures = ", ".join(f"{key} {value:.4f}" for key, value in extras.items() if isinstance(value, float))
    print(f"{name}: {measures}")
