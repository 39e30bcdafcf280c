"""What the networks learn from, as numpy arrays: scikit-learn's digits, which lie inside its package.

The split is the same for all scripts: 360 digits, stratified, are seen neither in training nor in calibration.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 0
TEST_DIGITS = 360
SHOWN, SCENES = 60, 24  # test digits and scenes of a golden


def digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Training and test digits: pixels 0..16 as uint8 (N, 8, 8), labels as uint8 (N,)."""
    images, labels = load_digits(return_X_y=True)
    pixels = images.reshape(-1, 8, 8).astype(np.uint8)
    a, b, of_a, of_b = train_test_split(
        pixels, labels.astype(np.uint8), test_size=TEST_DIGITS, stratify=labels, random_state=SEED
    )
    return (a, of_a), (b, of_b)


def unit(images: np.ndarray) -> np.ndarray:
    """Pixels as the networks take them: float32 in 0..1."""
    return images.astype(np.float32) / 16


def scenes(images: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Digits twice as large (N, 16, 16) on a slope of grey under noise, float32; and their ink, 0 or 1."""
    rng = np.random.default_rng(seed)
    large = unit(images).repeat(2, 1).repeat(2, 2)
    across, down, noise = (rng.normal(size=(len(images), *shape)) for shape in ((1, 1), (1, 1), (16, 16)))
    ramp = np.linspace(-0.5, 0.5, 16)
    ground = 0.3 + across * ramp * 0.3 + down * ramp[:, None] * 0.3 + 0.12 * noise
    return (ground + 0.6 * large).clip(0, 1).astype(np.float32), (large > 0.4).astype(np.uint8)
